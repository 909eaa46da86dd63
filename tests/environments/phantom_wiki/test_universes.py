"""Drawn worlds hold together: births, marriages, names, friendships; and they are the same everywhere."""

import datetime
import itertools
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparring.environments.phantom_wiki import names
from sparring.environments.phantom_wiki.kinship import Universe, draw_universe
from sparring.environments.phantom_wiki.universes import NAMESAKES_AT_MOST, Families, friendships, full_names
from sparring.errors import UserError

MONTH = datetime.timedelta(days=30)
YEAR = datetime.timedelta(days=365.25)

WORLDS = st.builds(
    lambda population, tree_size, branching, seed: draw_universe(
        population, random.Random(seed), tree_size=tree_size, maximum_branching=branching, mean_friends=3.0
    ),
    population=st.integers(1, 150),
    tree_size=st.integers(1, 50),
    branching=st.integers(1, 50),
    seed=st.integers(0, 10**6),
)


def drawn(population: int, seed: int, *, short: Sequence[str] = ()) -> Universe:
    return draw_universe(
        population, random.Random(seed), tree_size=25, maximum_branching=5, mean_friends=3.0, short_names=short
    )


def born(universe: Universe, name: str) -> datetime.date:
    return datetime.date.fromisoformat(universe.people[name].date_of_birth)


def ancestors(universe: Universe, name: str) -> set[str]:
    parents = universe.parents.get(name, ())
    return {*parents}.union(*(ancestors(universe, parent) for parent in parents))


def trees(universe: Universe) -> list[set[str]]:
    """The people by family tree, as blood and marriage join them."""
    found: list[set[str]] = []
    left = dict.fromkeys(universe.people)
    while left:
        tree = reached = {left.popitem()[0]}
        while reached:
            kinds = ("parent", "child", "spouse")
            reached = {other for one in reached for kind in kinds for other in universe.reach[kind][one]} - tree
            tree |= reached
        found.append(tree)
        for name in tree:
            left.pop(name, None)
    return found


@settings(deadline=None, max_examples=60)
@given(WORLDS)
def test_births_are_plausible(universe: Universe) -> None:
    for child, parents in universe.parents.items():
        for parent in parents:
            assert 18 * YEAR < born(universe, child) - born(universe, parent) < 45 * YEAR
        for sibling in universe.reach["sibling"][child]:
            assert abs(born(universe, child) - born(universe, sibling)) > 10 * MONTH
    for one, other in universe.marriages:
        assert abs(born(universe, one) - born(universe, other)) < 6 * YEAR


@settings(deadline=None, max_examples=60)
@given(WORLDS)
def test_marriages_are_lawful(universe: Universe) -> None:
    spouses = Counter(itertools.chain(*universe.marriages))
    assert all(count == 1 for count in spouses.values())
    couples = {frozenset(pair) for pair in universe.marriages}
    assert all(frozenset(parents) in couples for parents in universe.parents.values())
    for one, other in universe.marriages:
        assert {universe.people[one].gender, universe.people[other].gender} == {"female", "male"}
        own, others = {one} | ancestors(universe, one), {other} | ancestors(universe, other)
        assert not own & others, "married within the family"
    for name in universe.people:
        assert name not in ancestors(universe, name)


@settings(deadline=None, max_examples=60)
@given(WORLDS)
def test_names_are_unique_and_of_the_family(universe: Universe) -> None:
    assert len({name.casefold() for name in universe.people}) == len(universe.people)
    for name, person in universe.people.items():
        first, surname = name.split(" ")
        assert person.name == name
        assert first in names.FIRST_NAMES[person.gender]
        assert surname in names.SURNAMES
    for one, other in universe.marriages:
        assert one.split()[1] == other.split()[1]
    for child, parents in universe.parents.items():
        if child in universe.women and universe.reach["husband"][child]:
            continue
        assert child.split()[1] == parents[0].split()[1]


@settings(deadline=None, max_examples=60)
@given(
    population=st.integers(1, 60),
    mean_friends=st.one_of(st.floats(0, 100), st.sampled_from([5e-324, 1e-300])),
    seed=st.integers(0, 10**6),
)
def test_friends_are_pairs_of_two(population: int, mean_friends: float, seed: int) -> None:
    pairs = list(friendships(population, mean_friends, random.Random(seed)))
    assert len(set(pairs)) == len(pairs)
    assert all(0 <= one < other < population for one, other in pairs)
    if mean_friends >= population:
        assert len(pairs) == population * (population - 1) // 2
    if mean_friends == 0:
        assert not pairs


def test_every_pair_is_as_likely_to_be_friends() -> None:
    rng = random.Random(0)
    drawings = 3000
    counts = Counter(pair for _ in range(drawings) for pair in friendships(6, 2.0, rng))
    assert set(counts) == set(itertools.combinations(range(6), 2))
    # A third of 3000 drawings, with a deviation of 26.
    assert all(abs(count - drawings / 3) < 4 * 26 for count in counts.values())


