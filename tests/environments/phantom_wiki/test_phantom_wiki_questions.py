"""The official grammar: its templates and words, and questions drawn and answered over a universe."""

import json
import random
import re
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparring.environments.phantom_wiki.facts import read_base_facts
from sparring.environments.phantom_wiki.grammar import Asked, Query, Template, read_question, templates
from sparring.environments.phantom_wiki.kinship import ATTRIBUTES, Person, Universe, draw_universe
from sparring.environments.phantom_wiki.questions import OfficialQuestion, answer_query, draw_questions
from sparring.environments.phantom_wiki.relations import RELATION_TABLE
from sparring.errors import UserError
from sparring.evaluation.benchmarks import data_folder
from sparring.tasks import GenerationRefusedError

DATA = data_folder()


@cache
def world(population: int) -> Universe:
    return draw_universe(population, random.Random(population), tree_size=25, maximum_branching=4, mean_friends=2.0)


def family() -> Universe:
    """C18's: Ann has two brothers, of whom Ben has one friend and Bob three."""
    people = {
        name: Person(name, "male" if name.startswith("B") else "female", f"1800-01-{day:02d}", "judge", "chess")
        for day, name in enumerate(("Ann", "Ben", "Bob", "Rosa", "Eve", "Ida", "Una"), start=1)
    }
    siblings = dict.fromkeys(("Ann", "Ben", "Bob"), ("Rosa",))
    return Universe(people, siblings, (), (("Ben", "Eve"), ("Bob", "Eve"), ("Ida", "Bob"), ("Bob", "Una")))


def ends(universe: Universe, names: list[str], steps: tuple[str, ...]) -> list[str]:
    """The end of every single way through the steps, as often as a way ends there."""
    for step in steps:
        names = [other for name in names for other in universe.follow((name,), step)]
    return names


@pytest.mark.parametrize(("depth", "count"), [(4, 2), (5, 5), (6, 8), (8, 14), (10, 20), (15, 35), (20, 50)])
def test_the_official_number_of_templates(depth: int, count: int) -> None:
    assert len(set(templates(depth))) == len(templates(depth)) == count


def test_the_templates_of_depth_6_in_the_official_order() -> None:
    who, what, how_many = Asked
    assert templates(6) == (
        Template(who, 1, described=True),
        Template(who, 1, described=False),
        Template(who, 0, described=True),
        Template(what, 1, described=False),
        Template(what, 0, described=True),
        Template(how_many, 1, described=False),
        Template(how_many, 0, described=True),
        Template(how_many, 0, described=False),
    )


def test_a_depth_without_a_question_is_refused() -> None:
    with pytest.raises(UserError, match=r"depth = 3: .* give at least 4"):
        templates(3)


@pytest.mark.parametrize(
    ("query", "text", "difficulty"),
    [
        (Query(Asked.WHO, "Ann Lee", None, ("mother",)), "Who is the mother of Ann Lee?", 1),
        (Query(Asked.WHO, "chess", "hobby", ()), "Who is the person whose hobby is chess?", 1),
        (
            Query(Asked.WHAT, "1800-01-02", "date of birth", ("great-aunt", "occupation")),
            "What is the occupation of the great-aunt of the person whose date of birth is 1800-01-02?",
            5,
        ),
        (Query(Asked.HOW_MANY, "Ann Lee", None, ("second aunt",)), "How many second aunts does Ann Lee have?", 1),
        (
            Query(Asked.HOW_MANY, "Ann Lee", None, ("friend", "male second cousin", "child")),
            "How many children does the male second cousin of the friend of Ann Lee have?",
            7,
        ),
    ],
)
def test_questions_are_worded_weighed_and_read_as_the_official_ones(query: Query, text: str, difficulty: int) -> None:
    assert (query.text, query.difficulty) == (text, difficulty)
    assert read_question(text) == query


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Who is Ann Lee?",
        "Who is the boss of Ann Lee?",
        "Who is the <relation>_3 of <name>_1?",
        "What is the hobby of Ann Lee?",
        "What is the mother of Ann Lee?",
        "How many mother does Ann Lee have?",
        "Who is the mother of Ann Lee",
        "Who is the person whose age is 7?",
        "Who is the mother of the boss of Ann Lee?",
        "Who is the mother of the Mother of Ann Lee?",
    ],
)
def test_what_is_not_of_the_grammar_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="is none of the official grammar"):
        read_question(text)


