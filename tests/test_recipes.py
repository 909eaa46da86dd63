"""Recipes that are compared: each differs from its base in the keys that it is about, and in no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sparring.cli import main
from sparring.config import load_recipe
from sparring.lab.suite import jobs_of, load_suite
from sparring.training import make_environments

RECIPES = Path(__file__).parents[1] / "recipes"
TABLE_4 = (
    "emitted",
    "probe_rollouts",
    "trained_tasks",
    "train_rollouts",
    "total_rollouts",
    "rollouts_per_trained_task",
)
TERMINAL = {"method.executor_credit": "terminal"}  # lure-micro pays its plans for the capture already
BASELINES: dict[str, dict[str, Any]] = {
    "grpo-micro": {**TERMINAL, "method.name": "grpo", "placement.name": "uniform"},
    "grpo-zero-micro": {**TERMINAL, "method.name": "grpo_zero", "placement.name": "frozen_pool"},
    "r-zero-micro": {**TERMINAL, "method.name": "r_zero", "placement.repetition": "bleu_cluster"},
}
SWITCHES: dict[str, dict[str, Any]] = {
    "uniform-placement": {"placement.name": "uniform"},
    "validity-reward": {"placement.difficulty_reward": "validity"},
    "no-repetition-penalty": {"placement.repetition_scale": 0.0},
    "no-dense-credit": {"method.progress_weight": 0.0},
    "no-zero-progress-cost": {"method.zero_progress_cost": 0.0},
    "planner-on-capture": {"method.planner_credit": "capture"},
    "no-kl": {"objective.kl_weight": 0.0},
    "initial-reference": {
        "objective.kl_reference": "initial",
        "objective.kl_weight": 0.001,
        "objective.epochs": 4,
    },
}


def leaves(data: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in data.items():
        key = f"{prefix}{name}"
        found |= leaves(value, f"{key}.") if isinstance(value, dict) else {key: value}
    return found


def differences(name: str, base: str) -> dict[str, Any]:
    """The keys in which a recipe differs from another, with its own values; a key it lacks is None."""
    own, other = (leaves(load_recipe(RECIPES / f"{each}.toml").model_dump(mode="json")) for each in (name, base))
    return {key: own.get(key) for key in own | other if own.get(key) != other.get(key)}


@pytest.mark.parametrize("name", BASELINES)
def test_baselines_differ_from_lure_in_what_they_are(name: str) -> None:
    """`rounds` is not read where a budget of rollouts is the end; it is what 120 rounds of LURE may spend."""
    lure = load_recipe(RECIPES / "lure-micro.toml")
    tasks = lure.placement.slots * lure.placement.samples * len(lure.environments)
    end = {"rounds": 8, "budget.rollouts": lure.rounds * tasks * lure.method.group_size}
    assert differences(name, "lure-micro") == {"name": name, **end, **BASELINES[name]}


def test_r_zero_differs_from_lure_in_what_it_is_at_the_papers_scale_too() -> None:
    own = {"name": "r-zero-qwen2.5-7b", "method.planner_credit": "capture", **BASELINES["r-zero-micro"]}
    assert differences("r-zero-qwen2.5-7b", "lure-qwen2.5-7b") == own


def test_the_leaky_recipe_differs_in_its_leak_and_in_the_warm_up_that_can_read_it() -> None:
    own = differences("lure-micro-leaky", "lure-micro")
    assert (own.pop("secret.training"), own.pop("secret.evaluation")) == ("kept", "kept")
    assert own.pop("name") == "lure-micro-leaky"
    assert own.pop("backbone.warm_up_secret_share") > 0
    assert all(key.startswith("backbone.warm_up_") for key in own)


def test_the_suite_of_table_3_has_every_method_with_and_without_the_leak() -> None:
    suite, path = load_suite(RECIPES / "suites" / "table3-micro.toml")
    recipes = {job.arm: leaves(job.recipe.model_dump(mode="json")) for job in jobs_of(suite, path)}
    for method in ("grpo_zero", "r_zero", "lure"):
        found = []
        for arm in (method, f"{method}_kept", f"{method}_kept_then_removed"):
            own = recipes.pop(arm)
            found.append((own.pop("secret.training"), own.pop("secret.evaluation")))
            assert {key for key in own if own[key] != recipes.setdefault(f"of {method}", own)[key]} <= {"name"}
        assert found == [("removed", "removed"), ("kept", "kept"), ("kept", "removed")]
    assert [recipes[arm]["secret.evaluation"] for arm in ("base", "base_kept")] == ["removed", "kept"]
    backbones = [{key: own[key] for key in own if key.startswith("backbone.")} for own in recipes.values()]
    assert all(each == backbones[0] for each in backbones)


@pytest.mark.parametrize("name", SWITCHES)
def test_each_ablation_is_one_switch(name: str) -> None:
    expected = {"name": f"ablation-{name}", **SWITCHES[name]}
    assert differences(f"ablations/{name}", "ablations/full") == expected


def test_the_whole_method_gives_the_planner_its_own_credit() -> None:
    """lure-micro pays plans for the capture, which is one of the rows; the paper's own credit is what it changes."""
    expected = {"name": "ablation-full", "method.planner_credit": "progress"}
    assert differences("ablations/full", "lure-micro") == expected


def test_every_row_has_its_recipe() -> None:
    assert {path.stem for path in (RECIPES / "ablations").glob("*.toml")} == {"full", *SWITCHES}


@pytest.mark.parametrize(
    "path", [*sorted(RECIPES.glob("*.toml")), *sorted(RECIPES.glob("ablations/*.toml"))], ids=lambda path: path.stem
)
def test_every_recipe_is_accepted_by_its_environments(path: Path) -> None:
    recipe = load_recipe(path)
    assert list(make_environments(recipe)) == list(recipe.environments)
    assert recipe.name == (f"ablation-{path.stem}" if path.parent.name == "ablations" else path.stem)


@pytest.mark.parametrize(
    ("name", "row"),
    [("lure-qwen2.5-7b", [144, 0, 144, 1152, 1152, 8.0]), ("r-zero-qwen2.5-7b", [144, 1152, 36, 288, 1440, 40.0])],
)
def test_dry_run_is_the_papers_table_4(
    name: str, row: list[float], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", str(RECIPES / f"{name}.toml"), "--dry-run", "--json", str(tmp_path / "plan.json")]) == 0
    found = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))["per_round"]
    assert [found[key] for key in TABLE_4] == row
    lines = [words for line in capsys.readouterr().out.splitlines() if len(words := line.split()) == 2]
    printed = dict(reversed(lines))  # the round's counts come before those of the run
    assert [float(printed[key].replace(",", "")) for key in TABLE_4] == row


def test_the_suite_of_table_2_has_these_rows() -> None:
    suite, path = load_suite(RECIPES / "suites" / "table2-micro.toml")
    recipes = {job.arm: leaves(job.recipe.model_dump(mode="json")) for job in jobs_of(suite, path)}
    full = recipes.pop("lure")
    found = [{key: own[key] for key in own if key != "name" and own[key] != full[key]} for own in recipes.values()]
    assert len(found) == len(SWITCHES)
    assert all(switch in found for switch in SWITCHES.values())
