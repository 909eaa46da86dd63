"""Kinship: people and the facts between them, relations read from the facts, universes, chains of hops.

Relations follow blood rules: siblings share at least one parent, and a sibling's spouse is no sibling.
A marriage is a fact of its own, so couples without children exist.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sparring.environments.phantom_wiki.names import HOBBIES, JOBS
from sparring.environments.phantom_wiki.reach import Reach
from sparring.environments.phantom_wiki.relations import RELATION_TABLE, SPOUSE
from sparring.environments.phantom_wiki.universes import Families, friendships, full_names

# What articles state and short chains walk; relations.py has all.
RELATIONS = ("sister", "brother", "mother", "father", "son", "daughter", "wife", "husband", "friend")
ATTRIBUTES = ("date of birth", "occupation", "hobby")
# A hop may reach this many people in a set-valued chain, so that one turn can name them all.
MAXIMUM_HOP_SET = 8
# People or sets looked at for one more chain: long chains through few people are a search without end.
LOOKS_AT_MOST = 1000

Hop = tuple[str, ...]

# The family of RELATIONS, by kind: the kind, its first and its second relation, and whether the first is of women.
_PAIRS = (
    ("sibling", "sister", "brother", True),
    ("parent", "mother", "father", True),
    ("child", "son", "daughter", False),
    (SPOUSE, "wife", "husband", True),
)


@dataclass(frozen=True)
class Person:
    """One person and what is stated about them alone."""

    name: str
    gender: str
    date_of_birth: str
    job: str
    hobby: str

    @cached_property
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
    def women(self) -> frozenset[str]:
        """The names of all women."""
        return frozenset(name for name, person in self.people.items() if person.gender == "female")

    @cached_property
    def reach(self) -> Mapping[str, Mapping[str, Hop]]:
        """reach[relation][person]: the sorted names, each once. Every relation of RELATION_TABLE, and the spouse."""
        children: dict[str, list[str]] = {}
        for child, parents in self.parents.items():
            for parent in parents:
                children.setdefault(parent, []).append(child)
        facts = {
            "parent": self.parents,
            "child": children,
            SPOUSE: _both_ways(self.marriages),
            "friend": _both_ways(self.friendships),
        }
        return Reach(facts, self.women)

    def stated(self, name: str) -> dict[str, Hop]:
        """What a person's article states, in the order of RELATIONS, without what reaches nobody."""
        reach, women = self.reach, self.women
        found: dict[str, Hop] = {}
        for kind, first, second, is_women in _PAIRS:
            others = reach[kind][name]
            if others:
                kept = tuple([other for other in others if (other in women) is is_women])
                if kept:
                    found[first] = kept
                if len(kept) < len(others):
                    found[second] = tuple([other for other in others if other not in kept])
        if friends := reach["friend"][name]:
            found["friend"] = friends
        return found

    @cached_property
    def related(self) -> dict[str, dict[str, Hop]]:
        """related[person][relation]: what is stated of everybody."""
        return {name: self.stated(name) for name in self.people}

    @cached_property
    def _holders(self) -> dict[str, dict[str, Hop]]:
        holders: dict[str, dict[str, list[str]]] = {attribute: {} for attribute in ATTRIBUTES}
        for name in sorted(self.people):
            for attribute, value in self.people[name].attributes.items():
                holders[attribute].setdefault(value.casefold(), []).append(name)
        return {
            attribute: {value: tuple(names) for value, names in values.items()} for attribute, values in holders.items()
        }

    def having(self, attribute: str, value: str) -> Hop:
        """Everyone whose attribute has this value, capitals aside: sorted."""
        return self._holders.get(attribute, {}).get(value.casefold(), ())

    def follow(self, names: Sequence[str], step: str) -> Hop:
        """Everything that a relation or attribute reaches from any of `names`: sorted, each once.

        Empty for a step that is neither.
        """
        if step in ATTRIBUTES:
            return tuple(sorted({self.people[name].attributes[step] for name in names}))
        if step not in RELATION_TABLE:
            return ()
        reached = self.reach[step]
        if len(names) == 1:
            return reached[names[0]]
        return tuple(sorted({other for name in names for other in reached[name]}))


def _both_ways(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Each one's others, of pairs that hold both ways."""
    others: dict[str, list[str]] = {}
    for one, other in pairs:
        others.setdefault(one, []).append(other)
        others.setdefault(other, []).append(one)
    return others


def draw_universe(
    population: int,
    rng: random.Random,
    *,
    tree_size: int,
    maximum_branching: int,
    mean_friends: float,
    short_names: Sequence[str] = (),
) -> Universe:
    """A universe of family trees, in which each pair are friends with probability mean_friends / population.

    tree_size, maximum_branching: the most people in a tree and children of a couple.
    short_names: names to draw from in place of full ones, no fewer than people.
    """
    families = Families()
    while (missing := population - len(families.genders)) > 0:
        families.grow_tree(min(tree_size, missing), maximum_branching, rng)
    names = rng.sample(short_names, population) if short_names else full_names(families, rng)
    people = {
        name: Person(
            name=name,
            gender=gender,
            date_of_birth=f"{birth_year:04d}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}",
            job=rng.choice(JOBS),
            hobby=rng.choice(HOBBIES),
        )
        for name, gender, birth_year in zip(names, families.genders, families.birth_years, strict=True)
    }
    return Universe(
        people=people,
        parents={names[child]: (names[one], names[other]) for child, (one, other) in families.parents.items()},
        marriages=tuple((names[one], names[other]) for one, other in families.marriages),
        friendships=tuple((names[one], names[other]) for one, other in friendships(population, mean_friends, rng)),
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
    looked = 0
    dead_ends: set[tuple[int, Hop, frozenset[str]]] = set()

    def search(steps: list[str], hops: list[Hop], seen: frozenset[str]) -> bool:
        """Depth first in random order; leaves the steps and hops found in the lists."""
        nonlocal looked
        if len(steps) == relations:
            return attribute is None or len(universe.follow(hops[-1], attribute)) <= largest
        state = (len(steps), hops[-1], seen)
        if state in dead_ends or looked == LOOKS_AT_MOST:
            return False
        looked += 1
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
        if looked < LOOKS_AT_MOST:
            dead_ends.add(state)
        return False

    for start in rng.sample(sorted(universe.people), len(universe.people)):
        steps: list[str] = []
        hops: list[Hop] = [(start,)]
        if search(steps, hops, frozenset(hops[0])):
            looked = 0
            if attribute is not None:
                steps.append(attribute)
                hops.append(universe.follow(hops[-1], attribute))
            yield Chain(start, tuple(steps), tuple(hops[1:]))
