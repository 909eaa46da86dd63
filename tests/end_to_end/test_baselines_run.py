"""Small real runs of the baselines: they end at the budget, cost what the recipe says, and resume exactly."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.end_to_end.test_micro_run import CONSOLE, ROOT, SMALL, outcome

from sparring.config import Recipe, load_recipe
from sparring.planning import plan
from sparring.runs.folder import read_metrics
from sparring.training import resume, train

ROLLOUTS = 78
KILLED = {"r-zero-micro": (7, 14), "grpo-zero-micro": (9, 17)}
"""Moments of a run's writes at which it dies: after its first checkpoint, and when a later one stands."""


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARRING_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def recipe(name: str, *overrides: str) -> Recipe:
    return load_recipe(ROOT / "recipes" / f"{name}.toml", [*SMALL, f"budget.rollouts={ROLLOUTS}", *overrides])


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    return {name: train(recipe(name), folder / name, CONSOLE) for name in KILLED}


@pytest.mark.parametrize(("name", "moment"), [(name, moment) for name, both in KILLED.items() for moment in both])
def test_kill_9_then_resume_equals_the_straight_run(
    straight: dict[str, Path], name: str, moment: int, tmp_path: Path
) -> None:
    path = tmp_path / "killed"
    child = os.fork()
    if child == 0:
        left, replace = moment, os.replace

        def dying(*arguments: Any) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            replace(*arguments)

        os.replace = dying  # type: ignore[assignment]
        train(recipe(name), path, CONSOLE)
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert len(read_metrics(path)) < len(read_metrics(straight[name]))
    resume(path, None, CONSOLE)
    assert outcome(path) == outcome(straight[name])


def check_costs(folder: Path, given: Recipe) -> dict[str, Any]:
    """What holds for every method; returns its ledger."""
    summary: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    ledger: dict[str, Any] = summary["ledger"]
    assert summary["ledger_discrepancies"] == []
    assert summary["rollouts"] == ledger["total_rollouts"] == ROLLOUTS
    lines = [json.loads(line) for path in folder.glob("rollouts/*.jsonl") for line in path.read_text().splitlines()]
    assert sum(line["probe"] for line in lines) == ledger["probe_rollouts"]
    assert sum(not line["probe"] for line in lines) == ledger["train_rollouts"]
    rounds = len(read_metrics(folder)) - 1
    most = plan(given)["per_round"]["most_sampled_tokens"]
    for role, tokens in ledger["sampled_tokens"].items():
        assert tokens <= rounds * most[role]
        part = {"planner": "plan", "executor": "execution"}.get(role)
        if part:
            assert tokens == sum(line[part]["owners"].count("sampled") for line in lines)
    return ledger


def test_r_zero_probes_and_drops(straight: dict[str, Path]) -> None:
    ledger = check_costs(straight["r-zero-micro"], recipe("r-zero-micro"))
    assert ledger["probe_rollouts"] > 0
    assert ledger["dropped_tasks"] + ledger["trained_tasks"] == ledger["emitted"] - ledger["malformed"]
    rows = read_metrics(straight["r-zero-micro"])
    assert all(row["roles"]["evader"]["grad_norm"] is not None for row in rows[1:-1])
    assert all(row["notes"].get("label_agreement", 1.0) == 1.0 for row in rows[1:])


def test_grpo_zero_has_one_pool(straight: dict[str, Path]) -> None:
    folder = straight["grpo-zero-micro"]
    ledger = check_costs(folder, recipe("grpo-zero-micro"))
    assert ledger["probe_rollouts"] == ledger["dropped_tasks"] == 0
    emissions = [
        [json.loads(line) for line in path.read_text().splitlines()]
        for path in sorted((folder / "emissions").glob("*.jsonl"))
    ]
    pool = [(row["environment"], row["task"]) for row in emissions[0] if row["difficulty"] is not None]
    assert len(emissions) > 2
    for later in emissions[1:-1]:
        assert [(row["environment"], row["task"]) for row in later] == pool
    assert {(row["environment"], row["task"]) for row in emissions[-1]} <= set(pool)
    rows = read_metrics(folder)
    assert rows[1]["roles"]["evader"]["tokens"] > 0
    assert [row["roles"]["evader"]["tokens"] for row in rows[2:]] == [0] * (len(rows) - 2)
    assert all(row["roles"]["evader"]["grad_norm"] is None for row in rows[1:])


@pytest.mark.parametrize(
    ("name", "overrides"),
    [
        ("lure-micro", ()),
        ("lure-micro", ("placement.name=uniform", "objective.kl_reference=initial", "objective.epochs=2")),
        ("grpo-micro", ("engine.weights=lora", "objective.kl_reference=initial")),
        ("r-zero-micro", ("method.label=majority", "method.sharing=specialist")),
    ],
)
def test_every_method_ends_at_the_budget(name: str, overrides: tuple[str, ...], tmp_path: Path) -> None:
    given = recipe(name, *overrides)
    check_costs(train(given, tmp_path / "run", CONSOLE), given)
