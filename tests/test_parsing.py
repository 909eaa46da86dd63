"""Readers of policy text, with the cases that other implementations got wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparring.parsing import (
    cell_text,
    folded,
    json_objects,
    last_between,
    last_json_object,
    last_tag,
    parse_emission,
    parse_plan,
    remove_thinking,
)
from sparring.tasks import PromptPack

JSON_TEXT = st.text(alphabet='{}[]":,\\ \n`truefalsn0159.-eEINab', max_size=80)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("plain", "plain"),
        ("<think>First, second</think>Done now", "Done now"),
        ("opened in the prompt</think>Done", "Done"),
        ("<think>a</think>b<think>c</think>d", "d"),
        ("<think>never closed", None),
        ("<think>a</think>b<think>again", None),
    ],
)
def test_thinking_is_removed_and_unclosed_thinking_is_no_answer(text: str, answer: str | None) -> None:
    assert remove_thinking(text) == answer


def test_b18_one_answer_tag_is_enough_and_may_hold_line_breaks() -> None:
    assert last_tag("<answer>Oslo</answer>", "answer") == "Oslo"
    assert last_tag("<answer> Oslo\n</answer>", "answer") == "Oslo"
    assert last_tag("<answer>Rome</answer> no, <answer>Oslo</answer>", "answer") == "Oslo"


def test_b19_a_turn_without_the_tag_has_no_answer() -> None:
    turns = [("assistant", "<search>q</search>"), ("tool", "<answer>Oslo</answer>"), ("assistant", "I stop here.")]
    assert last_tag([text for role, text in turns if role == "assistant"][-1], "answer") is None


def test_b20_marks_are_literal_text() -> None:
    text = "<|begin_of_query|>capital of Peru<|end_of_query|> ok"
    assert last_between(text, "<|begin_of_query|>", "<|end_of_query|>") == "capital of Peru"
    assert last_between("<|end_of_query|> before <|begin_of_query|>", "<|begin_of_query|>", "<|end_of_query|>") is None


def test_b22_a_brace_inside_a_string_closes_nothing() -> None:
    text = '{"reasoning": "use } here", "solution": {"House 1": {"Name": "Eric"}}}'
    assert last_json_object(text) == json.loads(text)


def test_b24_back_ticks_inside_values_are_no_fence() -> None:
    assert json_objects('Here is `it`: {"code": "a `b` {c}"}') == [{"code": "a `b` {c}"}]


@pytest.mark.parametrize(
    ("text", "objects"),
    [
        ('{"a": 1} and {"a": {"b": 2}}', [{"a": 1}, {"a": {"b": 2}}]),
        ('the set {x, y}, then {"a": 1}', [{"a": 1}]),
        ('a stray { and {"a": 1}', [{"a": 1}]),
        ('{"broken": } {"a": 1}', [{"a": 1}]),
        ('{"outer": {"whole": 1}, "cut', []),
        ('```json\n{"a":\n "two\nlines"}\n```', [{"a": "two\nlines"}]),
        ('{"quote": "\\"}"}', [{"quote": '"}'}]),
        ("{}", [{}]),
        ('{"a": ' * 100_000, []),
        ('{"a": ' + "9" * 5000 + "}", []),
    ],
)
def test_top_level_objects(text: str, objects: list[dict[str, object]]) -> None:
    assert json_objects(text) == objects


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=12) | st.integers(), max_size=4))
def test_any_object_is_found_whole_between_prose(value: dict[str, object]) -> None:
    assert json_objects(f"I say {{this}}: {json.dumps(value)} so.") == [value]


@pytest.mark.parametrize(
    ("text", "difficulty"),
    [
        ('{"difficulty": 0.35}', 0.35),
        ('<think>{"difficulty": 1}</think> I choose {"difficulty": 0}', 0.0),
        ('{"difficulty": 1}', 1.0),
        ('{"difficulty": true}', None),
        ('{"difficulty": "0.5"}', None),
        ('{"difficulty": 1.01}', None),
        ('{"difficulty": -0.1}', None),
        ('{"difficulty": NaN}', None),
        ('{"difficulty": Infinity}', None),
        ('{"difficulty": 1e999}', None),
        ('{"difficulty": ' + "9" * 400 + "}", None),
        ('{"difficulty": 0.5, "why": "fair"}', None),
        ('{"difficulty": 0.5} {"difficulty": 0.5}', None),
        ('{"difficulty": {"difficulty": 0.5}}', None),
        ('{"difficulty": 0.1, "difficulty": 0.9}', None),
        ('{"difficulty": 0.5} {"difficulty": 0.6', None),
        ("0.5", None),
        ('<think>{"difficulty": 0.5}', None),
    ],
)
def test_an_emission_is_one_object_with_one_number_in_range(text: str, difficulty: float | None) -> None:
    assert parse_emission(text) == difficulty


@pytest.mark.parametrize(
    ("text", "stages"),
    [
        ('["find the mother", "find her job"]', ("find the mother", "find her job")),
        ('Plan:\n["a"]\nbetter: [" b ", "c"] as in [1]', ("b", "c")),
        ('{"plan": ["a", "b"]}', ("a", "b")),
        ('<think>["a"]</think>["b"]', ("b",)),
        ('["a", ""]', None),
        ('["a", "b", "c", "d", "e"]', None),
        ('["a", 2]', None),
        ("[]", None),
        ("a, b", None),
    ],
)
def test_a_chat_plan_is_the_last_list_of_strings(text: str, stages: tuple[str, ...] | None) -> None:
    assert parse_plan(text, PromptPack.CHAT) == stages


@pytest.mark.parametrize(
    ("text", "stages"),
    [
        ("colour , drink", ("colour", "drink")),
        ("mother job", ("mother job",)),
        ("a , b , c , d", ("a", "b", "c", "d")),
        ("a , b , c , d , e", None),
        ("a , , b", None),
        ("a ,", None),
        ("", None),
    ],
)
def test_a_compact_plan_is_words_between_commas(text: str, stages: tuple[str, ...] | None) -> None:
    assert parse_plan(text, PromptPack.COMPACT) == stages


@given(JSON_TEXT | st.text())
def test_no_text_makes_a_reader_raise(text: str) -> None:
    difficulty = parse_emission(text)
    assert difficulty is None or 0.0 <= difficulty <= 1.0
    for pack in PromptPack:
        stages = parse_plan(text, pack)
        assert stages is None or (1 <= len(stages) <= 4 and all(stages))
    objects = json_objects(text)
    assert last_json_object(text) == (objects[-1] if objects else None)


def test_cells_and_keys_are_read_by_content() -> None:
    assert cell_text(" Bob ") == cell_text(["bob"]) == "bob"
    assert cell_text(5) == "5"
    assert [cell_text(value) for value in (None, True, [], ["a", "b"], {"a": "b"}, [["a"]])] == [None] * 6
    assert folded("House 1") == folded("house_1") == "house1"
