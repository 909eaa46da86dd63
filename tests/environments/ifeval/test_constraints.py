import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparring.environments.ifeval.conflicts import in_conflict
from sparring.environments.ifeval.constraints import (
    FAMILIES,
    Constraint,
    further_views,
    judge,
    judge_both,
)
from sparring.environments.ifeval.drawing import TRAINING_FAMILIES
from sparring.errors import UserError
from sparring.evaluation.benchmarks import data_folder
from sparring.profiles import Profile

DATA = data_folder()
OFFICIAL, FIXED = Profile.OFFICIAL, Profile.FIXED

EXISTENCE, FREQUENCY, FORBIDDEN = "keywords:existence", "keywords:frequency", "keywords:forbidden_words"
LETTER, LANGUAGE = "keywords:letter_frequency", "language:response_language"
SENTENCES, PARAGRAPHS = "length_constraints:number_sentences", "length_constraints:number_paragraphs"
WORDS, FIRST_WORD = "length_constraints:number_words", "length_constraints:nth_paragraph_first_word"
PLACEHOLDERS, POSTSCRIPT = "detectable_content:number_placeholders", "detectable_content:postscript"
BULLETS, ANSWERS = "detectable_format:number_bullet_lists", "detectable_format:constrained_response"
HIGHLIGHTS, SECTIONS = "detectable_format:number_highlighted_sections", "detectable_format:multiple_sections"
JSON, TITLE = "detectable_format:json_format", "detectable_format:title"
TWO, REPEAT = "combination:two_responses", "combination:repeat_prompt"
END, QUOTATION, COMMA = "startend:end_checker", "startend:quotation", "punctuation:no_comma"
CAPITALS, UPPER, LOWER = (
    "change_case:capital_word_frequency",
    "change_case:english_capital",
    "change_case:english_lowercase",
)
LONG_ENGLISH = (
    "the small boat was quiet and old and it lay near the river with a garden and a long road to the farm by it"
)
LONG_SWEDISH = (
    "det var en liten båt som låg vid floden och alla barnen ville gärna åka med den hem till byn innan det blev mörkt"
)

