"""A budget of rollouts: every method ends at the same count, whatever is malformed, refused or dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.scripted import Floor, ScriptedEngine
from tests.toy import OBJECTIVES, Tin, Toy, make_evader, make_solver, named, toy

from sparring.config import Recipe, recipe_from
from sparring.credit import Label
from sparring.errors import UserError
from sparring.methods.base import Method, within
from sparring.methods.grpo import Grpo
from sparring.methods.lure import Lure
from sparring.methods.r_zero import RZero
from sparring.placement.fixed import FrozenPool, Thermostat, Uniform
from sparring.roles import Role
from sparring.runs.ledger import discrepancies
from sparring.runs.tracking import metrics_row
from sparring.tasks import Task
from sparring.training import IDLE_ROUNDS, is_over

SIZE, SLOTS, SAMPLES = 2, 1, 3
METHODS = ("lure", "uniform", "thermostat", "grpo", "grpo_zero", "r_zero")


def scripted(difficulties: Sequence[float | None]) -> ScriptedEngine:
    """An evader that goes through these, and an executor that captures every other time it is asked."""
    said, turns = iter(list(difficulties) * 1000), iter(range(10**6))

    def evader(floor: Floor) -> str:
        difficulty = next(said)
        return "hard" if difficulty is None else f'{{"difficulty": {difficulty}}}'

    def executor(floor: Floor) -> str:
        return "gain gain submit" if next(turns) % 2 else "submit"

    return ScriptedEngine({Role.EVADER: evader, Role.PLANNER: lambda floor: "a", Role.EXECUTOR: executor})


def make(name: str, engine: ScriptedEngine) -> Method:
    solver = make_solver(engine, named(toy(), toy(Tin)), group_size=SIZE)
    evader = make_evader(engine, samples=SAMPLES)
    uniform = Uniform(3, SLOTS, SAMPLES)
    if name == "lure":
        return Lure(solver, evader)
    if name == "r_zero":
        return RZero(solver, evader, Label.VERIFIER, 0.25, 0.75)
    if name in ("grpo", "grpo_zero"):
        return Grpo(solver, uniform if name == "grpo" else FrozenPool(evader))
    return Lure(solver, uniform if name == "uniform" else Thermostat(3, SLOTS, SAMPLES))


def recipe_of(name: str, rollouts: int) -> Recipe:
    outcome = {"executor_credit": "terminal", "planner_credit": "capture"}
    parts: dict[str, dict[str, Any]] = {
        "lure": {},
        "uniform": {"placement": {"name": "uniform"}},
        "thermostat": {"placement": {"name": "thermostat"}},
        "grpo": {"method": {"name": "grpo", **outcome}, "placement": {"name": "uniform"}},
        "grpo_zero": {"method": {"name": "grpo_zero", **outcome}, "placement": {"name": "frozen_pool"}},
        "r_zero": {"method": {"name": "r_zero", **outcome}, "placement": {"repetition": "bleu_cluster"}},
    }
    method = {"group_size": SIZE, **parts[name].get("method", {})}
    placement = {"slots": SLOTS, "samples": SAMPLES, **parts[name].get("placement", {})}
    environments: dict[str, dict[str, Any]] = {"toy": {}, "tin": {}}
    data = {"name": "r", "environments": environments, "method": method, "placement": placement}
    return recipe_from({**data, "budget": {"rollouts": rollouts}})


def play(name: str, difficulties: Sequence[float | None], rollouts: int) -> tuple[Recipe, list[dict[str, Any]]]:
    """All rounds of a run, as `run_rounds` has them, without a folder."""
    recipe, method = recipe_of(name, rollouts), make(name, scripted(difficulties))
    rows = [metrics_row(0, None, method.solver, 0)]
    while not is_over(recipe, rows):
        number, spent = len(rows), rows[-1]["rollouts"]
        done = method.round(number, rollouts - spent)
        assert done.rollouts <= rollouts - spent
        rows.append(metrics_row(number, done, method.solver, spent + done.rollouts))
    return recipe, rows


@settings(deadline=None, max_examples=12)
@given(
    st.lists(st.sampled_from([0.1, 0.5, 0.89, 0.95, None]), min_size=1, max_size=7).filter(
        lambda given: any(each is not None and each < 0.9 for each in given[:6])
    ),
    st.integers(1, 40),
)
@pytest.mark.parametrize("name", METHODS)
def test_every_method_ends_at_the_same_count(name: str, difficulties: list[float | None], groups: int) -> None:
    """0.95 is refused by the generator, None is no emission; the ledger is what the recipe says all the way."""
    recipe, rows = play(name, difficulties, groups * SIZE)
    assert rows[-1]["rollouts"] == groups * SIZE
    assert discrepancies(recipe, rows) == []


def test_a_pool_that_begins_with_a_refused_task_still_spends_its_budget() -> None:
    """Were the budget cut by emissions, its last group would go to the first of the pool for ever."""
    recipe, rows = play("grpo_zero", [0.95, 0.1, 0.5], 2 * 5)
    assert [row["rollouts"] for row in rows] == [0, 8, 10]
    assert discrepancies(recipe, rows) == []


def test_a_budget_that_nothing_spends_is_given_up_by_name() -> None:
    with pytest.raises(UserError, match=rf"{IDLE_ROUNDS} rounds spent no rollout, so budget.rollouts = 8 is out of"):
        play("lure", [None], 8)


def task(environment: str, seed: int) -> Task[int]:
    return toy(Tin if environment == "tin" else Toy).generate(0.5, seed)


def test_environments_take_turns() -> None:
    tasks = [task("toy", 1), None, task("toy", 2), task("toy", 3), task("tin", 4), None, task("tin", 5)]
    everything = [each is not None for each in tasks]
    assert within(tasks, None) == within(tasks, 5) == within(tasks, 99) == everything
    assert within(tasks, 0) == [False] * 7
    assert within(tasks, 1) == [True, *[False] * 6]
    assert within(tasks, 3) == [True, False, True, False, True, False, False]


@given(st.lists(st.sampled_from(["toy", "tin", None]), max_size=12), st.integers(0, 14))
def test_as_many_as_fit_and_no_environment_two_ahead(names: list[str | None], most: int) -> None:
    tasks = [None if name is None else task(name, seed) for seed, name in enumerate(names)]
    kept = within(tasks, most)
    assert sum(kept) == min(most, sum(name is not None for name in names))
    assert not any(keep for keep, name in zip(kept, names, strict=True) if name is None)
    count = {name: sum(k for k, each in zip(kept, names, strict=True) if each == name) for name in ("toy", "tin")}
    left = {name: names.count(name) - count[name] for name in count}
    for one, other in (("toy", "tin"), ("tin", "toy")):
        assert count[one] <= count[other] + 1 or left[other] == 0


def test_an_emission_beyond_the_budget_teaches_nobody_and_one_without_a_task_does() -> None:
    engine = scripted([0.1, None, 0.5])
    done = make("lure", engine).round(1, 2 * SIZE)
    assert [(each.emission.environment, each.emission.difficulty) for each in done.outcomes] == [
        *(("toy", 0.1), ("toy", None), ("tin", 0.1), ("tin", None)),
    ]
    assert len(engine.updates[0].sequences) == 4
    assert engine.updates[0].objective == OBJECTIVES[Role.EVADER]
