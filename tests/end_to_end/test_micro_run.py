"""A small run of the real thing: micro backbone, three environments, evader, updates, kill and resume."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from safetensors.torch import load_file

from sparring.config import Recipe, load_recipe
from sparring.engines.base import joint_report
from sparring.errors import UserError
from sparring.runs.folder import read_metrics
from sparring.training import resume, train

ROOT = Path(__file__).parents[2]
CONSOLE = Console(file=open(os.devnull, "w"))  # noqa: SIM115
SMALL = (
    "rounds=3",
    "backbone.warm_up_steps=80",
    "placement.slots=1",
    "placement.samples=3",
    "method.group_size=3",
    "evaluation.every=2",
    "evaluation.levels=2",
    "evaluation.tasks_per_level=2",
    "checkpoint.every=2",
)


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARRING_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def recipe(*overrides: str) -> Recipe:
    return load_recipe(ROOT / "recipes" / "lure-micro.toml", [*SMALL, *overrides])


def outcome(folder: Path) -> dict[str, Any]:
    """All that a resumed run must share with the straight one."""
    timed = {"seconds", "cpu_seconds"}
    rows = [{key: value for key, value in row.items() if key not in timed} for row in read_metrics(folder)]
    tasks = {path.name: path.read_text() for path in sorted(folder.glob("rollouts/*.jsonl"))}
    emissions = {path.name: path.read_text() for path in sorted(folder.glob("emissions/*.jsonl"))}
    newest = sorted(folder.glob("checkpoints/round_*"))[-1]
    weights = {
        str(path.relative_to(newest)): {name: tensor.tolist() for name, tensor in load_file(path).items()}
        for path in sorted(newest.rglob("*.safetensors"))
    }
    assert len(weights) == 3
    trained = json.loads((folder / "summary.json").read_text())["training_tasks"]
    return {"rows": rows, "tasks": tasks, "emissions": emissions, "weights": weights, "training_tasks": trained}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(recipe(), tmp_path_factory.mktemp("runs") / "whole", CONSOLE)


def test_a_device_that_is_not_there_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"engine.device = 'cuda:99' is not to be had \(.+\); give 'cpu'"):
        train(recipe("engine.device=cuda:99"), tmp_path / "run", CONSOLE)
    assert not (tmp_path / "run").exists()


def test_a_run_leaves_what_it_promises(whole: Path) -> None:
    rows = read_metrics(whole)
    assert [row["round"] for row in rows] == [0, 1, 2, 3]
    assert [row["heldout"] is not None for row in rows] == [True, False, True, True]
    assert rows[-1]["rollouts"] <= 3 * 3 * 3 * 3
    for role in ("evader", "planner", "executor"):
        assert rows[1]["roles"][role]["grad_norm"] is not None
        assert rows[1]["roles"][role]["sampler_gap"] < 1e-4
    summary = json.loads((whole / "summary.json").read_text())
    assert set(summary["heldout_after"]) == {"all", "phantom_wiki", "ifeval", "zebra_logic"}
    keys: dict[str, set[str]] = {}
    for line in "".join(path.read_text() for path in whole.glob("rollouts/*.jsonl")).splitlines():
        keys.setdefault(json.loads(line)["environment"], set()).add(json.loads(line)["task"])
    counts = {name: entry["distinct"] for name, entry in summary["training_tasks"].items()}
    assert counts == {name: len(found) for name, found in keys.items()}
    assert "<svg" in (whole / "report.html").read_text()
    row = json.loads((whole / "rollouts" / "round_0001.jsonl").read_text().splitlines()[0])
    sampled = [owner == "sampled" for owner in row["execution"]["owners"]]
    assert any(sampled)
    assert not all(sampled)
    assert all(kept == (log_prob != 0.0) for kept, log_prob in zip(sampled, row["execution"]["log_probs"], strict=True))


def test_the_same_recipe_gives_the_same_run(whole: Path, tmp_path: Path) -> None:
    """Guarantee 7."""
    assert outcome(train(recipe(), tmp_path / "again", CONSOLE)) == outcome(whole)


@pytest.mark.parametrize("moment", [4, 8, 13, 18, 23])
def test_kill_9_then_resume_equals_the_straight_run(whole: Path, tmp_path: Path, moment: int) -> None:
    """Guarantee 1, with real weights: SIGKILL at one of the run's writes."""
    path = tmp_path / "killed"
    child = os.fork()
    if child == 0:
        left = moment
        replace = os.replace

        def dying(*arguments: Any) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            replace(*arguments)

        os.replace = dying  # type: ignore[assignment]
        train(recipe(), path, CONSOLE)
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    resume(path, None, CONSOLE)
    assert outcome(path) == outcome(whole)


@pytest.mark.parametrize("placement", ["uniform", "thermostat", "frozen_pool"])
def test_every_placement_runs(placement: str, tmp_path: Path) -> None:
    folder = train(recipe(f"placement.name={placement}", "rounds=2"), tmp_path / placement, CONSOLE)
    rows = read_metrics(folder)
    assert rows[2]["roles"]["evader"]["kl"] is None
    assert rows[2]["environments"]["zebra_logic"]["capture"] is not None


def test_specialists_have_weights_of_their_own(tmp_path: Path) -> None:
    folder = train(recipe("method.sharing=specialist", "rounds=1"), tmp_path / "specialist", CONSOLE)
    stored = sorted(str(path.parent.name) for path in folder.glob("checkpoints/round_0001/weights/executor/*/weights*"))
    assert stored == ["ifeval", "phantom_wiki", "zebra_logic"]


def test_reports_of_specialists_are_joined_by_their_tokens() -> None:
    first = {"tokens": 10.0, "sequences": 2.0, "optimiser_steps": 4.0, "kl": 0.1}
    nothing = {"tokens": 0.0, "sequences": 0.0, "optimiser_steps": 0.0}
    second = {"tokens": 30.0, "sequences": 3.0, "optimiser_steps": 4.0, "kl": 0.5}
    joint = joint_report([first, nothing, second])
    assert joint == pytest.approx({"tokens": 40.0, "sequences": 5.0, "optimiser_steps": 8.0, "kl": 0.4})
    assert joint_report([]) == {}
