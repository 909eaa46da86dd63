"""Eq. 3, alone and over a round of emissions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparring.placement.base import Emission, Outcome
from sparring.placement.evader_reward import DifficultyReward, EvaderReward, capture_frontier_reward
from sparring.tasks import Guide, PromptPack, PublicTask, Task
from sparring.trajectories import Group, PolicySequence, Trajectory


def outcome(
    environment: str, signature: str | None, captured: list[bool] | None = None, broken: bool = False
) -> Outcome:
    emission = Emission(environment, 0, 0, None if signature is None else 0.5, 1)
    if signature is None:
        return Outcome(emission, None)
    public = PublicTask(environment, PromptPack.COMPACT, Guide("", "", "", ""), "", 1)
    trajectories = [
        Trajectory(
            plan_text="",
            stages=(),
            plan_well_formed=True,
            plan=PolicySequence("planner"),
            execution=PolicySequence("executor"),
            captured=each,
            error="service down" if broken else None,
        )
        for each in captured or [False]
    ]
    return Outcome(emission, Group(Task(public, None, 0.5, 1), signature, trajectories))


def test_both_branches_by_hand() -> None:
    assert capture_frontier_reward(0.25, True, 0.0) == 0.25
    assert capture_frontier_reward(0.75, True, 0.0) == 0.25
    assert capture_frontier_reward(0.5, True, 12 / 48) == pytest.approx(0.25)
    assert capture_frontier_reward(None, False, 0.0) == -1.0
    assert capture_frontier_reward(None, False, 24 / 48) == -1.5


@pytest.mark.parametrize(
    ("difficulty", "at_quarter", "at_half", "at_one"),
    [
        (DifficultyReward.FRONTIER, 0.25, 0.5, 0.0),
        (DifficultyReward.UNCERTAINTY, 0.5, 1.0, 0.0),
        (DifficultyReward.VALIDITY, 0.0, 0.0, 0.0),
        (DifficultyReward.FAILURE, 0.75, 0.5, 0.0),
    ],
)
def test_what_may_stand_in_the_place_of_the_frontier(
    difficulty: DifficultyReward, at_quarter: float, at_half: float, at_one: float
) -> None:
    rewards = [capture_frontier_reward(p, True, 0.125, difficulty) for p in (0.25, 0.5, 1.0)]
    assert rewards == [at_quarter - 0.125, at_half - 0.125, at_one - 0.125]
    assert capture_frontier_reward(None, False, 0.125, difficulty) == -1.125


@given(st.floats(0, 1), st.floats(0, 1))
def test_valid_beats_malformed_and_the_frontier_is_symmetric(p: float, repetition: float) -> None:
    reward = capture_frontier_reward(p, True, repetition)
    assert reward >= capture_frontier_reward(None, False, repetition) + 1.0 - 1e-12
    assert reward == pytest.approx(capture_frontier_reward(1 - p, True, repetition))
    assert reward <= capture_frontier_reward(0.5, True, repetition)


@pytest.mark.parametrize(("p", "repetition"), [(0.5, -0.1), (1.5, 0.0), (None, 0.0)])
def test_numbers_out_of_range(p: float | None, repetition: float) -> None:
    with pytest.raises(ValueError, match=r"repetition|capture rate"):
        capture_frontier_reward(p, True, repetition)


def test_n_may_count_the_whole_round() -> None:
    emitted = [outcome("grid", "2x2", [True, False]) for _ in range(3)] + [outcome("words", "one", [True, False])]
    assert EvaderReward(over="round")(emitted) == [0.5 - 2 / 4] * 3 + [0.5]
    assert EvaderReward()(emitted) == pytest.approx([0.5 - 2 / 3] * 3 + [0.5])


def test_a_round_counts_signatures_and_emissions_per_environment() -> None:
    half = [True, False]
    rewards = EvaderReward()(
        [
            outcome("grid", "2x2", half),
            outcome("grid", "2x2", [True, True]),
            outcome("grid", None),
            outcome("grid", None),
            outcome("words", "2x2", half),
        ]
    )
    assert rewards == [0.5 - 0.25, 0.0 - 0.25, -1.25, -1.25, 0.5]


def test_broken_rollouts_give_no_reward_instead_of_zero() -> None:
    rewards = EvaderReward(scale=0.5)([outcome("grid", "2x2", broken=True), outcome("grid", "2x2", [True, False])])
    assert rewards == [None, 0.5 - 0.25]
