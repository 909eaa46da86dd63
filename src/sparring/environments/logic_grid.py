"""Logic grids: houses in a row, attributes whose values each live in one house, and clues.

A clue compares the places of two items: second minus first must be a distance its kind allows.
House numbers are items too, of an attribute `HOUSE` whose places are known, so "red is in house 2"
and "red is where tea is" are one and the same comparison. A SAT solver proves uniqueness.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pysat.solvers import Solver

# The attribute index of house numbers: the last row of any table of places.
HOUSE = -1

# grid[attribute][house] is the index of a value.
Grid = tuple[tuple[int, ...], ...]


class ClueKind(StrEnum):
    """The ten clue types of ZebraLogic."""

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


_ALLOWS: dict[ClueKind, Callable[[int], bool]] = {
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
_KINDS = list(ClueKind)

# How readily a clue is removed while a puzzle is thinned out. Fitted so that the mix of kinds over the
# 25 official sizes is that of the 1000 official puzzles (mean 10.4 clues, 41 % of them same_house).
_REMOVAL_WEIGHTS: dict[ClueKind, float] = {
    ClueKind.FOUND_AT: 1.0,
    ClueKind.SAME_HOUSE: 0.74,
    ClueKind.NOT_AT: 1.05,
    ClueKind.DIRECT_LEFT: 1.65,
    ClueKind.DIRECT_RIGHT: 1.65,
    ClueKind.SIDE_BY_SIDE: 1.88,
    ClueKind.LEFT_OF: 1.58,
    ClueKind.RIGHT_OF: 1.58,
    ClueKind.ONE_BETWEEN: 1.97,
    ClueKind.TWO_BETWEEN: 2.07,
}


class Item(NamedTuple):
    """A value of an attribute, or with attribute `HOUSE` the house with that index."""

    attribute: int
    value: int


@dataclass(frozen=True)
class Clue:
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
        return _ALLOWS[self.kind](second - first)


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


class GridSolver:
    """Finds the grids of one size that satisfy clues. Use as a context manager.

    Variable 1 + item * houses + place says that an item lives at a place; items are numbered row by
    row, the house numbers last.
    """

    def __init__(self, houses: int, attributes: int) -> None:
        """State that every value of an attribute has one place and every place one value."""
        self.houses, self.attributes = houses, attributes
        self._switches = (attributes + 1) * houses * houses
        clauses: list[list[int]] = []
        for row in range(0, attributes * houses, houses):
            for one in range(houses):
                clauses.append([self._variable(row + one, place) for place in range(houses)])
                clauses.append([self._variable(row + value, one) for value in range(houses)])
                for other in range(one):
                    for third in range(houses):
                        clauses.append([-self._variable(row + third, one), -self._variable(row + third, other)])
                        clauses.append([-self._variable(row + one, third), -self._variable(row + other, third)])
        for house in range(houses):
            for place in range(houses):
                literal = self._variable(attributes * houses + house, place)
                clauses.append([literal if place == house else -literal])
        self._solver: Any
        self._solver = Solver(name="minisat22", bootstrap_with=clauses)  # type: ignore[no-untyped-call]

    def __enter__(self) -> GridSolver:
        """The solver itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Free the solver's memory."""
        self._solver.delete()

    def number(self, item: Item) -> int:
        """The row-by-row number of an item."""
        return item.attribute % (self.attributes + 1) * self.houses + item.value

    def add(self, clue: Clue) -> int:
        """Add a clue that counts while the returned switch is among the assumptions of `places`."""
        self._switches += 1
        first, second, allows = self.number(clue.first), self.number(clue.second), _ALLOWS[clue.kind]
        for here in range(self.houses):
            for item, other, sign in ((first, second, 1), (second, first, -1)):
                allowed = [
                    self._variable(other, there) for there in range(self.houses) if allows(sign * (there - here))
                ]
                self._solver.add_clause([-self._switches, -self._variable(item, here), *allowed])
        return self._switches

    def exclude(self, places: Sequence[int]) -> None:
        """Rule out one grid, by the places of its items."""
        self._solver.add_clause([-self._variable(item, places[item]) for item in range(self.attributes * self.houses)])

    def places(self, switches: Sequence[int], refuted: tuple[int, int] | None = None) -> list[int] | None:
        """The place of every item in some grid under the switched-on clues; None when there is none.

        refuted: an item and a place that it must not have.
        """
        assumptions = list(switches)
        if refuted is not None:
            assumptions.append(-self._variable(*refuted))
        if not self._solver.solve(assumptions=assumptions):
            return None
        model = self._solver.get_model()[: (self.attributes + 1) * self.houses**2]
        return [(literal - 1) % self.houses for literal in model if literal > 0]

    def _variable(self, item: int, place: int) -> int:
        return 1 + item * self.houses + place


