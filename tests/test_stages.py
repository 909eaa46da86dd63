"""The stages of a rollout: their budgets, what is announced when, and which turn is the last."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.scripted import saying
from tests.toy import ToyEpisode, heard_by_the_executor, pursue, stages_of, toy

from sparring.credit import stage_potentials
from sparring.tasks import PromptPack
from sparring.trajectories import Trajectory


def play(plan: str, turns: Sequence[str], turn_limit: int, parts: int = 2) -> tuple[Trajectory, ToyEpisode]:
    """One rollout that says these turns, one by one."""
    group, environment, _ = pursue(saying(*turns), plan, environment=toy(turn_limit=turn_limit, parts=parts))
    return group.trajectories[0], environment.episodes[0]


@pytest.mark.parametrize(
    ("turn_limit", "plan", "stages"),
    [
        (6, "a", [0, 0, 0, 0, 0, 0]),
        (6, "a , b , c", [0, 0, 1, 1, 2, 2]),
        (7, "a , b , c", [0, 0, 0, 1, 1, 1, 2]),
        (5, "a , b , c , d", [0, 0, 1, 1, 2]),
        (2, "a , b , c , d", [0, 1]),
    ],
)
def test_stage_budgets(turn_limit: int, plan: str, stages: list[int]) -> None:
    """ceil(T / stages) turns each, and never more than T in all."""
    trajectory, episode = play(plan, ["noise"] * turn_limit, turn_limit)
    assert stages_of(trajectory) == stages
    assert [last for _, last in episode.taken] == [False] * (turn_limit - 1) + [True]
    assert trajectory.stage_ends == [0.0] * (stages[-1] + 1)


def test_done_ends_a_stage_early_and_the_last_budget_ends_the_episode() -> None:
    trajectory, episode = play("a , b", ["gain done", "look", "look", "gain"], turn_limit=6)
    assert stages_of(trajectory) == [0, 1, 1, 1]
    assert [last for _, last in episode.taken] == [False, False, False, True]
    assert trajectory.stage_ends == [0.5, 1.0]
    assert trajectory.captured


def test_done_in_the_last_stage_and_on_a_budgets_last_turn_change_one_stage_at_most() -> None:
    trajectory, _ = play("a , b", ["gain", "done", "done", "gain done"], turn_limit=4, parts=3)
    assert stages_of(trajectory) == [0, 0, 1, 1]
    assert trajectory.stage_ends == pytest.approx([1 / 3, 2 / 3])
    assert not trajectory.captured


def test_submit_ends_the_episode_and_only_the_begun_stages_are_closed() -> None:
    trajectory, episode = play("a , b , c", ["gain done", "gain submit"], turn_limit=9)
    assert trajectory.captured
    assert trajectory.stage_ends == [0.5, 1.0]
    assert [turn.gain for turn in trajectory.turns] == [0.5, 0.5]
    assert [last for _, last in episode.taken] == [False, False]


def test_what_the_executor_hears_compact() -> None:
    turns = ["look", "look done", "done", "look", "submit"]
    _, _, engine = pursue(saying(*turns), "a b , c , d", environment=toy(turn_limit=9))
    assert heard_by_the_executor(engine) == [
        "<user>exec toy go 0.50 seed 3\n\nstage a b<policy>",
        "<user>seen<policy>",
        "<user>seen\nstage c<policy>",
        "<user>final d<policy>",
        "<user>seen<policy>",
    ]


def test_what_the_executor_hears_chat() -> None:
    turns = ["look", "look", "noise", "submit"]
    environment = toy(turn_limit=4, pack=PromptPack.CHAT)
    _, _, engine = pursue(saying(*turns), 'Well: ["first a", "then b"]', environment=environment)
    opening, *later = heard_by_the_executor(engine)
    assert opening.endswith("go 0.50 seed 3\n\nStage 1 of 2: first a<policy>")
    assert later == [
        "<user>seen<policy>",
        "<user>seen\nStage 2 of 2 (the last): then b<policy>",
        "<user><policy>",
    ]


TURNS = st.lists(st.sampled_from(["gain", "noise", "look", "done", "gain done", "submit", "break"]), min_size=9)


@settings(deadline=None)
@given(st.integers(1, 9), st.integers(1, 4), st.integers(1, 3), TURNS)
def test_any_rollout(turn_limit: int, stages: int, parts: int, turns: list[str]) -> None:
    trajectory, episode = play(" , ".join("abcd"[:stages]), turns, turn_limit, parts)
    budget = math.ceil(turn_limit / stages)
    spoken = [text for text, _ in episode.taken]
    assert spoken == turns[: len(spoken)]
    assert len(spoken) <= turn_limit
    flags = [last for _, last in episode.taken]
    assert not any(flags[:-1])
    if trajectory.error is not None:
        assert spoken[-1] == "break"
        assert [turn.text for turn in trajectory.turns] == spoken[:-1]
        return
    assert [turn.text for turn in trajectory.turns] == spoken
    assert flags[-1] or spoken[-1] == "submit"
    numbers = stages_of(trajectory)
    assert sorted(numbers) == numbers
    assert set(numbers) == set(range(numbers[-1] + 1))
    for number in range(numbers[-1] + 1):
        mine = [text for text, stage in zip(spoken, numbers, strict=True) if stage == number]
        assert len(mine) <= budget
        if number < numbers[-1]:
            assert len(mine) == budget or "done" in mine[-1]
        if number < stages - 1:
            assert not any("done" in text for text in mine[:-1])
    out_of_turns = len(spoken) == turn_limit
    out_of_stages = numbers[-1] == stages - 1 and numbers.count(stages - 1) == budget
    assert flags[-1] == (out_of_turns or out_of_stages)
    assert len(trajectory.stage_ends) == numbers[-1] + 1
    potentials = stage_potentials(trajectory.stage_ends)
    gains = [turn.gain for turn in trajectory.turns]
    for number, potential in enumerate(potentials):
        mine_gains = [gain for gain, stage in zip(gains, numbers, strict=True) if stage == number]
        assert potential == pytest.approx(sum(mine_gains))
    assert sum(gains) == pytest.approx(trajectory.progress)
    assert trajectory.captured == (trajectory.progress == 1.0)
