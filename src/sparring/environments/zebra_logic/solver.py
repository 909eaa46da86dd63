"""A SAT solver for logic grids: which grids satisfy a set of clues."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from types import TracebackType
from typing import Any

from pysat.solvers import Solver

from sparring.environments.zebra_logic.grid import ALLOWS, HOUSE, Clue, ClueKind, Grid, Item, grid_of, item_number


class GridSolver:
    """Finds the grids of one size that satisfy clues. Use as a context manager, or call `close`.

    Variable 1 + item * houses + place says that an item lives at a place; items are numbered row by
    row. A clue on a house is a variable or its negation. Any other clue has a variable of its own, a
    switch, and counts while that is assumed.
    """

    def __init__(self, houses: int, attributes: int) -> None:
        """State that every value of an attribute has one place and every place one value."""
        self.houses, self.attributes = houses, attributes
        self._last_variable = attributes * houses * houses
        self._switches: dict[Clue, int] = {}
        self._solver: Any
        clauses = _placement_clauses(houses, attributes)
        self._solver = Solver(name="minisat22", bootstrap_with=clauses)  # type: ignore[no-untyped-call]

    def __enter__(self) -> GridSolver:
        """The solver itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Free the solver's memory."""
        self.close()

    def close(self) -> None:
        """Free the solver's memory."""
        self._solver.delete()

    def literal(self, clue: Clue) -> int:
        """What to assume so that a clue counts."""
        switch = self._switches.get(clue)
        if switch is None:
            switch = self._switches[clue] = self._add(clue)
        return switch

    def exclude(self, places: Sequence[int]) -> None:
        """Rule out one grid, by the places of its items."""
        self._solver.add_clause([-self._variable(item, places[item]) for item in range(self.attributes * self.houses)])

    def places(self, assumptions: Sequence[int]) -> list[int] | None:
        """The place of every item in some grid under the assumptions; None when there is none."""
        if not self._solver.solve(assumptions=assumptions):
            return None
        model = self._solver.get_model()[: self.attributes * self.houses**2]
        return [(literal - 1) % self.houses for literal in model if literal > 0]

    def elsewhere(self, item: int, place: int) -> int:
        """What to assume so that an item is not at a place."""
        return -self._variable(item, place)

    def _variable(self, item: int, place: int) -> int:
        return 1 + item * self.houses + place

    def _number(self, item: Item) -> int:
        return item_number(item, self.houses, self.attributes)

    def _add(self, clue: Clue) -> int:
        """Bring a clue to the solver's knowledge, and say by which literal it counts."""
        on_house = clue.kind in (ClueKind.FOUND_AT, ClueKind.NOT_AT)
        if on_house != (clue.second.attribute == HOUSE) or clue.first.attribute == HOUSE:
            raise ValueError(f"{clue}: found_at and not_at speak of a value and a house, other kinds of two values")
        if on_house:
            variable = self._variable(self._number(clue.first), clue.second.value)
            return variable if clue.kind is ClueKind.FOUND_AT else -variable
        self._last_variable += 1
        switch = self._last_variable
        first, second = (1 + self._number(item) * self.houses for item in (clue.first, clue.second))
        there, here = _partners(clue.kind, self.houses)
        clauses = [[-switch, -first - at, *[second + place for place in places]] for at, places in enumerate(there)]
        clauses += [[-switch, -second - at, *[first + place for place in places]] for at, places in enumerate(here)]
        self._solver.append_formula(clauses)
        return switch


@cache
def _partners(kind: ClueKind, houses: int) -> tuple[list[list[int]], list[list[int]]]:
    """Where a kind allows the second item for each place of the first, and the first for each of the second."""
    allows, street = ALLOWS[kind], range(houses)
    return (
        [[there for there in street if allows(there - here)] for here in street],
        [[here for here in street if allows(there - here)] for there in street],
    )


@cache
def _placement_clauses(houses: int, attributes: int) -> list[list[int]]:
    """Every value of an attribute has one place and every place one value."""
    clauses: list[list[int]] = []
    for attribute in range(attributes):
        rows = [
            [1 + (attribute * houses + value) * houses + place for place in range(houses)] for value in range(houses)
        ]
        for line in (*rows, *map(list, zip(*rows, strict=True))):
            clauses.append(line)
            clauses += [[-one, -other] for index, one in enumerate(line) for other in line[:index]]
    return clauses


def solutions(houses: int, attributes: int, clues: Iterable[Clue], limit: int = 2) -> list[Grid]:
    """Up to `limit` grids that satisfy the clues; a list of one means that the grid is unique."""
    found: list[Grid] = []
    with GridSolver(houses, attributes) as solver:
        counted = [solver.literal(clue) for clue in clues]
        while len(found) < limit and (places := solver.places(counted)) is not None:
            found.append(grid_of(places, houses, attributes))
            solver.exclude(places)
    return found


def settled_cells(houses: int, attributes: int, clues: Iterable[Clue]) -> set[tuple[int, int]]:
    """The cells, as (attribute, house), whose value the clues settle. The clues must have a solution."""
    with GridSolver(houses, attributes) as solver:
        counted = [solver.literal(clue) for clue in clues]
        places = solver.places(counted)
        if places is None:
            raise ValueError("the clues contradict one another")
        return {
            (item // houses, place)
            for item, place in enumerate(places)
            if solver.places([*counted, solver.elsewhere(item, place)]) is None
        }