def check(universe: Universe, question: OfficialQuestion) -> None:
    """The hops and answers against a list of every binding; the text says all that the query means."""
    query = question.query
    assert read_question(question.text) == query
    assert question.difficulty == query.difficulty
    assert not re.search(r"[<>{}]|_\d", question.text)
    people, attribute = universe.people, query.described_by
    start = [
        name for name in people if name == query.start or people[name].attributes.get(attribute or "") == query.start
    ]
    reached = [sorted(set(ends(universe, start, query.steps[:number]))) for number in range(len(query.steps) + 1)]
    assert [list(hop) for hop in question.hops] == reached
    answers = set(reached[-1])
    if query.asked is Asked.HOW_MANY:
        *reached, _ = reached
        answers = {str(len(universe.follow((name,), query.steps[-1]))) for name in reached[-1]}
    else:
        assert not any(answer in question.text for answer in answers)
    assert question.answers == tuple(sorted(answers))
    assert question.answers
    assert question.unique == all(len(hop) == 1 for hop in reached)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    depth=st.integers(4, 11),
    unique=st.booleans(),
    easy=st.booleans(),
    population=st.sampled_from([25, 60, 500]),
)
def test_drawn_questions_hold_what_they_promise(
    seed: int, depth: int, unique: bool, easy: bool, population: int
) -> None:
    universe = world(population)
    questions = draw_questions(universe, depth=depth, per_template=3, seed=seed, unique=unique, easy=easy)
    forms = templates(depth)
    assert [question.template for question in questions] == [number for number in range(len(forms)) for _ in range(3)]
    assert len({question.text for question in questions}) == len(questions)
    for question in questions:
        assert question.query.template == forms[question.template]
        check(universe, question)
        if unique:
            assert question.unique
            assert len(question.answers) == 1
        if easy:
            assert all(step in ATTRIBUTES or RELATION_TABLE[step].weight == 1 for step in question.query.steps)


def test_equal_seeds_give_equal_questions_and_others_others() -> None:
    one, same, other = (draw_questions(world(60), per_template=5, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert len({question.text for question in one} & {question.text for question in other}) < len(one) / 2


def test_c18_several_counts_are_several_answers_and_no_question_in_unique_mode() -> None:
    query = read_question("How many friends does the brother of Ann have?")
    hops, answers = answer_query(family(), query)
    assert answers == ("1", "3")
    assert hops == (("Ann",), ("Ben", "Bob"), ("Eve", "Ida", "Una"))
    sets, singles = (draw_questions(family(), depth=6, per_template=1, seed=seed, unique=seed == 1) for seed in (0, 1))
    assert all(question.unique for question in singles)
    asked = OfficialQuestion(query, query.text, 0, hops, answers)
    assert not asked.unique
    assert any(len(question.answers) > 1 and not question.unique for question in sets)


def test_c18_nobody_of_a_hop_may_have_none() -> None:
    _, answers = answer_query(family(), read_question("How many friends does the child of Rosa have?"))
    assert answers == ("0", "1", "3")


@pytest.mark.parametrize("unique", [True, False])
def test_c19_no_question_names_its_answer(unique: bool) -> None:
    for question in draw_questions(world(25), depth=12, per_template=10, seed=5, unique=unique):
        if question.query.asked is not Asked.HOW_MANY:
            assert not any(answer in question.text for answer in question.answers)


@pytest.mark.parametrize("unique", [True, False])
@pytest.mark.parametrize(("depth", "per_template"), [(6, 25), (10, 10), (20, 4)])
def test_c20_starts_are_all_but_distinct(depth: int, per_template: int, unique: bool) -> None:
    questions = draw_questions(world(500), depth=depth, per_template=per_template, seed=1, unique=unique)
    assert len(questions) == 200
    assert len({(question.query.described_by, question.query.start) for question in questions}) >= 190


def test_a_world_with_no_further_question_is_refused_after_a_fixed_number_of_draws() -> None:
    assert len({question.text for question in draw_questions(family(), depth=4, per_template=8, seed=0)}) == 16
    # Nine descriptions fit the seven people: seven dates, one occupation, one hobby.
    with pytest.raises(GenerationRefusedError, match=r"template 0 \(who after 0 relations from a described person\)"):
        draw_questions(family(), depth=4, per_template=10, seed=0)


def test_a_world_without_relatives_is_refused() -> None:
    people = {name: Person(name, "female", "1800-01-01", "judge", "chess") for name in ("Ann", "Eve")}
    with pytest.raises(GenerationRefusedError, match="2 people"):
        draw_questions(Universe(people, {}, (), ()), depth=5, per_template=1, seed=0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Who is the mother of Zoe?", "names 'Zoe', who is not in the universe"),
        ("Who is the person whose hobby is golf?", "no hobby in the universe is 'golf'"),
    ],
)
def test_a_question_on_another_world_is_refused(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        answer_query(family(), read_question(text))


@pytest.mark.official_data
@pytest.mark.parametrize(
    ("name", "world_name", "depth", "count"),
    [
        ("phantomwiki_size25", "phantomwiki_size25", 20, 177),
        ("phantomwiki_size25_easy", "phantomwiki_size25", 8, 98),
        ("phantomwiki_size50", "phantomwiki_size50", 20, 175),
    ],
)
def test_every_official_question_is_read_written_weighed_and_answered_alike(
    name: str, world_name: str, depth: int, count: int
) -> None:
    universe = read_base_facts(DATA / f"{world_name}_base_facts.pl")
    rows = [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == count
    for row in rows:
        query = read_question(row["question"])
        assert query.text == row["question"]
        assert query.difficulty == row["difficulty"]
        assert templates(depth)[row["type"]] == query.template
        assert (query.asked is Asked.HOW_MANY) == row["is_aggregation_question"]
        hops, answers = answer_query(universe, query)
        assert list(answers) == row["answers"]
        for binding in row["solution_traces"]:
            assert all(value in answers or any(value in hop for hop in hops) for value in map(str, binding.values()))
