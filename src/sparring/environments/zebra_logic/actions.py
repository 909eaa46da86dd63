"""The seam between a logic grid and its text: what a wording tells, and what it reads.

The two wordings (chat.py, compact.py) take the same grid and clues and give back the
same rows; only the text differs.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from sparring.environments.zebra_logic.grid import Clue, Grid
from sparring.tasks import Guide


@dataclass(frozen=True)
class Attribute:
    """One attribute of a puzzle: its column and values, how clues and the statement speak of them.

    phrases: ways to name the one who has a value.
    """

    column: str
    values: tuple[str, ...]
    phrases: tuple[str, ...] = ("{}",)
    line: str = ""


# One row of a grid under work: a value's index per house, None where unknown or unreadable.
Row = tuple[int | None, ...]


@dataclass(frozen=True)
class Action:
    """One executor turn: rows by attribute index that replace what stood, and the two flags."""

    rows: dict[int, Row] = field(default_factory=dict)
    done: bool = False
    submit: bool = False


@dataclass(frozen=True)
class Step:
    """One stage of a solution: its line of the plan, and the cells known at its end."""

    stage: str
    cells: Collection[tuple[int, int]]


class Wording(ABC):
    """The text side of a grid."""

    pools: tuple[Attribute, ...]

    @abstractmethod
    def guide(self, smallest: str, largest: str) -> Guide:
        """What the roles are told, with the range of sizes."""

    @abstractmethod
    def draw(self, houses: int, attributes: int, rng: random.Random) -> tuple[Attribute, ...]:
        """The attributes of a puzzle, with as many values as there are houses."""

    @abstractmethod
    def statement(self, attributes: Sequence[Attribute], clues: Sequence[Clue], rng: random.Random) -> str:
        """The public text of a puzzle; where there are several wordings they are drawn."""

    @abstractmethod
    def read(self, text: str, attributes: Sequence[Attribute]) -> Action | None:
        """The action that a turn's text means; None when it means none."""

    @abstractmethod
    def observation(self, well_formed: bool) -> str:
        """What the executor hears after a turn, whatever is right or wrong in it."""

    @abstractmethod
    def steps(self, attributes: Sequence[Attribute], clues: Sequence[Clue]) -> list[Step]:
        """A plan of 1 to 4 stages that ends with every cell."""

    @abstractmethod
    def write(self, attributes: Sequence[Attribute], grid: Grid, step: int, steps: Sequence[Step]) -> str:
        """The turn that carries out one step."""
