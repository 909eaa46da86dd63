"""All official puzzles are read and have one grid; so does what we write in their manner."""

import json
import os
from pathlib import Path

import pytest

from sparring.environments.zebra import OFFICIAL_LADDER, Zebra, ZebraSettings
from sparring.environments.zebra_official import answer_key, read_puzzle, solve_puzzle
from sparring.errors import UserError
from sparring.tasks import PromptPack

DATA = Path(os.environ.get("SPARRING_DATA", Path(__file__).parents[2] / ".." / "shared" / "data"))

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
        assert all(clue.holds(solve_puzzle(puzzle)) for clue in puzzle.clues[:1])
    assert (len(lines), clues) == (1000, 10388)


def test_our_chat_puzzles_read_back_to_their_own_grid() -> None:
    zebra = Zebra(ZebraSettings(), PromptPack.CHAT)
    for index in range(0, len(OFFICIAL_LADDER), 2):
        task = zebra.generate(index / (len(OFFICIAL_LADDER) - 1), seed=index)
        puzzle = read_puzzle(task.public.statement)
        assert puzzle.columns == tuple(attribute.column for attribute in task.secret.attributes)
        assert puzzle.clues == task.secret.clues
        assert solve_puzzle(puzzle) == task.secret.grid


def test_a_name_and_a_child_of_the_same_name_are_told_apart() -> None:
    key = answer_key(SMALL.format("The person's child is named Alice is directly left of Alice."))
    assert key == [{"Name": "Eric", "Children": "Alice"}, {"Name": "Alice", "Children": "Fred"}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Which house holds the zebra?", "not ZebraLogic text"),
        (SMALL.format("Eric prefers the first house."), "0 readings"),
        (SMALL.format("Eric is in the first house.").replace("a unique name", "a unique hat"), "attribute"),
        (SMALL.format("Eric is in the first house."), "several grids"),
        (SMALL.format("Eric is directly left of Eric."), "no grid"),
    ],
)
def test_text_that_cannot_be_keyed_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as refused:
        answer_key(text)
    assert "\n" not in str(refused.value)
