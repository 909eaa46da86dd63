"""Whole simulated runs: Fig. 4's shape, what G and noise do, the plug-in bias, resuming, refusals."""

import json
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from benchmarks.simulation import METHODS, RECIPE, expected_frontier, measured_frontier, run
from rich.console import Console
from safetensors.torch import load_file

from sparring.config import load_recipe
from sparring.errors import UserError
from sparring.evaluation.subject import recipe_of, refuse_unfit
from sparring.planning import plan
from sparring.training import resume, train

SMALL = ("placement.slots=8", "evaluation.levels=11", "evaluation.tasks_per_level=2")
ONE_ROUND = 48 * 8


def test_figure_4() -> None:
    """The first round is too hard; difficulty falls until half are captured, then rises with skill."""
    lure = run(36 * ONE_ROUND, *SMALL, "simulation.growth=5e4")
    difficulty, capture, skill = lure.difficulty, lure.capture, lure.skill
    assert difficulty[0] > skill[0] + 0.2
    assert capture[0] < 0.3
    lowest = min(range(len(difficulty)), key=lambda number: difficulty[number])
    assert 0 < lowest < len(difficulty) - 8
    assert fmean(difficulty[-6:]) > difficulty[lowest] + 0.1
    assert 0.4 < fmean(capture[lowest : lowest + 12]) < 0.6
    assert lure.heldout[-1] is not None
    assert lure.heldout[0] is not None
    assert lure.heldout[-1] > lure.heldout[0] + 0.25


def test_placing_tasks_at_the_frontier_pays() -> None:
    """At the same rollouts, with a wide axis: most of it is far too easy or too hard for a steep skill."""
    wide = ("simulation.slope=30.0", "environments.simulated.difficulty_noise=0.0", "evaluation.tasks_per_level=0")
    found = {
        name: run(14 * ONE_ROUND, "placement.slots=8", *wide, *METHODS[name], "rounds=14")
        for name in ("LURE", "uniform", "thermostat", "frozen pool", "R-Zero")
    }
    assert {history.rollouts[-1] for history in found.values()} == {14 * ONE_ROUND}
    gained = {name: history.skill[-1] - history.skill[0] for name, history in found.items()}
    assert gained["LURE"] > 1.2 * gained["uniform"]
    assert gained["LURE"] > 1.2 * gained["frozen pool"]
    assert fmean(found["LURE"].mixed[-4:]) > fmean(found["uniform"].mixed[-4:]) + 0.1


def test_more_rollouts_a_task_teach_more_and_noise_less() -> None:
    fixed = ("placement.name=uniform", "placement.slots=8", "evaluation.tasks_per_level=0")

    def gain(*overrides: str) -> float:
        history = run(0, *fixed, *overrides, rounds=4)
        return history.skill[-1] - history.skill[0]

    by_group = [gain(f"method.group_size={size}") for size in (2, 4, 8)]
    assert by_group == sorted(by_group)
    assert by_group[-1] > 1.4 * by_group[0]  # Theorem 1: energy G - 1, and fewer groups without spread
    assert gain("simulation.noise=0.5") < 0.8 * by_group[-1]


@pytest.mark.parametrize(("group_size", "p", "paid"), [(4, 0.5, 0.313), (8, 0.5, 0.363), (8, 0.1, 0.100)])
def test_plug_in_bias_of_the_frontier_reward(group_size: int, p: float, paid: float) -> None:
    assert expected_frontier(p, group_size) == pytest.approx(paid, abs=5.1e-4)
    assert measured_frontier(p, group_size, tasks=600) == pytest.approx(paid, abs=0.025)


def small_recipe(*overrides: str) -> Any:
    small = ("placement.slots=3", "method.group_size=4", "evaluation.levels=3", "evaluation.tasks_per_level=2")
    return load_recipe(RECIPE, [*small, *overrides])


def rows(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    timed = ("seconds", "cpu_seconds")
    return [{key: value for key, value in json.loads(line).items() if key not in timed} for line in lines]


@pytest.mark.parametrize("sharing", ["unified", "specialist"])
def test_a_resumed_run_is_the_straight_one(tmp_path: Path, sharing: str) -> None:
    console, change = Console(quiet=True), f"method.sharing={sharing}"
    train(small_recipe("rounds=4", change), tmp_path / "straight", console)
    train(small_recipe("rounds=2", change), tmp_path / "resumed", console)
    resume(tmp_path / "resumed", 4, console)
    assert rows(tmp_path / "straight") == rows(tmp_path / "resumed")
    last = [
        sorted((tmp_path / name / "checkpoints").glob("round_0004/**/*.safetensors"))
        for name in ("straight", "resumed")
    ]
    assert len(last[0]) == 3
    for one, other in zip(*last, strict=True):
        assert load_file(one)["weights"].tolist() == load_file(other)["weights"].tolist()
    report = (tmp_path / "resumed" / "report.html").read_text(encoding="utf-8")
    assert "This run is a simulation" in report
    with pytest.raises(UserError, match="holds no language model to evaluate"):
        refuse_unfit("resumed", recipe_of(str(tmp_path / "resumed")), [])


def test_the_plan_is_the_papers_round() -> None:
    found = plan(load_recipe(RECIPE))
    assert (found["per_round"]["emitted"], found["per_round"]["total_rollouts"], found["rounds"]) == (144, 1152, 8)
    assert found["weights_and_optimiser_megabytes"] is None


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["environments.zebra_logic.ladder=[[2,2]]"], r"environments.zebra_logic needs a language model.*give"),
        (["engine.kind=local"], r"environments.simulated teaches a language model nothing.*give engine.kind"),
        (["secret.training=kept"], r"secret.training = 'kept' goes with engine.kind = 'local'; leave it out"),
        (["prompts.pack=chat"], r"engine.kind = 'simulated' reads no prose.*give prompts.pack = 'compact'"),
        (["engine.device=cuda"], r"engine.device = 'cuda' goes with engine.kind = 'local'; leave it out"),
        (["backbone.name=micro"], r"backbone.name = 'micro' goes with engine.kind = 'local'; leave it out"),
        (["simulation.noise=1.5"], r"simulation.noise = 1.5 is not accepted: give a number of at most 1"),
        (["simulation.skil=1"], r"unknown key simulation.skil = 1; the nearest key is simulation.skill"),
    ],
)
def test_wrong_mixtures_are_one_line(overrides: list[str], words: str) -> None:
    with pytest.raises(UserError, match=words) as refusal:
        load_recipe(RECIPE, overrides)
    assert "\n" not in str(refusal.value)


def test_simulation_keys_are_refused_elsewhere() -> None:
    with pytest.raises(UserError, match=r"simulation.skill = 0.5 goes with engine.kind = 'simulated'"):
        load_recipe(RECIPE.with_name("lure-micro.toml"), ["simulation.skill=0.5"])