# id of the case, family, parameters, reply, verdict of profile official, verdict of profile fixed
CASES: list[tuple[str, str, dict[str, Any], str, bool, bool]] = [
    ("B01", FREQUENCY, {"keyword": "oak", "relation": "less than", "frequency": 2}, "oak oak oak", False, False),
    ("B01", FREQUENCY, {"keyword": "oak", "relation": "less than", "frequency": 2}, "oak", True, True),
    ("B03", REPEAT, {"prompt_to_repeat": "Name two rivers."}, "", False, False),
    ("B03", REPEAT, {"prompt_to_repeat": "Name two rivers."}, "Sure. Name two rivers.", False, False),
    ("B03", REPEAT, {"prompt_to_repeat": "Name two rivers."}, "  name TWO rivers. Nile, Po", True, True),
    ("repeat", REPEAT, {"prompt_to_repeat": "Name two rivers."}, "Name two rivers.", True, False),
    ("repeat", REPEAT, {"prompt_to_repeat": "Name two rivers."}, "Name  two\nrivers. Nile", False, True),
    ("B05", LETTER, {"letter": "q", "let_relation": "less than", "let_frequency": 1}, "quick quip", False, False),
    ("B07", LOWER, {}, "small boats drift home", False, True),
    ("B08", LETTER, {"letter": "#", "let_relation": "at least", "let_frequency": 3}, "# # #", True, True),
    ("B08", LETTER, {"letter": "#", "let_relation": "at least", "let_frequency": 3}, "# #", False, False),
    ("B12", SECTIONS, {"section_spliter": "PART", "num_sections": 2}, "PART I\none\nPART II\ntwo", False, True),
    ("B12", SECTIONS, {"section_spliter": "PART", "num_sections": 2}, "PART I one PART II two", False, True),
    ("sections", SECTIONS, {"section_spliter": "PART", "num_sections": 2}, "PART 1 a\nPART 2 b\nPART 3 c", True, False),
    (
        "sections",
        SECTIONS,
        {"section_spliter": "PART", "num_sections": 2},
        "PART 1 a\nPART 2 b, see PART 1",
        True,
        True,
    ),
    ("C01", BULLETS, {"num_bullets": 1}, "*a* hello", True, False),
    ("C01", BULLETS, {"num_bullets": 1}, "-5 degrees", True, False),
    ("C01", BULLETS, {"num_bullets": 1}, "---", True, False),
    ("bullets", BULLETS, {"num_bullets": 2}, "list\n* one\n  - two", True, True),
    ("bullets", BULLETS, {"num_bullets": 1}, "* one\n* two", False, False),
    ("bullets", BULLETS, {"num_bullets": 1}, "* one\n---", False, True),
    ("C02", HIGHLIGHTS, {"num_highlights": 1}, "2 * 3 * 4", True, False),
    ("highlights", HIGHLIGHTS, {"num_highlights": 2}, "a *b c* and **d**.", True, True),
    ("highlights", HIGHLIGHTS, {"num_highlights": 2}, "***three***", True, False),
    ("highlights", HIGHLIGHTS, {"num_highlights": 1}, "nothing", False, False),
    ("C03", JSON, {}, "5", True, False),
    ("C03", JSON, {}, "NaN", True, False),
    ("fence", JSON, {}, '```json\n{"a": 1}', True, False),
    ("C03", JSON, {}, '{"a": 1}', True, True),
    ("C03", JSON, {}, '```json\n{"a": 1}\n```', True, True),
    ("json", JSON, {}, 'Here: {"a": 1}', False, False),
    ("json", JSON, {}, "[" * 100_000, False, False),
    ("C04", EXISTENCE, {"keywords": ["cat"]}, "concatenate", True, False),
    ("C04", EXISTENCE, {"keywords": ["c++"]}, "I like c++ a lot", True, True),
    ("existence", EXISTENCE, {"keywords": ["c++"]}, "I like c a lot", True, False),
    ("spacing", EXISTENCE, {"keywords": ["new york"]}, "in New\nYork", False, True),
    ("frequency", FREQUENCY, {"keyword": "art", "relation": "less than", "frequency": 2}, "art started", False, True),
    ("underscores", FORBIDDEN, {"forbidden_words": ["cat"]}, "a _cat_ came", True, False),
    ("accent", FORBIDDEN, {"forbidden_words": ["cafe"]}, "a cafe\u0301", False, True),
    ("existence", EXISTENCE, {"keywords": ["cat", "dog"]}, "a CAT.", False, False),
    ("frequency", FREQUENCY, {"keyword": "art", "relation": "at least", "frequency": 2}, "art started", True, False),
    ("forbidden", FORBIDDEN, {"forbidden_words": ["cat"]}, "concatenate", True, True),
    ("forbidden", FORBIDDEN, {"forbidden_words": ["a.b"]}, "axb", False, True),
    ("forbidden", FORBIDDEN, {"forbidden_words": ["cat", "dog"]}, "A Dog.", False, False),
    ("C05", POSTSCRIPT, {"postscript_marker": "P.S."}, "Dear all. P.P.S. bye", True, False),
    ("postscript", POSTSCRIPT, {"postscript_marker": "P.S."}, "Dear all. P. P.S. bye", True, False),
    ("postscript", POSTSCRIPT, {"postscript_marker": "P.S."}, "Dear all.\n\nP. S. bye", True, True),
    ("postscript", POSTSCRIPT, {"postscript_marker": "P.S."}, "Dear all. P.S.", True, False),
    ("postscript", POSTSCRIPT, {"postscript_marker": "P.P.S"}, "Dear all. P.P.S. bye", True, True),
    ("postscript", POSTSCRIPT, {"postscript_marker": "P.P.S"}, "Dear all. P.S. bye", False, False),
    ("C06", PLACEHOLDERS, {"num_placeholders": 1}, "see []", True, False),
    ("placeholders", PLACEHOLDERS, {"num_placeholders": 1}, "see [the page](x.org)", True, False),
    ("placeholders", PLACEHOLDERS, {"num_placeholders": 2}, "Dear [name] of [town]", True, True),
    ("placeholders", PLACEHOLDERS, {"num_placeholders": 2}, "Dear [name]", False, False),
    ("C07", LANGUAGE, {"language": "en"}, "12345", True, False),
    ("C07", LANGUAGE, {"language": "de"}, "\u16a0\u16a2", True, False),
    ("language", LANGUAGE, {"language": "sv"}, LONG_SWEDISH, True, True),
    ("language", LANGUAGE, {"language": "de"}, LONG_SWEDISH, False, False),
    ("language", LANGUAGE, {"language": "sv"}, LONG_SWEDISH.upper(), False, True),
    ("C08", UPPER, {}, "HELLO WORLD", False, True),
    ("upper", UPPER, {}, LONG_ENGLISH.upper(), True, True),
    ("upper", UPPER, {}, LONG_SWEDISH.upper(), False, False),
    ("upper", UPPER, {}, LONG_ENGLISH, False, False),
    ("lower", LOWER, {}, LONG_ENGLISH, True, True),
    ("lower", LOWER, {}, "the caf\u00e9 was full of people and we sat", True, True),
    ("lower", LOWER, {}, "\u2177", True, False),
    ("upper", UPPER, {}, "\u2167", True, False),
    ("lower", LOWER, {}, "das boot ist klein und \u00f6d und alt", False, False),
    ("lower", LOWER, {}, LONG_SWEDISH, False, False),
    ("lower", LOWER, {}, LONG_ENGLISH.title(), False, False),
    ("words", WORDS, {"num_words": 3, "relation": "at least"}, "don't go", True, False),
    ("words", WORDS, {"num_words": 3, "relation": "less than"}, "don't go", False, True),
    ("words", WORDS, {"num_words": 3, "relation": "less than"}, "two words", True, True),
    ("words", WORDS, {"num_words": 3, "relation": "less than"}, "three whole words", False, False),
    ("sentences", SENTENCES, {"num_sentences": 2, "relation": "at least"}, "Dr. Ray came. He left.", True, True),
    ("sentences", SENTENCES, {"num_sentences": 2, "relation": "less than"}, "Dr. Ray came.", True, True),
    ("sentences", SENTENCES, {"num_sentences": 2, "relation": "at least"}, "One. !!", True, False),
    ("sentences", SENTENCES, {"num_sentences": 2, "relation": "less than"}, "One. !!", False, True),
    ("list", SENTENCES, {"num_sentences": 3, "relation": "at least"}, "1. One came.\n2. Two left.", True, False),
    ("sentences", SENTENCES, {"num_sentences": 2, "relation": "at least"}, "3.5 came. 1 left.", True, True),
    ("sentences", SENTENCES, {"num_sentences": 2, "relation": "less than"}, "One. Two.", False, False),
    ("paragraphs", PARAGRAPHS, {"num_paragraphs": 2}, "one\n***\ntwo", True, True),
    ("paragraphs", PARAGRAPHS, {"num_paragraphs": 2}, "one\n\ntwo", False, False),
    ("paragraphs", PARAGRAPHS, {"num_paragraphs": 1}, "one ***bold*** two", False, True),
    ("paragraphs", PARAGRAPHS, {"num_paragraphs": 2}, "one *** two", True, False),
    ("paragraphs", PARAGRAPHS, {"num_paragraphs": 2}, "one\r\n***\r\ntwo", True, True),
    ("paragraphs", PARAGRAPHS, {"num_paragraphs": 2}, "one\n***\n***\ntwo", False, True),
    ("first", FIRST_WORD, {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "elm"}, "a\n\nElm, b", True, True),
    ("first", FIRST_WORD, {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "elm"}, "a\n\n\n\nelm", False, True),
    ("first", FIRST_WORD, {"num_paragraphs": 1, "nth_paragraph": 1, "first_word": "elm"}, "*elm* b", False, True),
    ("first", FIRST_WORD, {"num_paragraphs": 1, "nth_paragraph": 1, "first_word": "elm"}, "elm a\n \nb", True, False),
    ("first", FIRST_WORD, {"num_paragraphs": 1, "nth_paragraph": 1, "first_word": "elm"}, "elm-like b", False, False),
    ("first", FIRST_WORD, {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "elm"}, "a\r\n\r\nelm", False, True),
    ("first", FIRST_WORD, {"num_paragraphs": 1, "nth_paragraph": 1, "first_word": "elm"}, "elms b", False, False),
    ("first", FIRST_WORD, {"num_paragraphs": 1, "nth_paragraph": 1, "first_word": "elm"}, "elm\n\nb", False, False),
    ("answers", ANSWERS, {}, "Well: My answer is yes.", True, True),
    ("answers", ANSWERS, {}, "My answer is yes. My answer is no.", True, False),
    ("answers", ANSWERS, {}, "yes", False, False),
    ("title", TITLE, {}, "<<song of joy>>\nla", True, True),
    ("title", TITLE, {}, "<<->> la", True, False),
    ("title", TITLE, {}, "<<a> b <c>>", True, False),
    ("title", TITLE, {}, "<song> la", False, False),
    ("two", TWO, {}, "one\n******\ntwo", True, True),
    ("two", TWO, {}, "one\n******\nOne", True, False),
    ("two", TWO, {}, "one\n******\n******\ntwo", False, True),
    ("two", TWO, {}, "one\n******\ntwo\n******\nthree", False, False),
    ("two", TWO, {}, "one\n************\ntwo", False, False),
    ("end", END, {"end_phrase": "eat."}, "I repeat.", True, False),
    ("end", END, {"end_phrase": "Any other questions?"}, "ok. any other questions?", True, True),
    ("end", END, {"end_phrase": "Any other questions?"}, "**Any other questions?**", False, True),
    ("end", END, {"end_phrase": "Any other questions?"}, "Any other questions? No.", False, False),
    ("quotation", QUOTATION, {}, '"hello"', True, True),
    ("quotation", QUOTATION, {}, '""', True, False),
    ("quotation", QUOTATION, {}, '"Go," she said. "Now."', True, False),
    ("quotation", QUOTATION, {}, '"One.\n\n"Two, a 5" nail, said "he"."', True, True),
    ("quotation", QUOTATION, {}, '"', False, False),
    ("quotation", QUOTATION, {}, "\u201chello\u201d", False, True),
    ("quotation", QUOTATION, {}, 'he said "hello"', False, False),
    ("capitals", CAPITALS, {"capital_frequency": 2, "capital_relation": "at least"}, "DON'T go", True, False),
    ("capitals", CAPITALS, {"capital_frequency": 2, "capital_relation": "less than"}, "DON'T go", False, True),
    ("capitals", CAPITALS, {"capital_frequency": 2, "capital_relation": "at least"}, "GO NOW please", True, True),
    ("capitals", CAPITALS, {"capital_frequency": 2, "capital_relation": "less than"}, "GO NOW please", False, False),
    ("comma", COMMA, {}, "one two", True, True),
    ("comma", COMMA, {}, "one, two", False, False),
    ("comma", COMMA, {}, "one\uff0c two", True, False),
    ("comma", COMMA, {}, "one\u1363 two", True, False),
    ("comma", COMMA, {}, "\u0219i \u201atwo\u2019", True, True),
]


