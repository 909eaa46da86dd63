"""Logic grids: houses in a row, attributes whose values each live in one house, and clues.

A clue compares the places of two items: second minus first must be a distance its kind allows.
House numbers are items too, of an attribute `HOUSE` whose places are known, so "red is in house 2"
and "red is where tea is" are one and the same comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

# The attribute index of house numbers: the last row of any table of places.
HOUSE = -1

# grid[attribute][house] is the index of a value.
Grid = tuple[tuple[int, ...], ...]


class ClueKind(StrEnum):
    """The clue types of ZebraLogic, those with a direction in both directions."""

    FOUND_AT = "found_at"
    SAME_HOUSE = "same_house"
    NOT_AT = "not_at"
    DIRECT_LEFT = "direct_left"
    DIRECT_RIGHT = "direct_right"
    SIDE_BY_SIDE = "side_by_side"
    LEFT_OF = "left_of"
    RIGHT_OF = "right_of"
    ONE_BETWEEN = "one_between"
    TWO_BETWEEN = "two_between"


# Whether a kind holds at a distance, the place of the second item minus that of the first.
ALLOWS: dict[ClueKind, Callable[[int], bool]] = {
    ClueKind.FOUND_AT: lambda distance: distance == 0,
    ClueKind.SAME_HOUSE: lambda distance: distance == 0,
    ClueKind.NOT_AT: lambda distance: distance != 0,
    ClueKind.DIRECT_LEFT: lambda distance: distance == 1,
    ClueKind.DIRECT_RIGHT: lambda distance: distance == -1,
    ClueKind.SIDE_BY_SIDE: lambda distance: abs(distance) == 1,
    ClueKind.LEFT_OF: lambda distance: distance > 0,
    ClueKind.RIGHT_OF: lambda distance: distance < 0,
    ClueKind.ONE_BETWEEN: lambda distance: abs(distance) == 2,
    ClueKind.TWO_BETWEEN: lambda distance: abs(distance) == 3,
}

_TURNED = {
    ClueKind.DIRECT_LEFT: ClueKind.DIRECT_RIGHT,
    ClueKind.DIRECT_RIGHT: ClueKind.DIRECT_LEFT,
    ClueKind.LEFT_OF: ClueKind.RIGHT_OF,
    ClueKind.RIGHT_OF: ClueKind.LEFT_OF,
}


class Item(NamedTuple):
    """A value of an attribute, or with attribute `HOUSE` the house with that index."""

    attribute: int
    value: int


class Clue(NamedTuple):
    """The place of `second` minus the place of `first` is a distance that `kind` allows."""

    kind: ClueKind
    first: Item
    second: Item

    def holds(self, grid: Grid) -> bool:
        """Whether the clue is true of a grid."""
        first, second = (
            item.value if item.attribute == HOUSE else grid[item.attribute].index(item.value)
            for item in (self.first, self.second)
        )
        return ALLOWS[self.kind](second - first)

    def turned(self) -> Clue:
        """The same fact told from the other item: "tea is right of red" for "red is left of tea"."""
        return Clue(_TURNED.get(self.kind, self.kind), self.second, self.first)


@dataclass(frozen=True)
class Puzzle:
    """A grid and the clues that determine it: cells given away, and a minimal set of further clues."""

    grid: Grid
    given: tuple[Clue, ...]
    further: tuple[Clue, ...]

    @property
    def clues(self) -> tuple[Clue, ...]:
        """All clues."""
        return self.given + self.further


def item_number(item: Item, houses: int, attributes: int) -> int:
    """The number of an item when items are counted row by row, the house numbers last."""
    return item.attribute % (attributes + 1) * houses + item.value


def grid_of(places: Sequence[int], houses: int, attributes: int) -> Grid:
    """The grid in which each item, by its number, has its place."""
    rows = []
    for attribute in range(attributes):
        row = [0] * houses
        for value in range(houses):
            row[places[attribute * houses + value]] = value
        rows.append(tuple(row))
    return tuple(rows)
