"""Drawing writing requests and constraint parameters for chat tasks, in the ranges of the official benchmark."""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sparring.environments.ifeval.conflicts import in_conflict
from sparring.environments.ifeval.constraints import Constraint, Value

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

LANGUAGES = ("de", "es", "fi", "fr", "it", "pl", "pt", "ru", "sv", "vi")


@dataclass(frozen=True)
class Material:
    """What the constraints of one task draw from: words that none of them shares, and the request itself."""

    words: Iterator[str]
    request: str


Draw = Callable[[random.Random, Material], dict[str, Value]]


def _bounded(number: str, relation: str, low: int, high: int) -> Draw:
    """A relation and a threshold; fewer than one of something that every text has is not asked for."""

    def draw(rng: random.Random, material: Material) -> dict[str, Value]:
        drawn = rng.choice(RELATIONS)
        return {relation: drawn, number: rng.randint(max(low, 2) if drawn == "less than" else low, high)}

    return draw


def _number(name: str, high: int) -> Draw:
    return lambda rng, material: {name: rng.randint(1, high)}


def _nothing(rng: random.Random, material: Material) -> dict[str, Value]:
    return {}


def _frequency(rng: random.Random, material: Material) -> dict[str, Value]:
    return {"keyword": next(material.words), "frequency": rng.randint(1, 3), "relation": rng.choice(RELATIONS)}


def _letter(rng: random.Random, material: Material) -> dict[str, Value]:
    letter = rng.choice(string.ascii_lowercase)
    return {"letter": letter, "let_frequency": rng.randint(1, 10), "let_relation": rng.choice(RELATIONS)}


def _first_word(rng: random.Random, material: Material) -> dict[str, Value]:
    count = rng.randint(1, 5)
    return {"num_paragraphs": count, "nth_paragraph": rng.randint(1, count), "first_word": next(material.words)}


def _sections(rng: random.Random, material: Material) -> dict[str, Value]:
    return {"section_spliter": rng.choice(("Section", "SECTION")), "num_sections": rng.randint(1, 5)}


DRAWS: Mapping[str, Draw] = {
    "keywords:existence": lambda rng, material: {"keywords": (next(material.words), next(material.words))},
    "keywords:frequency": _frequency,
    "keywords:forbidden_words": lambda rng, material: {"forbidden_words": (next(material.words), next(material.words))},
    "keywords:letter_frequency": _letter,
    "language:response_language": lambda rng, material: {"language": rng.choice(LANGUAGES)},
    "length_constraints:number_sentences": _bounded("num_sentences", "relation", 1, 20),
    "length_constraints:number_paragraphs": _number("num_paragraphs", 5),
    "length_constraints:number_words": _bounded("num_words", "relation", 100, 500),
    "length_constraints:nth_paragraph_first_word": _first_word,
    "detectable_content:number_placeholders": _number("num_placeholders", 4),
    "detectable_content:postscript": lambda rng, material: {"postscript_marker": rng.choice(("P.S.", "P.P.S"))},
    "detectable_format:number_bullet_lists": _number("num_bullets", 5),
    "detectable_format:constrained_response": _nothing,
    "detectable_format:number_highlighted_sections": _number("num_highlights", 4),
    "detectable_format:multiple_sections": _sections,
    "detectable_format:json_format": _nothing,
    "detectable_format:title": _nothing,
    "combination:two_responses": _nothing,
    "combination:repeat_prompt": lambda rng, material: {"prompt_to_repeat": material.request},
    "startend:end_checker": lambda rng, material: {"end_phrase": rng.choice(END_PHRASES)},
    "startend:quotation": _nothing,
    "change_case:capital_word_frequency": _bounded("capital_frequency", "capital_relation", 1, 20),
    "change_case:english_capital": _nothing,
    "change_case:english_lowercase": _nothing,
    "punctuation:no_comma": _nothing,
}
FRAGILE_FAMILIES = ("language:response_language", "combination:repeat_prompt", "combination:two_responses")
"""Their checkers go by a guess or by the letter, so they are drawn where the settings name them, and not by default."""
TRAINING_FAMILIES = tuple(family for family in DRAWS if family not in FRAGILE_FAMILIES)


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


def draw_constraints(families: Sequence[str], request: str, rng: random.Random) -> tuple[Constraint, ...]:
    """One constraint of each family, in this order; no keyword is used by two of them."""
    material = Material(iter(rng.sample(KEYWORDS, len(KEYWORDS))), request)
    return tuple(Constraint.read(family, DRAWS[family](rng, material)) for family in families)