@pytest.mark.parametrize(("case", "family", "kwargs", "reply", "official", "fixed"), CASES)
def test_verdict_of_each_profile(
    case: str, family: str, kwargs: dict[str, Any], reply: str, official: bool, fixed: bool
) -> None:
    constraint = Constraint.read(family, kwargs)
    assert (judge(constraint, reply, OFFICIAL).followed, judge(constraint, reply, FIXED).followed) == (official, fixed)


def test_every_family_is_seen_to_pass_and_to_fail_in_both_profiles() -> None:
    seen = {(family, profile, verdict) for _, family, _, _, *both in CASES for profile, verdict in enumerate(both)}
    wanted = {(family, profile, verdict) for family in FAMILIES for profile in (0, 1) for verdict in (True, False)}
    assert len(FAMILIES) == 25
    assert seen == wanted


@pytest.mark.parametrize("profile", Profile)
def test_b06_language_verdict_does_not_change_between_calls(profile: Profile) -> None:
    constraint = Constraint.read(LANGUAGE, {"language": "en"})
    assert {judge(constraint, "Hello world", profile).followed for _ in range(40)} == {True}


def test_c07_an_undecidable_text_comes_with_a_reason() -> None:
    judgement = judge(Constraint.read(LANGUAGE, {"language": "en"}), "12345", FIXED)
    assert not judgement.followed
    assert "no letters" in judgement.reason