def solutions(houses: int, attributes: int, clues: Iterable[Clue], limit: int = 2) -> list[Grid]:
    """Up to `limit` grids that satisfy the clues; a list of one means that the grid is unique."""
    found: list[Grid] = []
    with GridSolver(houses, attributes) as solver:
        switches = [solver.add(clue) for clue in clues]
        while len(found) < limit and (places := solver.places(switches)) is not None:
            found.append(_grid(places, houses, attributes))
            solver.exclude(places)
    return found


def settled_cells(houses: int, attributes: int, clues: Iterable[Clue]) -> set[tuple[int, int]]:
    """The cells, as (attribute, house), whose value the clues settle. The clues must have a solution."""
    with GridSolver(houses, attributes) as solver:
        switches = [solver.add(clue) for clue in clues]
        places = solver.places(switches)
        if places is None:
            raise ValueError("the clues contradict one another")
        return {
            (item // houses, places[item])
            for item in range(attributes * houses)
            if solver.places(switches, (item, places[item])) is None
        }


def make_puzzle(houses: int, attributes: int, given: float, rng: random.Random) -> Puzzle:
    """A random grid, a share of its cells given away, and a minimal set of further clues.

    All true clues are listed and removed one by one, in an order sampled by weight, wherever the
    grid stays the only one.
    """
    grid = tuple(tuple(rng.sample(range(houses), houses)) for _ in range(attributes))
    clues = _true_clues(grid, rng)
    found = [clue for clue in clues if clue.kind is ClueKind.FOUND_AT]
    free = rng.sample(found, round(given * len(found)))
    # Exponential clocks ring in the order of weighted sampling without replacement; what is
    # removed last is kept first.
    rings = [(rng.expovariate(_REMOVAL_WEIGHTS[clue.kind]), clue) for clue in clues]
    by_keeping = [clue for _, clue in sorted(rings, key=lambda ring: ring[0], reverse=True) if clue not in free]
    return Puzzle(grid, tuple(free), _thin_out(grid, free, by_keeping))


def _thin_out(grid: Grid, free: Sequence[Clue], by_keeping: Sequence[Clue]) -> tuple[Clue, ...]:
    """What is left of `by_keeping` when each clue, from the last to the first, goes if it can.

    The clue that cannot go is the last of the shortest prefix that (with the clues kept already)
    leaves one grid. Every other grid that the kept clues allow is first contradicted at some
    index; that prefix ends at the largest of these indices. So other grids are asked for one at a
    time, each contradicted by the first clue that can, until there is none: a few dozen solver
    calls instead of one per clue, with the same result.
    """
    houses, attributes = len(grid[0]), len(grid)
    kept: list[Clue] = []
    with GridSolver(houses, attributes) as solver:
        solver.exclude([row.index(value) for row in grid for value in range(houses)])
        kinds = np.array([_KINDS.index(clue.kind) for clue in by_keeping], dtype=np.intp)
        first = np.array([solver.number(clue.first) for clue in by_keeping], dtype=np.intp)
        second = np.array([solver.number(clue.second) for clue in by_keeping], dtype=np.intp)
        allowed = np.array([[_ALLOWS[kind](step) for step in range(-houses, houses + 1)] for kind in _KINDS])
        fixed = [solver.add(clue) for clue in free]
        active: dict[int, int] = {}
        others: list[tuple[int, NDArray[np.bool_]]] = []
        while True:
            while (places := solver.places(fixed + list(active.values()))) is not None:
                at = np.array(places)
                contradicts = ~allowed[kinds, at[second] - at[first] + houses]
                index = int(contradicts.argmax())
                others.append((index, contradicts))
                active[index] = solver.add(by_keeping[index])
            if not others:
                return tuple(kept)
            last = max(index for index, _ in others)
            kept.append(by_keeping[last])
            fixed.append(active[last])
            others = [(index, contradicts) for index, contradicts in others if not contradicts[last]]
            active = {index: active[index] for index, _ in others}


def _true_clues(grid: Grid, rng: random.Random) -> list[Clue]:
    """Every true clue of a grid; which item of a pair is named first is drawn at random."""
    houses = len(grid[0])
    items = [(Item(attribute, value), house) for attribute, row in enumerate(grid) for house, value in enumerate(row)]
    rng.shuffle(items)
    clues: list[Clue] = []
    for index, (item, place) in enumerate(items):
        for house in range(houses):
            kind = ClueKind.FOUND_AT if house == place else ClueKind.NOT_AT
            clues.append(Clue(kind, item, Item(HOUSE, house)))
        for other, there in items[:index]:
            clues += [Clue(kind, item, other) for kind in _PAIR_KINDS if _ALLOWS[kind](there - place)]
    return clues


_PAIR_KINDS = [kind for kind in ClueKind if kind not in (ClueKind.FOUND_AT, ClueKind.NOT_AT)]


def _grid(places: Sequence[int], houses: int, attributes: int) -> Grid:
    """The grid in which each item has its place."""
    rows = []
    for attribute in range(attributes):
        row = [0] * houses
        for value in range(houses):
            row[places[attribute * houses + value]] = value
        rows.append(tuple(row))
    return tuple(rows)
