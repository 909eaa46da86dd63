"""What PhantomWiki generates, refuses and tells the roles; the dialogue is tested apart."""

import os
import random
import subprocess
import sys

import pytest
from pydantic import ValidationError

from sparring.environments.phantom_wiki.environment import KinshipSecret, PhantomWiki, PhantomWikiSettings
from sparring.environments.phantom_wiki.kinship import Chain, Person, Universe
from sparring.errors import UserError
from sparring.tasks import GenerationRefusedError, PromptPack, Task

SMALL = PhantomWikiSettings(population=(3, 8), tools="lookup", attribute_question_probability=0.0)
COMPACT = PhantomWiki(SMALL, PromptPack.COMPACT)
CHAT = PhantomWiki(PhantomWikiSettings(), PromptPack.CHAT)
CHAT_LOOKUP_SETS = PhantomWiki(PhantomWikiSettings(tools="lookup", unique=False), PromptPack.CHAT)
DIFFICULTIES = [level / 20 for level in range(21)]


def test_small_worlds_are_never_refused() -> None:
    for difficulty in DIFFICULTIES:
        for seed in range(15):
            COMPACT.generate(difficulty, seed)


def test_a_world_that_cannot_hold_the_hops_is_refused_after_a_fixed_number_of_attempts() -> None:
    # Single people without friends: nobody is related to anybody.
    lonely = SMALL.model_copy(update={"tree_size": 1, "mean_friends": 0.0})
    with pytest.raises(GenerationRefusedError, match="no chain of 1 hops in 200 universes"):
        PhantomWiki(lonely, PromptPack.COMPACT).generate(0.0, 0)


@pytest.mark.parametrize("unique", [True, False])
def test_a_world_far_beyond_the_spec_holds_its_hops(unique: bool) -> None:
    settings = PhantomWikiSettings(population=(2000, 2000), unique=unique)
    kind = PhantomWiki(settings, PromptPack.CHAT)
    task = kind.generate(1.0, 0)
    assert kind.signature(task) == "hops=6,population=2000"
    kind.validate(task)


def test_the_spec_map_of_difficulty() -> None:
    for difficulty, hops, population in ((0.0, 1, 25), (0.4, 3, 75), (0.6, 4, 150), (1.0, 6, 500)):
        assert CHAT.signature(CHAT.generate(difficulty, 1)) == f"hops={hops},population={population}"


def test_small_signatures_are_rich_and_the_population_holds_the_hops() -> None:
    signatures = {COMPACT.signature(COMPACT.generate(d, seed)) for d in DIFFICULTIES for seed in range(15)}
    pairs = {tuple(int(part.split("=")[1]) for part in signature.split(",")) for signature in signatures}
    assert all(hops < population <= 8 for hops, population in pairs)
    assert len(pairs) > 20


def test_statements() -> None:
    task = CHAT.generate(0.2, 0)
    universe = task.secret.universe
    person = Chain("Ann Smith", ("mother", "friend"), (("Eve Ray",), ("Hal Ray",)))
    value = Chain("Ann Smith", ("mother", "occupation"), (("Eve Ray",), ("judge",)))
    short = Chain("ann", ("mother", "friend"), (("eve",), ("hal",)))

    def solve(kind: PhantomWiki, chain: Chain) -> tuple[str, ...]:
        return kind.solve(Task(task.public, KinshipSecret(universe, chain), 0.0, 0)).stages

    assert CHAT._statement(person) == "Who is the friend of the mother of Ann Smith?"
    assert CHAT._statement(value) == "What is the occupation of the mother of Ann Smith?"
    assert CHAT_LOOKUP_SETS._statement(person).endswith("name them all.")
    assert COMPACT._statement(short) == "who friend mother ann"
    assert solve(CHAT, value) == ("find the mother of Ann Smith, then her occupation",)
    assert solve(COMPACT, short) == ("mother friend",)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"population": "spec"}, "population"),
        ({"population": (3, 41)}, "population"),
        ({"population": (3, 6)}, "maximum_hops"),
        ({"tools": "articles"}, "tools"),
        ({"attribute_question_probability": 0.5}, "attribute_question_probability"),
    ],
)
def test_settings_without_words_or_room_are_refused_by_name(change: dict[str, object], field: str) -> None:
    with pytest.raises(UserError, match=field):
        PhantomWiki(SMALL.model_copy(update=change), PromptPack.COMPACT)