@pytest.mark.official_data
@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize(("key", "reply"), [(1122, "# # # four #"), (1129, "one! two! ! ! ! !")])
def test_c10_a_sign_is_counted_itself_every_time(profile: Profile, key: int, reply: str) -> None:
    row = next(row for row in benchmark() if row["key"] == key)
    name, kwargs = next(
        pair for pair in zip(row["instruction_id_list"], row["kwargs"], strict=True) if pair[0] == LETTER
    )
    constraint = Constraint.read(name, kwargs)
    assert {judge(constraint, reply, profile).followed for _ in range(50)} == {True}
    assert {judge(constraint, reply[:-1], profile).followed for _ in range(50)} == {False}


@pytest.mark.parametrize("profile", Profile)
def test_b09_loose_is_never_below_strict(profile: Profile) -> None:
    for _, family, kwargs, reply, *_ in CASES:
        both = judge_both(Constraint.read(family, kwargs), reply, profile)
        assert both.loose.followed or not both.strict.followed


def test_loose_takes_off_first_and_last_line_and_asterisks() -> None:
    reply = "*a*\nb\n*c*"
    assert set(further_views(reply)) == {"a\nb\nc", "b\n*c*", "b\nc", "*a*\nb", "a\nb", "b"}
    assert further_views("a") == further_views(" ") == ()
    assert further_views("**") == ()
    assert further_views("*a") == ("a",)
    end = judge_both(Constraint.read(END, {"end_phrase": "bye"}), "Sure:\nI say bye\n(22 words)", OFFICIAL)
    assert (end.strict.followed, end.loose.followed) == (False, True)


