"""Proposition 3: captures before failures, in sums of rewards and not in sums of z."""

import pytest

from sparring.credit import capture_dominance_holds, executor_turn_rewards, standardise
from sparring.theory.capture_dominance import (
    counter_example,
    enumerated_margin,
    extreme_margin,
    longest_dominated,
    margin_claimed,
    rollouts_up_to,
    total_reward,
    total_reward_claimed,
)


@pytest.mark.parametrize(("lam", "cost"), [(0.25, 0.05), (1.0, 0.3), (1.0, 0.7), (3.0, 0.2)])
@pytest.mark.parametrize("turn_limit", [1, 2, 4, 6])
def test_capture_outranks_failure(lam: float, cost: float, turn_limit: int) -> None:
    totals = [
        (
            executor_turn_rewards([gain * (1.0 if captured else 0.999) for gain in gains], captured, lam, cost).sum(),
            captured,
        )
        for gains, captured in rollouts_up_to(turn_limit)
    ]
    worst_capture = min(total for total, captured in totals if captured)
    best_failure = max(total for total, captured in totals if not captured)
    assert (worst_capture > best_failure) == capture_dominance_holds(lam, cost, turn_limit)
    assert enumerated_margin(lam, cost, turn_limit) == pytest.approx(margin_claimed(lam, cost, turn_limit))
    assert extreme_margin(lam, cost, turn_limit) == pytest.approx(margin_claimed(lam, cost, turn_limit))


def test_every_pattern_is_tried() -> None:
    assert len(list(rollouts_up_to(3))) == 2 * (2 + 4 + 8) - 3  # of each length, one captures nothing


def test_total_reward() -> None:
    assert total_reward([0.0, 0.5, 0.0, 0.5], True, 0.25, 0.05) == pytest.approx(1 + 0.25 - 0.25 * 0.05 * 2)
    assert total_reward_claimed([0.0, 0.5], False, 0.25, 0.05) == pytest.approx(0.125 - 0.0125)


def test_the_papers_numbers_hold_for_eighty_turns() -> None:
    assert longest_dominated(0.25, 0.05) == 80
    assert capture_dominance_holds(0.25, 0.05, 80)
    assert not capture_dominance_holds(0.25, 0.05, 81)
    assert longest_dominated(4.0, 0.5) == 1


def test_the_order_does_not_carry_over_to_summed_standardised_rewards() -> None:
    assert capture_dominance_holds(0.25, 0.05, 10)
    example = counter_example(0.25, 0.05)
    assert example.captured_total == pytest.approx(1.25 - 9 * 0.0125)
    assert example.failed_total == pytest.approx(0.225)
    assert example.captured_z < example.failed_z
    rewards = [-0.0125] * 9 + [1.25, 0.225]
    assert example.captured_z == pytest.approx(standardise(rewards)[:10].sum())
    assert example.captured_z + example.failed_z == pytest.approx(0.0)
