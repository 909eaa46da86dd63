"""Logic grids in a few dozen words, answered one attribute a turn."""

from __future__ import annotations

import random
from collections.abc import Sequence

from sparring.environments.zebra_logic.actions import Action, Attribute, Step, Wording
from sparring.environments.zebra_logic.grid import HOUSE, Clue, ClueKind, Grid, Item
from sparring.tasks import Guide

_CLUE_WORDS = {
    ClueKind.NOT_AT: "not",
    ClueKind.SAME_HOUSE: "with",
    ClueKind.DIRECT_LEFT: "before",
    ClueKind.DIRECT_RIGHT: "after",
    ClueKind.SIDE_BY_SIDE: "by",
    ClueKind.LEFT_OF: "left",
    ClueKind.RIGHT_OF: "right",
    ClueKind.ONE_BETWEEN: "one",
    ClueKind.TWO_BETWEEN: "two",
}


class CompactWording(Wording):
    """A dozen value words and ten clue words.

    A puzzle of N houses and M attributes uses the first N words of the first M pools, so that the
    statement need not list them.
    """

    pools = (
        Attribute("colour", ("red", "blue", "green", "white")),
        Attribute("drink", ("tea", "milk", "ale", "rum")),
        Attribute("vehicle", ("bus", "car", "van", "cab")),
    )

    def words(self) -> tuple[str, ...]:
        """Every word of this wording."""
        values = [word for pool in self.pools for word in (pool.column, *pool.values)]
        most = len(self.pools[0].values)
        cells = [_cell(index, house) for index in range(len(self.pools)) for house in range(most)]
        sizes = [str(number) for number in range(1, most + 1)]
        return ("grid", ":", ".", "-", "done", "submit", *sizes, *cells, *values, *_CLUE_WORDS.values())

    def guide(self, smallest: str, largest: str) -> Guide:
        """What the roles are told, in words that the vocabulary has."""
        columns = " ".join(pool.column for pool in self.pools)
        return Guide(tag="grid", difficulty="grid", planning=columns, acting="- done submit")

    def draw(self, houses: int, attributes: int, rng: random.Random) -> tuple[Attribute, ...]:
        """The first words of the first pools."""
        return tuple(Attribute(pool.column, pool.values[:houses]) for pool in self.pools[:attributes])

    def statement(self, attributes: Sequence[Attribute], clues: Sequence[Clue], rng: random.Random) -> str:
        """Both sizes, then the clues: "3 2 : a2 red . tea with blue . milk not b1"."""

        def word(item: Item) -> str:
            return attributes[item.attribute].values[item.value]

        def told(clue: Clue) -> str:
            if clue.second.attribute != HOUSE:
                return f"{word(clue.first)} {_CLUE_WORDS[clue.kind]} {word(clue.second)}"
            cell = _cell(clue.first.attribute, clue.second.value)
            # The cell first, as rows have it: what follows it here is what follows it there.
            found = clue.kind is ClueKind.FOUND_AT
            return f"{cell} {word(clue.first)}" if found else f"{word(clue.first)} {_CLUE_WORDS[clue.kind]} {cell}"

        return f"{len(attributes[0].values)} {len(attributes)} : " + " . ".join(map(told, clues))

    def read(self, text: str, attributes: Sequence[Attribute]) -> Action | None:
        """One row of one attribute, such as "a1 red a2 - a3 blue", or a flag, or both.

        Houses stand in order and all of them, each value once, "-" for unknown.
        """
        words = text.split()
        flag = words.pop() if words and words[-1] in ("done", "submit") else None
        action = Action({}, flag == "done", flag == "submit")
        if not words:
            return action if flag is not None else None
        values = words[1::2]
        known = [value for value in values if value != "-"]
        for index, attribute in enumerate(attributes):
            cells = [_cell(index, house) for house in range(len(attribute.values))]
            in_place = words[::2] == cells and len(values) == len(cells)
            if in_place and known and set(known) <= set(attribute.values) and len(set(known)) == len(known):
                row = tuple(None if value == "-" else attribute.values.index(value) for value in values)
                return Action({index: row}, action.done, action.submit)
        return None

    def observation(self, well_formed: bool) -> str:
        """Nothing."""
        return ""

    def steps(self, attributes: Sequence[Attribute], clues: Sequence[Clue]) -> list[Step]:
        """One stage an attribute."""
        houses = range(len(attributes[0].values))
        return [
            Step(attribute.column, {(index, house) for house in houses}) for index, attribute in enumerate(attributes)
        ]

    def write(self, attributes: Sequence[Attribute], grid: Grid, step: int, steps: Sequence[Step]) -> str:
        """One row with its flag."""
        flag = "submit" if step == len(steps) - 1 else "done"
        row = (f"{_cell(step, house)} {attributes[step].values[value]}" for house, value in enumerate(grid[step]))
        return " ".join([*row, flag])


def _cell(attribute: int, house: int) -> str:
    """One word for a cell, such as "b3": a key of two words is more than a micro backbone can look up."""
    return f"{'abc'[attribute]}{house + 1}"
