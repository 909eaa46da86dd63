"""Constraints over a dozen words, for the micro backbone: terse wording, and draws that a hidden draft satisfies.

The drafts are strings of these words and the checkers are those of constraints.py; only wording and sizes differ.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sparring.environments.ifeval.constraints import Constraint, Value

WORDS = ("cat", "dog", "fox", "hen", "owl", "cow", "pig", "bee", "ant", "rat", "bat", "elk")
LETTERS = ("a", "e", "o", "t")
FLAGS = ("done", "submit")

_RELATION_WORDS = {"at least": "least", "less than": "less"}
_MAXIMUM_NUMBER = 6

Draw = Callable[[Sequence[str], random.Random], dict[str, Value]]


def _existence(witness: Sequence[str], rng: random.Random) -> dict[str, Value]:
    # Neither end of the draft, where it can be helped: those may be asked for by name already.
    return {"keywords": (rng.choice(witness[1:-1] or witness),)}


def _forbidden(witness: Sequence[str], rng: random.Random) -> dict[str, Value]:
    return {"forbidden_words": (rng.choice([word for word in WORDS if word not in witness]),)}


def _bound(number: int, rng: random.Random) -> tuple[str, int]:
    """A relation and a threshold that this number just meets; never one that nothing or everything meets."""
    if number == 0 or rng.random() < 0.5:
        return "less than", number + 1
    return "at least", number


def _frequency(witness: Sequence[str], rng: random.Random) -> dict[str, Value]:
    keyword = rng.choice(witness)
    relation, threshold = _bound(witness.count(keyword), rng)
    return {"keyword": keyword, "relation": relation, "frequency": threshold}


def _letter(witness: Sequence[str], rng: random.Random) -> dict[str, Value]:
    letter = rng.choice(LETTERS)
    relation, threshold = _bound("".join(witness).count(letter), rng)
    if threshold > _MAXIMUM_NUMBER:
        relation, threshold = "at least", _MAXIMUM_NUMBER
    return {"letter": letter, "let_relation": relation, "let_frequency": threshold}


def _length(witness: Sequence[str], rng: random.Random) -> dict[str, Value]:
    relation, threshold = _bound(len(witness), rng)
    if threshold == 1:  # every draft has a word
        relation, threshold = "less than", 2
    return {"relation": relation, "num_words": threshold}


def _start(witness: Sequence[str], rng: random.Random) -> dict[str, Value]:
    return {"num_paragraphs": 1, "nth_paragraph": 1, "first_word": witness[0]}


def _end(witness: Sequence[str], rng: random.Random) -> dict[str, Value]:
    return {"end_phrase": witness[-1]}


@dataclass(frozen=True)
class CompactFamily:
    """How a family is drawn true of a draft, and worded."""

    draw: Draw
    wording: str


FAMILIES: Mapping[str, CompactFamily] = {
    # In the order in which a plan names them: from the front of the draft to its end, what to leave out last.
    "length_constraints:nth_paragraph_first_word": CompactFamily(_start, "start {first_word}"),
    "keywords:existence": CompactFamily(_existence, "has {keywords}"),
    "keywords:frequency": CompactFamily(_frequency, "{relation} {frequency} {keyword}"),
    "startend:end_checker": CompactFamily(_end, "end {end_phrase}"),
    "length_constraints:number_words": CompactFamily(_length, "{relation} {num_words} words"),
    "keywords:letter_frequency": CompactFamily(_letter, "{let_relation} {let_frequency} {letter}"),
    "keywords:forbidden_words": CompactFamily(_forbidden, "no {forbidden_words}"),
}

VOCABULARY = (
    *WORDS,
    *LETTERS,
    *FLAGS,
    *(str(number) for number in range(1, _MAXIMUM_NUMBER + 1)),
    *("start", "has", "end", "words", "no", "least", "less"),
)


def draw(families: Sequence[str], lengths: Sequence[int], rng: random.Random) -> tuple[tuple[Constraint, ...], str]:
    """One constraint of each family, in this order, all true of a hidden draft; and that draft."""
    witness = [rng.choice(WORDS) for _ in range(rng.choice(lengths))]
    if "keywords:frequency" in families and len(witness) > 2 and rng.random() < 0.5:
        witness[rng.randrange(1, len(witness))] = witness[0]
    constraints = [Constraint.read(family, FAMILIES[family].draw(witness, rng)) for family in families]
    return tuple(constraints), " ".join(witness)


def wording(constraint: Constraint) -> str:
    """The constraint in terse words, each of them in VOCABULARY."""
    values = {name: _RELATION_WORDS.get(str(value), value) for name, value in constraint.kwargs}
    values = {name: " ".join(value) if isinstance(value, tuple) else value for name, value in values.items()}
    return FAMILIES[constraint.id].wording.format(**values)


def near_misses(witness: str, rng: random.Random) -> Iterator[str]:
    """Drafts near this one in random order: a word changed, left out or repeated; then drafts of one word alone."""
    draft = witness.split()
    near = [[*draft[:place], word, *draft[place + 1 :]] for place in range(len(draft)) for word in WORDS]
    near += [[*draft[:place], word, *draft[place:]] for place in range(len(draft) + 1) for word in WORDS]
    near += [draft[:place] + draft[place + 1 :] for place in range(len(draft)) if len(draft) > 1]
    yield from (" ".join(words) for words in rng.sample(near, len(near)) if words != draft)
    yield from WORDS
    yield from (f"{witness} {' '.join([word] * _MAXIMUM_NUMBER)}" for word in WORDS)


def in_plan_order(constraints: Sequence[Constraint]) -> list[Constraint]:
    """The constraints in the order in which a plan names them."""
    order = list(FAMILIES)
    return sorted(constraints, key=lambda constraint: order.index(constraint.id))


def read_draft(action: str) -> tuple[str, frozenset[str]] | None:
    """The draft and the flags that close a turn; None when another word stands in it."""
    words = action.split()
    flags: set[str] = set()
    while words and words[-1] in FLAGS:
        flags.add(words.pop())
    if not all(word in WORDS for word in words):
        return None
    return " ".join(words), frozenset(flags)
