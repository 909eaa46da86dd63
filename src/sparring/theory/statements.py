"""A statement of the theory beside what was computed, and whether the two agree."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

ARITHMETIC = 1e-9
"""How far float64 may take two computations of the same number apart."""

THREE_DIGITS = 0.0005 + ARITHMETIC
"""How far a number may lie from itself rounded to three digits."""


class Origin(StrEnum):
    """Who claims it: LURE (arXiv 2608.21871), or this project, which derived it from LURE's equations."""

    PAPER = "paper"
    DERIVED = "derived"


class Relation(StrEnum):
    """How the computed number is claimed to lie to the claimed one."""

    EQUAL = "="
    BELOW = "<"
    ABOVE = ">"


@dataclass(frozen=True)
class Statement:
    """One claim about one number.

    source: where it stands, such as "Theorem 1". tolerance: the distance that counts as equal, with
    Relation.EQUAL only: that of the arithmetic, of the search, or of the digits that were published.
    """

    source: str
    origin: Origin
    words: str
    claimed: float
    computed: float
    tolerance: float = ARITHMETIC
    relation: Relation = Relation.EQUAL

    @property
    def agrees(self) -> bool:
        """Whether the computed number is as claimed; one that is no number never is."""
        match self.relation:
            case Relation.EQUAL:
                return abs(self.computed - self.claimed) <= self.tolerance
            case Relation.BELOW:
                return self.computed < self.claimed
            case Relation.ABOVE:
                return self.computed > self.claimed

    def plain(self) -> dict[str, Any]:
        """The statement, ready for JSON; tolerance only where it counts."""
        return {
            "source": self.source,
            "origin": self.origin.value,
            "statement": self.words,
            "relation": self.relation.value,
            "claimed": self.claimed,
            "computed": self.computed,
            "tolerance": self.tolerance if self.relation is Relation.EQUAL else None,
            "agrees": self.agrees,
        }
