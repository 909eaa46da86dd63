"""Drawing writing requests and constraint parameters for chat tasks, in the ranges of the official benchmark."""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Iterator, Mapping, Sequence

from sparring.environments.constraints import Constraint, Value
from sparring.environments.constraints_conflicts import in_conflict

GENRES = (
    "blog post",
    "short story",
    "letter to a friend",
    "product review",
    "speech",
    "diary entry",
    "newspaper report",
    "travel guide",
    "fable",
    "memo",
    "advertisement",
    "museum label",
    "radio script",
    "field note",
    "toast",
    "complaint",
    "recommendation",
    "lecture summary",
    "fan letter",
    "set of instructions",
)
SUBJECTS = (
    "a lighthouse at the edge of town",
    "an old ferry",
    "learning to bake rye bread",
    "a lost umbrella",
    "the first frost of the year",
    "a library that opens at night",
    "repairing a wooden boat",
    "a beekeeper and her hives",
    "the night train",
    "a street market in the rain",
    "growing tomatoes on a balcony",
    "a chess club for beginners",
    "a borrowed telescope",
    "the last day of a fair",
    "a clock that runs backwards",
    "sharing a kitchen",
    "a long walk along a canal",
    "a stray cat with a routine",
    "the sound of a busy harbour",
    "moving a piano up the stairs",
    "a village choir",
    "mending clothes",
    "a school garden",
    "a bridge under repair",
    "collecting sea glass",
)
_KEYWORDS = (
    "anchor autumn basket blanket bottle breeze candle canvas carpet castle copper cotton cousin desert dragon engine "
    "falcon feather fiddle forest galaxy ginger hammer helmet island jigsaw journey kettle ladder lantern lemon marble "
    "meadow mirror monsoon nephew orchard oyster paddle pebble pepper pillow pocket puzzle quarry rabbit ribbon saddle "
    "shadow silver socket sparrow spiral temple ticket tunnel turnip velvet violin walnut whistle window winter "
    "zipper"
)
KEYWORDS = tuple(_KEYWORDS.split())
END_PHRASES = ("Any other questions?", "Is there anything else I can help with?", "That is all for today.")
RELATIONS = ("at least", "less than")

Draw = Callable[[random.Random, Iterator[str]], dict[str, Value]]


def _bounded(number: str, relation: str, low: int, high: int) -> Draw:
    """A relation and a threshold; fewer than one of something that every text has is not asked for."""

    def draw(rng: random.Random, words: Iterator[str]) -> dict[str, Value]:
        drawn = rng.choice(RELATIONS)
        return {relation: drawn, number: rng.randint(max(low, 2) if drawn == "less than" else low, high)}

    return draw


def _number(name: str, high: int) -> Draw:
    return lambda rng, words: {name: rng.randint(1, high)}


def _nothing(rng: random.Random, words: Iterator[str]) -> dict[str, Value]:
    return {}


def _frequency(rng: random.Random, words: Iterator[str]) -> dict[str, Value]:
    return {"keyword": next(words), "frequency": rng.randint(1, 3), "relation": rng.choice(RELATIONS)}


def _letter(rng: random.Random, words: Iterator[str]) -> dict[str, Value]:
    letter = rng.choice(string.ascii_lowercase)
    return {"letter": letter, "let_frequency": rng.randint(1, 10), "let_relation": rng.choice(RELATIONS)}


def _first_word(rng: random.Random, words: Iterator[str]) -> dict[str, Value]:
    count = rng.randint(1, 5)
    return {"num_paragraphs": count, "nth_paragraph": rng.randint(1, count), "first_word": next(words)}


def _sections(rng: random.Random, words: Iterator[str]) -> dict[str, Value]:
    return {"section_spliter": rng.choice(("Section", "SECTION")), "num_sections": rng.randint(1, 5)}


TRAINING_FAMILIES: Mapping[str, Draw] = {
    "keywords:existence": lambda rng, words: {"keywords": (next(words), next(words))},
    "keywords:frequency": _frequency,
    "keywords:forbidden_words": lambda rng, words: {"forbidden_words": (next(words), next(words))},
    "keywords:letter_frequency": _letter,
    "length_constraints:number_sentences": _bounded("num_sentences", "relation", 1, 20),
    "length_constraints:number_paragraphs": _number("num_paragraphs", 5),
    "length_constraints:number_words": _bounded("num_words", "relation", 100, 500),
    "length_constraints:nth_paragraph_first_word": _first_word,
    "detectable_content:number_placeholders": _number("num_placeholders", 4),
    "detectable_content:postscript": lambda rng, words: {"postscript_marker": rng.choice(("P.S.", "P.P.S"))},
    "detectable_format:number_bullet_lists": _number("num_bullets", 5),
    "detectable_format:constrained_response": _nothing,
    "detectable_format:number_highlighted_sections": _number("num_highlights", 4),
    "detectable_format:multiple_sections": _sections,
    "detectable_format:json_format": _nothing,
    "detectable_format:title": _nothing,
    "startend:end_checker": lambda rng, words: {"end_phrase": rng.choice(END_PHRASES)},
    "startend:quotation": _nothing,
    "change_case:capital_word_frequency": _bounded("capital_frequency", "capital_relation", 1, 20),
    "change_case:english_capital": _nothing,
    "change_case:english_lowercase": _nothing,
    "punctuation:no_comma": _nothing,
}
"""The families that train: all but response_language, repeat_prompt and two_responses, whose checkers are fragile."""


def draw_request(rng: random.Random) -> str:
    """A writing request; none of them is a prompt of the benchmark."""
    genre = rng.choice(GENRES)
    article = "an" if genre[0] in "aeiou" else "a"
    return f"Write {article} {genre} about {rng.choice(SUBJECTS)}."


def draw_families(families: Sequence[str], count: int, rng: random.Random) -> tuple[str, ...] | None:
    """`count` of these families in random order, none in conflict with another; None when the order found no room."""
    chosen: list[str] = []
    for family in rng.sample(families, len(families)):
        if len(chosen) == count:
            break
        if not any(in_conflict(family, other) for other in chosen):
            chosen.append(family)
    return tuple(chosen) if len(chosen) == count else None


def draw_constraints(families: Sequence[str], rng: random.Random) -> tuple[Constraint, ...]:
    """One constraint of each family, in this order; no keyword is used by two of them."""
    words = iter(rng.sample(KEYWORDS, len(KEYWORDS)))
    return tuple(Constraint.read(family, TRAINING_FAMILIES[family](rng, words)) for family in families)
