"""A few episodes to read, taken from the rollouts that a run stored.

For the first and the last round, and for each environment, the first captured and the first failed
rollout in file order: picked by rule, so they show what is usual and not what looks best.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from sparring.errors import UserError


@dataclass(frozen=True)
class EpisodeTurn:
    """One executor turn, as the reader sees it."""

    stage: int
    text: str
    observation: str
    progress: float | None
    gain: float | None
    reward: float | None
    well_formed: bool
    stop: str


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
    files = sorted((folder / "rollouts").glob("round_*.jsonl"))
    ends = files if len(files) < 2 else [files[0], files[-1]]
    return [episode for path in ends for episode in episodes_of_round(path, environments)]


def episodes_of_round(path: Path, environments: Sequence[str]) -> list[Episode]:
    """The first captured and the first failed rollout of each environment in one file."""
    wanted = [(environment, captured) for environment in environments for captured in (True, False)]
    found: dict[tuple[str, bool], Episode] = {}
    for row in rollout_rows(path):
        key = (row["environment"], row["captured"])
        if row["error"] is None and key in wanted and key not in found:
            found[key] = episode_from(row, int(path.stem.removeprefix("round_")))
            if len(found) == len(wanted):
                break
    return [found[key] for key in wanted if key in found]


def rollout_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    """The rollouts of one file, one at a time: a file may be large."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise UserError(f"{path} line {number} is not JSON ({error.msg}); resume the run to mend it") from None


def episode_from(row: Mapping[str, Any], number: int) -> Episode:
    """One stored rollout of round `number`."""
    names = [field.name for field in fields(EpisodeTurn)]
    turns = (EpisodeTurn(**{name: turn[name] for name in names}) for turn in row["turns"])
    return Episode(
        round=number,
        environment=row["environment"],
        difficulty=row["difficulty"],
        signature=row["signature"],
        statement=row["statement"],
        plan_text=row["plan"]["text"],
        stages=tuple(row["plan"]["stages"]),
        plan_well_formed=row["plan"]["well_formed"],
        turns=tuple(turns),
        captured=row["captured"],
        progress=row["progress"],
    )
