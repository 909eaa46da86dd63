"""What clues mean, and a solver that agrees with trying every grid."""

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparring.environments.zebra_logic.grid import (
    HOUSE,
    Clue,
    ClueKind,
    Grid,
    Item,
)
from sparring.environments.zebra_logic.maker import make_puzzle
from sparring.environments.zebra_logic.solver import settled_cells, solutions


def every_grid(houses: int, attributes: int) -> list[Grid]:
    """All grids of a size, without a solver."""
    return list(itertools.product(itertools.permutations(range(houses)), repeat=attributes))


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


@pytest.mark.parametrize(
    "clue",
    [
        Clue(ClueKind.FOUND_AT, Item(0, 0), Item(1, 0)),
        Clue(ClueKind.LEFT_OF, Item(0, 0), Item(HOUSE, 1)),
        Clue(ClueKind.SAME_HOUSE, Item(HOUSE, 0), Item(1, 0)),
    ],
)
def test_a_clue_of_the_wrong_shape_is_refused(clue: Clue) -> None:
    with pytest.raises(ValueError, match="of two values"):
        solutions(2, 2, [clue])


@pytest.mark.parametrize("kind", ClueKind)
def test_a_turned_clue_says_the_same(kind: ClueKind) -> None:
    grid = ((0, 1, 2, 3), (2, 0, 3, 1))
    for first, second in itertools.product(range(4), repeat=2):
        clue = Clue(kind, Item(0, first), Item(1, second))
        assert clue.turned().holds(grid) == clue.holds(grid)
        assert clue.turned().turned() == clue
