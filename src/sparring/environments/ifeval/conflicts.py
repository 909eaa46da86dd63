"""Which constraint families may stand together: the official table, made symmetric, and one pair of our own."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from sparring.environments.ifeval.constraints import FAMILIES

_ALL = frozenset(FAMILIES)

_DECLARED: Mapping[str, frozenset[str]] = {
    "language:response_language": frozenset(
        {
            "detectable_format:multiple_sections",
            "keywords:existence",
            "keywords:frequency",
            "keywords:forbidden_words",
            "startend:end_checker",
            "change_case:english_capital",
            "change_case:english_lowercase",
        }
    ),
    "length_constraints:number_paragraphs": frozenset(
        {"length_constraints:nth_paragraph_first_word", "length_constraints:number_sentences"}
    ),
    "detectable_format:constrained_response": _ALL,
    "detectable_format:multiple_sections": frozenset({"detectable_format:number_highlighted_sections"}),
    "detectable_format:json_format": _ALL - {"keywords:forbidden_words", "keywords:existence"},
    "combination:two_responses": _ALL
    - {
        "keywords:forbidden_words",
        "keywords:existence",
        "language:response_language",
        "detectable_format:title",
        "punctuation:no_comma",
    },
    "combination:repeat_prompt": _ALL - {"keywords:existence", "detectable_format:title", "punctuation:no_comma"},
    "change_case:capital_word_frequency": frozenset({"change_case:english_lowercase", "change_case:english_capital"}),
    "change_case:english_lowercase": frozenset({"change_case:english_capital"}),
    "startend:quotation": frozenset({"detectable_format:title"}),
}
# The official table lets these two meet, and no text follows both: the marks are "Section 1" or "SECTION 1".
_OURS: Mapping[str, frozenset[str]] = {
    "detectable_format:multiple_sections": frozenset({"change_case:english_lowercase"})
}

_PAIRS = frozenset(
    pair
    for family, others in chain(_DECLARED.items(), _OURS.items())
    for other in others | {family}
    for pair in ((family, other), (other, family))
)


def in_conflict(family: str, other: str) -> bool:
    """Whether these two families are kept apart; a family is kept apart from itself."""
    return family == other or (family, other) in _PAIRS
