"""The table of relations: on a family where each is known, and on drawn worlds by inverses and shared ancestors."""

import random
import re
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparring.environments.phantom_wiki.kinship import Person, Universe, draw_universe
from sparring.environments.phantom_wiki.relations import RELATION_TABLE, SPOUSE

# Couples and their children, the mother first. Ada and Bob are the oldest; Zoe and Yan are second cousins.
FAMILY = {
    ("ada", "bob"): "cora:f dan:m eva:f",
    ("fay", "gus"): "hal:m ida:f",
    ("cora", "hal"): "jan:m kim:f",
    ("lea", "dan"): "max:m nora:f",
    ("mia", "jan"): "pia:f",
    ("nora", "olaf"): "quin:m rosa:f",
    ("pia", "sam"): "zoe:f",
    ("ute", "quin"): "yan:m",
}
WOMEN = ["ada", "cora", "eva", "fay", "ida", "kim", "lea", "nora", "mia", "pia", "rosa", "zoe", "ute"]
CHILDLESS = (("eva", "vic"),)

KNOWN = {
    "parent": ("jan", "cora hal"),
    "mother": ("jan", "cora"),
    "father": ("jan", "hal"),
    "child": ("cora", "jan kim"),
    "daughter": ("cora", "kim"),
    "son": ("cora", "jan"),
    "sibling": ("cora", "dan eva"),
    "sister": ("cora", "eva"),
    "brother": ("cora", "dan"),
    "wife": ("dan", "lea"),
    "husband": ("cora", "hal"),
    "friend": ("ada", "gus"),
    "aunt": ("jan", "eva ida"),
    "uncle": ("jan", "dan"),
    "niece": ("dan", "kim"),
    "nephew": ("dan", "jan"),
    "grandparent": ("jan", "ada bob fay gus"),
    "grandmother": ("jan", "ada fay"),
    "grandfather": ("jan", "bob gus"),
    "grandchild": ("ada", "jan kim max nora"),
    "granddaughter": ("ada", "kim nora"),
    "grandson": ("ada", "jan max"),
    "mother-in-law": ("cora", "fay"),
    "father-in-law": ("cora", "gus"),
    "sister-in-law": ("cora", "ida"),
    "brother-in-law": ("hal", "dan"),
    "daughter-in-law": ("ada", "lea"),
    "son-in-law": ("ada", "hal vic"),
    "great-aunt": ("quin", "cora eva"),
    "great-uncle": ("pia", "dan"),
    "great-grandparent": ("pia", "ada bob fay gus"),
    "great-grandmother": ("pia", "ada fay"),
    "great-grandfather": ("pia", "bob gus"),
    "great-grandchild": ("ada", "pia quin rosa"),
    "great-granddaughter": ("ada", "pia rosa"),
    "great-grandson": ("ada", "quin"),
    "cousin": ("jan", "max nora"),
    "female cousin": ("jan", "nora"),
    "male cousin": ("jan", "max"),
    "second aunt": ("yan", "cora eva"),
    "second uncle": ("zoe", "dan"),
    "female first cousin once removed": ("jan", "rosa"),
    "male first cousin once removed": ("jan", "quin"),
    "female second cousin": ("pia", "rosa"),
    "male second cousin": ("pia", "quin"),
}


def person(name: str) -> Person:
    return Person(name, "female" if name in WOMEN else "male", "1700-01-01", "baker", "chess")


def family() -> Universe:
    parents = {child.split(":")[0]: couple for couple, children in FAMILY.items() for child in children.split()}
    names = sorted({*parents, *(name for couple in (*FAMILY, *CHILDLESS) for name in couple)})
    return Universe({name: person(name) for name in names}, parents, (*FAMILY, *CHILDLESS), (("ada", "gus"),))


def drawn(population: int, seed: int) -> Universe:
    return draw_universe(population, random.Random(seed), tree_size=40, maximum_branching=5, mean_friends=3.0)


def test_every_relation_is_known_in_the_family() -> None:
    assert KNOWN.keys() == RELATION_TABLE.keys()
    assert all(
        child.endswith(":f") == (child[:-2] in WOMEN) for children in FAMILY.values() for child in children.split()
    )


@pytest.mark.parametrize("relation", KNOWN)
def test_a_relation_reaches_whom_it_should(relation: str) -> None:
    start, reached = KNOWN[relation]
    assert family().follow((start,), relation) == tuple(reached.split())


def test_weights_are_those_of_the_spec() -> None:
    for name, relation in RELATION_TABLE.items():
        if "second cousin" in name:
            weight = 5
        elif "removed" in name or name.startswith("second"):
            weight = 4
        elif name.startswith("great-") or "cousin" in name:
            weight = 3
        elif name.startswith("grand") or name.endswith("-in-law") or name in {"aunt", "uncle", "niece", "nephew"}:
            weight = 2
        else:
            weight = 1
        assert relation.weight == weight, name


