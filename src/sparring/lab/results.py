"""What the runs of a suite came to: each run's numbers, and each arm's against its reference."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from sparring.errors import UserError
from sparring.lab.statistics import Difference, Mean, holm, mean_interval, paired_difference
from sparring.lab.suite import Arm, Job, Suite
from sparring.runs.folder import read_metrics

ALL = "all"
"""The held-out success over all environments."""


@dataclass(frozen=True)
class Point:
    """A run after one round, its training measures as means over environments; None: not measured."""

    round: int
    rollouts: int
    cpu_seconds: float
    heldout: float | None
    mixed: float | None
    capture: float | None
    difficulty: float | None


@dataclass(frozen=True)
class RunResult:
    """One finished run: held-out success by environment and over all, before and after, and its course."""

    arm: str
    variant: str
    seed: int
    before: Mapping[str, float]
    after: Mapping[str, float]
    points: Sequence[Point]
    ledger: Mapping[str, Any]

    @property
    def mixed(self) -> float | None:
        """Share of mixed groups over the whole run."""
        return _mean([point.mixed for point in self.points])

    @property
    def capture(self) -> float | None:
        """Capture rate in training over the whole run."""
        return _mean([point.capture for point in self.points])


@dataclass(frozen=True)
class Line:
    """An arm of a variant over its seeds, and against its reference, whose own line has no difference.

    p: Holm's, over all comparisons of the suite.
    """

    arm: Arm
    variant: str
    runs: Sequence[RunResult]
    after: Mapping[str, Mean]
    difference: Difference | None
    p: float | None

    @property
    def title(self) -> str:
        """The arm's label, with its variant where there are some."""
        return f"{self.arm.title}, {self.variant}" if self.variant else self.arm.title

    def mean(self, measure: str) -> float | None:
        """Mean over seeds of `mixed` or `capture`."""
        return _mean([getattr(run, measure) for run in self.runs])

    @property
    def rollouts(self) -> float:
        """Mean over seeds."""
        return fmean(run.points[-1].rollouts for run in self.runs)

    @property
    def cpu_seconds(self) -> float:
        """Mean over seeds, evaluation included and the backbone's warm-up not."""
        return fmean(run.points[-1].cpu_seconds for run in self.runs)


def run_result(folder: Path, job: Job) -> RunResult:
    """The numbers of one finished run. UserError where its folder lacks them."""
    rows = read_metrics(folder)
    evaluated = [row["heldout"] for row in rows if row["heldout"]]
    if not evaluated:
        raise UserError(f"{folder} was never evaluated on held-out tasks; raise evaluation.tasks_per_level")
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    spent, points = 0.0, []
    for row in rows:
        spent += row["cpu_seconds"]
        points.append(
            Point(
                row["round"],
                row["rollouts"],
                spent,
                row["heldout"]["capture"] if row["heldout"] else None,
                *(_over_environments(row, name) for name in ("mixed", "capture", "difficulty_mean")),
            )
        )
    before, after = _rates(evaluated[0]), _rates(evaluated[-1])
    return RunResult(job.arm, job.variant, job.seed, before, after, points, summary["ledger"])


def lines_of(suite: Suite, results: Sequence[RunResult]) -> list[Line]:
    """Every arm with finished runs, in the order of the suite, one variant after the other.

    Differences are over the seeds that both arms have finished.
    """
    lines = []
    for variant in [variant.name for variant in suite.variants] or [""]:
        by_arm = {
            arm.name: {run.seed: run for run in results if (run.arm, run.variant) == (arm.name, variant)}
            for arm in suite.arms
        }
        for arm in suite.arms:
            runs = list(by_arm[arm.name].values())
            if not runs:
                continue
            names = runs[0].after
            after = {name: mean_interval([run.after[name] for run in runs]) for name in names}
            theirs = by_arm[arm.reference or suite.reference]
            difference = None
            if theirs is not by_arm[arm.name] and (common := [seed for seed in by_arm[arm.name] if seed in theirs]):
                difference = paired_difference(
                    [by_arm[arm.name][seed].after[ALL] for seed in common], [theirs[seed].after[ALL] for seed in common]
                )
            lines.append(Line(arm, variant, runs, after, difference, None))
    return _corrected(lines)


def _corrected(lines: Sequence[Line]) -> list[Line]:
    p_values = [line.difference.p for line in lines if line.difference and line.difference.p is not None]
    adjusted = iter(holm(p_values))
    return [
        Line(line.arm, line.variant, line.runs, line.after, line.difference, next(adjusted))
        if line.difference and line.difference.p is not None
        else line
        for line in lines
    ]


def as_json(suite: Suite, lines: Sequence[Line], failures: Mapping[str, str]) -> dict[str, Any]:
    """All of it as plain data."""
    return {
        "suite": suite.model_dump(mode="json"),
        "lines": [asdict(line) | {"arm": line.arm.name} for line in lines],
        "failures": dict(failures),
    }


def _rates(heldout: Mapping[str, Any]) -> dict[str, float]:
    entries = {ALL: heldout, **heldout["environments"]}
    return {name: entry["capture"] for name, entry in entries.items() if entry["capture"] is not None}


def _over_environments(row: Mapping[str, Any], measure: str) -> float | None:
    return _mean([entry[measure] for entry in row["environments"].values()])


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
