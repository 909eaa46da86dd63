"""Kinship: people and the facts between them, relations read from the facts, universes, chains of hops.

Relations follow blood rules: siblings share at least one parent, and a sibling's spouse is no sibling.
A marriage is a fact of its own, so couples without children exist.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sparring.environments.names import FIRST_NAMES, HOBBIES, JOBS, SHORT_NAMES, SURNAMES

RELATIONS = ("sister", "brother", "mother", "father", "son", "daughter", "wife", "husband", "friend")
ATTRIBUTES = ("date of birth", "occupation", "hobby")
# A hop may reach this many people in a set-valued chain, so that one turn can name them all.
MAXIMUM_HOP_SET = 8

Hop = tuple[str, ...]


@dataclass(frozen=True)
class Person:
    """One person and what is stated about them alone."""

    name: str
    gender: str
    date_of_birth: str
    job: str
    hobby: str

    @property
    def attributes(self) -> dict[str, str]:
        """Value of each of ATTRIBUTES."""
        return dict(zip(ATTRIBUTES, (self.date_of_birth, self.job, self.hobby), strict=True))


@dataclass(frozen=True)
class Universe:
    """People by name, and the base facts: parents of a child, married pairs, pairs of friends."""

    people: Mapping[str, Person]
    parents: Mapping[str, tuple[str, ...]]
    marriages: tuple[tuple[str, str], ...]
    friendships: tuple[tuple[str, str], ...]

    @cached_property
    def spelling(self) -> dict[str, str]:
        """Each name by its lower-case form."""
        return {name.casefold(): name for name in self.people}

    @cached_property
    def related(self) -> dict[str, dict[str, Hop]]:
        """related[person][relation]: the sorted names, each once; relations that reach nobody are left out."""
        found: dict[str, dict[str, set[str]]] = {name: {} for name in self.people}

        def state(person: str, female: str, male: str, other: str) -> None:
            relation = female if self.people[other].gender == "female" else male
            found[person].setdefault(relation, set()).add(other)

        children: dict[str, list[str]] = {}
        for child, parents in self.parents.items():
            for parent in parents:
                state(child, "mother", "father", parent)
                state(parent, "daughter", "son", child)
                children.setdefault(parent, []).append(child)
        for siblings in children.values():
            for one, other in itertools.permutations(siblings, 2):
                state(one, "sister", "brother", other)
        for one, other in self.marriages:
            state(one, "wife", "husband", other)
            state(other, "wife", "husband", one)
        for one, other in self.friendships:
            state(one, "friend", "friend", other)
            state(other, "friend", "friend", one)
        return {
            name: {relation: tuple(sorted(relations[relation])) for relation in RELATIONS if relation in relations}
            for name, relations in found.items()
        }

    def follow(self, names: Sequence[str], step: str) -> Hop:
        """Everything that a relation or attribute reaches from any of `names`: sorted, each once."""
        if step in ATTRIBUTES:
            return tuple(sorted({self.people[name].attributes[step] for name in names}))
        if len(names) == 1:
            return self.related[names[0]].get(step, ())
        return tuple(sorted({other for name in names for other in self.related[name].get(step, ())}))


@dataclass
class _Growth:
    """A universe while it grows, people still numbers. A line is a surname before it is chosen."""

    genders: list[str] = field(default_factory=list)
    birth_years: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    parents: dict[int, tuple[int, int]] = field(default_factory=dict)
    marriages: list[tuple[int, int]] = field(default_factory=list)
    line_count: int = 0

    def new_line(self) -> int:
        self.line_count += 1
        return self.line_count - 1

    def add(self, gender: str, birth_year: int, line: int) -> int:
        self.genders.append(gender)
        self.birth_years.append(birth_year)
        self.lines.append(line)
        return len(self.genders) - 1

    def marry(self, person: int, rng: random.Random) -> int:
        """Add a spouse from outside; the couple bears the husband's name."""
        female = self.genders[person] == "female"
        line = self.new_line() if female else self.lines[person]
        self.lines[person] = line
        spouse = self.add("male" if female else "female", self.birth_years[person] + rng.randint(-5, 5), line)
        self.marriages.append((person, spouse))
        return spouse

    def grow_tree(self, size: int, maximum_branching: int, rng: random.Random) -> None:
        """Add a family tree of at most `size` people; it ends early when nobody is left to marry."""
        end = len(self.genders) + size
        unmarried = [self.add(rng.choice(("female", "male")), rng.randint(1700, 1730), self.new_line())]
        while unmarried and len(self.genders) < end:
            person = unmarried.pop(rng.randrange(len(unmarried)))
            spouse = self.marry(person, rng)
            for _ in range(min(rng.randint(0, maximum_branching), end - len(self.genders))):
                birth_year = max(self.birth_years[person], self.birth_years[spouse]) + rng.randint(18, 38)
                child = self.add(rng.choice(("female", "male")), birth_year, self.lines[person])
                self.parents[child] = (person, spouse)
                unmarried.append(child)