def test_names_plurals_and_predicates_are_apart() -> None:
    for words in (
        list(RELATION_TABLE),
        [relation.plural for relation in RELATION_TABLE.values()],
        [relation.predicate for relation in RELATION_TABLE.values()],
    ):
        assert len(set(words)) == len(RELATION_TABLE) == 45
    assert not {relation.plural for relation in RELATION_TABLE.values()} & set(RELATION_TABLE)
    assert all(re.fullmatch("[a-z_]+", relation.predicate) for relation in RELATION_TABLE.values())


def test_b29_siblings_of_two_shared_parents_count_once() -> None:
    people = {name: person(name) for name in ("ada", "bob", "cora", "dan")}
    universe = Universe(people, {"cora": ("ada", "bob"), "dan": ("ada", "bob")}, (("ada", "bob"),), ())
    assert universe.follow(("cora",), "sibling") == universe.follow(("cora",), "brother") == ("dan",)


def test_b31_the_spouse_of_an_aunt_or_uncle_is_no_relative() -> None:
    universe = family()
    assert universe.follow(("eva",), "husband") == ("vic",)
    assert universe.follow(("max",), "aunt") == ("cora", "eva")
    assert universe.follow(("max",), "uncle") == ()
    assert universe.follow(("vic",), "niece") == universe.follow(("vic",), "nephew") == ()
    assert universe.follow(("hal",), "sister-in-law") == ("eva",)


def test_b32_a_child_is_not_a_parent() -> None:
    assert family().follow(("eva",), "child") == ()
    assert family().follow(("cora",), "child") == ("jan", "kim")


def test_half_siblings_are_siblings_and_their_children_cousins() -> None:
    people = {name: person(name) for name in ("ada", "cora", "dan", "nora", "max")}
    universe = Universe(people, {"cora": ("ada",), "dan": ("ada",), "nora": ("cora",), "max": ("dan",)}, (), ())
    assert universe.follow(("cora",), "brother") == ("dan",)
    assert universe.follow(("nora",), "male cousin") == ("max",)


def test_nobody_is_a_cousin_of_their_own() -> None:
    """Not even a child whose parents are brother and sister, which only a broken world has."""
    people = {name: person(name) for name in ("ada", "cora", "dan", "nora")}
    universe = Universe(people, {"cora": ("ada",), "dan": ("ada",), "nora": ("cora", "dan")}, (), ())
    assert universe.follow(("nora",), "cousin") == ()


def test_a_set_reaches_what_its_people_reach_each_once() -> None:
    universe = family()
    assert universe.follow(("jan", "kim", "max"), "cousin") == ("jan", "kim", "max", "nora")
    assert universe.follow((), "cousin") == ()
    assert universe.follow(("jan",), "stepmother") == ()


INVERSES = {
    ("parent",): ("child",),
    ("sibling",): ("sibling",),
    (SPOUSE,): (SPOUSE,),
    ("friend",): ("friend",),
    ("wife", "husband"): (SPOUSE,),
    ("aunt", "uncle"): ("niece", "nephew"),
    ("grandparent",): ("grandchild",),
    ("mother-in-law", "father-in-law"): ("son-in-law", "daughter-in-law"),
    ("great-grandparent",): ("great-grandchild",),
    ("cousin",): ("cousin",),
    ("female second cousin", "male second cousin"): ("female second cousin", "male second cousin"),
}


@settings(deadline=None, max_examples=30)
@given(population=st.integers(1, 80), seed=st.integers(0, 10**6))
def test_relations_are_the_inverses_they_must_be(population: int, seed: int) -> None:
    universe = drawn(population, seed)

    def pairs(relations: tuple[str, ...]) -> set[tuple[str, str]]:
        return {(one, other) for name in relations for one in universe.people for other in universe.reach[name][one]}

    for there, back in INVERSES.items():
        assert pairs(there) == {(other, one) for one, other in pairs(back)}


@settings(deadline=None, max_examples=30)
@given(population=st.integers(1, 80), seed=st.integers(0, 10**6))
def test_cousins_are_told_by_their_nearest_shared_ancestors(population: int, seed: int) -> None:
    """A second way to say who is a cousin, by generations up to what two people share."""
    universe = drawn(population, seed)

    @cache
    def ancestors(name: str, generations: int) -> set[str]:
        found = {name}
        for _ in range(generations):
            found = {parent for one in found for parent in universe.parents.get(one, ())}
        return found

    def share(one: str, up: int, other: str, other_up: int) -> bool:
        return one != other and bool(ancestors(one, up) & ancestors(other, other_up))

    for one in universe.people:
        for other in universe.people:
            first = share(one, 2, other, 2) and not share(one, 1, other, 1)
            assert (other in universe.reach["cousin"][one]) == first
            second = share(one, 3, other, 3) and not share(one, 2, other, 2)
            assert (other in universe.reach["female second cousin"][one]) == (second and other in universe.women)
            great_aunt = share(one, 3, other, 1) and other not in ancestors(one, 2)
            assert (other in universe.reach["great-aunt"][one]) == (great_aunt and other in universe.women)


def test_every_relation_occurs_in_a_large_world() -> None:
    universe = drawn(1000, seed=0)
    for relation in RELATION_TABLE:
        assert any(universe.reach[relation][name] for name in universe.people), relation
