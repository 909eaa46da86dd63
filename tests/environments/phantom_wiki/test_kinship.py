import itertools
import random
from collections.abc import Sequence

import pytest

from sparring.environments.phantom_wiki import kinship
from sparring.environments.phantom_wiki.kinship import (
    ATTRIBUTES,
    MAXIMUM_HOP_SET,
    RELATIONS,
    Hop,
    Person,
    Universe,
    chains,
    draw_universe,
)


def world(
    people: str,
    parents: dict[str, tuple[str, ...]],
    marriages: tuple[tuple[str, str], ...] = (),
    friendships: tuple[tuple[str, str], ...] = (),
) -> Universe:
    """People as "ann:f ben:m"; jobs and hobbies are the names themselves."""
    genders = dict(entry.split(":") for entry in people.split())
    persons = {
        name: Person(name, {"f": "female", "m": "male"}[gender], "1700-01-01", f"job of {name}", f"hobby of {name}")
        for name, gender in genders.items()
    }
    return Universe(persons, parents, marriages, friendships)


def drawn(population: int, seed: int) -> Universe:
    return draw_universe(population, random.Random(seed), tree_size=25, maximum_branching=5, mean_friends=3.0)


def test_a_childless_couple_is_married() -> None:
    universe = world("ann:f hugo:m", {}, marriages=(("hugo", "ann"),))
    assert universe.related == {"ann": {"husband": ("hugo",)}, "hugo": {"wife": ("ann",)}}


def test_follow_unites_sets_once_and_sorted() -> None:
    universe = world("ann:f ben:m cal:m", {}, friendships=(("cal", "ann"), ("ben", "ann"), ("ben", "cal")))
    assert universe.follow(("ben", "cal"), "friend") == ("ann", "ben", "cal")
    assert universe.follow(("cal", "ann"), "occupation") == ("job of ann", "job of cal")


def test_having_names_everyone_with_a_value_capitals_aside() -> None:
    universe = drawn(60, seed=0)
    for attribute in ATTRIBUTES:
        for value in universe.follow(tuple(universe.people), attribute):
            holders = universe.having(attribute, value.upper())
            assert holders == tuple(sorted(n for n, p in universe.people.items() if p.attributes[attribute] == value))
    polyglot = Universe({"ann": Person("ann", "female", "1700-01-01", "Latin teacher", "chess")}, {}, (), ())
    assert polyglot.having("occupation", "latin teacher") == ("ann",)
    assert universe.having("hobby", "sleeping") == universe.having("gender", "female") == ()


@pytest.mark.parametrize("attribute", [None, *ATTRIBUTES])
@pytest.mark.parametrize("unique", [True, False])
def test_chains_are_what_the_universe_says(attribute: str | None, unique: bool) -> None:
    universe = drawn(75, seed=1)
    found = list(chains(universe, 3, attribute, random.Random(2), unique=unique))
    assert len(found) > 20
    for chain in found:
        assert len(chain.steps) == len(chain.hops) == 3 + (attribute is not None)
        reached: tuple[str, ...] = (chain.start,)
        seen = set(reached)
        for step, hop in zip(chain.steps, chain.hops, strict=True):
            reached = universe.follow(reached, step)
            assert hop == reached
            assert 1 <= len(hop) <= (1 if unique else MAXIMUM_HOP_SET)
            assert seen.isdisjoint(hop)
            seen.update(hop)
    if not unique:
        assert any(len(hop) > 1 for chain in found for hop in chain.hops)


def test_c18_several_jobs_are_not_asked_in_unique_mode_and_kept_in_set_mode() -> None:
    universe = world("ann:f ben:m cal:m rosa:f", dict.fromkeys(("ann", "ben", "cal"), ("rosa",)))
    unique = {
        (c.start, c.steps)
        for seed in range(30)
        for c in chains(universe, 1, "occupation", random.Random(seed), unique=True)
    }
    assert ("ann", ("brother", "occupation")) not in unique
    assert ("ann", ("mother", "occupation")) in unique
    sets = {
        (c.start, c.steps): c.hops
        for seed in range(30)
        for c in chains(universe, 1, "occupation", random.Random(seed), unique=False)
    }
    assert sets["ann", ("brother", "occupation")] == (("ben", "cal"), ("job of ben", "job of cal"))


def test_c20_questions_over_one_universe_start_from_distinct_people() -> None:
    found = list(itertools.islice(chains(drawn(500, seed=0), 3, None, random.Random(0), unique=True), 200))
    assert len({chain.start for chain in found}) == len(found) == 200


def test_a_universe_without_a_chain_gives_none() -> None:
    assert list(chains(world("ann:f ben:m", {}), 1, None, random.Random(0), unique=True)) == []


def test_the_search_for_a_long_chain_among_few_people_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    universe = draw_universe(21, random.Random(3), tree_size=25, maximum_branching=5, mean_friends=6.0)
    follow, looks = Universe.follow, 0

    def counted(self: Universe, names: Sequence[str], step: str) -> Hop:
        nonlocal looks
        looks += 1
        return follow(self, names, step)

    monkeypatch.setattr(Universe, "follow", counted)
    monkeypatch.setattr(kinship, "LOOKS_AT_MOST", 200)
    assert not list(chains(universe, 20, None, random.Random(0), unique=True))
    assert looks == 200 * len(RELATIONS)
