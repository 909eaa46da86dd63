"""The official data are read, our rules give every official answer, and broken lines are told in one line."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sparring.environments.phantom_wiki.facts import read_base_facts
from sparring.environments.phantom_wiki.grammar import Asked, Query
from sparring.environments.phantom_wiki.kinship import Universe
from sparring.environments.phantom_wiki.official import (
    STEP_PREDICATES,
    read_article_rows,
    read_query,
    read_question_rows,
)
from sparring.environments.phantom_wiki.questions import answer_query
from sparring.errors import UserError
from sparring.evaluation.benchmarks import data_folder

DATA = data_folder()
SETS = {"size25": (177, 25), "size25_easy": (98, 12), "size50": (175, 27)}

FACTS = """% Two sisters, their mother, and a friend.
type("Ann Hale", person).
type("Eva Hale", person).
type("Rosa Hale", person).
type("Hugo Marsh", person).

parent("Ann Hale", "Rosa Hale").
parent("Ann Hale", "Hugo Marsh").
parent("Eva Hale", "Rosa Hale").
friend_("Hugo Marsh", "Eva Hale").
"""
GENDERS = {"Ann Hale": "female", "Eva Hale": "female", "Rosa Hale": "female", "Hugo Marsh": "male"}
FACTS += "".join(
    f'gender("{name}", "{gender}").\ndob("{name}", "1700-01-02").\njob("{name}", "baker").\nhobby("{name}", "chess").\n'
    for name, gender in GENDERS.items()
)

ROW: dict[str, object] = {
    "id": "a1",
    "question": "Who is the sister of Ann Hale?",
    "answers": ["Eva Hale"],
    "difficulty": 1,
    "type": 0,
    "is_aggregation_question": False,
    "prolog": {"query": ['sister("Ann Hale", Y_2)'], "answer": "Y_2"},
    "n_solution_traces": 1,
    "solution_traces": [{"Y_2": "Eva Hale"}],
}


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        file = tmp_path / "data"
        file.write_text(text, encoding="utf-8")
        return file

    return write


def official(name: str) -> Universe:
    return read_base_facts(DATA / f"phantomwiki_{name.removesuffix('_easy')}_base_facts.pl")


@pytest.mark.official_data
@pytest.mark.parametrize("name", SETS)
def test_our_relations_give_every_official_answer(name: str) -> None:
    universe = official(name)
    rows = read_question_rows(DATA / f"phantomwiki_{name}.jsonl")
    wrong = {row.id: (row.answers, answer_query(universe, row.query)[1]) for row in rows}
    wrong = {id_: pair for id_, pair in wrong.items() if pair[0] != pair[1]}
    assert not wrong
    several_counts = [row for row in rows if row.is_aggregation_question and len(row.answers) > 1]
    assert (len(rows), len(several_counts)) == SETS[name]


@pytest.mark.official_data
@pytest.mark.parametrize("name", SETS)
def test_queries_mean_what_the_official_words_and_difficulties_say(name: str) -> None:
    for row in read_question_rows(DATA / f"phantomwiki_{name}.jsonl"):
        assert row.query.text == row.question
        assert row.query.difficulty == row.difficulty
        assert (row.query.asked is Asked.HOW_MANY) == row.is_aggregation_question


@pytest.mark.official_data
@pytest.mark.parametrize("name", SETS)
def test_official_traces_stay_within_our_hops(name: str) -> None:
    universe = official(name)
    traces = 0
    for row in read_question_rows(DATA / f"phantomwiki_{name}.jsonl"):
        people = answer_query(universe, row.query)[0]
        if row.query.asked is Asked.HOW_MANY:
            people = people[:-1]
        if row.query.described_by is None:
            people = people[1:]
        for trace in row.solution_traces:
            # The innermost variable has the highest number; a count is told apart by its name.
            bound = sorted((name for name in trace if name.startswith("Y_")), key=lambda name: -int(name[2:]))
            assert len(bound) == len(people)
            assert all(trace[name] in hop for name, hop in zip(bound, people, strict=True))
            traces += 1
    assert traces > 100


def test_base_facts_make_a_universe_in_which_a_shared_child_means_a_marriage(written: Callable[[str], Path]) -> None:
    universe = read_base_facts(written(FACTS))
    assert list(universe.people) == ["Ann Hale", "Eva Hale", "Rosa Hale", "Hugo Marsh"]
    assert universe.marriages == (("Hugo Marsh", "Rosa Hale"),)
    assert universe.follow(("Ann Hale",), "sister") == ("Eva Hale",)
    assert universe.follow(("Eva Hale",), "friend") == ("Hugo Marsh",)
    assert universe.follow(("Hugo Marsh",), "daughter") == ("Ann Hale",)
    assert universe.people["Ann Hale"].date_of_birth == "1700-01-02"


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('type("Ann Hale", person).', "type(ann).", 2, "no base fact"),
        ('friend_("Hugo Marsh"', 'enemy("Hugo Marsh"', 10, "friend_"),
        ('parent("Eva Hale", "Rosa Hale")', 'parent("Eva Hale", "Rosa")', 9, r'add type\("Rosa", person\)'),
        ('parent("Eva Hale", "Rosa Hale")', 'parent("Rosa Hale", "Rosa Hale")', 9, "same person"),
        ('parent("Eva Hale", "Rosa Hale")', 'parent("Ann Hale", "Eva Hale")', 9, "keep two"),
        ('parent("Ann Hale", "Hugo Marsh")', 'parent("Ann Hale", "Rosa Hale")', 8, "keep two"),
        ('gender("Ann Hale", "female")', 'gender("Ann Hale", "queen")', 11, "one of female, male"),
        ('job("Ann Hale", "baker").\n', "", 2, "has no job"),
        ('hobby("Ann Hale"', 'hobby("Eva Hale"', 18, "stated twice"),
        ('hobby("Ann Hale"', 'hobby("Anne Hale"', 14, "add type"),
    ],
)
def test_broken_base_facts_are_told_with_their_line(
    written: Callable[[str], Path], old: str, new: str, line: int, message: str
) -> None:
    assert old in FACTS
    file = written(FACTS.replace(old, new, 1))
    with pytest.raises(UserError, match=message) as refused:
        read_base_facts(file)
    assert str(refused.value).startswith(f"{file}:{line}: ")
    assert "\n" not in str(refused.value)


def test_a_row_is_read(written: Callable[[str], Path]) -> None:
    (row,) = read_question_rows(written(json.dumps(ROW) + "\n"))
    assert row.query == Query(Asked.WHO, "Ann Hale", None, ("sister",))
    assert row.answers == ("Eva Hale",)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answers": "Eva Hale"}, r"answers: Input should be a valid (tuple|array|list), got 'Eva Hale'"),
        ({"prolog": {"query": []}}, "prolog.answer: Field required"),
        ({"difficulty": "hard"}, "difficulty: .*got 'hard'"),
        ({"prolog": {"query": ['sistr("Ann Hale", Y_2)'], "answer": "Y_2"}}, "prolog.query: .*did you mean 'sister'"),
    ],
)
def test_broken_rows_are_told_with_line_and_field(
    written: Callable[[str], Path], change: dict[str, object], message: str
) -> None:
    file = written(f"{json.dumps(ROW)}\n{json.dumps(ROW | change)}\n")
    with pytest.raises(UserError, match=message) as refused:
        read_question_rows(file)
    assert str(refused.value).startswith(f"{file}:2: ")
    assert "\n" not in str(refused.value)


def test_other_files_are_refused(written: Callable[[str], Path], tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"data:1: the line: Invalid JSON"):
        read_article_rows(written("# Ann Hale\n"))
    with pytest.raises(UserError, match=r"none: cannot be read"):
        read_base_facts(tmp_path / "none")


@pytest.mark.parametrize(
    ("predicates", "answer", "query"),
    [
        (['dob("Ann Hale", Y_2)'], "Y_2", Query(Asked.WHAT, "Ann Hale", None, ("date of birth",))),
        (['job(Y_2, "baker")'], "Y_2", Query(Asked.WHO, "baker", "occupation", ())),
        (
            ["hobby(Y_3, Y_1)", "mother_in_law(Y_5, Y_3)", 'job(Y_5, "baker")'],
            "Y_1",
            Query(Asked.WHAT, "baker", "occupation", ("mother-in-law", "hobby")),
        ),
        (
            ["aggregate_all(count, distinct(great_aunt(Y_3, Y_1)), Count_1)", 'friend("Ann Hale", Y_3)'],
            "Count_1",
            Query(Asked.HOW_MANY, "Ann Hale", None, ("friend", "great-aunt")),
        ),
    ],
)
def test_queries_are_read(predicates: list[str], answer: str, query: Query) -> None:
    assert read_query(predicates, answer) == query


@pytest.mark.parametrize(
    ("predicates", "message"),
    [
        ([], "nothing says who Y_2 is"),
        (["sister(Y_3, Y_2)"], "nothing says who Y_3 is"),
        (['sister("Ann Hale", Y_3)'], "reaches Y_3 where Y_2 is wanted"),
        (['sister(Y_2, "Ann Hale")'], 'reaches "Ann Hale" where Y_2 is wanted'),
        (["sister(Y_3, Y_2)", 'job("Ann Hale", Y_3)'], "goes on from an attribute"),
        (['sister("Ann Hale", Y_2)', 'mother("Ann Hale", Y_2)'], "after the start"),
        (["sister(Y_3)"], "no predicate of two terms"),
        (["sister(Y_3, Y_2)", 'aggregate_all(count, distinct(son("Ann Hale", Y_1)), Y_3)'], "no predicate of two"),
        (['aggregate_all(count, distinct(job("Ann Hale", Y_1)), Y_2)'], "unknown predicate"),
    ],
)
def test_what_is_no_chain_is_refused(predicates: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message) as refused:
        read_query(predicates, "Y_2")
    assert "\n" not in str(refused.value)


def test_predicates_are_the_official_words() -> None:
    assert STEP_PREDICATES["female_first_cousin_once_removed"] == "female first cousin once removed"
    assert STEP_PREDICATES["great_aunt"] == "great-aunt"
    assert STEP_PREDICATES["dob"] == "date of birth"
    assert len(STEP_PREDICATES) == 48
