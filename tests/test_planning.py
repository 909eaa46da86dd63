"""The dry run: counts by hand, and nothing loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparring.config import load_recipe
from sparring.environments import ZebraLogic, base
from sparring.environments.base import Environment
from sparring.errors import UserError
from sparring.planning import plan

RECIPES = Path(__file__).parents[1] / "recipes"


def test_the_papers_recipe_costs_what_its_table_4_says() -> None:
    """LURE: 144 emitted, 0 probe, 144 trained, 1,152 rollouts; on a machine without a GPU too."""
    found = plan(load_recipe(RECIPES / "lure-qwen2.5-7b.toml"))["per_round"]
    names = ("emitted", "probe_rollouts", "trained_tasks", "train_rollouts", "total_rollouts")
    assert [found[name] for name in names] == [144, 0, 144, 1152, 1152]
    assert found["optimiser_steps"] == 3 * 4


def test_rounds_specialists_and_evaluation_count() -> None:
    overrides = ["rounds=5", "evaluation.every=2", "evaluation.levels=3", "evaluation.tasks_per_level=7"]
    recipe = load_recipe(RECIPES / "lure-micro.toml", [*overrides, "method.sharing=specialist"])
    found = plan(recipe)
    assert found["in_all"]["total_rollouts"] == 5 * 36 * 8
    assert found["in_all"]["optimiser_steps"] == 5 * 3 * 3 * 2
    # Before the first round, after rounds 2 and 4, and after the last.
    assert found["in_all"]["evaluation_rollouts"] == 4 * 3 * 7 * 3
    assert found["turn_limits"] == {"phantom_wiki": 14, "ifeval": 2, "zebra_logic": 6}


def test_memory_of_full_weights_and_adapters() -> None:
    full, lora = (
        plan(load_recipe(RECIPES / "lure-micro.toml", [f"engine.weights={kind}", "backbone.name=micro"]))
        for kind in ("full", "lora")
    )
    assert full["weights_and_optimiser_megabytes"] == round(4 * 91_008 * (3 * 3 + 1) / 1e6)
    assert lora["weights_and_optimiser_megabytes"] == 0
    assert plan(load_recipe(RECIPES / "lure-qwen2.5-7b.toml"))["weights_and_optimiser_megabytes"] is None


@pytest.mark.parametrize(
    ("override", "message"),
    [("backbone.name=./nowhere", "is no folder"), ("engine.device=foo", "engine.device = 'foo' is not accepted")],
)
def test_what_a_run_would_refuse_is_refused(override: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        plan(load_recipe(RECIPES / "lure-smollm2.toml", [override]))


def test_epochs_and_the_memory_of_the_first_weights_count() -> None:
    path = RECIPES / "lure-micro.toml"
    one, four = (plan(load_recipe(path, [f"objective.epochs={epochs}"])) for epochs in (1, 4))
    assert four["per_round"]["optimiser_steps"] == 4 * one["per_round"]["optimiser_steps"] == 4 * 2 * 3
    kept = plan(load_recipe(path, ["objective.kl_reference=initial"]))
    assert kept["weights_and_optimiser_megabytes"] == round(4 * 91_008 * (3 * 3 + 2) / 1e6)
    lora = plan(load_recipe(path, ["objective.kl_reference=initial", "engine.weights=lora"]))
    assert lora["weights_and_optimiser_megabytes"] == 0


def test_who_speaks_and_who_learns_in_each_method() -> None:
    found = {
        name: plan(load_recipe(RECIPES / f"{name}.toml")) for name in ("grpo-micro", "grpo-zero-micro", "r-zero-micro")
    }
    counts = {name: each["per_round"] for name, each in found.items()}
    # GRPO-Zero's evader speaks in its first round, and learns in none.
    assert [each["most_sampled_tokens"]["evader"] for each in counts.values()] == [0, 36 * 8, 36 * 8]
    assert [each["optimiser_steps"] for each in counts.values()] == [2 * 2, 2 * 2, 3 * 2]
    assert [each["total_rollouts"] for each in counts.values()] == [288, 288, 360]
    assert [each["rounds"] for each in found.values()] == [120, 120, 96]
    assert [each["in_all"]["total_rollouts"] for each in found.values()] == [34_560] * 3
    assert counts["r-zero-micro"]["most_sampled_tokens"]["planner"] == 360 * 16


class Unanswered(ZebraLogic):
    """An environment without an answer of its own."""

    answer = Environment.answer


def test_a_vote_on_answers_that_an_environment_has_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    voting = ["method.label=majority"]
    assert plan(load_recipe(RECIPES / "r-zero-micro.toml", voting))["per_round"]["probe_rollouts"] == 288
    monkeypatch.setitem(base._registry, "zebra_logic", Unanswered)
    with pytest.raises(
        UserError, match=r"method.label = 'majority' compares answers, and environments.zebra_logic has"
    ):
        plan(load_recipe(RECIPES / "r-zero-micro.toml", voting))
    # Under the verifier nobody votes, and LURE reads no label.
    plan(load_recipe(RECIPES / "r-zero-micro.toml"))
    plan(load_recipe(RECIPES / "lure-micro.toml", voting))
