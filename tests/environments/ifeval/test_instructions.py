import json
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparring.environments.base import stage_budget
from sparring.environments.ifeval.compact import WORDS, wording
from sparring.environments.ifeval.conflicts import in_conflict
from sparring.environments.ifeval.constraints import Constraint, judge
from sparring.environments.ifeval.drawing import GENRES, SUBJECTS
from sparring.environments.ifeval.environment import IFEval, IFEvalSecret, IFEvalSettings
from sparring.errors import UserError
from sparring.evaluation.benchmarks import data_folder
from sparring.profiles import Profile
from sparring.tasks import GenerationRefusedError, PromptPack, Task

DATA = data_folder()
LEVELS = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
CHAT = IFEval(IFEvalSettings(), PromptPack.CHAT)
COMPACT = IFEval(IFEvalSettings(turn_limit=2), PromptPack.COMPACT)
BOTH = pytest.mark.parametrize("environment", [CHAT, COMPACT], ids=["chat", "compact"])


def hand_made(environment: IFEval, *constraints: Constraint) -> Task[IFEvalSecret]:
    secret = IFEvalSecret(constraints, "hen cat owl")
    return Task(environment.public("hand-made", environment.settings.turn_limit), secret, 0.0, 0)


START = Constraint.read(
    "length_constraints:nth_paragraph_first_word", {"num_paragraphs": 1, "nth_paragraph": 1, "first_word": "hen"}
)
NO_DOG = Constraint.read("keywords:forbidden_words", {"forbidden_words": ["dog"]})


@BOTH
@pytest.mark.parametrize("difficulty", LEVELS)
def test_tasks_hold_as_many_constraints_as_the_difficulty_says_and_are_valid(
    environment: IFEval, difficulty: float
) -> None:
    for seed in range(30):
        task = environment.generate(difficulty, seed)
        constraints = task.secret.constraints
        assert environment.signature(task) == f"constraints={1 + round(5 * difficulty)}"
        assert len({constraint.id for constraint in constraints}) == len(constraints) == 1 + round(5 * difficulty)
        for one in constraints:
            assert all(one is other or not in_conflict(one.id, other.id) for other in constraints)
            assert judge(one, task.secret.witness, Profile.FIXED).followed
        environment.validate(task)
        solution = environment.solve(task)
        in_stage = 0
        episode = environment.start(task)
        for turn in solution.turns:
            in_stage += 1
            assert in_stage <= stage_budget(task.public.turn_limit, len(solution.stages))
            in_stage = 0 if environment.step(episode, turn).stage_done else in_stage
        assert all("\n" not in stage for stage in solution.stages)


@BOTH
def test_a_solution_that_breaks_one_constraint_is_not_captured(environment: IFEval) -> None:
    tried = 0
    for seed in range(40):
        task = environment.generate(0.6, seed)
        broken = "elk " * 3 if environment is COMPACT else "Maybe, \u201cyes\u201d, Elk [\n\n***\n\nNO"
        if all(judge(one, broken, Profile.FIXED).followed for one in task.secret.constraints):
            continue
        tried += 1
        text = f"{broken} submit" if environment is COMPACT else f"<draft>{broken}</draft><submit/>"
        verdict = environment.step(environment.start(task), text)
        assert verdict.well_formed
        assert verdict.ended
        assert not verdict.captured
        assert verdict.progress < 1
    assert tried > 30


@BOTH
def test_equal_arguments_give_equal_tasks_and_other_seeds_give_others(environment: IFEval) -> None:
    assert environment.generate(0.5, 7) == environment.generate(0.5, 7)
    assert len({environment.generate(0.5, seed).public.statement for seed in range(20)}) > 15


def test_tasks_do_not_depend_on_the_hash_seed() -> None:
    script = (
        "from sparring.environments.ifeval.environment import *\n"
        "for pack in PromptPack:\n"
        "    environment = IFEval(IFEvalSettings(), pack)\n"
        "    print([environment.generate(level / 5, level) for level in range(6)])\n"
    )
    here = [[IFEval(IFEvalSettings(), pack).generate(level / 5, level) for level in range(6)] for pack in PromptPack]
    # This process has a random hash seed, unless someone fixed it to 1.
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        check=True,
        text=True,
    )
    assert run.stdout == "".join(f"{tasks}\n" for tasks in here)


def test_progress_is_the_best_draft_and_capture_needs_the_last_one() -> None:
    episode = COMPACT.start(hand_made(COMPACT, START, NO_DOG))
    first = COMPACT.step(episode, "hen cat")
    assert (first.progress, first.captured, first.ended) == (0.75, False, False)
    episode.last_turn = True
    last = COMPACT.step(episode, "cat dog")
    assert (last.progress, last.captured, last.ended) == (0.75, False, True)


def test_out_of_turns_the_standing_draft_is_judged_even_after_a_malformed_turn() -> None:
    episode = COMPACT.start(hand_made(COMPACT, START, NO_DOG))
    assert COMPACT.step(episode, "cat").progress == 0.5
    assert COMPACT.step(episode, "hen").progress == 0.75
    episode.last_turn = True
    verdict = COMPACT.step(episode, "hen zebra")
    assert not verdict.well_formed
    assert verdict.captured
    assert verdict.progress == 1.0


