import itertools
import json
import os
import random
import re
from pathlib import Path

import pytest

from sparring.environments.kinship import (
    ATTRIBUTES,
    MAXIMUM_HOP_SET,
    RELATIONS,
    Person,
    Universe,
    chains,
    draw_universe,
)
from sparring.environments.phantom_wiki_actions import article

DATA = Path(os.environ.get("SPARRING_DATA") or Path(__file__).parents[3] / "shared" / "data")
OPPOSITE = {"mother": ("son", "daughter"), "father": ("son", "daughter"), "wife": ("husband",), "husband": ("wife",)}
OPPOSITE |= {"sister": ("sister", "brother"), "brother": ("sister", "brother"), "friend": ("friend",)}
OPPOSITE |= {"son": ("mother", "father"), "daughter": ("mother", "father")}


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


def drawn(population: int, seed: int, *, short_names: bool = False) -> Universe:
    return draw_universe(
        population,
        random.Random(seed),
        tree_size=25,
        maximum_branching=5,
        mean_friends=3.0,
        short_names=short_names,
    )


def test_b29_siblings_of_two_shared_parents_count_once() -> None:
    universe = world("ann:f ben:m rosa:f igor:m", {"ann": ("rosa", "igor"), "ben": ("rosa", "igor")})
    assert universe.follow(("ann",), "brother") == ("ben",)
    assert universe.follow(("ben",), "sister") == ("ann",)
    assert universe.follow(("rosa", "igor"), "son") == ("ben",)


def test_half_siblings_are_siblings() -> None:
    universe = world("ann:f ben:m rosa:f igor:m", {"ann": ("rosa", "igor"), "ben": ("rosa",)})
    assert universe.follow(("ann",), "brother") == ("ben",)


def test_b31_blood_rules_leave_out_the_husband_of_an_aunt() -> None:
    universe = world(
        "ann:f ben:m rosa:f igor:m hugo:m dora:f",
        {"ann": ("rosa", "igor"), "ben": ("rosa", "igor"), "dora": ("ben",)},
        marriages=(("ann", "hugo"), ("rosa", "igor")),
    )
    father = universe.follow(("dora",), "father")
    assert universe.follow(father, "sister") == ("ann",)
    assert universe.follow(father, "brother") == ()
    assert universe.follow(("ann",), "husband") == ("hugo",)


def test_b32_a_child_is_not_a_parent() -> None:
    universe = world("ann:f cleo:f eva:f", {"cleo": ("ann",), "ann": ("eva",)})
    assert universe.follow(("ann",), "daughter") == ("cleo",)
    assert universe.follow(("ann",), "mother") == ("eva",)
    assert universe.follow(("cleo",), "daughter") == ()


def test_a_childless_couple_is_married() -> None:
    universe = world("ann:f hugo:m", {}, marriages=(("hugo", "ann"),))
    assert universe.related == {"ann": {"husband": ("hugo",)}, "hugo": {"wife": ("ann",)}}


def test_follow_unites_sets_once_and_sorted() -> None:
    universe = world("ann:f ben:m cal:m", {}, friendships=(("cal", "ann"), ("ben", "ann"), ("ben", "cal")))
    assert universe.follow(("ben", "cal"), "friend") == ("ann", "ben", "cal")
    assert universe.follow(("cal", "ann"), "occupation") == ("job of ann", "job of cal")


@pytest.mark.parametrize("population", [1, 3, 8, 25, 150])
def test_drawn_facts_hold_together(population: int) -> None:
    universe = drawn(population, seed=population)
    assert len(universe.people) == population
    for name, relations in universe.related.items():
        for relation, others in relations.items():
            assert list(others) == sorted(set(others))
            assert name not in others
            for other in others:
                assert any(name in universe.follow((other,), back) for back in OPPOSITE[relation])
    for child, parents in universe.parents.items():
        assert {universe.people[parent].gender for parent in parents} == {"female", "male"}
        assert tuple(parents) in universe.marriages or tuple(reversed(parents)) in universe.marriages
        for parent in parents:
            assert universe.people[parent].date_of_birth < universe.people[child].date_of_birth


def test_trees_keep_to_their_bounds_and_some_couples_have_no_children() -> None:
    universe = drawn(500, seed=0)
    families = [
        [child for child, parents in universe.parents.items() if set(parents) == set(pair)]
        for pair in universe.marriages
    ]
    assert max(map(len, families)) == 5
    assert min(map(len, families)) == 0
    root = {name: name for name in universe.people}

    def find(name: str) -> str:
        return name if root[name] == name else find(root[name])

    for one, other in itertools.chain(universe.marriages, ((c, p) for c, ps in universe.parents.items() for p in ps)):
        root[find(one)] = find(other)
    roots = [find(name) for name in universe.people]
    assert max(roots.count(one) for one in set(roots)) == 25


def test_friends_are_three_on_average() -> None:
    edges = [len(drawn(200, seed).friendships) for seed in range(10)]
    assert 2.7 < 2 * sum(edges) / len(edges) / 200 < 3.3


def test_equal_seeds_give_equal_universes() -> None:
    assert drawn(25, 3) == drawn(25, 3)
    assert drawn(25, 3) != drawn(25, 4)


def test_short_names_are_single_lower_case_words() -> None:
    names = list(drawn(12, 0, short_names=True).people)
    assert len(set(names)) == 12
    assert all(name.islower() and name.isalpha() for name in names)


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


def official_universe() -> Universe:
    """The published universe; its marriages follow from common children there."""
    facts: dict[str, list[tuple[str, str]]] = {}
    text = (DATA / "phantomwiki_size25_base_facts.pl").read_text(encoding="utf-8")
    for kind, one, other in re.findall(r'^(\w+)\("([^"]*)", "([^"]*)"\)\.$', text, flags=re.MULTILINE):
        facts.setdefault(kind, []).append((one, other))
    values = {kind: dict(facts[kind]) for kind in ("gender", "dob", "job", "hobby")}
    people = {
        name: Person(name, *(values[kind][name] for kind in ("gender", "dob", "job", "hobby")))
        for name in values["gender"]
    }
    parents: dict[str, tuple[str, ...]] = {}
    for child, parent in facts["parent"]:
        parents[child] = (*parents.get(child, ()), parent)
    marriages = sorted({(min(pair), max(pair)) for pair in parents.values()})
    return Universe(people, parents, tuple(marriages), tuple(facts["friend_"]))


def comparable(text: str) -> list[str]:
    """The lines of an article, each list of names sorted: Prolog lists friends in the order of its facts."""
    lines = []
    for line in text.splitlines():
        head, verb, names = line.partition(" are ")
        lines.append(f"{head}{verb}{', '.join(sorted(names.rstrip('.').split(', ')))}" if verb else line)
    return lines


@pytest.mark.official_data
def test_articles_equal_the_official_ones() -> None:
    universe = official_universe()
    published = (DATA / "phantomwiki_size25_articles.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(published) == len(universe.people) == 25
    for row in map(json.loads, published):
        assert comparable(article(universe, row["title"])) == comparable(row["article"])


@pytest.mark.official_data
def test_relations_equal_the_official_facts() -> None:
    universe = official_universe()
    for row in map(json.loads, (DATA / "phantomwiki_size25_articles.jsonl").read_text(encoding="utf-8").splitlines()):
        stated = {re.match(r'(\w+)\("[^"]*", "([^"]*)"\)', fact).groups() for fact in row["facts"]}  # type: ignore[union-attr]
        mine = {(step, other) for step, others in universe.related[row["title"]].items() for other in others}
        assert mine == {(kind, other) for kind, other in stated if kind in RELATIONS}