def test_the_reason_of_the_strict_verdict_stays_with_the_loose_one() -> None:
    both = judge_both(Constraint.read(LANGUAGE, {"language": "en"}), "12345\n6", FIXED)
    assert "no letters" in both.strict.reason
    assert both.loose == both.strict


@pytest.mark.parametrize(
    ("family", "kwargs", "complaint"),
    [
        ("made_up:thing", {}, "made_up:thing"),
        (WORDS, {"num_words": 3}, "relation"),
        (WORDS, {"num_words": None, "relation": "at least"}, "num_words"),
        (WORDS, {"num_words": -1, "relation": "at least"}, "num_words"),
        (WORDS, {"num_words": True, "relation": "at least"}, "num_words"),
        (WORDS, {"num_words": 3, "relation": "at most"}, "at most"),
        (COMMA, {"num_words": 3}, "num_words"),
        (EXISTENCE, {"keywords": []}, "keywords"),
        (EXISTENCE, {"keywords": "cat"}, "keywords"),
        (LETTER, {"letter": "ab", "let_frequency": 1, "let_relation": "at least"}, "letter"),
        (FIRST_WORD, {"num_paragraphs": 2, "nth_paragraph": 3, "first_word": "elm"}, "nth_paragraph"),
        (FIRST_WORD, {"num_paragraphs": 2, "nth_paragraph": 0, "first_word": "elm"}, "nth_paragraph"),
        (FORBIDDEN, {"forbidden_words": None}, "forbidden_words"),
        (FORBIDDEN, {"forbidden_words": ["a", " "]}, "forbidden_words"),
        (REPEAT, {"prompt_to_repeat": ""}, "prompt_to_repeat"),
        (WORDS, {"num_words": 2.5, "relation": "at least"}, "num_words"),
        (LANGUAGE, {"language": "xx"}, "language"),
    ],
)
def test_b13_what_cannot_be_read_is_an_error_and_never_a_pass(family: str, kwargs: Any, complaint: str) -> None:
    with pytest.raises(UserError, match=complaint) as raised:
        Constraint.read(family, kwargs)
    assert "\n" not in str(raised.value)


def test_a_keyword_that_is_no_regular_expression_is_an_error_in_profile_official_only() -> None:
    constraint = Constraint.read(EXISTENCE, {"keywords": ["f(x"]})
    assert judge(constraint, "take f(x and", FIXED).followed
    with pytest.raises(UserError, match="profile fixed"):
        judge(constraint, "take f(x and", OFFICIAL)


def benchmark() -> list[dict[str, Any]]:
    with (DATA / "ifeval.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.official_data
def test_all_official_prompts_have_their_checkers_in_both_profiles() -> None:
    rows = benchmark()
    assert len(rows) == 541
    constraints = [
        Constraint.read(name, kwargs)
        for row in rows
        for name, kwargs in zip(row["instruction_id_list"], row["kwargs"], strict=True)
    ]
    assert len(constraints) == 834
    assert {constraint.id for constraint in constraints} == set(FAMILIES)
    for constraint in constraints:
        for profile in Profile:
            assert not judge(constraint, " \n", profile).followed
            judge(constraint, "One short reply.", profile)
        assert constraint.wording


ONE_OF_EACH = {family: Constraint.read(family, kwargs) for _, family, kwargs, *_ in CASES}


@settings(max_examples=30, deadline=None)
@given(st.text(alphabet=st.sampled_from("aB1 .,*-[]<>\"'\n#\u00e9\u0416`{}")))
def test_no_checker_raises_on_any_text(text: str) -> None:
    for constraint in ONE_OF_EACH.values():
        for profile in Profile:
            assert isinstance(judge(constraint, text, profile).followed, bool)


def test_conflicts_are_symmetric_and_follow_the_official_table() -> None:
    for family in FAMILIES:
        assert in_conflict(family, family)
        assert in_conflict(ANSWERS, family)
        for other in FAMILIES:
            assert in_conflict(family, other) == in_conflict(other, family)
    assert in_conflict(TITLE, QUOTATION)
    assert in_conflict(SENTENCES, PARAGRAPHS)
    assert not in_conflict(JSON, EXISTENCE)
    assert not in_conflict(WORDS, SENTENCES)
    assert in_conflict(LOWER, SECTIONS)  # a pair of our own


def test_three_fragile_families_do_not_train() -> None:
    assert set(FAMILIES) - set(TRAINING_FAMILIES) == {LANGUAGE, REPEAT, TWO}
