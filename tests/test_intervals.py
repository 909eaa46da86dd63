"""Wilson intervals against textbook values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparring.intervals import wilson_interval


def test_wilson_interval_has_its_textbook_values() -> None:
    """Wilson 1927 for 0 of 10, 5 of 10 and 81 of 263 (the last in Newcombe 1998, Table I)."""
    assert wilson_interval(0.0, 10) == pytest.approx((0.0, 0.27753), abs=1e-5)
    assert wilson_interval(0.5, 10) == pytest.approx((0.23659, 0.76341), abs=1e-5)
    assert wilson_interval(81 / 263, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)
    assert (wilson_interval(0.0, 3)[0], wilson_interval(1.0, 3)[1]) == (0.0, 1.0)
    with pytest.raises(ValueError, match="at least one trial"):
        wilson_interval(0.5, 0)


@given(st.integers(1, 500), st.data())
def test_wilson_interval_holds_the_rate_and_stays_in_range(n: int, data: st.DataObject) -> None:
    rate = data.draw(st.integers(0, n)) / n
    low, high = wilson_interval(rate, n)
    assert 0.0 <= low <= rate + 1e-12
    assert rate - 1e-12 <= high <= 1.0
    assert wilson_interval(1 - rate, n) == pytest.approx((1 - high, 1 - low))
