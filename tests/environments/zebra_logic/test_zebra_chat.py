"""The English of logic grids says what was meant: a reader of this test's own gets the same clues back."""

import os
import random
import re
import subprocess
import sys
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparring.environments.zebra_logic.actions import Attribute
from sparring.environments.zebra_logic.attributes import POOLS, SENTENCES
from sparring.environments.zebra_logic.chat import ChatWording
from sparring.environments.zebra_logic.environment import OFFICIAL_LADDER, ZebraLogic, ZebraLogicSettings
from sparring.environments.zebra_logic.grid import HOUSE, Clue, ClueKind, Item
from sparring.tasks import PromptPack

ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth"]
# What gives a kind away, in the order in which it is looked for, and whether the second item comes first.
MARKS: tuple[tuple[str, ClueKind, bool], ...] = (
    (r"\bone house\b", ClueKind.ONE_BETWEEN, False),
    (r"\btwo houses\b", ClueKind.TWO_BETWEEN, False),
    (r"next to each other|direct neighbors|next door to", ClueKind.SIDE_BY_SIDE, False),
    (r"^the next house to the left of", ClueKind.DIRECT_LEFT, True),
    (r"^the next house to the right of", ClueKind.DIRECT_RIGHT, True),
    (r"directly left of|just to the left of", ClueKind.DIRECT_LEFT, False),
    (r"directly right of|just to the right of", ClueKind.DIRECT_RIGHT, False),
    (r"somewhere to the left of|further left than|comes before", ClueKind.LEFT_OF, False),
    (r"somewhere to the right of|further right than|comes after", ClueKind.RIGHT_OF, False),
    (r"\bis\b|same person", ClueKind.SAME_HOUSE, False),
)


def read_clue(sentence: str, values: dict[str, Item]) -> Clue:
    """What a sentence says: values by their words, a house by its ordinal, the kind by its mark."""
    text = sentence.lower()
    pattern = r"\b(" + "|".join(map(re.escape, values)) + r")\b"
    items = [values[found] for found in re.findall(pattern, text)]
    house = re.search(r"\b(" + "|".join(ORDINALS) + r") house\b", text)
    if house is not None:
        (item,) = items
        kind = ClueKind.NOT_AT if " not " in text else ClueKind.FOUND_AT
        return Clue(kind, item, Item(HOUSE, ORDINALS.index(house[1])))
    kind, reverse = next((kind, reverse) for mark, kind, reverse in MARKS if re.search(mark, text))
    first, second = reversed(items) if reverse else items
    return Clue(kind, first, second)


def values_of(attributes: tuple[Attribute, ...]) -> dict[str, Item]:
    """Every value of a puzzle in lower case."""
    return {
        value.lower(): Item(index, number)
        for index, attribute in enumerate(attributes)
        for number, value in enumerate(attribute.values)
    }


def read_statement(statement: str) -> tuple[list[list[str]], list[Clue]]:
    """The values by attribute and the clues of a statement."""
    rows = [re.findall(r"`([^`]+)`", line) for line in statement.splitlines() if line.startswith(" - ")]
    values = values_of(tuple(Attribute("", tuple(row)) for row in rows))
    return rows, [read_clue(sentence, values) for sentence in re.findall(r"^\d+\. (.+)$", statement, re.MULTILINE)]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 24), st.integers(0, 2**62))
def test_a_statement_reads_back_to_the_same_clues(index: int, seed: int) -> None:
    task = ZebraLogic(ZebraLogicSettings(), PromptPack.CHAT).generate(index / 24, seed)
    rung = OFFICIAL_LADDER[index]
    rows, clues = read_statement(task.public.statement)
    assert [len(row) for row in rows] == [rung.houses] * rung.attributes
    assert rows == [list(attribute.values) for attribute in task.secret.attributes]
    assert clues == list(task.secret.clues)


@pytest.mark.parametrize("kind", ClueKind)
def test_every_wording_of_every_attribute_and_kind_is_drawn_and_read(kind: ClueKind) -> None:
    wording, rng = ChatWording(), random.Random(1)
    assert len(SENTENCES[kind]) >= 3
    seen: set[str] = set()
    on_house = kind in (ClueKind.FOUND_AT, ClueKind.NOT_AT)
    for one, other in zip(POOLS, POOLS[1:] + POOLS[:1], strict=True):
        pair = (one, other)
        for value in range(len(one.values)):
            clue = Clue(kind, Item(0, value), Item(HOUSE, value % 6) if on_house else Item(1, value))
            for _ in range(3):
                (sentence,) = re.findall(r"^1\. (.+)$", wording.statement(pair, [clue], rng), re.MULTILINE)
                assert read_clue(sentence, values_of(pair)) == clue
                assert sentence[0].isupper() or sentence[0].isdigit()
                assert sentence.endswith(".")
                seen.add(re.sub(r"\b(" + "|".join(map(re.escape, values_of(pair))) + r")\b", "_", sentence.lower()))
    assert len(seen) > 50


def test_c22_no_value_occurs_in_two_attributes_nor_inside_another() -> None:
    values = [(pool.column, value.lower()) for pool in POOLS for value in pool.values]
    for (column, value), (other_column, other) in combinations(values, 2):
        assert not re.search(rf"\b{re.escape(value)}\b", other), (column, value, other_column, other)
        assert not re.search(rf"\b{re.escape(other)}\b", value), (column, value, other_column, other)
    for pool in POOLS:
        for phrase in pool.phrases:
            words = phrase.format("").lower()
            assert not [value for _, value in values if re.search(rf"\b{re.escape(value)}\b", words)]
    assert len(POOLS) == 25
    assert all(len(pool.values) >= 6 and (len(pool.phrases) >= 2 or pool.column == "Name") for pool in POOLS)


def test_tasks_are_the_same_bytes_under_any_hash_seed() -> None:
    program = (
        "from sparring.environments.zebra_logic.environment import *; from sparring.tasks import PromptPack;"
        "made = [ZebraLogic(ZebraLogicSettings(), pack) for pack in PromptPack];"
        "print([repr(each.generate(d, 11)) for each in made for d in (0.1, 0.6, 0.8)])"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
        ).stdout
        for hash_seed in ("0", "1")
    }
    assert len(printed) == 1
    tasks = [ZebraLogic(ZebraLogicSettings(), pack).generate(d, 11) for pack in PromptPack for d in (0.1, 0.6, 0.8)]
    assert printed == {f"{[repr(task) for task in tasks]}\n".encode()}
