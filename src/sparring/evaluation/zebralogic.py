"""ZebraLogic: the one-shot prompt, and scores of stored replies (SPEC 4; ZeroEval's protocol).

A reply answers with a JSON object, {"reasoning": ..., "solution": {"House 1": {"Name": ..., ...},
...}}; zebralogic_reading.py says how each profile reads it. The answer key is derived from the
puzzle's own text. The columns are those of the published answers, which the prompt shows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sparring.environments.zebra_logic.official import read_puzzle, solve_puzzle
from sparring.errors import UserError
from sparring.evaluation.zebralogic_reading import Outcome, read_reply
from sparring.profiles import Profile


@dataclass(frozen=True)
class PuzzleScore:
    """One reply: what could be read of it, and how many of its cells are right."""

    id: str
    houses: int
    attributes: int
    outcome: Outcome
    right: int

    @property
    def total(self) -> int:
        """Cells of the grid."""
        return self.houses * self.attributes

    @property
    def solved(self) -> bool:
        """Every cell is right."""
        return self.right == self.total

    @property
    def grids(self) -> int:
        """How many grids there are of this size."""
        grids: int = math.factorial(self.houses) ** self.attributes
        return grids

    @property
    def easy(self) -> bool:
        """The official easy sizes: 2x2 to 2x6, 3x2 and 3x3."""
        return self.houses == 2 or (self.houses == 3 and self.attributes <= 3)


# Size groups by the number of grids, and the two halves of the official table.
_BUCKETS: dict[str, Callable[[PuzzleScore], bool]] = {
    "small": lambda score: score.grids < 10**3,
    "medium": lambda score: 10**3 <= score.grids < 10**6,
    "large": lambda score: 10**6 <= score.grids < 10**10,
    "xl": lambda score: score.grids >= 10**10,
    "easy": lambda score: score.easy,
    "hard": lambda score: not score.easy,
}


@dataclass(frozen=True)
class Bucket:
    """A group of puzzles; the accuracies are None where there is none."""

    n: int
    puzzle_accuracy: float | None
    cell_accuracy: float | None


@dataclass(frozen=True)
class ZebraLogicScores:
    """The scores of a file of replies. Rates are None where n is 0.

    without_reply counts puzzles that no row answers; they are not part of n.
    What is a matter of format shows in the two entries by profile.
    """

    profile: Profile
    n: int
    without_reply: int
    puzzle_accuracy: float | None
    cell_accuracy: float | None
    answered: int
    format_error: int
    no_answer: int
    puzzle_accuracy_by_profile: dict[Profile, float | None]
    outcomes_by_profile: dict[Profile, dict[Outcome, int]]
    buckets: dict[str, Bucket]
    puzzles: tuple[PuzzleScore, ...]


def score_zebralogic(
    rows: Sequence[Mapping[str, Any]], puzzles: Iterable[Mapping[str, Any]], profile: Profile
) -> ZebraLogicScores:
    """Score replies {"id", "text"} to puzzles {"id", "puzzle"}; a wrong row is a UserError."""
    texts = {str(puzzle["id"]): str(puzzle["puzzle"]) for puzzle in puzzles}
    by_profile: dict[Profile, list[PuzzleScore]] = {each: [] for each in Profile}
    seen: set[str] = set()
    for number, row in enumerate(rows, start=1):
        name, reply = row.get("id"), row.get("text")
        if not isinstance(name, str) or not isinstance(reply, str):
            raise UserError(f"row {number}: needs the strings 'id' and 'text', has {sorted(row)}; write both")
        if name not in texts:
            raise UserError(
                f"row {number} id = {name!r}: not among the {len(texts)} puzzles; use the puzzle file's ids"
            )
        if name in seen:
            raise UserError(f"row {number} id = {name!r}: answered twice; keep one row per puzzle")
        seen.add(name)
        puzzle = read_puzzle(texts[name])
        key = solve_puzzle(puzzle)
        for each, scores in by_profile.items():
            outcome, cells = read_reply(reply, puzzle, each)
            right = sum(
                cells.get((house, column)) == puzzle.attributes[column].values[value].lower()
                for column, row_ in enumerate(key)
                for house, value in enumerate(row_)
            )
            scores.append(PuzzleScore(name, puzzle.houses, len(puzzle.attributes), outcome, right))
    scores = by_profile[profile]
    outcomes = {each: _outcomes(of_profile) for each, of_profile in by_profile.items()}
    counts = outcomes[profile]
    buckets = {name: [score for score in scores if belongs(score)] for name, belongs in _BUCKETS.items()}
    return ZebraLogicScores(
        profile=profile,
        n=len(scores),
        without_reply=len(texts) - len(scores),
        puzzle_accuracy=_puzzle_accuracy(scores),
        cell_accuracy=_cell_accuracy(scores),
        answered=counts[Outcome.ANSWERED],
        format_error=counts[Outcome.FORMAT_ERROR],
        no_answer=counts[Outcome.NO_ANSWER],
        puzzle_accuracy_by_profile={each: _puzzle_accuracy(of_profile) for each, of_profile in by_profile.items()},
        outcomes_by_profile=outcomes,
        buckets={
            name: Bucket(len(group), _puzzle_accuracy(group), _cell_accuracy(group)) for name, group in buckets.items()
        },
        puzzles=tuple(scores),
    )


_EXAMPLE = """There are 3 houses, numbered 1 to 3 from left to right, as seen from across the street. \
Each house is occupied by a different person. \
Each house has a unique attribute for each of the following characteristics:
 - Each person has a unique name: `Carol`, `Bob`, `Peter`
 - Each person has a favorite color: `green`, `red`, `blue`