@pytest.mark.parametrize("text", ["", "submit", "done submit", "hen zebra submit", "hen submit cat"])
def test_compact_turns_that_cannot_be_read(text: str) -> None:
    verdict = COMPACT.step(COMPACT.start(hand_made(COMPACT, START)), text)
    assert (verdict.well_formed, verdict.progress, verdict.ended, verdict.observation) == (False, 0.0, False, "")


@pytest.mark.parametrize(
    "text", ["", "<submit/>", "<draft></draft><submit/>", "<draft>hen <submit/>", "<think>hen", "<think>a</think> "]
)
def test_chat_turns_that_cannot_be_read(text: str) -> None:
    verdict = CHAT.step(CHAT.start(hand_made(CHAT, START)), text)
    assert (verdict.well_formed, verdict.progress, verdict.ended, verdict.observation) == (False, 0.0, False, "")


@pytest.mark.parametrize(
    ("text", "draft", "done", "ended"),
    [
        ("hen and cat", "hen and cat", False, False),
        ("hen <done/>", "hen", True, False),
        ("Sure.\n<draft>hen</draft> ok <submit/>", "hen", False, True),
        ("<draft>cat</draft> better: <draft>hen\ncow</draft><done/>", "hen\ncow", True, False),
        ("<think><draft>cat</draft></think><draft>hen</draft>", "hen", False, False),
        ("<draft>hen <done/></draft>", "hen <done/>", False, False),
    ],
)
def test_chat_drafts_and_flags(text: str, draft: str, done: bool, ended: bool) -> None:
    episode = CHAT.start(hand_made(CHAT, START))
    verdict = CHAT.step(episode, text)
    assert verdict.well_formed
    assert (episode.draft, verdict.stage_done, verdict.ended, verdict.captured) == (draft, done, ended, ended)


@BOTH
@given(
    actions=st.lists(
        st.one_of(
            st.text(max_size=40),
            st.lists(st.sampled_from([*WORDS, "done", "submit", "<draft>", "</draft>", "<submit/>", ","])).map(
                " ".join
            ),
        ),
        min_size=1,
        max_size=4,
    ),
    seed=st.integers(0, 50),
)
@settings(max_examples=50, deadline=None)
def test_no_text_raises_and_progress_is_one_exactly_at_capture(
    environment: IFEval, actions: list[str], seed: int
) -> None:
    episode = environment.start(environment.generate(0.4, seed))
    before = 0.0
    for number, action in enumerate(actions, start=1):
        episode.last_turn = number == len(actions)
        verdict = environment.step(episode, action)
        assert verdict.progress >= before
        assert (verdict.progress == 1.0) == verdict.captured
        assert verdict.ended or not verdict.captured
        assert verdict.observation == ""
        before = verdict.progress
        if verdict.ended:
            return


def test_compact_tasks_use_only_the_words_they_declare() -> None:
    words = set(COMPACT.compact_words())
    for seed in range(200):
        task = COMPACT.generate(seed % 6 / 5, seed)
        solution = COMPACT.solve(task)
        for text in (task.public.statement, *solution.stages, *solution.turns):
            assert set(text.split()) <= words
        assert sorted(solution.stages[0].split()) == sorted(task.public.statement.split())
        assert 2 <= len(task.secret.witness.split()) <= 5


def test_compact_wording() -> None:
    frequency = Constraint.read("keywords:frequency", {"keyword": "fox", "relation": "at least", "frequency": 2})
    length = Constraint.read("length_constraints:number_words", {"num_words": 3, "relation": "less than"})
    assert [wording(one) for one in (START, NO_DOG, frequency, length)] == [
        "start hen",
        "no dog",
        "least 2 fox",
        "less 3 words",
    ]


@pytest.mark.official_data
def test_no_writing_request_is_a_prompt_of_the_benchmark() -> None:
    with (DATA / "ifeval.jsonl").open(encoding="utf-8") as lines:
        official = [json.loads(line)["prompt"].lower() for line in lines]
    assert not any(subject in prompt for subject in SUBJECTS for prompt in official)
    requests = {CHAT.generate(0.0, seed).public.statement.split("\n")[0] for seed in range(300)}
    assert len(requests) > 200
    assert len(GENRES) * len(SUBJECTS) == 500


@BOTH
def test_the_other_secret_has_the_same_shape_and_public_half(environment: IFEval) -> None:
    task = environment.generate(0.4, 3)
    other = environment.with_other_secret(task, 1)
    assert other.public == task.public
    assert other.secret.constraints != task.secret.constraints
    assert environment.signature(other) == environment.signature(task)


def test_without_another_secret_the_swap_is_refused() -> None:
    environment = IFEval(IFEvalSettings(maximum_constraints=1, families=("punctuation:no_comma",)), PromptPack.CHAT)
    with pytest.raises(GenerationRefusedError):
        environment.with_other_secret(environment.generate(0.0, 0), 0)


def test_families_in_conflict_are_refused_at_generation() -> None:
    environment = IFEval(
        IFEvalSettings(maximum_constraints=2, families=("startend:quotation", "detectable_format:title")),
        PromptPack.CHAT,
    )
    with pytest.raises(GenerationRefusedError):
        environment.generate(1.0, 0)


@pytest.mark.parametrize(
    ("families", "complaint"),
    [
        (("detectable_format:title",), "cannot be drawn in pack compact"),
        (("keywords:existence",), "maximum_constraints"),
        (("keywords:existence", "keywords:existence"), "once"),
    ],
)
def test_families_that_do_not_fit_are_named(families: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        IFEval(IFEvalSettings(maximum_constraints=2, families=families), PromptPack.COMPACT)
