"""Held-out generated tasks by difficulty: what capture means in every figure of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from sparring.environments.base import AnyEnvironment
from sparring.errors import UserError
from sparring.rollouts import Pursuers
from sparring.tasks import GenerationRefusedError, Task, derive_seed

# Seeds tried for one more held-out task before the level is held to have no other.
ATTEMPTS = 20


@dataclass(frozen=True)
class HeldoutTask:
    """A task, the level of the difficulty axis it was asked for, and its content key."""

    level: float
    task: Task[Any]
    key: str


def heldout_tasks(environments: Mapping[str, AnyEnvironment], levels: int, tasks_per_level: int) -> list[HeldoutTask]:
    """Up to `tasks_per_level` distinct tasks at each of `levels` evenly spaced difficulties, per environment.

    Their seeds are named "heldout", which no training seed's path begins with, and do not depend
    on the run's seed: all runs with the same environment settings share one held-out set. Where
    an environment has fewer tasks than are asked for (the smallest grids of the compact pack), a
    level holds those it has; such a world is small enough to come up in training too.
    """
    return [
        HeldoutTask(level, task, key)
        for name, environment in environments.items()
        for level in (np.linspace(0.0, 1.0, levels).tolist() if levels > 1 else [0.5])
        for key, task in _distinct(environment, name, level, tasks_per_level).items()
    ]


def _distinct(environment: AnyEnvironment, name: str, level: float, count: int) -> dict[str, Task[Any]]:
    """Tasks of one level by content key; UserError when there is none at all."""
    found: dict[str, Task[Any]] = {}
    refusal = None
    for index in range(count):
        for attempt in range(ATTEMPTS):
            try:
                task = environment.generate(level, derive_seed("heldout", name, round(1000 * level), index, attempt))
            except GenerationRefusedError as error:
                refusal = error
                continue
            key = environment.content_key(task)
            if key not in found:
                found[key] = task
                break
    if count and not found:
        raise UserError(
            f"environments.{name} makes no held-out task at difficulty {level:g} ({refusal}); widen its sizes"
        )
    return found


def measure_heldout(pursuers: Pursuers, tasks: list[HeldoutTask]) -> dict[str, Any]:
    """One greedy rollout a task: capture overall, per environment, and per level.

    Overall is the mean over environments of the mean over levels, each level counting the same.
    Rollouts that broke are left out of every rate and of n.
    """
    groups = pursuers.pursue([each.task for each in tasks], 1, derive_seed("heldout"))
    results: dict[str, dict[float, list[bool]]] = {}
    for each, group in zip(tasks, groups, strict=True):
        results.setdefault(each.task.public.environment, {}).setdefault(each.level, []).extend(group.outcomes)
    environments = {name: _environment_result(levels) for name, levels in results.items()}
    captures = [entry["capture"] for entry in environments.values() if entry["capture"] is not None]
    return {
        "capture": fmean(captures) if captures else None,
        "n": sum(entry["n"] for entry in environments.values()),
        "environments": environments,
    }


def _environment_result(levels: Mapping[float, list[bool]]) -> dict[str, Any]:
    measured = [outcomes for outcomes in levels.values() if outcomes]
    return {
        "capture": fmean(map(fmean, measured)) if measured else None,
        "n": sum(map(len, measured)),
        "by_difficulty": [
            [level, fmean(outcomes) if outcomes else None, len(outcomes)] for level, outcomes in levels.items()
        ],
    }
