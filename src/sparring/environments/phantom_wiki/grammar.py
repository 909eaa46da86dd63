"""The grammar of PhantomWiki's official questions: which there are, how they are worded, how they are read.

    S -> "Who is" R "?" | "What is" A "?" | "How many" RELATIONS "does" R_c "have?"
    R -> "the" RELATION "of" R_c | "the person whose" ATTRIBUTE "is" VALUE
    R_c -> R | NAME
    A -> "the" ATTRIBUTE "of" R

Such a question is a chain, as a hop-chain question is: a start, then steps. What is new is a start that
is described by an attribute, which may fit several people, and the question how many.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from sparring.environments.phantom_wiki.kinship import ATTRIBUTES
from sparring.environments.phantom_wiki.relations import RELATION_TABLE
from sparring.errors import UserError

# The smallest tree of the grammar, which holds two templates.
DEPTH_LOW = 4

_SINGULAR_BY_PLURAL = {relation.plural: name for name, relation in RELATION_TABLE.items()}


class Asked(StrEnum):
    """What a question asks for: the people at the end, an attribute of theirs, how many relatives they have."""

    WHO = "who"
    WHAT = "what"
    HOW_MANY = "how many"


@dataclass(frozen=True)
class Template:
    """The form of a question: what it asks, how many relations lead there, whether the start is described."""

    asked: Asked
    relations: int
    described: bool

    def __str__(self) -> str:
        """The form in words."""
        start = "a described person" if self.described else "a name"
        return f"{self.asked} after {self.relations} relations from {start}"


@dataclass(frozen=True)
class Query:
    """A question's meaning: from the start, step by step.

    start: a name, or the value of the attribute `described_by`, for everyone who has it.
    steps: relations, the first one followed first; then the attribute that WHAT asks for, or the
        relation that HOW_MANY counts.
    """

    asked: Asked
    start: str
    described_by: str | None
    steps: tuple[str, ...]

    @property
    def template(self) -> Template:
        """The form."""
        return Template(self.asked, len(self.steps) - (self.asked is not Asked.WHO), self.described_by is not None)

    @property
    def difficulty(self) -> int:
        """The sum of the weights of the relations; an attribute counts 1, and so does a count."""
        relations = self.steps if self.asked is Asked.WHO else self.steps[:-1]
        weight = sum(RELATION_TABLE[step].weight for step in relations)
        return weight + (self.described_by is not None) + (self.asked is not Asked.WHO)

    @property
    def text(self) -> str:
        """The question as it is asked."""
        start = self.start if self.described_by is None else f"the person whose {self.described_by} is {self.start}"
        steps, asked = self.steps[::-1], self.asked
        if asked is Asked.HOW_MANY:
            owner = " of ".join([*(f"the {step}" for step in steps[1:]), start])
            return f"How many {RELATION_TABLE[steps[0]].plural} does {owner} have?"
        chain = " of ".join([*(f"the {step}" for step in steps), start])
        return f"{'Who' if asked is Asked.WHO else 'What'} is {chain}?"


@cache
def templates(depth: int) -> tuple[Template, ...]:
    """All templates whose tree in the grammar has at most this depth, in the official order.

    A relation of a name has depth 4 below its question, a described person 3, and each further
    relation adds 2, so that every depth holds one chain, and the deeper come first.
    """
    if depth < DEPTH_LOW:
        raise UserError(f"depth = {depth}: no question of the grammar is so shallow; give at least {DEPTH_LOW}")

    def chains(asked: Asked, deepest: int, least: int) -> Iterator[Template]:
        for own in range(deepest, least - 1, -1):
            described = own % 2 == 1
            yield Template(asked, (own - 3) // 2 if described else (own - 2) // 2, described)

    return (
        *chains(Asked.WHO, depth - 1, 3),
        *chains(Asked.WHAT, depth - 2, 3),
        *chains(Asked.HOW_MANY, depth - 2, 2),
    )


def _one_of(words: Iterator[str] | tuple[str, ...]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_HOP = re.compile(rf"the ({_one_of(iter(RELATION_TABLE))}) of ")
_DESCRIBED = re.compile(rf"the person whose ({_one_of(ATTRIBUTES)}) is (.+)")
_FORMS = {
    Asked.WHO: re.compile(r"Who is (the .+)\?"),
    Asked.WHAT: re.compile(rf"What is the (?P<last>{_one_of(ATTRIBUTES)}) of (the .+)\?"),
    Asked.HOW_MANY: re.compile(rf"How many (?P<last>{_one_of(iter(_SINGULAR_BY_PLURAL))}) does (.+) have\?"),
}


def read_question(text: str) -> Query:
    """The meaning of a question in the official words; UserError when the grammar has no such question."""
    for asked, form in _FORMS.items():
        if found := form.fullmatch(text):
            rest, steps = found.groups()[-1], []
            while hop := _HOP.match(rest):
                steps.append(hop[1])
                rest = rest[hop.end() :]
            described = _DESCRIBED.fullmatch(rest)
            start, described_by = (described[2], described[1]) if described else (rest, None)
            last = found.groupdict().get("last")
            outermost = [] if last is None else [_SINGULAR_BY_PLURAL.get(last, last)]
            query = Query(asked, start, described_by, (*steps[::-1], *outermost))
            named = not rest.startswith("the ") and (steps or asked is Asked.HOW_MANY)
            if described or named:
                return query
    raise UserError(
        f"question {text!r} is none of the official grammar; give one in its words, such as "
        f"'Who is the mother of Ann Smith?'"
    )