def test_friends_are_three_on_average() -> None:
    pairs = [len(drawn(200, seed).friendships) for seed in range(10)]
    assert 2.7 < 2 * sum(pairs) / len(pairs) / 200 < 3.3


@settings(deadline=None, max_examples=60)
@given(
    tree_size=st.integers(1, 60),
    branching=st.integers(1, 15),
    seed=st.integers(0, 10**6),
    population=st.integers(1, 90),
)
def test_trees_keep_to_their_bounds(tree_size: int, branching: int, seed: int, population: int) -> None:
    universe = draw_universe(
        population, random.Random(seed), tree_size=tree_size, maximum_branching=branching, mean_friends=0
    )
    assert len(universe.people) == population
    assert max(len(universe.reach["child"][name]) for name in universe.people) <= branching
    assert max(map(len, trees(universe))) <= tree_size


def test_trees_fill_up_and_are_as_the_official_ones() -> None:
    """Most are whole; couples have no child to five; some have parents on both sides."""
    universe = drawn(1000, seed=0)
    assert len(trees(universe)) < 50
    families = Counter(len(universe.reach["child"][one]) for one, _ in universe.marriages)
    assert set(families) == set(range(6))
    both_sides = [pair for pair in universe.marriages if all(name in universe.parents for name in pair)]
    assert len(both_sides) > 30
    # Surnames are fewer than families, so that a bride may by chance have the groom's.
    changed = [
        one.split()[1] != universe.parents[wife][0].split()[1]
        for one, other in both_sides
        for wife in {one, other} & universe.women
    ]
    assert sum(changed) > 0.9 * len(changed)


def test_ten_thousand_people_have_names_of_their_own() -> None:
    universe = drawn(10_000, seed=0)
    assert len(universe.people) == len({name.casefold() for name in universe.people}) == 10_000
    assert len({name.split()[1] for name in universe.people}) > 450
    assert 2.9 < 2 * len(universe.friendships) / 10_000 < 3.1


def test_a_family_too_large_for_its_name_is_refused() -> None:
    families = Families()
    for _ in range(NAMESAKES_AT_MOST + 1):
        families.genders.append("male")
        families.lines.append(0)
    families.line_count = 1
    with pytest.raises(UserError, match="lower population or tree_size"):
        full_names(families, random.Random(0))


def test_lists_hold_each_word_once_and_first_names_tell_the_gender() -> None:
    lists = (*names.FIRST_NAMES.values(), names.SURNAMES, names.JOBS, names.HOBBIES, names.SHORT_NAMES)
    assert all(len(set(words)) == len(words) for words in lists)
    assert not set(names.FIRST_NAMES["female"]) & set(names.FIRST_NAMES["male"])
    assert not set(names.JOBS) & set(names.HOBBIES)
    assert all(value == " ".join(value.split()).casefold() for value in (*names.JOBS, *names.HOBBIES))


def test_equal_seeds_give_equal_universes() -> None:
    assert drawn(25, 3) == drawn(25, 3)
    assert drawn(25, 3) != drawn(25, 4)


def test_short_names_are_single_lower_case_words() -> None:
    for population in (12, 40):
        words = list(drawn(population, 0, short=names.short_names(population)).people)
        assert len(set(words)) == population
        assert all(name.islower() and name.isalpha() for name in words)


def test_a_world_of_few_people_has_few_words_and_a_larger_one_begins_with_the_same() -> None:
    assert len(names.short_names(3)) == len(names.short_names(12)) == 12
    assert names.short_names(40)[:12] == names.short_names(3)
    assert len(names.short_names(30)) == 30


EVERYTHING = """
import random
from sparring.environments.phantom_wiki.articles import article, facts
from sparring.environments.phantom_wiki.kinship import draw_universe
from sparring.environments.phantom_wiki.relations import RELATION_TABLE
world = draw_universe(120, random.Random(5), tree_size=25, maximum_branching=5, mean_friends=3.0)
print(world)
for name in world.people:
    print(article(world, name), list(facts(world, name)), [world.follow((name,), step) for step in RELATION_TABLE])
print([world.follow(tuple(world.people), step) for step in (*RELATION_TABLE, "occupation")])
"""


def test_c21_hashing_changes_no_byte_of_a_world(capsys: pytest.CaptureFixture[str]) -> None:
    other_hashing = "1" if os.environ.get("PYTHONHASHSEED") == "0" else "0"
    exec(EVERYTHING, {})
    printed = subprocess.run(
        [sys.executable, "-c", EVERYTHING],
        env={**os.environ, "PYTHONHASHSEED": other_hashing},
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    assert printed == capsys.readouterr().out
    assert len(printed) > 100_000
