"""Credit: Eq. 1, 4, 5, 6 and standardisation, with numbers worked by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparring.credit import (
    ExecutorCredit,
    FloatArray,
    PlannerCredit,
    capture_dominance_holds,
    capture_rate,
    executor_advantages,
    executor_turn_rewards,
    planner_advantages,
    planner_rewards,
    reward_to_go,
    stage_potentials,
    standardise,
    standardise_by_state,
)
from sparring.trajectories import PolicySequence, Trajectory, Turn

LAM, COST = 0.25, 0.05


def rollout(
    gains: list[float], captured: bool = False, stage_ends: list[float] | None = None, error: str | None = None
) -> Trajectory:
    levels = np.cumsum(gains).tolist()
    turns = [
        Turn(stage=0, text="", observation="", progress=level, gain=gain, well_formed=True)
        for level, gain in zip(levels, gains, strict=True)
    ]
    return Trajectory(
        plan_text="",
        stages=(),
        plan_well_formed=True,
        plan=PolicySequence("planner"),
        execution=PolicySequence("executor"),
        turns=turns,
        stage_ends=levels[-1:] if stage_ends is None else stage_ends,
        captured=captured,
        error=error,
    )


def test_capture_rate() -> None:
    assert capture_rate([True, False, False, True]) == 0.5
    with pytest.raises(ValueError, match="no finished rollout"):
        capture_rate([])


@pytest.mark.parametrize(
    "rewards", [[1.0] * 4, [0.0], [5.0], [0.3, 0.3, 0.3, 0.1 + 0.2], [], [0.7] * 7, [0.0125 * 3, 0.0125 + 0.025]]
)
def test_b34_groups_without_spread_are_exactly_zero(rewards: list[float]) -> None:
    assert standardise(rewards).tolist() == [0.0] * len(rewards)


def test_b35_sample_deviation() -> None:
    assert standardise([1, 0, 0, 0], epsilon=0.0).tolist() == pytest.approx([1.5, -0.5, -0.5, -0.5])
    assert standardise([1, 0, 0, 0]).tolist() == pytest.approx([1.5, -0.5, -0.5, -0.5], abs=1e-5)


def test_epsilon_stands_outside_the_root() -> None:
    assert standardise([1.0, 0.0], epsilon=0.5)[0] == pytest.approx(0.5 / (math.sqrt(0.5) + 0.5))


def test_rewards_that_break_single_precision() -> None:
    advantages = standardise([0.0] + [0.95] * 7, epsilon=0.0)
    assert advantages.tolist() == pytest.approx([-7 / math.sqrt(8)] + [1 / math.sqrt(8)] * 7)
    shifted = standardise([1e6 + reward for reward in [0.0] + [0.95] * 7], epsilon=0.0)
    assert shifted.tolist() == pytest.approx(advantages.tolist(), rel=1e-6)


@pytest.mark.parametrize("reward", [math.nan, math.inf, -math.inf])
def test_rewards_must_be_finite(reward: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        standardise([0.0, reward])


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=12), st.floats(-5, 5), st.floats(0.1, 10))
def test_standardise_ignores_shift_and_scale(rewards: list[float], shift: float, scale: float) -> None:
    if np.std(rewards) < 1e-3:
        return
    advantages = standardise(rewards, epsilon=0.0)
    assert advantages.sum() == pytest.approx(0.0, abs=1e-9)
    assert (advantages**2).sum() == pytest.approx(len(rewards) - 1)
    moved = standardise([shift + scale * reward for reward in rewards], epsilon=0.0)
    assert moved.tolist() == pytest.approx(advantages.tolist(), abs=1e-6)


def test_eq4_pays_the_capture_once_and_charges_idle_turns() -> None:
    rewards = executor_turn_rewards([0.5, 0.0, 0.5], True, LAM, COST)
    assert rewards.tolist() == pytest.approx([0.125, -0.0125, 1.125])
    assert executor_turn_rewards([0.5, 0.0], False, LAM, COST).tolist() == pytest.approx([0.125, -0.0125])
    assert executor_turn_rewards([], False, LAM, COST).tolist() == []


@given(st.lists(st.sampled_from([0.0, 0.1, 0.2]), min_size=1, max_size=5), st.booleans())
def test_eq4_total_is_capture_plus_progress_minus_idle(gains: list[float], captured: bool) -> None:
    total = executor_turn_rewards(gains, captured, LAM, COST).sum()
    assert total == pytest.approx(captured + LAM * sum(gains) - LAM * COST * gains.count(0.0))


def test_eq4_refuses_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="negative"):
        executor_turn_rewards([0.5, -0.1], False, LAM, COST)
    with pytest.raises(ValueError, match="without an executor turn"):
        executor_turn_rewards([], True, LAM, COST)


def test_reward_to_go() -> None:
    assert reward_to_go([1.0, 2.0, 4.0]).tolist() == [7.0, 6.0, 4.0]
    assert reward_to_go([]).tolist() == []


def test_stage_potentials_are_increments() -> None:
    assert stage_potentials([0.25, 0.25, 1.0]).tolist() == [0.25, 0.0, 0.75]
    assert stage_potentials([]).tolist() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=4).map(sorted))
def test_stage_potentials_telescope(ends: list[float]) -> None:
    assert stage_potentials(ends).sum() == pytest.approx(ends[-1])


def test_eq5_standardises_over_all_turns_of_all_rollouts() -> None:
    group = [rollout([0.5, 0.5], captured=True), rollout([0.0])]
    # raw turn rewards .125, 1.125, -.0125 in one group of three
    raw = np.array([0.125, 1.125, -0.0125])
    expected = (raw - raw.mean()) / (raw.std(ddof=1) + 1e-6)
    advantages = executor_advantages(group, ExecutorCredit.EQ5, LAM, COST)
    assert advantages[0] == pytest.approx(expected[:2].tolist())
    assert advantages[1] == pytest.approx(expected[2:].tolist())


def test_reward_to_go_mends_the_sign_of_early_turns() -> None:
    group = [rollout([0.5, 0.5], captured=True), rollout([0.0, 0.0])]
    eq5 = executor_advantages(group, ExecutorCredit.EQ5, LAM, COST)
    to_go = executor_advantages(group, ExecutorCredit.REWARD_TO_GO, LAM, COST)
    assert eq5[0][0] < 0 < to_go[0][0]
    raw = np.array([1.25, 1.125, -0.025, -0.0125])
    expected = (raw - raw.mean()) / (raw.std(ddof=1) + 1e-6)
    assert to_go[0] + to_go[1] == pytest.approx(expected.tolist())


def test_terminal_gives_every_turn_its_rollouts_outcome() -> None:
    group = [rollout([0.5, 0.5], captured=True), rollout([0.9]), rollout([0.0, 0.0, 0.0]), rollout([0.0])]
    advantages = executor_advantages(group, ExecutorCredit.TERMINAL, LAM, COST)
    assert [len(turns) for turns in advantages] == [2, 1, 3, 1]
    assert advantages[0] == pytest.approx([1.5, 1.5], abs=1e-5)
    assert advantages[2] == pytest.approx([-0.5] * 3, abs=1e-5)


@pytest.mark.parametrize("credit", ExecutorCredit)
def test_a_rollout_without_executor_turns_keeps_its_place(credit: ExecutorCredit) -> None:
    group = [rollout([]), rollout([0.5, 0.5], captured=True), rollout([]), rollout([0.0])]
    advantages = executor_advantages(group, credit, LAM, COST)
    assert [len(turns) for turns in advantages] == [0, 2, 0, 1]
    # Turn by turn, a turn that one rollout alone reached has nothing to be compared with.
    assert advantages[1][1] == 0 if credit is ExecutorCredit.TURNWISE else advantages[1][1] > 0
    assert executor_advantages([rollout([]), rollout([])], credit, LAM, COST) == [[], []]


def test_terminal_counts_rollouts_without_turns_in_the_baseline() -> None:
    group = [rollout([]), rollout([]), rollout([]), rollout([1.0], captured=True)]
    assert executor_advantages(group, ExecutorCredit.TERMINAL, LAM, COST)[3] == pytest.approx([1.5], abs=1e-5)


@pytest.mark.parametrize("credit", ExecutorCredit)
def test_equal_rollouts_teach_nothing(credit: ExecutorCredit) -> None:
    advantages = executor_advantages([rollout([0.0]) for _ in range(8)], credit, LAM, COST)
    assert advantages == [[0.0]] * 8


def test_planner_progress_and_capture() -> None:
    group = [
        rollout([0.5, 0.5], captured=True, stage_ends=[0.5, 1.0]),
        rollout([0.5], stage_ends=[0.5, 0.5]),
        rollout([]),
    ]
    assert planner_advantages(group, PlannerCredit.PROGRESS) == pytest.approx([1.0, 0.0, -1.0], abs=1e-5)
    third = 1 / math.sqrt(3)
    assert planner_advantages(group, PlannerCredit.CAPTURE) == pytest.approx([2 * third, -third, -third], abs=1e-5)


def test_planner_credit_has_no_terminal_term() -> None:
    group = [rollout([1.0], captured=True), rollout([1.0], captured=False)]
    assert planner_advantages(group, PlannerCredit.PROGRESS) == [0.0, 0.0]


def test_a_rollout_that_broke_never_enters_a_group() -> None:
    group = [rollout([0.5]), rollout([0.5], error="checker timed out")]
    with pytest.raises(ValueError, match="checker timed out"):
        executor_advantages(group, ExecutorCredit.EQ5, LAM, COST)
    with pytest.raises(ValueError, match="checker timed out"):
        planner_advantages(group, PlannerCredit.PROGRESS)
    with pytest.raises(ValueError, match="no finished rollout"):
        executor_advantages([], ExecutorCredit.TERMINAL, LAM, COST)


def test_capture_dominance_at_the_papers_numbers() -> None:
    assert capture_dominance_holds(LAM, COST, 80)
    assert not capture_dominance_holds(LAM, COST, 81)
    assert capture_dominance_holds(0.0, COST, 10**6)


def test_turn_by_turn_a_turn_is_compared_with_the_same_turn_alone() -> None:
    group = [rollout([0.5, 0.5], captured=True), rollout([0.0, 0.5, 0.0]), rollout([0.5])]
    # Sums to the end: 1.25, 1.125; .1, .1125, -.0125; .125.
    first = standardise([0.125 + 1.125, -0.0125 + 0.125 - 0.0125, 0.125]).tolist()
    second = standardise([1.125, 0.125 - 0.0125]).tolist()
    advantages = executor_advantages(group, ExecutorCredit.TURNWISE, LAM, COST)
    assert advantages[0] == pytest.approx([first[0], second[0]])
    assert advantages[1] == pytest.approx([first[1], second[1], 0.0])
    assert advantages[2] == pytest.approx([first[2]])
    assert second == pytest.approx([1 / math.sqrt(2), -1 / math.sqrt(2)], abs=1e-5)


def test_turn_by_turn_a_constant_by_position_is_nothing() -> None:
    """What Eq. 5 over all turns reads as better and worse: the capture is nearer to a later turn."""
    group = [rollout([0.5, 0.0, 0.5], captured=True) for _ in range(4)]
    assert executor_advantages(group, ExecutorCredit.TURNWISE, LAM, COST) == [[0.0] * 3] * 4
    assert any(map(any, executor_advantages(group, ExecutorCredit.REWARD_TO_GO, LAM, COST)))


@given(st.lists(st.lists(st.floats(-2, 2), max_size=4).map(np.array), min_size=1, max_size=6))
def test_turn_by_turn_every_turn_sums_to_zero(rewards: list[FloatArray]) -> None:
    advantages = standardise_by_state(rewards, [range(each.size) for each in rewards])
    assert [each.size for each in advantages] == [each.size for each in rewards]
    for turn in range(max(each.size for each in rewards)):
        there = [each[turn] for each in advantages if each.size > turn]
        assert sum(there) == pytest.approx(0.0, abs=1e-6)


def test_state_by_state_a_turn_is_compared_with_those_that_stood_where_it_did() -> None:
    """Three rollouts begin level; two of them reach the second turn with progress, one without."""
    group = [rollout([0.5, 0.25]), rollout([0.5, 0.0]), rollout([0.0, 0.0])]
    first = (LAM * standardise([0.5, 0.5, 0.0])).tolist()
    second = (LAM * standardise([0.25, 0.0])).tolist()
    assert executor_advantages(group, ExecutorCredit.STATEWISE, LAM, COST) == [
        pytest.approx([first[0], second[0]]),
        pytest.approx([first[1], second[1]]),
        pytest.approx([first[2], 0.0]),  # alone where it stands
    ]
    assert second == pytest.approx([LAM / math.sqrt(2), -LAM / math.sqrt(2)], abs=1e-5)


def test_state_by_state_the_outcome_is_added_and_idle_turns_cost_nothing() -> None:
    group = [rollout([0.5, 0.5], captured=True), rollout([0.5, 0.0, 0.0]), rollout([0.5, 0.0])]
    outcome = standardise([1.0, 0.0, 0.0]).tolist()
    step = (LAM * standardise([0.5, 0.0, 0.0])).tolist()
    for cost in (0.0, COST):
        assert executor_advantages(group, ExecutorCredit.STATEWISE, LAM, cost) == [
            pytest.approx([outcome[0], outcome[0] + step[0]]),
            pytest.approx([outcome[1], outcome[1] + step[1], outcome[1]]),
            pytest.approx([outcome[2], outcome[2] + step[2]]),
        ]
    assert executor_advantages(group, ExecutorCredit.STATEWISE, 0.0, COST) == executor_advantages(
        group, ExecutorCredit.TERMINAL, LAM, COST
    )


def test_states_and_rewards_of_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        standardise_by_state([np.array([1.0, 2.0])], [[0]])


FAILED = [rollout([0.5, 0.0]), rollout([0.0, 0.0]), rollout([0.25])]
SOLVED = [*FAILED, rollout([0.5, 0.5], captured=True)]


def test_dense_on_failure_is_the_outcome_unless_all_failed() -> None:
    dense, turnwise, terminal = (
        ExecutorCredit.DENSE_ON_FAILURE,
        ExecutorCredit.TURNWISE,
        ExecutorCredit.TERMINAL,
    )
    for group, same, other in ((FAILED, turnwise, terminal), (SOLVED, terminal, turnwise)):
        found = executor_advantages(group, dense, LAM, COST)
        assert found == executor_advantages(group, same, LAM, COST)
        assert found != executor_advantages(group, other, LAM, COST)
    # Among failures the reward to go of the first turn is lambda times the progress less the cost of idle turns.
    first = standardise([0.125 - 0.0125, -0.025, 0.0625]).tolist()
    assert [turns[0] for turns in executor_advantages(FAILED, dense, LAM, COST)] == pytest.approx(first)


def test_all_captured_says_nothing_under_dense_on_failure() -> None:
    """One got there with an idle turn more: the outcome is the same, and the outcome is what counts."""
    group = [rollout([0.5, 0.5], captured=True), rollout([0.5, 0.0, 0.5], captured=True)]
    assert executor_advantages(group, ExecutorCredit.DENSE_ON_FAILURE, LAM, COST) == [[0.0] * 2, [0.0] * 3]


def test_progress_on_failure_is_the_outcome_unless_all_failed() -> None:
    assert planner_rewards(FAILED, PlannerCredit.PROGRESS_ON_FAILURE) == pytest.approx([0.5, 0.0, 0.25])
    assert planner_rewards(SOLVED, PlannerCredit.PROGRESS_ON_FAILURE) == [0.0, 0.0, 0.0, 1.0]
    expected = standardise([0.5, 0.0, 0.25]).tolist()
    assert planner_advantages(FAILED, PlannerCredit.PROGRESS_ON_FAILURE) == pytest.approx(expected)
    assert planner_advantages(SOLVED, PlannerCredit.PROGRESS_ON_FAILURE)[3] == pytest.approx(1.5, abs=1e-5)


@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from([0.0, 0.1, 0.3]), min_size=1, max_size=3), st.booleans()),
        min_size=2,
        max_size=6,
    )
)
def test_on_failure_credits_rank_captures_above_failures(drawn: list[tuple[list[float], bool]]) -> None:
    group = [rollout(gains, captured=captured) for gains, captured in drawn]
    plans = planner_advantages(group, PlannerCredit.PROGRESS_ON_FAILURE)
    turns = executor_advantages(group, ExecutorCredit.DENSE_ON_FAILURE, LAM, COST)
    won, lost = ([index for index, (_, captured) in enumerate(drawn) if captured is kind] for kind in (True, False))
    for winner in won:
        for loser in lost:
            assert plans[winner] > 0.0 > plans[loser]
            assert min(turns[winner]) > 0.0 > max(turns[loser])
