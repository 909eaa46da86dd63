"""Proposition 2: the shares of signatures at the round's optimum."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparring.placement.evader_reward import capture_frontier_reward
from sparring.theory.signature_shares import (
    best_shares,
    best_shares_found,
    fewest_used,
    frontier,
    mean_reward,
    optimality_gap,
    signatures_used,
    tilt,
)
from sparring.theory.stationary_shares import compositions

RATES = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12)


def total_reward(counts: tuple[int, ...], rates: tuple[float, ...]) -> float:
    emitted = sum(counts)
    return sum(
        count * capture_frontier_reward(p, True, (count - 1) / emitted)
        for count, p in zip(counts, rates, strict=True)
        if count
    )


@pytest.mark.parametrize(
    ("rates", "emitted", "best"),
    [
        ((0.5, 0.6, 0.3, 0.8), 40, (13, 11, 9, 7)),
        ((0.5, 0.7), 40, (22, 18)),
        ((0.5, 0.5, 0.2), 60, (23, 23, 14)),
    ],
)
def test_optimum_by_brute_force(rates: tuple[float, ...], emitted: int, best: tuple[int, ...]) -> None:
    terms = frontier(rates)
    closed_form = emitted * (1 / len(rates) + (terms - terms.mean()) / 2)
    assert closed_form.tolist() == pytest.approx(best)
    assert (emitted * best_shares(rates)).tolist() == pytest.approx(best)
    assert max(compositions(emitted, len(rates)), key=lambda counts: total_reward(counts, rates)) == best


@given(RATES)
def test_no_share_can_be_moved_to_gain(rates: list[float]) -> None:
    shares = best_shares(rates)
    assert shares.sum() == pytest.approx(1.0)
    assert shares.min() >= 0.0
    assert abs(optimality_gap(shares, rates)) < 1e-9
    assert signatures_used(rates) >= min(len(rates), 4)


def test_a_gap_is_noticed() -> None:
    rates = (0.5, 0.0)
    gap = optimality_gap(np.array([0.5, 0.5]), rates)
    assert gap == pytest.approx(0.25)
    assert gap >= mean_reward(best_shares(rates), rates) - mean_reward([0.5, 0.5], rates) > 0.0


def test_a_search_finds_the_closed_form() -> None:
    rates = (0.5, 0.5, 0.5, 0.5, 0.05, 0.95)
    assert best_shares(rates).tolist() == pytest.approx([1 / 6 + 0.075] * 4 + [1 / 6 - 0.15] * 2)
    assert best_shares_found(rates).tolist() == pytest.approx(best_shares(rates).tolist(), abs=1e-5)


def test_signatures_that_are_never_captured_are_given_up_beside_four_at_the_frontier() -> None:
    assert best_shares((0.5, 0.5, 0.5, 0.5, 0.0, 1.0)).tolist() == pytest.approx([0.25] * 4 + [0.0] * 2)
    assert [fewest_used(count) for count in (1, 2, 3, 4, 5, 6)] == [1, 2, 3, 4, 4, 4]


def test_the_widest_tilt_is_a_quarter() -> None:
    assert best_shares((0.5, 0.0)).tolist() == pytest.approx([0.625, 0.375])
    assert tilt(best_shares((0.5, 0.0))) == pytest.approx(0.25)


def test_shares_of_no_signature() -> None:
    with pytest.raises(ValueError, match="no signature"):
        best_shares(())
