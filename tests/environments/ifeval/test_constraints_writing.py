import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparring.environments.ifeval.breaking import break_one, near_misses
from sparring.environments.ifeval.conflicts import in_conflict
from sparring.environments.ifeval.constraints import FAMILIES, Constraint, judge
from sparring.environments.ifeval.drawing import (
    DRAWS,
    FRAGILE_FAMILIES,
    TRAINING_FAMILIES,
    draw_constraints,
    draw_request,
)
from sparring.environments.ifeval.environment import IFEval, IFEvalSettings
from sparring.environments.ifeval.writer import write
from sparring.profiles import Profile
from sparring.tasks import PromptPack

ALL = IFEval(IFEvalSettings(families=tuple(DRAWS)), PromptPack.CHAT)
CHAT = IFEval(IFEvalSettings(), PromptPack.CHAT)
COMPACT = IFEval(IFEvalSettings(turn_limit=2), PromptPack.COMPACT)
SHORTEST = IFEval(
    IFEvalSettings(turn_limit=2, shortest_draft=1, longest_draft=1, maximum_constraints=5), PromptPack.COMPACT
)
ENVIRONMENTS = pytest.mark.parametrize(
    "environment", [ALL, CHAT, COMPACT, SHORTEST], ids=["all", "chat", "compact", "shortest"]
)


def broken_by(constraints: tuple[Constraint, ...], text: str) -> list[str]:
    return [one.id for one in constraints if not judge(one, text, Profile.FIXED).followed]


def text_of(environment: IFEval, turn: str) -> str:
    return turn.removesuffix(" submit") if environment.pack is PromptPack.COMPACT else turn[7 : turn.index("</draft>")]


@settings(max_examples=120, deadline=None)
@given(st.permutations(list(DRAWS)), st.integers(1, 6), st.integers(0, 2**32))
def test_the_writer_follows_every_draw_of_every_family_in_both_profiles(
    families: list[str], count: int, seed: int
) -> None:
    chosen: list[str] = []
    for family in families:
        if len(chosen) < count and not any(in_conflict(family, other) for other in chosen):
            chosen.append(family)
    environment = IFEval(IFEvalSettings(families=tuple(chosen), maximum_constraints=len(chosen)), PromptPack.CHAT)
    task = environment.generate(1.0, seed)
    assert sorted(one.id for one in task.secret.constraints) == sorted(chosen)
    assert broken_by(task.secret.constraints, task.secret.witness) == []
    for one in task.secret.constraints:
        # langdetect takes a few texts in capitals for another language, whatever their length.
        if one.id != "change_case:english_capital":
            assert judge(one, task.secret.witness, Profile.OFFICIAL).followed, one
    environment.validate(task)


@ENVIRONMENTS
@settings(max_examples=60, deadline=None)
@given(st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.8, 1.0]), st.integers(0, 2**32), st.integers(0, 2**32))
def test_a_mutated_solution_breaks_a_constraint_and_is_refused(
    environment: IFEval, difficulty: float, seed: int, other: int
) -> None:
    task = environment.generate(difficulty, seed)
    mutated = environment.mutate(task, other)
    assert mutated == environment.mutate(task, other)
    assert broken_by(task.secret.constraints, text_of(environment, mutated.turns[0]))
    episode = environment.start(task)
    for turn in mutated.turns:
        verdict = environment.step(episode, turn)
        assert verdict.well_formed
    assert verdict.ended
    assert not verdict.captured
    assert verdict.progress < 1


@ENVIRONMENTS
def test_a_mutated_solution_mostly_breaks_one_constraint_alone_and_not_always_the_same(
    environment: IFEval,
) -> None:
    counts = Counter[int]()
    families = set[str]()
    for seed in range(60):
        task = environment.generate(0.6, seed)
        for other in range(3):
            broken = broken_by(task.secret.constraints, text_of(environment, environment.mutate(task, other).turns[0]))
            counts[len(broken)] += 1
            families.update(broken)
    assert counts[1] >= 0.95 * counts.total()
    assert len(families) >= (6 if environment.pack is PromptPack.COMPACT else 18)


@pytest.mark.parametrize("family", DRAWS)
def test_every_family_can_be_drawn_written_and_broken_alone(family: str) -> None:
    for seed in range(10):
        rng = random.Random(seed)
        constraints = draw_constraints((family,), draw_request(rng), rng)
        written = write(constraints, rng)
        assert written is not None
        assert judge(constraints[0], written, Profile.OFFICIAL).followed
        misses = near_misses(constraints[0], written)
        assert misses
        assert all(miss.strip() for miss in misses)
        assert any(broken_by(constraints, miss) for miss in misses)
        broken = break_one(constraints, written, rng)
        assert broken is not None
        assert broken_by(constraints, broken) == [family]


def test_three_fragile_families_are_drawn_only_where_they_are_named() -> None:
    assert set(DRAWS) == set(FAMILIES)
    assert set(DRAWS) - set(TRAINING_FAMILIES) == set(FRAGILE_FAMILIES)
    drawn = {one.id for seed in range(200) for one in CHAT.generate(seed % 2 * 0.6, seed).secret.constraints}
    assert drawn == set(TRAINING_FAMILIES)
    named = IFEval(IFEvalSettings(families=FRAGILE_FAMILIES, maximum_constraints=2), PromptPack.CHAT)
    assert {one.id for seed in range(30) for one in named.generate(0.0, seed).secret.constraints} == set(
        FRAGILE_FAMILIES
    )


def test_the_repeated_request_is_the_task_s_own_and_stays_when_the_secret_is_swapped() -> None:
    named = IFEval(
        IFEvalSettings(families=("combination:repeat_prompt", "keywords:existence"), maximum_constraints=2),
        PromptPack.CHAT,
    )
    task = named.generate(1.0, 4)
    request = task.public.statement.split("\n")[0]
    for secret in (task.secret, named.with_other_secret(task, 1).secret):
        repeat = next(one for one in secret.constraints if one.id == "combination:repeat_prompt")
        assert repeat.parameters["prompt_to_repeat"] == request
        assert secret.witness.startswith(request)
