"""What a ZebraLogic reply says: its cells, read in the two profiles.

`official` reads as the published numbers were read (ZeroEval's evaluator, SPEC 4), quirks and all:

- The answer is the last stretch of the whole reply, thinking included, in which braces balance.
  Braces inside strings count, so `{"reasoning": "use } here", ...}` is cut in two (case B22).
- Line breaks are taken out of that stretch before it is parsed as JSON.
- Houses and columns count by their exact keys. A list stands for its first item.

Where the evaluator stops with an error (a number or a table as a cell, a house that is no table,
`"solution": null`) `official` counts the cells as wrong and goes on.

`fixed` reads what is meant: the last complete JSON object with a "solution" after the thinking, braces
in strings aside; "house1" or "name" for "House 1" and "Name"; a column of another name that holds a
value of the one column not yet answered; a number as its digits; a list of one item as that item,
and a longer one, or one column named twice with different values, as nothing.

Both profiles ignore case and outer spaces of a cell, and null is a wrong cell.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum

from sparring.environments.zebra_logic.official import OfficialAttribute, OfficialPuzzle
from sparring.parsing import cell_text, folded, json_objects, remove_thinking
from sparring.profiles import Profile

# What stands in the cells that a reply names, by (house, column); None where nothing can be read.
Cells = dict[tuple[int, int], str | None]


class Outcome(StrEnum):
    """What could be read. NO_ANSWER: no JSON object with a solution. FORMAT_ERROR: cells missing or misnamed."""

    ANSWERED = "answered"
    FORMAT_ERROR = "format_error"
    NO_ANSWER = "no_answer"


def read_reply(reply: str, puzzle: OfficialPuzzle, profile: Profile) -> tuple[Outcome, Cells]:
    """The cells that a reply names, and whether it names every one."""
    official = profile is Profile.OFFICIAL
    found = _last_balanced_object(reply) if official else _last_solution(reply)
    if found is None or "solution" not in found:
        return Outcome.NO_ANSWER, {}
    solution = found["solution"]
    tables = solution if isinstance(solution, dict) else {}
    if not official:
        tables = {folded(key): columns for key, columns in tables.items()}
    cells: Cells = {}
    for house in range(puzzle.houses):
        name = f"House {house + 1}"
        columns = tables.get(name if official else folded(name))
        if isinstance(columns, dict):
            row = _exact_row(columns, puzzle.attributes) if official else _meant_row(columns, puzzle.attributes)
            cells |= {(house, column): text for column, text in row.items()}
    complete = len(cells) == puzzle.houses * len(puzzle.attributes)
    return Outcome.ANSWERED if complete else Outcome.FORMAT_ERROR, cells


def _last_solution(reply: str) -> Mapping[str, object] | None:
    answer = remove_thinking(reply)
    found = [each for each in json_objects(answer) if "solution" in each] if answer is not None else []
    return found[-1] if found else None


def _last_balanced_object(reply: str) -> Mapping[str, object] | None:
    """The last stretch with balanced braces, as JSON; None when there is none or it is no JSON."""
    depth, start, last = 0, 0, ""
    for index, character in enumerate(reply):
        if character == "{":
            start = start if depth else index
            depth += 1
        elif character == "}" and depth:
            depth -= 1
            last = last if depth else reply[start : index + 1]
    try:
        found = json.loads(last.replace("\n", ""))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _exact_row(columns: Mapping[str, object], attributes: Sequence[OfficialAttribute]) -> dict[int, str | None]:
    """The cells of one house under the exact names of their columns, by the column's index."""
    cells: dict[int, str | None] = {}
    for index, attribute in enumerate(attributes):
        if attribute.column in columns:
            cell = columns[attribute.column]
            first = cell[0] if isinstance(cell, list) and cell else cell
            cells[index] = first.strip().lower() if isinstance(first, str) else None
    return cells


def _meant_row(columns: Mapping[str, object], attributes: Sequence[OfficialAttribute]) -> dict[int, str | None]:
    """The cells of one house, by the index of the column that each key means."""
    known = {folded(attribute.column): index for index, attribute in enumerate(attributes)}
    cells: dict[int, str | None] = {}
    for key, cell in columns.items():
        column = known.get(folded(key))
        if column is not None:  # "Pet" and "pet" in one house that differ say nothing
            text = cell_text(cell)
            cells[column] = text if cells.get(column, text) == text else None
    for key, cell in columns.items():
        if folded(key) not in known:
            named = cell_text(cell)
            owners = [
                index
                for index, attribute in enumerate(attributes)
                if index not in cells and named in [value.casefold() for value in attribute.values]
            ]
            if len(owners) == 1:
                cells[owners[0]] = named
    return cells
