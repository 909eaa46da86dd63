"""ZebraLogic: fill in a grid of houses and attributes from clues, over a few turns (SPEC 1.4).

The difficulty picks a rung of a ladder of sizes. The executor hands in partial grids; progress is
the best share of right cells so far, and a grid is captured when every cell of the one that stands
at the end is right. Nothing is ever said about what is right.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, NamedTuple

from pydantic import Field

from sparring.environments.base import (
    Environment,
    EnvironmentSettings,
    Episode,
    Solution,
    Verdict,
    best_progress,
    environment,
)
from sparring.environments.zebra_logic.actions import Attribute, Row, Wording
from sparring.environments.zebra_logic.chat import ChatWording
from sparring.environments.zebra_logic.compact import CompactWording
from sparring.environments.zebra_logic.grid import Clue, Grid
from sparring.environments.zebra_logic.maker import make_puzzle
from sparring.errors import UserError
from sparring.tasks import Guide, PromptPack, Task


class Rung(NamedTuple):
    """One step of the ladder: a size, and the share of cells given away as clues."""

    houses: Annotated[int, Field(ge=2, le=6)]
    attributes: Annotated[int, Field(ge=1, le=6)]
    given: Annotated[float, Field(ge=0.0, le=1.0)] = 0.0

    def __str__(self) -> str:
        """As in "3x2"."""
        return f"{self.houses}x{self.attributes}"


# The 25 official sizes by the number of grids they allow, (N!)^M.
OFFICIAL_LADDER = tuple(
    sorted(
        (Rung(houses, attributes) for houses in range(2, 7) for attributes in range(2, 7)),
        key=lambda rung: math.factorial(rung.houses) ** rung.attributes,
    )
)

# Small steps: cells are given away in a grid as it grows, and are then taken back.
COMPACT_LADDER = (
    Rung(2, 1, 1.0),
    Rung(2, 2, 1.0),
    Rung(3, 1, 1.0),
    Rung(3, 2, 1.0),
    Rung(3, 2, 0.8),
    Rung(3, 3, 0.9),
    Rung(3, 3, 0.8),
    Rung(4, 2, 0.8),
    Rung(4, 3, 0.8),
    Rung(4, 3, 0.6),
    Rung(4, 3, 0.3),
    Rung(4, 3, 0.0),
)

# Turns beyond one per attribute (SPEC 1.4: T_max = M + 4).
_SPARE_TURNS = 4


class ZebraLogicSettings(EnvironmentSettings):
    """ladder: rungs (houses, attributes, given share), easiest first; without one the pack's own."""

    ladder: Annotated[tuple[Rung, ...], Field(min_length=1)] | None = None


@dataclass(frozen=True)
class ZebraLogicSecret:
    """The grid, and what the statement was made from, in its order."""

    grid: Grid
    attributes: tuple[Attribute, ...]
    clues: tuple[Clue, ...]


@dataclass
class ZebraLogicEpisode(Episode[ZebraLogicSecret]):
    """rows: what stands in the grid, by attribute index."""

    rows: dict[int, Row] = field(default_factory=dict)


