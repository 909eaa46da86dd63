"""All official puzzles are read in full and have one grid."""

import json

import pytest

from sparring.environments.zebra_logic.attributes import POOLS
from sparring.environments.zebra_logic.official import answer_key, read_puzzle, solve_puzzle
from sparring.errors import UserError
from sparring.evaluation.benchmarks import data_folder

DATA = data_folder()

SMALL = """There are 2 houses, numbered 1 to 2 from left to right, as seen from across the street.
 - Each person has a unique name: `Eric`, `Alice`
 - Each mother is accompanied by their child: `Alice`, `Fred`

## Clues:
1. {}
"""


@pytest.mark.official_data
def test_every_official_puzzle_is_read_in_full_and_has_one_grid() -> None:
    clues = 0
    lines = (DATA / "zebralogic.jsonl").read_text(encoding="utf-8").splitlines()
    for row in map(json.loads, lines):
        puzzle = read_puzzle(row["puzzle"])
        assert f"{puzzle.houses}*{len(puzzle.attributes)}" == row["size"]
        assert all(len(set(attribute.values)) == puzzle.houses for attribute in puzzle.attributes)
        assert len(puzzle.clues) == row["puzzle"].split("## Clues:")[1].strip().count("\n") + 1
        clues += len(puzzle.clues)
        grid = solve_puzzle(puzzle)
        assert all(clue.holds(grid) for clue in puzzle.clues)
    assert (len(lines), clues) == (1000, 10388)


@pytest.mark.official_data
def test_our_puzzles_draw_on_as_many_attributes_and_values_as_the_official_ones() -> None:
    official: dict[str, set[str]] = {}
    for row in map(json.loads, (DATA / "zebralogic.jsonl").read_text(encoding="utf-8").splitlines()):
        for attribute in read_puzzle(row["puzzle"]).attributes:
            official.setdefault(attribute.column, set()).update(attribute.values)
    ours = {attribute.column: attribute.values for attribute in POOLS}
    assert set(ours) == set(official)
    assert all(len(ours[column]) >= len(values) for column, values in official.items())


def test_a_name_and_a_child_of_the_same_name_are_told_apart() -> None:
    key = answer_key(SMALL.format("The person's child is named Alice is directly left of Alice."))
    assert key == [{"Name": "Eric", "Children": "Alice"}, {"Name": "Alice", "Children": "Fred"}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Which house holds the zebra?", "not ZebraLogic text"),
        (SMALL.format("Eric prefers the first house."), "clue 'Eric prefers the first house': 0 readings"),
        (SMALL.format("Eric is in the first house.").replace("a unique name", "a unique hat"), "attribute"),
        (SMALL.format("Eric is in the third house."), "0 readings"),
        (SMALL.format("Eric is in the first house.\n3. Alice is not in the first house."), "of the form '2"),
        (SMALL.format("Eric is in the first house.\n2) Alice is not in the first house."), "of the form '2"),
        (SMALL.format("Eric is in the first house.\n - Alice is not in the first house."), "of the form '2"),
        (SMALL.format("").replace("1. ", ""), "not ZebraLogic text"),
        (SMALL.format("Eric is in the first house.").replace("`, `Fred", ""), "not 2 different values"),
        (SMALL.format("Eric is in the first house.").replace("`Fred`", "`Fred`, `Bob`"), "not 2 different values"),
        (SMALL.format("Eric is in the first house.").replace("Fred", "alice"), "not 2 different values"),
        (SMALL.format("Eric is in the first house.").replace(" - Each mother", " * Each mother"), "attribute"),
        (
            SMALL.format("Eric is in the first house.").replace(
                "Each mother is accompanied by their child", "Each person has a unique name"
            ),
            "twice",
        ),
        (SMALL.format("Eric is in the first house."), "several grids"),
        (SMALL.format("Eric is directly left of Eric."), "no grid"),
    ],
)
def test_text_that_cannot_be_keyed_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as refused:
        answer_key(text)
    assert "\n" not in str(refused.value)