def _full_names(growth: _Growth, rng: random.Random) -> list[str]:
    """A first name and the surname of the line for each person, no two alike."""
    surnames = rng.sample(SURNAMES, len(SURNAMES))
    names: dict[str, None] = {}
    for gender, line in zip(growth.genders, growth.lines, strict=True):
        while (name := f"{rng.choice(FIRST_NAMES[gender])} {surnames[line % len(surnames)]}") in names:
            pass
        names[name] = None
    return list(names)


def draw_universe(
    population: int,
    rng: random.Random,
    *,
    tree_size: int,
    maximum_branching: int,
    mean_friends: float,
    short_names: bool = False,
) -> Universe:
    """A universe of family trees, in which each pair are friends with probability mean_friends / population.

    tree_size, maximum_branching: the most people in a tree and children of a couple.
    short_names: single lower-case words, for at most len(SHORT_NAMES) people.
    """
    growth = _Growth()
    while len(growth.genders) < population:
        growth.grow_tree(min(tree_size, population - len(growth.genders)), maximum_branching, rng)
    names = rng.sample(SHORT_NAMES, population) if short_names else _full_names(growth, rng)
    people = {
        name: Person(
            name=name,
            gender=gender,
            date_of_birth=f"{birth_year}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}",
            job=rng.choice(JOBS),
            hobby=rng.choice(HOBBIES),
        )
        for name, gender, birth_year in zip(names, growth.genders, growth.birth_years, strict=True)
    }
    edge_probability = mean_friends / population
    return Universe(
        people=people,
        parents={names[child]: (names[one], names[other]) for child, (one, other) in growth.parents.items()},
        marriages=tuple((names[one], names[other]) for one, other in growth.marriages),
        friendships=tuple(pair for pair in itertools.combinations(names, 2) if rng.random() < edge_probability),
    )


@dataclass(frozen=True)
class Chain:
    """A start person, the steps (relations, perhaps an attribute last) and the gold set S_j of each hop."""

    start: str
    steps: tuple[str, ...]
    hops: tuple[Hop, ...]


def chains(
    universe: Universe, relations: int, attribute: str | None, rng: random.Random, *, unique: bool
) -> Iterator[Chain]:
    """Chains of `relations` relations and then the attribute, one for each start person that has one, in random order.

    No entity repeats along a chain, the start included, so the answer is never named in the question.
    unique: every hop reaches exactly one; else at most MAXIMUM_HOP_SET.
    """
    largest = 1 if unique else MAXIMUM_HOP_SET
    dead_ends: set[tuple[int, Hop, frozenset[str]]] = set()

    def search(steps: list[str], hops: list[Hop], seen: frozenset[str]) -> bool:
        """Depth first in random order; leaves the steps and hops found in the lists."""
        if len(steps) == relations:
            return attribute is None or len(universe.follow(hops[-1], attribute)) <= largest
        state = (len(steps), hops[-1], seen)
        if state in dead_ends:
            return False
        reachable = [(relation, universe.follow(hops[-1], relation)) for relation in RELATIONS]
        open_ways = [way for way in reachable if 1 <= len(way[1]) <= largest and seen.isdisjoint(way[1])]
        rng.shuffle(open_ways)
        for relation, reached in open_ways:
            steps.append(relation)
            hops.append(reached)
            if search(steps, hops, seen.union(reached)):
                return True
            steps.pop()
            hops.pop()
        dead_ends.add(state)
        return False

    for start in rng.sample(sorted(universe.people), len(universe.people)):
        steps: list[str] = []
        hops: list[Hop] = [(start,)]
        if search(steps, hops, frozenset(hops[0])):
            if attribute is not None:
                steps.append(attribute)
                hops.append(universe.follow(hops[-1], attribute))
            yield Chain(start, tuple(steps), tuple(hops[1:]))