@environment("zebra_logic")
class ZebraLogic(Environment[ZebraLogicSettings, ZebraLogicSecret, ZebraLogicEpisode]):
    """Logic grids in both prompt packs."""

    settings_type = ZebraLogicSettings

    def __init__(self, settings: ZebraLogicSettings, pack: PromptPack) -> None:
        """Pick wording and ladder; UserError when a rung asks for more words than the pack has."""
        super().__init__(settings, pack)
        self._wording: Wording = ChatWording() if pack is PromptPack.CHAT else CompactWording()
        self.ladder = settings.ladder or (OFFICIAL_LADDER if pack is PromptPack.CHAT else COMPACT_LADDER)
        houses, attributes = len(self._wording.pools[0].values), len(self._wording.pools)
        for rung in self.ladder:
            if rung.houses > houses or rung.attributes > attributes:
                raise UserError(f"zebra_logic ladder rung {rung}: the {pack} pack goes up to {houses}x{attributes}")

    @property
    def guide(self) -> Guide:
        """What the roles are told."""
        return self._wording.guide(str(self.ladder[0]), str(self.ladder[-1]))

    def compact_words(self) -> Sequence[str]:
        """Every word of the compact wording."""
        return CompactWording().words()

    def generate(self, difficulty: float, seed: int) -> Task[ZebraLogicSecret]:
        """A grid of the rung nearest to the difficulty, determined by its clues."""
        rng = random.Random(seed)
        rung = self._rung(difficulty)
        puzzle = make_puzzle(rung.houses, rung.attributes, rung.given, rng)
        clues = tuple(rng.sample(puzzle.clues, len(puzzle.clues)))
        secret = ZebraLogicSecret(puzzle.grid, self._wording.draw(rung.houses, rung.attributes, rng), clues)
        statement = self._wording.statement(secret.attributes, clues, rng)
        return Task(self.public(statement, rung.attributes + _SPARE_TURNS), secret, difficulty, seed)

    def signature(self, task: Task[ZebraLogicSecret]) -> str:
        """The size, and the share given away where the ladder gives any away."""
        rung = self._rung(task.difficulty)
        size = f"houses={rung.houses},attributes={rung.attributes}"
        return f"{size},given={rung.given:g}" if any(step.given for step in self.ladder) else size

    def start(self, task: Task[ZebraLogicSecret]) -> ZebraLogicEpisode:
        """An empty grid."""
        return ZebraLogicEpisode(task)

    def step(self, episode: ZebraLogicEpisode, action: str) -> Verdict:
        """Put in what the turn says; a turn that ends the episode settles the grid that stands."""
        read = self._wording.read(action, episode.task.secret.attributes)
        if read is not None:
            episode.rows.update(read.rows)
        episode.turns += 1
        grid = episode.task.secret.grid
        cells = [
            value == right
            for index, row in enumerate(grid)
            for value, right in zip(episode.rows.get(index, (None,) * len(row)), row, strict=True)
        ]
        ended = episode.last_turn or (read is not None and read.submit)
        episode.progress = best_progress(episode.progress, sum(cells), len(cells), settled=ended)
        return Verdict(
            progress=episode.progress,
            captured=ended and all(cells),
            observation=self._wording.observation(read is not None),
            well_formed=read is not None,
            stage_done=read is not None and read.done,
            ended=ended,
        )

    def answer(self, episode: ZebraLogicEpisode) -> str | None:
        """The rows that stand, in order, blank ones left out; None for an empty grid."""
        filled = {index: row for index, row in episode.rows.items() if any(value is not None for value in row)}
        return repr(sorted(filled.items())) if filled else None

    def solve(self, task: Task[ZebraLogicSecret]) -> Solution:
        """One turn a stage, each with the cells that are known by then."""
        return self._written(task.secret, task.secret.grid)

    def mutate(self, task: Task[ZebraLogicSecret], seed: int) -> Solution:
        """The same solution with two values of one attribute exchanged wherever they are written."""
        rng = random.Random(seed)
        grid = list(task.secret.grid)
        index = rng.randrange(len(grid))
        row = list(grid[index])
        one, other = rng.sample(range(len(row)), 2)
        row[one], row[other] = row[other], row[one]
        grid[index] = tuple(row)
        return self._written(task.secret, tuple(grid))

    def with_other_secret(self, task: Task[ZebraLogicSecret], seed: int) -> Task[ZebraLogicSecret]:
        """The same text with a grid in which no house keeps a value of the first attribute."""
        grid = task.secret.grid
        rng = random.Random(seed)
        shift = rng.randrange(1, len(grid[0]))
        others = (tuple(rng.sample(row, len(row))) for row in grid[1:])
        swapped = (grid[0][shift:] + grid[0][:shift], *others)
        return replace(task, secret=replace(task.secret, grid=swapped))

    def _written(self, secret: ZebraLogicSecret, grid: Grid) -> Solution:
        """The plan for a puzzle and the turns that fill in a grid."""
        steps = self._wording.steps(secret.attributes, secret.clues)
        turns = (self._wording.write(secret.attributes, grid, step, steps) for step in range(len(steps)))
        return Solution(tuple(step.stage for step in steps), tuple(turns))

    def _rung(self, difficulty: float) -> Rung:
        """The rung of a difficulty."""
        return self.ladder[round((len(self.ladder) - 1) * difficulty)]
