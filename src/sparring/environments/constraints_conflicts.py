"""Which constraint families may stand together: the official table, made symmetric."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from sparring.environments.constraints import FAMILIES

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

_PAIRS = frozenset(
    chain.from_iterable(
        ((family, other), (other, family)) for family, others in _DECLARED.items() for other in others | {family}
    )
)


def in_conflict(family: str, other: str) -> bool:
    """Whether the official table keeps these two families apart; a family is kept apart from itself."""
    return family == other or (family, other) in _PAIRS