@pytest.mark.parametrize("population", ["big", [8, 3], [2, 8], [3, 10_001], [3], [3.5, 8], 8])
def test_wrong_populations_are_refused_with_a_mend(population: object) -> None:
    with pytest.raises(ValidationError, match=r'give "spec" or \[low, high\] with 3 <= low <= high <= 10000'):
        PhantomWikiSettings.model_validate({"population": population})


def test_a_population_given_as_a_toml_list_is_accepted() -> None:
    assert PhantomWikiSettings.model_validate({"population": [3, 8]}).population == (3, 8)


@pytest.mark.parametrize("unique", [True, False])
@pytest.mark.parametrize("tools", ["articles", "lookup"])
def test_the_guide_states_the_rules_and_its_example_captures_a_task_of_two_hops(tools: str, unique: bool) -> None:
    kind = PhantomWiki(PhantomWikiSettings.model_validate({"tools": tools, "unique": unique}), PromptPack.CHAT)
    acting = kind.guide.acting
    assert "by blood" in acting
    # A claim beside a lookup cannot be read, so the guide for lookups does not speak of the key.
    assert ('"claim"' in acting) == (tools == "articles")
    people = {
        name: Person(name, "female", "1800-06-15", "judge", "chess")
        for name in ("Ann Smith", "Eve Ray", "Hal Ray", "Mia Lund", "Ida Lund")
    }
    friends = ("Hal Ray",) if unique else ("Hal Ray", "Mia Lund")
    near = "Ann Smith" if tools == "lookup" else "Eve Ray"
    parents = {"Ann Smith": ("Eve Ray",)} | dict.fromkeys(friends, ("Ida Lund",))
    universe = Universe(people, parents, (), tuple((near, friend) for friend in friends))
    steps = ("friend", "mother") if tools == "lookup" else ("mother", "friend")
    first = universe.follow(("Ann Smith",), steps[0])
    chain = Chain("Ann Smith", steps, (first, universe.follow(first, steps[1])))
    example = [line for line in acting.splitlines() if line.startswith("{")]
    task = Task(kind.public(kind._statement(chain), turn_limit=6), KinshipSecret(universe, chain), 0.0, 0)
    episode = kind.start(task)
    verdicts = [kind.step(episode, turn) for turn in example]
    assert verdicts[-1].captured
    assert [verdict.progress for verdict in verdicts] == ([0.5, 1.0] if tools == "lookup" else [0.0, 0.5, 1.0])


def test_c21_tasks_and_official_questions_do_not_depend_on_the_hash_seed() -> None:
    script = (
        "from sparring.environments.phantom_wiki.environment import PhantomWiki, PhantomWikiSettings\n"
        "from sparring.environments.phantom_wiki.questions import draw_questions\n"
        "from sparring.tasks import PromptPack\n"
        "for unique in (True, False):\n"
        "    kind = PhantomWiki(PhantomWikiSettings(unique=unique), PromptPack.CHAT)\n"
        "    for seed in range(4):\n"
        "        task = kind.generate(seed / 5, seed)\n"
        "        print(task, task.public.content_key, kind.solve(task), kind.with_other_secret(task, 1))\n"
        "        print(kind.mutate(task, 1))\n"
        "    for question in draw_questions(task.secret.universe, depth=8, per_template=2, seed=3, unique=unique):\n"
        "        print(question, question.content_key)\n"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", script], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1")
    ]
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) > 10_000


def test_equal_arguments_give_equal_tasks_whatever_was_generated_before() -> None:
    first = COMPACT.generate(0.6, 5)
    random.seed(0)
    COMPACT.generate(1.0, 6)
    assert COMPACT.generate(0.6, 5) == first
    assert COMPACT.generate(0.6, 7) != first
