"""Scores of stored ZebraLogic replies, with the cases that other scorers got wrong."""

import json
from typing import Any

import pytest

from sparring.environments.zebra_logic.official import answer_key
from sparring.errors import UserError
from sparring.evaluation.zebralogic import score_zebralogic, zebralogic_prompt
from sparring.evaluation.zebralogic_reading import Outcome
from sparring.profiles import Profile

HEAD = "There are 2 houses, numbered 1 to 2 from left to right, as seen from across the street.\n"
PETS = {
    "id": "pets",
    "puzzle": HEAD + " - Each person has a unique name: `Bob`, `Eric`\n - Each person has a unique type of pet: `cat`, "
    "`dog`\n\n## Clues:\n1. Eric is in the first house.\n2. The person who owns a dog is Eric.\n",
}
RIGHT: dict[str, Any] = {"House 1": {"Name": "Eric", "Pet": "dog"}, "House 2": {"Name": "Bob", "Pet": "cat"}}


def reply(solution: object) -> str:
    return json.dumps({"reasoning": "so it is", "solution": solution})


def right_and_outcome(text: str, profile: Profile) -> tuple[int, Outcome]:
    score = score_zebralogic([{"id": "pets", "text": text}], [PETS], profile).puzzles[0]
    return score.right, score.outcome


def check(official: tuple[int, Outcome], fixed: tuple[int, Outcome], text: str) -> None:
    """Check what each profile makes of a reply."""
    assert right_and_outcome(text, Profile.OFFICIAL) == official
    assert right_and_outcome(text, Profile.FIXED) == fixed


NOTHING = (0, Outcome.NO_ANSWER)
UNREADABLE = (0, Outcome.FORMAT_ERROR)
SOLVED = (4, Outcome.ANSWERED)


@pytest.mark.parametrize("profile", Profile)
def test_a_right_reply_is_solved(profile: Profile) -> None:
    scores = score_zebralogic([{"id": "pets", "text": "<think>{}</think>" + reply(RIGHT)}], [PETS], profile)
    assert (scores.puzzle_accuracy, scores.cell_accuracy, scores.answered) == (1.0, 1.0, 1)
    assert scores.profile is profile


@pytest.mark.parametrize("profile", Profile)
def test_b26_null_is_wrong_and_a_list_of_one_is_its_item(profile: Profile) -> None:
    solution = {**RIGHT, "House 2": {"Name": None, "Pet": ["cat"]}}
    assert right_and_outcome(reply(solution), profile) == (3, Outcome.ANSWERED)


def test_b22_a_brace_inside_a_string_cuts_the_object_in_two_for_the_published_scorer_alone() -> None:
    check(NOTHING, SOLVED, json.dumps({"reasoning": "use } here", "solution": RIGHT}))
    check(NOTHING, SOLVED, json.dumps({"reasoning": "use { here", "solution": RIGHT}))
    check(SOLVED, SOLVED, json.dumps({"reasoning": "use {} here", "solution": RIGHT}))


@pytest.mark.parametrize("profile", Profile)
def test_b24_backticks_are_no_fence(profile: Profile) -> None:
    text = "Here is `it`: " + json.dumps({"reasoning": "a `b` {c}", "solution": RIGHT})
    assert right_and_outcome(text, profile) == SOLVED
    assert right_and_outcome(f"```json\n{json.dumps({'solution': RIGHT}, indent=1)}\n```", profile) == SOLVED


