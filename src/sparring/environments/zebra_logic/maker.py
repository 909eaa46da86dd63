"""Draws logic puzzles: one grid, exactly one solution, and no clue that could be left out.

All true clues of a grid are removed one by one, in an order drawn by weight, wherever the grid
stays the only one (SPEC 1.4). What is left depends on that order alone, not on how it is found.

It is found fast by three observations.

- Only the places of items matter, so the solution may be taken to be "value i lives in house i" for
  every attribute; values are renamed at the end. The list of true clues is then the same for all
  puzzles of a size.
- So are the other grids that clues must rule out. They are kept in a pool, a bit per grid in one
  long integer per clue; the removal becomes a few hundred bitwise operations.
- If the clues that are left rule out every grid, and not just those of the pool, then the result is
  that of the full removal: with more grids to rule out no more clues could have gone, and none of
  those that went was needed. For small sizes the pool holds every grid. For others a SAT solver is
  asked for a grid that was missed; it goes into the pool and the removal is done again, until the
  solver proves that there is none.

A propagator compiled by numba would be faster still at 6x6, for 200 MB of installation and a compiler's
wait at the first puzzle. Puzzles come faster than rollouts use them without it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from functools import cache

import numpy as np

from sparring.environments.zebra_logic.clue_pool import GridPool, Order
from sparring.environments.zebra_logic.grid import ALLOWS, HOUSE, Clue, ClueKind, Item, Puzzle
from sparring.environments.zebra_logic.solver import GridSolver

# How readily a clue is removed while a puzzle is thinned out. Fitted so that the mix of kinds over the
# 25 official sizes is that of the 1000 official puzzles (mean 10.4 clues, 41 % of them same_house).
_REMOVAL_WEIGHTS: dict[ClueKind, float] = {
    ClueKind.FOUND_AT: 1.0,
    ClueKind.SAME_HOUSE: 0.74,
    ClueKind.NOT_AT: 1.05,
    ClueKind.DIRECT_LEFT: 1.65,
    ClueKind.SIDE_BY_SIDE: 1.88,
    ClueKind.LEFT_OF: 1.58,
    ClueKind.ONE_BETWEEN: 1.97,
    ClueKind.TWO_BETWEEN: 2.07,
}
_PAIR_KINDS = [kind for kind in _REMOVAL_WEIGHTS if kind not in (ClueKind.FOUND_AT, ClueKind.NOT_AT)]

# Sizes with up to this many grids have all of them in the pool.
_GRIDS_AT_MOST = 50_000
# A solver is replaced after this many puzzles: one that knows more clues than it needs is slow.
_PUZZLES_PER_SOLVER = 10


def make_puzzle(houses: int, attributes: int, given: float, rng: random.Random) -> Puzzle:
    """A random grid, a share of its cells given away, and a minimal set of further clues."""
    maker = _maker(houses, attributes)
    cells = houses * attributes
    free = rng.sample(range(cells), round(given * cells))
    kept = maker.thin_out(free, rng)
    names = [rng.sample(range(houses), houses) for _ in range(attributes)]

    def renamed(index: int) -> Clue:
        kind, first, second = maker.clues[index]
        first = Item(first.attribute, names[first.attribute][first.value])
        if second.attribute == HOUSE:
            return Clue(kind, first, second)
        clue = Clue(kind, first, Item(second.attribute, names[second.attribute][second.value]))
        return clue.turned() if rng.random() < 0.5 else clue

    return Puzzle(tuple(map(tuple, names)), tuple(map(renamed, free)), tuple(map(renamed, kept)))


class _PuzzleMaker:
    """Everything that puzzles of one size share: true clues, the pool, the solver.

    The state grows from puzzle to puzzle, and only the time that a puzzle takes depends on it.
    """

    def __init__(self, houses: int, attributes: int) -> None:
        """List the true clues of the grid in which value i lives in house i."""
        self._size = houses, attributes
        self.clues = _true_clues(houses, attributes)
        self._weights = np.array([_REMOVAL_WEIGHTS[clue.kind] for clue in self.clues])
        self._pool = GridPool(houses, attributes, self.clues)
        self._complete = math.factorial(houses) ** attributes <= _GRIDS_AT_MOST
        if self._complete:
            self._pool.add_every_grid()
        self._solver, self._literals, self._puzzles = self._new_solver(), dict[int, int](), 0

    def thin_out(self, free: Sequence[int], rng: random.Random) -> list[int]:
        """The clues, by their index, that are kept besides `free` when all others go one by one if they can."""
        order = self._order(free, rng)
        if self._complete:
            return self._pool.thin_out(free, order)
        if self._puzzles == _PUZZLES_PER_SOLVER:
            self._solver.close()
            self._solver, self._literals, self._puzzles = self._new_solver(), {}, 0
        self._puzzles += 1
        while True:
            kept = self._pool.thin_out(free, order)
            if not self._find_missed(free, kept, order):
                return kept

    def _order(self, free: Sequence[int], rng: random.Random) -> Order:
        """The clues except `free`; the later a clue the sooner it is removed, drawn by the weights.

        Exponential clocks ring in the order of weighted sampling without replacement.
        """
        drawn = np.frombuffer(rng.randbytes(4 * len(self.clues)), dtype="<u4")
        rings = np.log((drawn + 0.5) / 2**32) / self._weights
        order: Order = rings.argsort(kind="stable")
        return order[~np.isin(order, free)] if free else order

    def _new_solver(self) -> GridSolver:
        """A solver that knows no clue yet, and that is never to name the solution."""
        houses, attributes = self._size
        solver = GridSolver(houses, attributes)
        solver.exclude([*range(houses)] * attributes)
        return solver

    def _literal(self, index: int) -> int:
        literal = self._literals.get(index)
        if literal is None:
            literal = self._literals[index] = self._solver.literal(self.clues[index])
        return literal

    def _find_missed(self, free: Sequence[int], kept: Sequence[int], order: Order) -> bool:
        """Add to the pool a grid that `free` and `kept` allow; False when there is none.

        The longer the stretch of `order` that a grid satisfies, the more it says about what must be
        kept. So after each grid found one is asked for that satisfies more of it.
        """
        assumed = [self._literal(index) for index in (*free, *kept)]
        places = self._solver.places(assumed)
        if places is None:
            return False
        while places is not None:
            fits = self._pool.fits(places)
            stretch = order[: 1 + fits.take(order).argmin()]
            places = self._solver.places([*assumed, *map(self._literal, stretch.tolist())])
        self._pool.add(fits)
        return True


@cache
def _maker(houses: int, attributes: int) -> _PuzzleMaker:
    return _PuzzleMaker(houses, attributes)


def _true_clues(houses: int, attributes: int) -> tuple[Clue, ...]:
    """Every true clue of the grid in which value i lives in house i, the cells' own clues first.

    A clue that can be told from either of its two items is listed once.
    """
    items = [Item(attribute, house) for attribute in range(attributes) for house in range(houses)]
    clues = [Clue(ClueKind.FOUND_AT, item, Item(HOUSE, item.value)) for item in items]
    for item in items:
        others = (house for house in range(houses) if house != item.value)
        clues += [Clue(ClueKind.NOT_AT, item, Item(HOUSE, house)) for house in others]
        for other in items:
            if (item.value, item.attribute) < (other.value, other.attribute):
                distance = other.value - item.value
                clues += [Clue(kind, item, other) for kind in _PAIR_KINDS if ALLOWS[kind](distance)]
    return tuple(clues)
