"""Logic grids in English, in the manner of the official puzzles, answered by one JSON object a turn."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

from sparring.environments.zebra_logic.actions import Action, Attribute, Row, Step, Wording
from sparring.environments.zebra_logic.attributes import ORDINALS, POOLS, SENTENCES
from sparring.environments.zebra_logic.grid import HOUSE, Clue, ClueKind, Grid, Item
from sparring.environments.zebra_logic.solver import settled_cells
from sparring.parsing import cell_text, folded, last_json_object, remove_thinking
from sparring.tasks import Guide

_STAGES_AT_MOST = 4


class ChatWording(Wording):
    """English sentences out, JSON grids in."""

    pools = POOLS

    def guide(self, smallest: str, largest: str) -> Guide:
        """What the roles are told."""
        return Guide(
            tag="grid",
            difficulty=f"logic grid puzzles; the grid grows with the difficulty, from {smallest} to {largest}",
            planning="Each stage names the clues to use next, so that the grid fills up in an order in which it can "
            "be deduced.",
            acting='Each turn is one JSON object. "grid" holds every cell that you know so far, as in '
            '{"grid": {"House 1": {"Name": "Eric"}, "House 2": {"Name": "Bob"}}}, and replaces the grid that you gave '
            'before. Add "done": true when the stage is finished, and "submit": true with your final grid.',
        )

    def draw(self, houses: int, attributes: int, rng: random.Random) -> tuple[Attribute, ...]:
        """Names first, then other attributes at random, with values at random."""
        chosen = [self.pools[0], *rng.sample(self.pools[1:], attributes - 1)]
        return tuple(
            Attribute(pool.column, tuple(rng.sample(pool.values, houses)), pool.phrases, pool.line) for pool in chosen
        )

    def statement(self, attributes: Sequence[Attribute], clues: Sequence[Clue], rng: random.Random) -> str:
        """The puzzle in official form, and the columns of the answer."""
        houses = len(attributes[0].values)
        lines = [
            f"There are {houses} houses, numbered 1 to {houses} from left to right, as seen from across the street. "
            "Each house is occupied by a different person. "
            "Each house has a unique attribute for each of the following characteristics:",
            *(f" - {item.line}: " + ", ".join(f"`{value}`" for value in item.values) for item in attributes),
            "",
            "## Clues:",
            *(f"{number}. {self._sentence(clue, attributes, rng)}" for number, clue in enumerate(clues, start=1)),
            "",
            "Grid columns: " + ", ".join(attribute.column for attribute in attributes),
        ]
        return "\n".join(lines)

    def read(self, text: str, attributes: Sequence[Attribute]) -> Action | None:
        """The last JSON object of the text; it must hold a grid or a flag."""
        answer = remove_thinking(text)
        found = last_json_object(answer) if answer is not None else None
        if found is None:
            return None
        action = Action({}, found.get("done") is True, found.get("submit") is True)
        if "grid" not in found:
            return action if action.done or action.submit else None
        grid = found["grid"]
        if not isinstance(grid, dict) or not all(isinstance(house, dict) for house in grid.values()):
            return None
        cells = {
            (folded(house), folded(column)): cell_text(cell)
            for house, columns in grid.items()
            for column, cell in columns.items()
        }
        rows = {index: self._row(attribute, cells) for index, attribute in enumerate(attributes)}
        return Action(rows, action.done, action.submit)

    def observation(self, well_formed: bool) -> str:
        """Whether the turn could be read."""
        return "Noted." if well_formed else 'Not read: write one JSON object with the "grid" and nothing else.'

    def steps(self, attributes: Sequence[Attribute], clues: Sequence[Clue]) -> list[Step]:
        """Clues from plain to indirect, in up to four runs, each of which settles some cells."""
        houses = len(attributes[0].values)
        order = sorted(range(len(clues)), key=lambda index: list(ClueKind).index(clues[index].kind))
        bounds = sorted({-(-len(order) * part // _STAGES_AT_MOST) for part in range(1, _STAGES_AT_MOST + 1)})
        steps: list[Step] = []
        start, known = 0, 0
        for bound in bounds:
            cells = settled_cells(houses, len(attributes), [clues[index] for index in order[:bound]])
            if len(cells) > known:
                numbers = ", ".join(str(index + 1) for index in sorted(order[start:bound]))
                noun = "clue" if bound - start == 1 else "clues"
                steps.append(Step(f"Use {noun} {numbers} and fill in what is then settled.", cells))
                start, known = bound, len(cells)
        return steps

    def write(self, attributes: Sequence[Attribute], grid: Grid, step: int, steps: Sequence[Step]) -> str:
        """The cells known so far, with the flag."""
        houses: dict[str, dict[str, str]] = {}
        for house in range(len(grid[0])):
            for index, attribute in enumerate(attributes):
                if (index, house) in steps[step].cells:
                    columns = houses.setdefault(f"House {house + 1}", {})
                    columns[attribute.column] = attribute.values[grid[index][house]]
        flag = "submit" if step == len(steps) - 1 else "done"
        return json.dumps({"grid": houses, flag: True})

    @staticmethod
    def _row(attribute: Attribute, cells: dict[tuple[str, str], str | None]) -> Row:
        """One attribute's row of an answered grid."""
        places = {value.casefold(): index for index, value in enumerate(attribute.values)}
        answers = (
            cells.get((folded(f"House {house + 1}"), folded(attribute.column)))
            for house in range(len(attribute.values))
        )
        return tuple(places.get(answer) if answer is not None else None for answer in answers)

    @staticmethod
    def _sentence(clue: Clue, attributes: Sequence[Attribute], rng: random.Random) -> str:
        """A clue as a sentence, in one of its wordings."""

        def phrase(item: Item) -> str:
            if item.attribute == HOUSE:
                return ORDINALS[item.value]
            attribute = attributes[item.attribute]
            return rng.choice(attribute.phrases).format(attribute.values[item.value])

        sentence = rng.choice(SENTENCES[clue.kind]).format(phrase(clue.first), phrase(clue.second))
        return sentence[0].upper() + sentence[1:]