def test_what_else_the_two_profiles_read_differently() -> None:
    # Thinking: the published scorer reads it like the rest.
    check(SOLVED, NOTHING, "<think>" + reply(RIGHT))
    check(SOLVED, NOTHING, "<think>" + reply(RIGHT) + "</think>So it is.")
    check(NOTHING, SOLVED, "<think>{</think>" + reply(RIGHT))
    # A line break inside a string is no JSON by the book, and read in both.
    check(SOLVED, SOLVED, reply(RIGHT).replace("so it", "so\nit"))
    # The last object counts, even a broken one; `fixed` takes the last that can be read.
    check(NOTHING, SOLVED, reply(RIGHT) + " {so}")
    # An object that holds no solution is a remark.
    for remark in ("{}", '{"confidence": 0.9}'):
        check(NOTHING, SOLVED, reply(RIGHT) + remark)
    # One column twice in a house.
    twice = {**RIGHT, "House 1": {"Name": "Eric", "Pet": "dog", "pet": "cat"}}
    check(SOLVED, (3, Outcome.ANSWERED), reply(twice))
    check(SOLVED, SOLVED, reply({**RIGHT, "House 1": {"Name": "Eric", "Pet": "dog", "pet": "Dog"}}))
    # Lists and numbers.
    numbers = {**PETS, "puzzle": PETS["puzzle"].replace("Eric", "7")}
    for cells, official, fixed in ((["Eric", "Bob"], 4, 3), ([], 3, 3), (["Eric"], 4, 4)):
        solution = {**RIGHT, "House 1": {"Name": cells, "Pet": "dog"}}
        check((official, Outcome.ANSWERED), (fixed, Outcome.ANSWERED), reply(solution))
    rows = [{"id": "pets", "text": reply({**RIGHT, "House 1": {"Name": 7, "Pet": "dog"}})}]
    assert [score_zebralogic(rows, [numbers], each).puzzles[0].right for each in Profile] == [3, 4]


def test_b28_format_and_meaning_are_told_apart() -> None:
    lower = {"house1": {"name": "Eric", "pet": "dog"}, "house2": {"name": "Bob", "pet": "cat"}}
    rows = [{"id": "pets", "text": reply(lower)}]
    official, fixed = (score_zebralogic(rows, [PETS], profile) for profile in Profile)
    assert (official.puzzle_accuracy, official.format_error, official.answered) == (0.0, 1, 0)
    assert (fixed.puzzle_accuracy, fixed.format_error, fixed.answered) == (1.0, 0, 1)
    both = {Profile.OFFICIAL: 0.0, Profile.FIXED: 1.0}
    assert official.puzzle_accuracy_by_profile == fixed.puzzle_accuracy_by_profile == both
    outcomes = {
        each: {name for name, count in of.items() if count} for each, of in official.outcomes_by_profile.items()
    }
    assert outcomes == {Profile.OFFICIAL: {Outcome.FORMAT_ERROR}, Profile.FIXED: {Outcome.ANSWERED}}
    assert official.outcomes_by_profile == fixed.outcomes_by_profile


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
        ("", 0, Outcome.NO_ANSWER),
        ('{"reasoning": "none"}', 0, Outcome.NO_ANSWER),
        (reply(RIGHT)[:-1], 0, Outcome.NO_ANSWER),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, 0, Outcome.NO_ANSWER),
        (reply("Eric"), 0, Outcome.FORMAT_ERROR),
        (reply(None), 0, Outcome.FORMAT_ERROR),
        (reply({"House 1": RIGHT["House 1"]}), 2, Outcome.FORMAT_ERROR),
        (reply({**RIGHT, "House 2": "Bob"}), 2, Outcome.FORMAT_ERROR),
        (reply({**RIGHT, "House 2": {"Name": 5, "Pet": 1.5}}), 2, Outcome.ANSWERED),
        (reply({**RIGHT, "House 2": {"Name": {}, "Pet": [None]}}), 2, Outcome.ANSWERED),
        (reply({"House 1": {"Name": "Bob", "Pet": "dog"}}) + reply(RIGHT), 4, Outcome.ANSWERED),
    ],
)
@pytest.mark.parametrize("profile", Profile)
def test_what_cannot_be_read_is_counted_as_what_it_is(
    text: str, right: int, outcome: Outcome, profile: Profile
) -> None:
    assert right_and_outcome(text, profile) == (right, outcome)


