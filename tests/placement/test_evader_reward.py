"""Eq. 3, alone and over a round of emissions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparring.placement.base import Emission, Outcome
from sparring.placement.evader_reward import capture_frontier_reward, evader_rewards
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
    assert capture_frontier_reward(0.25, True, 1, 48) == 0.25
    assert capture_frontier_reward(0.75, True, 1, 48) == 0.25
    assert capture_frontier_reward(0.5, True, 13, 48) == pytest.approx(0.25)
    assert capture_frontier_reward(None, False, 1, 48) == -1.0
    assert capture_frontier_reward(None, False, 25, 48) == -1.5
    assert capture_frontier_reward(0.5, True, 13, 48, repetition_scale=0.25) == pytest.approx(0.4375)
    assert capture_frontier_reward(None, False, 25, 48, repetition_scale=0.0) == -1.0


@given(st.floats(0, 1), st.integers(1, 48))
def test_valid_beats_malformed_and_the_frontier_is_symmetric(p: float, same: int) -> None:
    reward = capture_frontier_reward(p, True, same, 48)
    assert reward >= capture_frontier_reward(None, False, same, 48) + 1.0 - 1e-12
    assert reward == pytest.approx(capture_frontier_reward(1 - p, True, same, 48))
    assert reward <= capture_frontier_reward(0.5, True, same, 48)


@pytest.mark.parametrize(("p", "same", "emitted"), [(0.5, 0, 4), (0.5, 5, 4), (1.5, 1, 4), (None, 1, 4)])
def test_numbers_out_of_range(p: float | None, same: int, emitted: int) -> None:
    with pytest.raises(ValueError, match=r"share a signature|capture rate"):
        capture_frontier_reward(p, True, same, emitted)


def test_n_may_count_the_whole_round() -> None:
    emitted = [outcome("grid", "2x2", [True, False]) for _ in range(3)] + [outcome("words", "one", [True, False])]
    assert evader_rewards(emitted, repetition_over="round") == [0.5 - 2 / 4] * 3 + [0.5]
    assert evader_rewards(emitted) == pytest.approx([0.5 - 2 / 3] * 3 + [0.5])


def test_a_round_counts_signatures_and_emissions_per_environment() -> None:
    half = [True, False]
    rewards = evader_rewards(
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
    rewards = evader_rewards([outcome("grid", "2x2", broken=True), outcome("grid", "2x2", [True, False])], 0.5)
    assert rewards == [None, 0.5 - 0.25]
