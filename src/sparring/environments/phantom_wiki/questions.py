"""Official PhantomWiki questions over one universe, drawn and answered.

What a step reaches is carried as a set of people, so that a chain costs its people times its hops,
however many ways lead through it. Questions are drawn by walking from a person to a relative who exists,
so no draw is in vain for want of relatives.

Differences from the reference, each on purpose: starts are dealt from a shuffled deck of everybody, over
all templates, where the reference draws anew from the same seed for each (case C20); no two questions have
the same text; none names its answer (C19); and where a question cannot be had the draw is refused, where
the reference returns one with placeholders in it.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass

from sparring.environments.phantom_wiki.grammar import Asked, Query, Template, templates
from sparring.environments.phantom_wiki.kinship import ATTRIBUTES, Hop, Universe
from sparring.environments.phantom_wiki.relations import RELATION_TABLE
from sparring.errors import UserError
from sparring.tasks import GenerationRefusedError

# Draws for one question before its template is held to have no other in this universe.
ATTEMPTS = 500

Way = tuple[str, str]
"""A relation and one person whom it reaches."""


@dataclass(frozen=True)
class OfficialQuestion:
    """A question over a universe.

    template: its number among templates(depth), the official "type".
    hops: the start (everyone whom it fits), then all that each step reaches from the set before it; the
        last step of a count reaches all whom it counts.
    answers: the sorted names, values or counts, each once. Several counts are several answers: the
        relatives of each person of the hop before the last are counted apart (case C18).
    """

    query: Query
    text: str
    template: int
    hops: tuple[Hop, ...]
    answers: Hop

    @property
    def difficulty(self) -> int:
        """The sum of the weights."""
        return self.query.difficulty

    @property
    def unique(self) -> bool:
        """Whether every hop is one person or value, whom a count counts aside, and so the answer is one."""
        people = self.hops[:-1] if self.query.asked is Asked.HOW_MANY else self.hops
        return all(len(hop) == 1 for hop in people)

    @property
    def content_key(self) -> str:
        """Sixteen hex digits that name the question and its answers."""
        return hashlib.sha256(f"{self.text} {self.answers}".encode()).hexdigest()[:16]


def answer_query(universe: Universe, query: Query) -> tuple[tuple[Hop, ...], Hop]:
    """The hops and the answers, as in OfficialQuestion; both may be empty sets for a query that reaches nobody.

    Raises UserError for a start that is not in the universe.
    """
    hops = [_start(universe, query)]
    for step in query.steps:
        hops.append(universe.follow(hops[-1], step))
    if query.asked is not Asked.HOW_MANY:
        return tuple(hops), hops[-1]
    counted = query.steps[-1]
    counts = {str(len(universe.follow((name,), counted))) for name in hops[-2]}
    return tuple(hops), tuple(sorted(counts))


def _start(universe: Universe, query: Query) -> Hop:
    if query.described_by is None:
        if query.start not in universe.people:
            raise UserError(f"{query.text!r} names {query.start!r}, who is not in the universe; name one who is")
        return (query.start,)
    holders = universe.having(query.described_by, query.start)
    if not holders:
        raise UserError(f"no {query.described_by} in the universe is {query.start!r}; give a value that somebody has")
    return holders


def draw_questions(
    universe: Universe, *, depth: int = 6, per_template: int = 10, seed: int, unique: bool = False, easy: bool = False
) -> tuple[OfficialQuestion, ...]:
    """`per_template` questions of each template of `depth`, no two of the same text.

    unique: every hop reaches one person or value; else hops are sets, as in the official data.
    easy: only relations of weight 1, as in the official easy mode.
    Raises GenerationRefusedError when ATTEMPTS draws bring no further question of a template.
    """
    draws = _Draws(universe, random.Random(seed), unique=unique, easy=easy)
    return tuple(
        draws.question(template, number)
        for number, template in enumerate(templates(depth))
        for _ in range(per_template)
    )


class _Ways(dict[str, list[Way]]):
    """The ways from each person to another; `single` keeps those whose relation reaches nobody else."""

    def __init__(self, universe: Universe, relations: Sequence[str], *, single: bool) -> None:
        super().__init__()
        self._reach = [(relation, universe.reach[relation]) for relation in relations]
        self._single = single

    def __missing__(self, person: str) -> list[Way]:
        reached = [(relation, others[person]) for relation, others in self._reach]
        self[person] = [
            (relation, other)
            for relation, others in reached
            if not self._single or len(others) == 1
            for other in others
        ]
        return self[person]


class _Draws:
    """One stream of draws over a universe, with what it has asked."""

    def __init__(self, universe: Universe, rng: random.Random, *, unique: bool, easy: bool) -> None:
        relations = [name for name, relation in RELATION_TABLE.items() if relation.weight == 1 or not easy]
        self.universe = universe
        self.rng = rng
        self.unique = unique
        self.ways = _Ways(universe, relations, single=False)
        self.hop_ways = _Ways(universe, relations, single=True) if unique else self.ways
        self.asked: set[str] = set()
        self.deck: list[str] = []

    def question(self, template: Template, number: int) -> OfficialQuestion:
        """A question that was not asked before and names no answer."""
        for _ in range(ATTEMPTS):
            query = self._walk(template)
            if query is None or (text := query.text) in self.asked:
                continue
            hops, answers = answer_query(self.universe, query)
            if query.asked is Asked.HOW_MANY or not any(answer in text for answer in answers):
                self.asked.add(text)
                return OfficialQuestion(query, text, number, hops, answers)
        raise GenerationRefusedError(
            f"template {number} ({template}) has no further question after {ATTEMPTS} draws in a universe of "
            f"{len(self.universe.people)} people that has {len(self.asked)}; ask for fewer of each template"
        )

    def _walk(self, template: Template) -> Query | None:
        """From the next start to a relative, to a relative of that one, and so on; None at a dead end."""
        draw = self.rng.random  # quicker than choice, which is felt in long chains
        person = start = self._next_start()
        described_by = None
        if template.described:
            described_by = ATTRIBUTES[int(draw() * len(ATTRIBUTES))]
            start = self.universe.people[person].attributes[described_by]
            if self.unique and len(self.universe.having(described_by, start)) > 1:
                return None
        steps = []
        for _ in range(template.relations):
            ways = self.hop_ways[person]
            if not ways:
                return None
            relation, person = ways[int(draw() * len(ways))]
            steps.append(relation)
        if template.asked is Asked.WHAT:
            steps.append(ATTRIBUTES[int(draw() * len(ATTRIBUTES))])
        elif template.asked is Asked.HOW_MANY:
            ways = self.ways[person]
            if not ways:
                return None
            steps.append(ways[int(draw() * len(ways))][0])
        return Query(template.asked, start, described_by, tuple(steps))

    def _next_start(self) -> str:
        """Dealt from a deck of everybody, which is shuffled anew when it is used up."""
        if not self.deck:
            self.deck = sorted(self.universe.people)
            self.rng.shuffle(self.deck)
        return self.deck.pop()
