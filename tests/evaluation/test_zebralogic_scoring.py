"""Scores of stored ZebraLogic replies, with the cases that other scorers got wrong."""

import json
from typing import Any

import pytest

from sparring.environments.zebra import Zebra, ZebraSettings
from sparring.environments.zebra_official import answer_key
from sparring.errors import UserError
from sparring.evaluation.zebralogic import Outcome, score_zebralogic, zebralogic_prompt
from sparring.profiles import Profile
from sparring.tasks import PromptPack

HEAD = "There are 2 houses, numbered 1 to 2 from left to right, as seen from across the street.\n"
PETS = {
    "id": "pets",
    "puzzle": HEAD + " - Each person has a unique name: `Bob`, `Eric`\n - Each person has a unique type of pet: `cat`, "
    "`dog`\n\n## Clues:\n1. Eric is in the first house.\n2. The person who owns a dog is Eric.\n",
}
RIGHT: dict[str, Any] = {"House 1": {"Name": "Eric", "Pet": "dog"}, "House 2": {"Name": "Bob", "Pet": "cat"}}


def reply(solution: object) -> str:
    return json.dumps({"reasoning": "so } it is", "solution": solution})


def right_and_outcome(text: str, profile: Profile) -> tuple[int, Outcome]:
    score = score_zebralogic([{"id": "pets", "text": text}], [PETS], profile).puzzles[0]
    return score.right, score.outcome


@pytest.mark.parametrize("profile", Profile)
def test_a_right_reply_is_solved(profile: Profile) -> None:
    scores = score_zebralogic([{"id": "pets", "text": "<think>{</think>" + reply(RIGHT)}], [PETS], profile)
    assert (scores.puzzle_accuracy, scores.cell_accuracy, scores.answered) == (1.0, 1.0, 1)
    assert scores.profile is profile


@pytest.mark.parametrize("profile", Profile)
def test_b26_null_is_wrong_and_a_list_of_one_is_its_item(profile: Profile) -> None:
    solution = {**RIGHT, "House 2": {"Name": None, "Pet": ["cat"]}}
    assert right_and_outcome(reply(solution), profile) == (3, Outcome.ANSWERED)


def test_b28_format_and_meaning_are_told_apart() -> None:
    lower = {"house1": {"name": "Eric", "pet": "dog"}, "house2": {"name": "Bob", "pet": "cat"}}
    rows = [{"id": "pets", "text": reply(lower)}]
    official, fixed = (score_zebralogic(rows, [PETS], profile) for profile in Profile)
    assert (official.puzzle_accuracy, official.format_error, official.answered) == (0.0, 1, 0)
    assert (fixed.puzzle_accuracy, fixed.format_error, fixed.answered) == (1.0, 0, 1)
    both = {Profile.OFFICIAL: 0.0, Profile.FIXED: 1.0}
    assert official.puzzle_accuracy_by_profile == fixed.puzzle_accuracy_by_profile == both


def test_a_misspelled_column_is_a_format_error_and_not_a_foreign_name() -> None:
    lower = {house: {column.lower(): cell for column, cell in cells.items()} for house, cells in RIGHT.items()}
    assert right_and_outcome(reply(lower), Profile.OFFICIAL) == (0, Outcome.FORMAT_ERROR)
    assert right_and_outcome(reply(lower), Profile.FIXED) == (4, Outcome.ANSWERED)


@pytest.mark.parametrize("profile", Profile)
def test_c23_spaces_and_case_of_a_cell_do_not_count(profile: Profile) -> None:
    solution = {**RIGHT, "House 2": {"Name": " Bob ", "Pet": "CAT\n"}}
    assert right_and_outcome(reply(solution), profile) == (4, Outcome.ANSWERED)


