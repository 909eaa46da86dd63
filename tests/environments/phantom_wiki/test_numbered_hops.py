"""PhantomWiki with numbered hops: what is written, how many stages a plan may have, what lookups tell."""

import pytest

from sparring.environments.phantom_wiki.environment import PhantomWiki, PhantomWikiSettings, number_word
from sparring.errors import UserError
from sparring.parsing import parse_plan
from sparring.tasks import PromptPack

SETTINGS = PhantomWikiSettings(
    maximum_hops=20,
    population=(40, 40),
    mean_friends=2.0,
    tools="lookup",
    attribute_question_probability=0.0,
    numbered_hops=True,
)
KIND = PhantomWiki(SETTINGS, PromptPack.COMPACT)


@pytest.mark.parametrize("difficulty", [0.0, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_the_question_numbers_every_hop_and_the_solution_walks_them(difficulty: float, seed: int) -> None:
    task = KIND.generate(difficulty, seed)
    hops, first = 1 + round(19 * difficulty), task.secret.first
    words = task.public.statement.split()
    assert words[1:-1:2] == [number_word(number) for number in reversed(range(first, first + hops))]
    assert 1 <= first <= 20 - hops + 1
    solution, _ = KIND.validate(task)
    planned = " ".join(solution.stages).split()
    assert planned == [number_word(number) for number in range(first, first + hops)]
    assert len(solution.stages) == -(-hops // 2)


def test_short_chains_meet_every_number() -> None:
    assert {KIND.generate(0.0, seed).secret.first for seed in range(200)} == set(range(1, 21))


def test_a_lookup_names_the_hop_to_come_until_the_last() -> None:
    task = KIND.generate(2 / 19, 3)
    episode = KIND.start(task)
    first, chain = task.secret.first, task.secret.chain
    answers = [KIND.step(episode, turn).observation.split() for turn in KIND.solve(task).turns]
    assert answers[0] == [*chain.hops[0], number_word(first + 1)]
    assert answers[1] == [*chain.hops[1], number_word(first + 2)]
    assert answers[2] == [*chain.hops[2]]


def test_a_wrong_lookup_is_told_what_a_right_one_is() -> None:
    """The number counts the claims made, so it does not say whether they were right."""
    for seed in range(20):
        task = KIND.generate(5 / 19, seed)
        wrong = KIND.step(KIND.start(task), KIND.solve(task).turns[1])
        if wrong.observation != "none":
            assert wrong.progress == 0.0
            assert wrong.observation.split()[-1] == number_word(task.secret.first + 1)


def test_a_plan_may_have_a_stage_for_every_two_hops() -> None:
    assert KIND.stage_limit == 10
    assert PhantomWiki(SETTINGS.model_copy(update={"numbered_hops": False}), PromptPack.COMPACT).stage_limit == 4
    plan = " , ".join("abcdefghij")
    assert parse_plan(plan, PromptPack.COMPACT, 10) == tuple("abcdefghij")
    assert parse_plan(plan, PromptPack.COMPACT) is None
    assert parse_plan(plan + " , k", PromptPack.COMPACT, 10) is None


def test_every_word_is_known_to_the_backbone() -> None:
    known = set(KIND.compact_words())
    for seed in range(5):
        task = KIND.generate(1.0, seed)
        solution = KIND.solve(task)
        words = " ".join([task.public.statement, *solution.stages, *solution.turns]).split()
        assert set(words) <= known


def test_the_gold_swap_changes_no_public_word() -> None:
    task = KIND.generate(0.5, 1)
    other = KIND.with_other_secret(task, 1)
    assert other.public == task.public
    assert other.secret.chain != task.secret.chain
    assert other.secret.first == task.secret.first


def test_the_chat_pack_refuses_numbers() -> None:
    with pytest.raises(UserError, match=r"environments.phantom_wiki.numbered_hops = true goes with prompts.pack"):
        PhantomWiki(SETTINGS, PromptPack.CHAT)