def test_a_foreign_column_name_is_understood_by_its_value_where_meaning_counts() -> None:
    solution = {
        house: {"Number": index, "Person": cells["Name"], "Animal kept": cells["Pet"]}
        for index, (house, cells) in enumerate(RIGHT.items(), start=1)
    }
    check(UNREADABLE, SOLVED, reply(solution))


def test_buckets_without_a_puzzle_are_null_and_others_are_not() -> None:
    scores = score_zebralogic([{"id": "pets", "text": reply(RIGHT)}], [PETS], Profile.OFFICIAL)
    accuracies = {name: bucket.puzzle_accuracy for name, bucket in scores.buckets.items()}
    assert accuracies == {"small": 1.0, "medium": None, "large": None, "xl": None, "easy": 1.0, "hard": None}
    assert accuracies == {name: bucket.cell_accuracy for name, bucket in scores.buckets.items()}
    nothing = score_zebralogic([], [PETS], Profile.OFFICIAL)
    assert (nothing.n, nothing.without_reply, nothing.puzzle_accuracy, nothing.cell_accuracy) == (0, 1, None, None)


# Attributes in the official wording, with the values of up to six houses.
LINES = (
    ("Each person has a unique name", "Eric Peter Arnold Bob Alice Carol", "{}"),
    ("Each person has a favorite color", "red white green yellow blue purple", "The person who loves {}"),
    (
        "People have unique favorite music genres",
        "pop rock jazz country classical metal",
        "The person who loves {} music",
    ),
    ("Each person has a unique birthday month", "jan feb mar april may sept", "The person whose birthday is in {}"),
    ("People have unique hair colors", "black brown blonde gray auburn red", "The person who has {} hair"),
    ("Each person has an occupation", "artist doctor lawyer nurse teacher engineer", "The person who is a {}"),
)


def a_puzzle_of(houses: int, attributes: int) -> dict[str, str]:
    """A puzzle that gives every cell away: value i is in house i."""
    names = [(line, values.split()[:houses], phrase) for line, values, phrase in LINES[:attributes]]
    ordinals = ("first", "second", "third", "fourth", "fifth", "sixth")
    clues = [
        f"{phrase.format(value)} is in the {ordinals[house]} house."
        for _, values, phrase in names
        for house, value in enumerate(values)
    ]
    lines = [
        f"There are {houses} houses, numbered 1 to {houses} from left to right, as seen from across the street.",
        *(f" - {line}: " + ", ".join(f"`{value}`" for value in values) for line, values, _ in names),
        "\n## Clues:",
        *(f"{number}. {clue}" for number, clue in enumerate(clues, start=1)),
    ]
    return {"id": "one", "puzzle": "\n".join(lines)}


@pytest.mark.parametrize(
    ("houses", "attributes", "bucket", "half"),
    [
        (2, 6, "small", "easy"),
        (3, 3, "small", "easy"),
        (4, 2, "small", "hard"),
        (3, 4, "medium", "hard"),
        (6, 2, "medium", "hard"),
        (5, 3, "large", "hard"),
        (5, 4, "large", "hard"),
        (6, 3, "large", "hard"),
        (5, 5, "xl", "hard"),
        (6, 6, "xl", "hard"),
    ],
)
def test_sizes_fall_into_the_official_buckets(houses: int, attributes: int, bucket: str, half: str) -> None:
    puzzle = a_puzzle_of(houses, attributes)
    key = {f"House {house}": cells for house, cells in enumerate(answer_key(puzzle["puzzle"]), start=1)}
    key["House 1"] |= {"Name": "nobody"}
    scores = score_zebralogic([{"id": "one", "text": reply(key)}], [puzzle], Profile.OFFICIAL)
    assert [name for name, group in scores.buckets.items() if group.n] == [bucket, half]
    cells = houses * attributes
    assert scores.buckets[bucket].cell_accuracy == scores.cell_accuracy == (cells - 1) / cells
    assert scores.buckets[half].puzzle_accuracy == scores.puzzle_accuracy == 0.0


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
