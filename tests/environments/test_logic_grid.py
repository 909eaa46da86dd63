"""Puzzles have one grid, no superfluous clue, and are the same everywhere."""

import itertools
import os
import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparring.environments.logic_grid import (
    HOUSE,
    Clue,
    ClueKind,
    Grid,
    Item,
    make_puzzle,
    settled_cells,
    solutions,
)

SIZES = st.tuples(st.integers(2, 4), st.integers(1, 3))


def every_grid(houses: int, attributes: int) -> list[Grid]:
    """All grids of a size, without a solver."""
    return list(itertools.product(itertools.permutations(range(houses)), repeat=attributes))


@settings(max_examples=40, deadline=None)
@given(SIZES, st.floats(0, 1), st.integers(0, 10**9))
def test_a_puzzle_has_one_grid_and_no_superfluous_clue(size: tuple[int, int], share: float, seed: int) -> None:
    houses, attributes = size
    puzzle = make_puzzle(houses, attributes, share, random.Random(seed))
    assert len(puzzle.given) == round(share * houses * attributes)
    assert {clue.kind for clue in puzzle.given} <= {ClueKind.FOUND_AT}
    assert len(set(puzzle.clues)) == len(puzzle.clues)
    assert solutions(houses, attributes, puzzle.clues) == [puzzle.grid]
    for clue in puzzle.further:
        assert len(solutions(houses, attributes, [other for other in puzzle.clues if other != clue])) == 2


@settings(max_examples=15, deadline=None)
@given(st.sampled_from([(2, 2), (2, 3), (3, 2), (4, 1)]), st.integers(0, 10**6), st.randoms(use_true_random=False))
def test_the_solver_agrees_with_trying_every_grid(size: tuple[int, int], seed: int, rng: random.Random) -> None:
    houses, attributes = size
    puzzle = make_puzzle(houses, attributes, 0.0, random.Random(seed))
    clues = rng.sample(puzzle.clues, rng.randint(0, len(puzzle.clues)))
    fitting = [grid for grid in every_grid(houses, attributes) if all(clue.holds(grid) for clue in clues)]
    assert sorted(solutions(houses, attributes, clues, limit=1000)) == sorted(fitting)
    settled = {
        (attribute, house)
        for attribute in range(attributes)
        for house in range(houses)
        if len({grid[attribute][house] for grid in fitting}) == 1
    }
    assert settled_cells(houses, attributes, clues) == settled


@pytest.mark.parametrize(
    ("kind", "distances"),
    [
        (ClueKind.SAME_HOUSE, {0}),
        (ClueKind.NOT_AT, {-3, -2, -1, 1, 2, 3}),
        (ClueKind.DIRECT_LEFT, {1}),
        (ClueKind.DIRECT_RIGHT, {-1}),
        (ClueKind.SIDE_BY_SIDE, {-1, 1}),
        (ClueKind.LEFT_OF, {1, 2, 3}),
        (ClueKind.RIGHT_OF, {-3, -2, -1}),
        (ClueKind.ONE_BETWEEN, {-2, 2}),
        (ClueKind.TWO_BETWEEN, {-3, 3}),
        (ClueKind.FOUND_AT, {0}),
    ],
)
def test_what_each_kind_of_clue_means(kind: ClueKind, distances: set[int]) -> None:
    grid = ((0, 1, 2, 3),)
    for here, there in itertools.product(range(4), repeat=2):
        assert Clue(kind, Item(0, here), Item(HOUSE, there)).holds(grid) == (there - here in distances)


def test_contradicting_clues_have_no_grid() -> None:
    clues = [Clue(ClueKind.FOUND_AT, Item(0, value), Item(HOUSE, 0)) for value in range(2)]
    assert solutions(2, 1, clues) == []
    with pytest.raises(ValueError, match="contradict"):
        settled_cells(2, 1, clues)


def test_the_largest_size_is_within_reach_and_mixes_kinds() -> None:
    puzzle = make_puzzle(6, 6, 0.0, random.Random(3))
    assert solutions(6, 6, puzzle.clues) == [puzzle.grid]
    assert len({clue.kind for clue in puzzle.clues}) >= 5


def test_the_same_seed_makes_the_same_puzzle_whatever_the_hash_seed() -> None:
    program = (
        "import random; from sparring.environments.logic_grid import make_puzzle;"
        "print([make_puzzle(4, 3, given, random.Random(7)) for given in (0.0, 0.5)])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert printed == f"{[make_puzzle(4, 3, share, random.Random(7)) for share in (0.0, 0.5)]}\n"
