"""A few episodes to read, taken from the rollouts that a run stored.

For the first and the last round, and for each environment, the first captured and the first failed
rollout in file order: picked by rule, so they show what is usual and not what looks best.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparring.errors import UserError
from sparring.reports.metrics import StoredRow, checked


class EpisodeTurn(StoredRow):
    """One executor turn, as the reader sees it."""

    stage: int
    text: str
    observation: str
    progress: float | None
    gain: float | None
    reward: float | None
    well_formed: bool
    stop: str


class StoredPlan(StoredRow):
    """The plan of a stored rollout."""

    text: str
    stages: list[str]
    well_formed: bool


class StoredOutcome(StoredRow):
    """What every stored rollout holds, a broken one too."""

    environment: str
    captured: bool
    error: str | None


class StoredRollout(StoredOutcome):
    """A stored rollout that did not break."""

    difficulty: float
    signature: str
    statement: str
    plan: StoredPlan
    turns: list[EpisodeTurn]
    progress: float | None


@dataclass(frozen=True)
class Episode:
    """One stored rollout, as the reader sees it."""

    round: int
    environment: str
    difficulty: float
    signature: str
    statement: str
    plan_text: str
    stages: tuple[str, ...]
    plan_well_formed: bool
    turns: tuple[EpisodeTurn, ...]
    captured: bool
    progress: float | None


def chosen_episodes(folder: Path, environments: Sequence[str]) -> list[Episode]:
    """The episodes of the first and last round that stored any, in the order of the rounds."""
    rounds = {path.stem.removeprefix("round_"): path for path in (folder / "rollouts").glob("round_*.jsonl")}
    files = {int(number): path for number, path in rounds.items() if number.isdecimal()}
    ends = sorted({min(files), max(files)}) if files else []
    return [episode for number in ends for episode in episodes_of_round(files[number], number, environments)]


def episodes_of_round(path: Path, number: int, environments: Sequence[str]) -> list[Episode]:
    """The first captured and the first failed rollout of each environment in the file of round `number`."""
    wanted = [(environment, captured) for environment in environments for captured in (True, False)]
    found: dict[tuple[str, bool], Episode] = {}
    for where, row in rollout_rows(path):
        outcome = checked(StoredOutcome, row, where)
        key = (outcome.environment, outcome.captured)
        if outcome.error is None and key in wanted and key not in found:
            found[key] = episode_from(checked(StoredRollout, row, where), number)
            if len(found) == len(wanted):
                break
    return [found[key] for key in wanted if key in found]


def rollout_rows(path: Path) -> Iterator[tuple[str, Any]]:
    """The rollouts of one file and where each stands, one at a time: a file may be large."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            where = f"{path} line {number}"
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UserError(f"{where} is not JSON ({error}); restore the file or remove the line") from None
            yield where, row


def episode_from(rollout: StoredRollout, number: int) -> Episode:
    """One stored rollout of round `number`."""
    return Episode(
        round=number,
        environment=rollout.environment,
        difficulty=rollout.difficulty,
        signature=rollout.signature,
        statement=rollout.statement,
        plan_text=rollout.plan.text,
        stages=tuple(rollout.plan.stages),
        plan_well_formed=rollout.plan.well_formed,
        turns=tuple(rollout.turns),
        captured=rollout.captured,
        progress=rollout.progress,
    )
