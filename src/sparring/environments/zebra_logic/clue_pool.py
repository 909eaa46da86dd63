"""A pool of grids that the clues of a puzzle must rule out, and the removal of clues against it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sparring.environments.zebra_logic.grid import ALLOWS, Clue, ClueKind, item_number

# A pool that does not hold every grid is halved at this many, which bounds the memory of a size to some 5 MB.
_POOL_AT_MOST = 16_384
# This many clues are mostly enough to leave one grid.
_FIRST_PART = 128
# Grids enter the long integers this many at a time.
_BATCH = 64


# Clues by their index, in the order in which they are kept.
Order = NDArray[np.intp]


class GridPool:
    """Grids other than the solution, by the clues that each satisfies."""

    def __init__(self, houses: int, attributes: int, clues: Sequence[Clue]) -> None:
        """An empty pool."""
        self._houses, self._attributes = houses, attributes
        self._first = np.array([item_number(clue.first, houses, attributes) for clue in clues])
        self._second = np.array([item_number(clue.second, houses, attributes) for clue in clues])
        # Row by row, a kind's answers at all distances; the entry for distance 0 of each clue's kind.
        kinds, distances = list(ClueKind), range(-houses, houses + 1)
        self._allows = np.array([ALLOWS[kind](distance) for kind in kinds for distance in distances])
        self._at_zero = np.array([kinds.index(clue.kind) * len(distances) + houses for clue in clues])
        self._street = [*range(houses)]
        self._count = 0
        self._masks = [0] * len(clues)
        self._new = np.zeros(len(clues), dtype=np.uint64)
        self._new_count = 0

    def fits(self, places: list[int]) -> NDArray[np.bool_]:
        """Which clues a grid satisfies."""
        at = np.array(places + self._street)
        fits: NDArray[np.bool_] = self._allows.take(self._at_zero + at.take(self._second) - at.take(self._first))
        return fits

    def add_every_grid(self) -> None:
        """Add every grid of the size but the solution."""
        rows = np.array([*itertools.permutations(range(self._houses))])
        picks = np.indices((len(rows),) * self._attributes).reshape(self._attributes, -1)[:, 1:]
        houses = np.broadcast_to(np.arange(self._houses), (picks.shape[1], self._houses))
        at = np.concatenate([*(rows[pick] for pick in picks), houses], axis=1).T
        for index, (zero, first, second) in enumerate(zip(self._at_zero, self._first, self._second, strict=True)):
            fits = self._allows.take(zero + at[second] - at[first])
            self._masks[index] = int.from_bytes(np.packbits(fits, bitorder="little").tobytes(), "little")
        self._count = picks.shape[1]

    def add(self, fits: NDArray[np.bool_]) -> None:
        """Add a grid by the clues it satisfies; when the pool is full the older half goes first."""
        self._new |= fits.astype(np.uint64) << np.uint64(self._new_count)
        self._new_count += 1
        if self._new_count == _BATCH:
            if self._count >= _POOL_AT_MOST:
                half = self._count // 2
                self._masks = [mask >> half for mask in self._masks]
                self._count -= half
            self._masks = [mask | new << self._count for mask, new in zip(self._masks, self._new.tolist(), strict=True)]
            self._count += _BATCH
            self._new[:] = 0
            self._new_count = 0

    def thin_out(self, free: Sequence[int], order: Order) -> list[int]:
        """The clues of `order` that are left when each, from the last to the first, goes if it can.

        A clue can go if those before it and those kept after it, with `free`, leave no grid of the pool.
        """
        masks = self._masks
        left, new_left = (1 << self._count) - 1, (1 << self._new_count) - 1
        for index in free:
            left &= masks[index]
            new_left &= int(self._new[index])
        before: list[tuple[int, int, int, int]] = []
        for index, new in self._in_parts(order):
            if not left and not new_left:
                break
            before.append((index, left, new, new_left))
            left &= masks[index]
            new_left &= new
        kept: list[int] = []
        allowed = new_allowed = -1
        for index, left, new, new_left in reversed(before):
            if left & allowed or new_left & new_allowed:
                kept.append(index)
                allowed &= masks[index]
                new_allowed &= new
        return kept

    def _in_parts(self, order: Order) -> Iterator[tuple[int, int]]:
        """Each clue with what is new about it; the first few, which mostly suffice, before the rest."""
        for part in (order[:_FIRST_PART], order[_FIRST_PART:]):
            yield from zip(part.tolist(), self._new.take(part).tolist(), strict=True)
