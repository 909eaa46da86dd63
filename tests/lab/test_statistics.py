"""Intervals, paired differences and Holm's correction against closed forms and scipy."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import stdtrit

from sparring.lab.statistics import Mean, holm, mean_interval, paired_difference

SCORES = st.lists(st.floats(0.0, 1.0), min_size=2, max_size=12)


def test_the_interval_of_two_values_is_cauchys() -> None:
    """With n = 2 the t distribution has one degree of freedom: half the range times tan(0.475 pi)."""
    half_width = 0.1 * math.tan(0.475 * math.pi)
    found = mean_interval([0.4, 0.6])
    assert (found.n, found.mean) == (2, 0.5)
    assert found.low == pytest.approx(0.5 - half_width)
    assert found.high == pytest.approx(0.5 + half_width)


def test_one_seed_has_no_interval() -> None:
    assert mean_interval([0.4]) == Mean(1, 0.4, None, None)
    assert paired_difference([0.4], [0.3]).p is None


def test_no_values_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        mean_interval([])
    with pytest.raises(ValueError, match="shorter"):
        paired_difference([0.1, 0.2], [0.1])


@given(SCORES)
def test_the_interval_is_of_the_standard_error(values: list[float]) -> None:
    found = mean_interval(values)
    if stats.tstd(values) < 1e-9:
        return
    half_width = stdtrit(len(values) - 1, 0.975) * stats.sem(values)
    low, high = found.mean - half_width, found.mean + half_width
    assert found.low == pytest.approx(low)
    assert found.high == pytest.approx(high)


@given(st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)), min_size=2, max_size=12))
def test_the_p_value_is_scipys(pairs: list[tuple[float, float]]) -> None:
    ours, theirs = zip(*pairs, strict=True)
    if stats.tstd([our - their for our, their in pairs]) < 1e-6:
        return
    found = paired_difference(ours, theirs)
    assert found.p == pytest.approx(stats.ttest_rel(ours, theirs).pvalue, abs=1e-9)
    assert found.wins + found.ties + found.losses == len(pairs)


def test_equal_differences_leave_no_doubt() -> None:
    assert paired_difference([0.5, 0.6], [0.5, 0.6]).p == 1.0
    found = paired_difference([0.75, 0.5], [0.5, 0.25])
    assert (found.p, found.wins, found.ties, found.losses) == (0.0, 2, 0, 0)


def test_holm_by_hand() -> None:
    """Sorted .01 .02 .03 times 3, 2, 1 is .03 .04 .03; the third may not fall below the second."""
    assert holm([0.03, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert holm([0.6, 0.5]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=10))
def test_holm_keeps_the_order_and_never_lowers(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(raised >= p for raised, p in zip(adjusted, p_values, strict=True))
    in_order = [value for _, value in sorted(zip(p_values, adjusted, strict=True))]
    assert in_order == sorted(in_order)
