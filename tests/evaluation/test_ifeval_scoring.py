from typing import Any

import pytest

from sparring.errors import UserError
from sparring.evaluation.ifeval import score_ifeval
from sparring.profiles import Profile


def prompt(key: int, *instructions: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    names, kwargs = zip(*instructions, strict=True)
    return {"key": key, "prompt": "Write.", "instruction_id_list": list(names), "kwargs": list(kwargs)}


def at_least(number: int) -> tuple[str, dict[str, Any]]:
    return "length_constraints:number_words", {"num_words": number, "relation": "at least"}


NO_COMMA: tuple[str, dict[str, Any]] = ("punctuation:no_comma", {})


@pytest.mark.parametrize("profile", Profile)
def test_b02_a_repeated_instruction_is_judged_each_time(profile: Profile) -> None:
    scores = score_ifeval(
        [{"id": "1", "text": "one two three four five"}], [prompt(1, at_least(30), at_least(3))], profile
    )
    assert [judgement.followed for judgement in scores.prompts[0].strict] == [False, True]
    assert (scores.prompt_strict, scores.instruction_strict, scores.instructions) == (0.0, 0.5, 2)
    assert scores.profile is profile


@pytest.mark.parametrize("profile", Profile)
def test_c09_an_empty_reply_counts_every_instruction(profile: Profile) -> None:
    scores = score_ifeval([{"id": 1, "text": ""}], [prompt(1, NO_COMMA, at_least(0))], profile)
    for judgements in (scores.prompts[0].strict, scores.prompts[0].loose):
        assert [judgement.followed for judgement in judgements] == [False, False]
    assert (scores.n, scores.instructions, scores.no_answer) == (1, 2, 1)


@pytest.mark.parametrize("profile", Profile)
def test_b11_thinking_is_taken_off_and_left_open_is_no_answer(profile: Profile) -> None:
    rows = [
        {"id": "1", "text": "<think>First, second</think>Done now"},
        {"id": "2", "text": "<think>First second"},
    ]
    scores = score_ifeval(rows, [prompt(1, NO_COMMA), prompt(2, NO_COMMA)], profile)
    assert [one.strict_followed for one in scores.prompts] == [True, False]
    assert [one.answered for one in scores.prompts] == [True, False]
    assert scores.no_answer == 1


def test_loose_counts_what_strict_does_not() -> None:
    rows = [{"id": "1", "text": "Sure, here:\nplain words"}, {"id": "2", "text": "a, b"}]
    scores = score_ifeval(rows, [prompt(1, NO_COMMA, at_least(2)), prompt(2, NO_COMMA)], Profile.OFFICIAL)
    assert (scores.prompt_strict, scores.prompt_loose) == (0.0, 0.5)
    assert (scores.instruction_strict, scores.instruction_loose) == (1 / 3, 2 / 3)


def test_the_profile_decides() -> None:
    sections = ("detectable_format:multiple_sections", {"section_spliter": "PART", "num_sections": 2})
    rows = [{"id": "1", "text": "PART I one\nPART II two"}]
    assert score_ifeval(rows, [prompt(1, sections)], Profile.OFFICIAL).prompt_strict == 0.0
    assert score_ifeval(rows, [prompt(1, sections)], Profile.FIXED).prompt_strict == 1.0


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([], "no generation with id '1'"),
        ([{"id": "1", "text": "a"}, {"id": "9", "text": "b"}], "'9'"),
        ([{"id": "1", "text": "a"}, {"id": 1, "text": "b"}], "twice"),
        ([{"id": "1"}], "generation 1"),
        ([{"text": "a"}], "generation 1"),
        ([{"id": "1", "text": None}], "generation 1"),
    ],
)
def test_rows_that_do_not_fit_are_errors(rows: list[dict[str, Any]], complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        score_ifeval(rows, [prompt(1, NO_COMMA)], Profile.OFFICIAL)


def test_b13_an_unknown_instruction_is_an_error() -> None:
    with pytest.raises(UserError, match="made_up:thing"):
        score_ifeval([{"id": "1", "text": "a"}], [prompt(1, ("made_up:thing", {}))], Profile.OFFICIAL)


def test_a_benchmark_without_rows_is_an_error() -> None:
    with pytest.raises(UserError, match="no prompts"):
        score_ifeval([], [], Profile.OFFICIAL)
