"""Puzzles have one grid, no superfluous clue, and are the same everywhere.

Both are proved by a solver of the test's own: another encoding, another engine.
"""

import itertools
import random
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pysat.solvers import Cadical153

from sparring.environments.zebra_logic import clue_pool, maker
from sparring.environments.zebra_logic.environment import OFFICIAL_LADDER
from sparring.environments.zebra_logic.grid import HOUSE, Clue, ClueKind, Grid, Item, Puzzle
from sparring.environments.zebra_logic.maker import make_puzzle

SIZES = st.sampled_from([(rung.houses, rung.attributes) for rung in OFFICIAL_LADDER] + [(4, 1), (6, 1)])
DISTANCES = {
    ClueKind.FOUND_AT: {0},
    ClueKind.SAME_HOUSE: {0},
    ClueKind.NOT_AT: {*range(-5, 6)} - {0},
    ClueKind.DIRECT_LEFT: {1},
    ClueKind.DIRECT_RIGHT: {-1},
    ClueKind.SIDE_BY_SIDE: {-1, 1},
    ClueKind.LEFT_OF: {*range(1, 6)},
    ClueKind.RIGHT_OF: {*range(-5, 0)},
    ClueKind.ONE_BETWEEN: {-2, 2},
    ClueKind.TWO_BETWEEN: {-3, 3},
}


def another_grid_fits(grid: Grid, clues: Iterable[Clue]) -> bool:
    """Whether some other grid satisfies the clues: pairs of places that a clue forbids, and nothing cleverer."""
    houses = range(len(grid[0]))
    number = {
        cell: index
        for index, cell in enumerate(itertools.product(range(len(grid)), houses, houses), start=1)  # item, place
    }
    clauses = [
        [-number[attribute, value, house] for attribute, row in enumerate(grid) for house, value in enumerate(row)]
    ]
    for attribute, value in itertools.product(range(len(grid)), houses):
        clauses.append([number[attribute, value, place] for place in houses])
        for other, place in itertools.product(houses, houses):
            if other != value:
                clauses.append([-number[attribute, value, place], -number[attribute, other, place]])
    for kind, first, second in clues:
        for here, there in itertools.product(houses, houses):
            if there - here not in DISTANCES[kind]:
                if second.attribute != HOUSE:
                    clauses.append([-number[*first, here], -number[*second, there]])
                elif second.value == there:
                    clauses.append([-number[*first, here]])
    solver: Any
    with Cadical153(bootstrap_with=clauses) as solver:  # type: ignore[no-untyped-call]
        fits: bool = solver.solve()
    return fits


def superfluous(puzzle: Puzzle) -> list[Clue]:
    """The further clues without which the grid is still the only one."""
    rests = {clue: [other for other in puzzle.clues if other != clue] for clue in puzzle.further}
    return [clue for clue, rest in rests.items() if not another_grid_fits(puzzle.grid, rest)]


@settings(max_examples=60, deadline=None)
@given(SIZES, st.just(0.0) | st.floats(0, 1), st.integers(0, 10**9))
def test_a_puzzle_has_one_grid_and_no_superfluous_clue(size: tuple[int, int], share: float, seed: int) -> None:
    houses, attributes = size
    puzzle = make_puzzle(houses, attributes, share, random.Random(seed))
    assert [len(row) for row in puzzle.grid] == [houses] * attributes
    assert len(puzzle.given) == round(share * houses * attributes)
    assert {clue.kind for clue in puzzle.given} <= {ClueKind.FOUND_AT}
    assert len(set(puzzle.clues)) == len(puzzle.clues)
    assert all(clue.holds(puzzle.grid) for clue in puzzle.clues)
    assert not another_grid_fits(puzzle.grid, puzzle.clues)
    assert superfluous(puzzle) == []


@settings(max_examples=20, deadline=None)
@given(st.sampled_from([(2, 2), (2, 3), (3, 2), (4, 1)]), st.integers(0, 10**6), st.randoms(use_true_random=False))
def test_the_solver_of_this_test_agrees_with_trying_every_grid(
    size: tuple[int, int], seed: int, rng: random.Random
) -> None:
    houses, attributes = size
    puzzle = make_puzzle(houses, attributes, 0.0, random.Random(seed))
    clues = rng.sample(puzzle.clues, rng.randint(0, len(puzzle.clues)))
    every_grid = itertools.product(itertools.permutations(range(houses)), repeat=attributes)
    others = [grid for grid in every_grid if grid != puzzle.grid and all(clue.holds(grid) for clue in clues)]
    assert another_grid_fits(puzzle.grid, clues) == bool(others)


@pytest.mark.parametrize("pool", [64, clue_pool._POOL_AT_MOST])
def test_a_puzzle_does_not_depend_on_how_it_is_found(pool: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = list(itertools.product([(3, 2), (3, 3), (4, 2), (4, 3)], [0.0, 0.4], range(15)))

    def made() -> list[Puzzle]:
        maker._maker.cache_clear()
        return [make_puzzle(*size, share, random.Random(seed)) for size, share, seed in cases]

    from_every_grid = made()
    monkeypatch.setattr(maker, "_GRIDS_AT_MOST", 0)
    monkeypatch.setattr(clue_pool, "_POOL_AT_MOST", pool)
    assert made() == from_every_grid
    maker._maker.cache_clear()


def test_a_puzzle_does_not_depend_on_the_puzzles_before_it() -> None:
    maker._maker.cache_clear()
    first = make_puzzle(5, 5, 0.0, random.Random(7))
    for seed in range(25):
        make_puzzle(5, 5, 0.0, random.Random(seed))
    assert make_puzzle(5, 5, 0.0, random.Random(7)) == first


def test_clues_are_as_many_and_as_mixed_as_in_the_official_puzzles() -> None:
    puzzles = [make_puzzle(*rung, random.Random(seed)) for rung in OFFICIAL_LADDER for seed in range(12)]
    kinds = Counter(clue.kind for puzzle in puzzles for clue in puzzle.clues)
    assert set(kinds) == set(ClueKind)
    assert kinds.total() / len(puzzles) == pytest.approx(10.4, abs=0.7)
    assert kinds[ClueKind.SAME_HOUSE] / kinds.total() == pytest.approx(0.41, abs=0.04)
    for one, other in ((ClueKind.DIRECT_LEFT, ClueKind.DIRECT_RIGHT), (ClueKind.LEFT_OF, ClueKind.RIGHT_OF)):
        assert kinds[one] / (kinds[one] + kinds[other]) == pytest.approx(0.5, abs=0.15)


def test_either_of_two_items_is_named_first() -> None:
    clues = [clue for seed in range(40) for clue in make_puzzle(3, 3, 0.0, random.Random(seed)).clues]
    pairs = Counter(clue.first.attribute < clue.second.attribute for clue in clues if clue.second.attribute != HOUSE)
    assert min(pairs.values()) > 0.35 * pairs.total()
    assert {Item(attribute, value) for attribute in range(3) for value in range(3)} <= {clue.first for clue in clues}