## Clues:
1. The person who loves red is directly left of Bob.
2. Bob is in the second house.
3. The person who loves blue is Peter.
"""
_EXAMPLE_REASONING = (
    "Clue 2 puts Bob in house 2, so by clue 1 red is in house 1. Blue goes with Peter by clue 3. Peter is not in "
    "house 1, where red is, nor in house 2, where Bob is, so Peter and blue are in house 3. That leaves Carol for "
    "house 1 and green for house 2."
)
_EXAMPLE_SOLUTION = {
    "House 1": {"Name": "Carol", "Color": "red"},
    "House 2": {"Name": "Bob", "Color": "green"},
    "House 3": {"Name": "Peter", "Color": "blue"},
}


def zebralogic_prompt(text: str) -> str:
    """The one-shot prompt for a puzzle: a solved example, the puzzle, the JSON form to fill in."""
    puzzle = read_puzzle(text)
    blank = {f"House {house + 1}": dict.fromkeys(puzzle.columns, "___") for house in range(puzzle.houses)}
    example = json.dumps({"reasoning": _EXAMPLE_REASONING, "solution": _EXAMPLE_SOLUTION}, indent=2)
    form = json.dumps({"reasoning": "___", "solution": blank}, indent=2)
    return (
        f"# Example puzzle\n\n{_EXAMPLE}\n# Answer to the example\n\n{example}\n\n"
        f"# Puzzle to solve\n\n{text.rstrip()}\n\n# Instructions\n\n"
        "Solve the puzzle above. Explain your reasoning, then give the solution, as one JSON object of this form:\n\n"
        f"{form}\n"
    )


def _puzzle_accuracy(scores: Sequence[PuzzleScore]) -> float | None:
    return sum(score.solved for score in scores) / len(scores) if scores else None


def _cell_accuracy(scores: Sequence[PuzzleScore]) -> float | None:
    return sum(score.right for score in scores) / sum(score.total for score in scores) if scores else None


def _outcomes(scores: Sequence[PuzzleScore]) -> dict[Outcome, int]:
    return {outcome: sum(score.outcome is outcome for score in scores) for outcome in Outcome}