@pytest.mark.parametrize(
    ("text", "right", "outcome"),
    [
        ("It is Eric.", 0, Outcome.NO_ANSWER),
        ('{"reasoning": "none"}', 0, Outcome.NO_ANSWER),
        (reply(RIGHT)[:-1], 0, Outcome.NO_ANSWER),
        ("<think>" + reply(RIGHT), 0, Outcome.NO_ANSWER),
        (reply("Eric"), 0, Outcome.FORMAT_ERROR),
        (reply({"House 1": RIGHT["House 1"]}), 2, Outcome.FORMAT_ERROR),
        (reply({**RIGHT, "House 2": "Bob"}), 2, Outcome.FORMAT_ERROR),
        (reply({**RIGHT, "House 2": {"Name": 5, "Pet": 1.5}}), 2, Outcome.ANSWERED),
        (reply({"House 1": {"Name": "Bob", "Pet": "dog"}}) + reply(RIGHT), 4, Outcome.ANSWERED),
    ],
)
@pytest.mark.parametrize("profile", Profile)
def test_what_cannot_be_read_is_counted_as_what_it_is(
    text: str, right: int, outcome: Outcome, profile: Profile
) -> None:
    assert right_and_outcome(text, profile) == (right, outcome)


@pytest.mark.parametrize("profile", Profile)
def test_a_foreign_column_name_is_understood_by_its_value(profile: Profile) -> None:
    solution = {
        house: {"Number": index, "Person": cells["Name"], "Animal kept": cells["Pet"]}
        for index, (house, cells) in enumerate(RIGHT.items(), start=1)
    }
    assert right_and_outcome(reply(solution), profile) == (4, Outcome.ANSWERED)


def test_buckets_without_a_puzzle_are_null_and_others_are_not() -> None:
    scores = score_zebralogic([{"id": "pets", "text": reply(RIGHT)}], [PETS], Profile.OFFICIAL)
    accuracies = {name: bucket.puzzle_accuracy for name, bucket in scores.buckets.items()}
    assert accuracies == {"small": 1.0, "medium": None, "large": None, "xl": None, "easy": 1.0, "hard": None}
    nothing = score_zebralogic([], [PETS], Profile.OFFICIAL)
    assert (nothing.n, nothing.without_reply, nothing.puzzle_accuracy, nothing.cell_accuracy) == (0, 1, None, None)


@pytest.mark.parametrize(
    ("index", "bucket", "half"),
    [(6, "small", "easy"), (7, "small", "hard"), (8, "medium", "hard"), (16, "large", "hard"), (24, "xl", "hard")],
)
def test_sizes_fall_into_the_official_buckets(index: int, bucket: str, half: str) -> None:
    task = Zebra(ZebraSettings(), PromptPack.CHAT).generate(index / 24, 1)
    key = {f"House {house}": cells for house, cells in enumerate(answer_key(task.public.statement), start=1)}
    puzzle = {"id": "one", "puzzle": task.public.statement}
    scores = score_zebralogic([{"id": "one", "text": reply(key)}], [puzzle], Profile.OFFICIAL)
    assert [name for name, group in scores.buckets.items() if group.n] == [bucket, half]
    assert scores.puzzle_accuracy == 1.0


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": "pets"}], "row 1: needs"),
        ([{"id": 3, "text": ""}], "row 1: needs"),
        ([{"id": "pats", "text": ""}], "row 1 id = 'pats'"),
        ([{"id": "pets", "text": ""}, {"id": "pets", "text": ""}], "row 2 id = 'pets': answered twice"),
    ],
)
def test_a_wrong_row_is_refused_by_number(rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(UserError, match=message):
        score_zebralogic(rows, [PETS], Profile.FIXED)


def test_the_prompt_shows_a_right_example_and_the_form_to_fill_in() -> None:
    prompt = zebralogic_prompt(PETS["puzzle"])
    example, rest = prompt.split("# Answer to the example")
    answer, rest = rest.split("# Puzzle to solve")
    puzzle = {"id": "example", "puzzle": example.split("# Example puzzle")[1].strip()}
    assert score_zebralogic([{"id": "example", "text": answer}], [puzzle], Profile.OFFICIAL).puzzle_accuracy == 1.0
    assert PETS["puzzle"].rstrip() in rest
    form = json.loads(rest[rest.index("{") :])
    assert form["solution"] == {house: dict.fromkeys(("Name", "Pet"), "___") for house in RIGHT}
