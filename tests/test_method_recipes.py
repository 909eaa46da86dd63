"""The recipes of the compared methods: exactly what each changes, and LURE's Table 4 from a dry run."""

import json
from pathlib import Path

import pytest

from sparring.cli import main
from sparring.config import load_recipe
from sparring.lab.suite import jobs_of, load_suite
from sparring.runs.origin import dotted

RECIPES = Path(__file__).parents[1] / "recipes"
OUTCOME = {"method.executor_credit": "terminal", "method.planner_credit": "capture"}

SWITCHES: dict[str, dict[str, object]] = {
    "uniform-placement": {"placement.name": "uniform"},
    "validity-reward": {"placement.difficulty_reward": "validity"},
    "no-repetition-penalty": {"placement.repetition_scale": 0.0},
    "no-dense-credit": {"method.progress_weight": 0.0},
    "no-zero-progress-cost": {"method.zero_progress_cost": 0.0},
    "planner-on-capture": {"method.planner_credit": "capture"},
    "no-kl": {"objective.kl_weight": 0.0},
    "initial-reference": {"objective.kl_reference": "initial", "objective.kl_weight": 0.001, "objective.epochs": 4},
}
"""The rows of LURE's Table 2 (SPEC 1.10), by recipe in recipes/ablations/."""


def changes(name: str, base: str) -> dict[str, object]:
    ours, theirs = (dotted(load_recipe(RECIPES / f"{each}.toml").model_dump(mode="json")) for each in (name, base))
    assert ours.keys() == theirs.keys()
    return {key: ours[key] for key in ours if key != "name" and ours[key] != theirs[key]}


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("grpo-micro", {"method.name": "grpo", "placement.name": "uniform"}),
        ("grpo-zero-micro", {"method.name": "grpo_zero", "placement.name": "frozen_pool"}),
        ("r-zero-micro", {"method.name": "r_zero", "placement.repetition": "bleu_cluster"}),
    ],
)
def test_a_method_changes_its_own_keys_alone(name: str, changed: dict[str, object]) -> None:
    assert changes(name, "lure-micro") == changed | {"method.executor_credit": "terminal"}


def test_r_zero_at_the_papers_scale_changes_its_own_keys_alone() -> None:
    changed = {"method.name": "r_zero", "placement.repetition": "bleu_cluster", **OUTCOME}
    assert changes("r-zero-qwen2.5-7b", "lure-qwen2.5-7b") == changed


@pytest.mark.parametrize("name", SWITCHES)
def test_an_ablation_is_one_switch(name: str) -> None:
    assert changes(f"ablations/{name}", "ablations/full") == SWITCHES[name]


def test_the_ablated_method_pays_plans_as_the_paper_does() -> None:
    assert changes("ablations/full", "lure-micro") == {"method.planner_credit": "progress"}


def test_the_suite_of_table_2_has_these_rows() -> None:
    suite, path = load_suite(RECIPES / "suites" / "table2-micro.toml")
    recipes = {job.arm: dotted(job.recipe.model_dump(mode="json")) for job in jobs_of(suite, path)}
    full = recipes.pop("lure")
    found = [{key: own[key] for key in own if key != "name" and own[key] != full[key]} for own in recipes.values()]
    assert len(found) == len(SWITCHES)
    assert all(switch in found for switch in SWITCHES.values())


@pytest.mark.parametrize(
    ("name", "table_4", "per_task"),
    [("lure-qwen2.5-7b", [144, 0, 144, 1152, 1152], 8.0), ("r-zero-qwen2.5-7b", [144, 1152, 36, 288, 1440], 40.0)],
)
def test_table_4(name: str, table_4: list[int], per_task: float, tmp_path: Path) -> None:
    """Candidates, probe rollouts, trained tasks, training rollouts, all rollouts a round; rollouts a trained task."""
    out = tmp_path / "plan.json"
    assert main(["train", str(RECIPES / f"{name}.toml"), "--dry-run", "--json", str(out)]) == 0
    found = json.loads(out.read_text(encoding="utf-8"))["per_round"]
    columns = ("emitted", "probe_rollouts", "trained_tasks", "train_rollouts", "total_rollouts")
    assert [found[column] for column in columns] == table_4
    assert found["rollouts_per_trained_task"] == per_task
