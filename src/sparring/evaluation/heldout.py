"""Held-out generated tasks by difficulty: what capture means in every figure of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from sparring.environments.base import AnyEnvironment
from sparring.rollouts import Pursuers
from sparring.tasks import GenerationRefusedError, Task, derive_seed

# Seeds tried for one held-out task before the level is held to have none.
ATTEMPTS = 20


@dataclass(frozen=True)
class HeldoutTask:
    """A task and the level of the difficulty axis it was asked for."""

    level: float
    task: Task[Any]


def heldout_tasks(environments: Mapping[str, AnyEnvironment], levels: int, tasks_per_level: int) -> list[HeldoutTask]:
    """`tasks_per_level` tasks at each of `levels` evenly spaced difficulties, per environment.

    Their seeds are named "heldout", which no training seed's path begins with, and do not depend
    on the run's seed: all runs with the same environment settings share one held-out set.
    """
    found = []
    for name, environment in environments.items():
        for level in np.linspace(0.0, 1.0, levels).tolist() if levels > 1 else [0.5]:
            for index in range(tasks_per_level):
                found.append(HeldoutTask(level, _task(environment, name, level, index)))
    return found


def _task(environment: AnyEnvironment, name: str, level: float, index: int) -> Task[Any]:
    for attempt in range(ATTEMPTS):
        try:
            return environment.generate(level, derive_seed("heldout", name, round(1000 * level), index, attempt))
        except GenerationRefusedError as error:
            refusal = error
    raise refusal


def measure_heldout(pursuers: Pursuers, tasks: list[HeldoutTask]) -> dict[str, Any]:
    """One greedy rollout a task: capture overall, per environment, and per level.

    Overall is the mean over environments of the mean over tasks. Rollouts that broke are left out
    of every rate and of n.
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
    everything = [outcome for outcomes in levels.values() for outcome in outcomes]
    return {
        "capture": fmean(everything) if everything else None,
        "n": len(everything),
        "by_difficulty": [
            [level, fmean(outcomes) if outcomes else None, len(outcomes)] for level, outcomes in levels.items()
        ],
    }
