"""GRPO and GRPO-Zero, a round at a time, with a scripted engine in the model's place."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest
from tests.methods.test_lure import acting, emitting, groups_of, scripted, trained
from tests.scripted import ScriptedEngine, WordDialogue, by_copy, saying
from tests.toy import OBJECTIVES, Tin, make_evader, make_solver, named, specialist, toy

from sparring.credit import standardise
from sparring.methods.grpo import Grpo
from sparring.placement.fixed import FrozenPool, Uniform
from sparring.roles import Role
from sparring.runs.ledger import round_ledger

MIXED = ["gain gain submit", "gain / look / submit", "submit"]


def uniform_grpo(engine: ScriptedEngine, group_size: int = 3) -> Grpo:
    return Grpo(make_solver(engine, named(toy(), toy(Tin)), group_size=group_size), Uniform(3, 1, 2))


def test_the_outcome_is_the_reward_of_the_plan_and_of_every_turn() -> None:
    engine = scripted(emitting(), by_copy(*(saying(*text.split(" / ")) for text in MIXED)))
    done = uniform_grpo(engine).round(1)
    # Progress differs in the two that failed; the outcome does not, and neither does what they earn.
    up, down, down_too = standardise([1.0, 0.0, 0.0]).tolist()
    assert (up, down, down_too) == pytest.approx((2 / 3**0.5, -1 / 3**0.5, -1 / 3**0.5), abs=1e-5)
    planner, executor = engine.updates
    for group in groups_of(done):
        assert [each.progress for each in group.finished] == [1.0, 0.5, 0.0]
    advantages = [up, down, down]
    pairs = [pair for group in groups_of(done) for pair in zip(group.trajectories, advantages, strict=True)]
    assert planner.sequences == [trained(each.plan, [value], still=False) for each, value in pairs]
    assert executor.sequences == [
        trained(each.execution, [value] * len(each.turns), still=False) for each, value in pairs
    ]
    assert [update.objective for update in engine.updates] == [OBJECTIVES[Role.PLANNER], OBJECTIVES[Role.EXECUTOR]]


def test_nobody_chooses_and_nobody_learns_to() -> None:
    engine = scripted(emitting(), lambda floor: "gain gain submit")
    done = uniform_grpo(engine).round(1)
    assert engine.order == ["sample planner", "converse executor", "update planner", "update executor"]
    assert done.updates.keys() == {Role.PLANNER, Role.EXECUTOR}
    assert all(outcome.emission.sequence is None for outcome in done.outcomes)
    assert all(sequence.zero_variance for update in engine.updates for sequence in update.sequences)


def pooled(engine: ScriptedEngine) -> Grpo:
    return Grpo(make_solver(engine, named(toy())), FrozenPool(make_evader(engine)))


MAYBE: Mapping[str, Sequence[str]] = {level: ["gain gain submit", "submit"] for level in ("0.20", "0.40", "0.70")}


def test_grpo_zero_pursues_the_tasks_of_round_1_in_every_round() -> None:
    engine = scripted(emitting(0.2, None, 0.4, 0.7), acting(MAYBE))
    grpo = pooled(engine)
    rounds = [grpo.round(number) for number in (1, 2, 3)]
    assert engine.order.count("sample evader") == 1
    assert not any(update.policy.startswith("evader") for update in engine.updates)
    tasks = [[group.task for group in groups_of(done)] for done in rounds]
    assert tasks[0] == tasks[1] == tasks[2]
    assert [task.difficulty for task in tasks[0]] == [0.2, 0.4, 0.7]
    # The same tasks, pursued afresh.
    assert len({each.seed for each in engine.conversations}) == 3
    assert [round_ledger(done)["emitted"] for done in rounds] == [4, 3, 3]
    assert [round_ledger(done)["malformed"] for done in rounds] == [1, 0, 0]


def test_grpo_zero_goes_on_with_its_pool() -> None:
    dialogue = WordDialogue()
    straight = scripted(emitting(0.2, None, 0.4, 0.7), acting(MAYBE), dialogue)
    grpo = pooled(straight)
    grpo.round(1)
    state = json.loads(json.dumps(grpo.state()))
    heard, updates = len(straight.heard), len(straight.updates)
    grpo.round(2)

    resumed = scripted(emitting(0.9, 0.9, 0.9, 0.9), acting(MAYBE), dialogue)
    again = pooled(resumed)
    again.restore(state)
    assert again.state() == state
    again.round(2)
    assert resumed.heard == straight.heard[heard:]
    assert resumed.updates == straight.updates[updates:]


def test_specialists_learn_from_their_own_environment_alone() -> None:
    engine = scripted(emitting(), by_copy("gain gain submit", "submit"))
    solver = make_solver(engine, named(toy(), toy(Tin)), specialist)
    Grpo(solver, Uniform(3, 1, 2)).round(1)
    assert [update.policy for update in engine.updates] == [
        f"{role}/{name}" for role in ("planner", "executor") for name in ("tin", "toy")
    ]
    for update in engine.updates:
        name = update.policy.split("/")[1]
        assert len(update.sequences) == 4
        assert all(f" {name} " in engine.dialogue.text(sequence.ids) for sequence in update.sequences)
