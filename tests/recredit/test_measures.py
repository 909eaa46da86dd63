"""The measures of a credit, with numbers worked by hand."""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.recredit.stored_run import row, write_run

from sparring.recredit.measures import Bins, Correlation, Tally, Turns, bin_range, length_bin
from sparring.recredit.recompute import RoundChoice, recredit
from sparring.recredit.stored import GroupKind

TOLERANCE = 1e-4
"""z adds 1e-6 to a deviation."""


@pytest.fixture
def captured_beside_failed(tmp_path: Path) -> dict[str, Tally]:
    """Two steps to a capture, of 3 and 2 tokens, beside one turn of 4 tokens that made nothing of it."""
    rows = [row([0.5, 0.5], captured=True, tokens=[3, 2]), row([0.0], tokens=[4])]
    return recredit(write_run(tmp_path, rows), RoundChoice()).executor


def test_the_papers_credit_by_hand(captured_beside_failed: dict[str, Tally]) -> None:
    # Eq. 4 gives 0.125, 1.125 and -0.0125; their mean is 0.4125, so the early correct turn is below it.
    rewards = np.array([0.125, 1.125, -0.0125])
    advantages = (rewards - 0.4125) / rewards.std(ddof=1)
    plain = captured_beside_failed["eq5"].plain()
    assert plain["mean_absolute_advantage"] == pytest.approx(np.abs(advantages).mean(), abs=TOLERANCE)
    assert plain["mean_sign"] == pytest.approx(-1 / 3)
    assert plain["marked"]["turns"] == 1
    assert plain["marked"]["mean_advantage"] == pytest.approx(advantages[0], abs=TOLERANCE)
    assert plain["marked"]["negative"] == 1.0
    assert plain["against_own"] == {
        "pearson_over_turns": pytest.approx(1.0),
        "pearson_over_tokens": pytest.approx(1.0),
        "flipped": 0.0,
        "silenced": 0.0,
        "woken": None,
    }


def test_another_credit_beside_the_runs_own(captured_beside_failed: dict[str, Tally]) -> None:
    plain = captured_beside_failed["terminal"].plain()
    z = 1 / sqrt(2)  # of one capture in two rollouts, given to each of their turns
    assert plain["teaching_groups"] == {"all_captured": None, "mixed": 1.0, "all_failed": None, "all": 1.0}
    assert plain["mean_absolute_advantage"] == pytest.approx(z, abs=TOLERANCE)
    assert plain["mean_sign"] == pytest.approx(1 / 3)
    assert plain["marked"] == {"turns": 1, "mean_advantage": pytest.approx(z, abs=TOLERANCE), "negative": 0.0}
    own, other = np.array([0.125, 1.125, -0.0125]), np.array([1.0, 1.0, 0.0])
    tokens = [3, 2, 4]
    over_tokens = np.corrcoef(np.repeat(own, tokens), np.repeat(other, tokens))[0, 1]
    assert plain["against_own"]["pearson_over_turns"] == pytest.approx(np.corrcoef(own, other)[0, 1])
    assert plain["against_own"]["pearson_over_tokens"] == pytest.approx(over_tokens)
    assert plain["against_own"]["flipped"] == pytest.approx(1 / 3)
    assert [(each["position"], each["turns"]) for each in plain["by_position"]] == [(1, 2), (2, 1)]
    assert [each["weight"] for each in plain["by_position"]] == pytest.approx([7 / 9, 2 / 9])
    assert [each["mean_advantage"] for each in plain["by_position"]] == pytest.approx([0.0, z], abs=TOLERANCE)
    assert [(each["tokens"], each["weight"]) for each in plain["by_length"]] == [
        ([2, 2], pytest.approx(2 / 9)),
        ([3, 4], pytest.approx(7 / 9)),
    ]


def test_the_variants_of_the_papers_credit(captured_beside_failed: dict[str, Tally]) -> None:
    without_cost = np.array([0.125, 1.125, 0.0])
    without_progress = np.array([0.0, 1.0, 0.0])
    for name, rewards in (("eq5, c_red = 0", without_cost), ("eq5, lambda = 0", without_progress)):
        expected = (rewards[0] - rewards.mean()) / rewards.std(ddof=1)
        assert captured_beside_failed[name].marked_advantage == pytest.approx(expected, abs=TOLERANCE)


def test_which_groups_teach_by_their_kind(tmp_path: Path) -> None:
    groups = [
        [row([1.0], captured=True), row([1.0], captured=True)],  # nothing to compare under any credit
        [row([1.0], captured=True), row([0.0, 1.0], captured=True)],
        [row([0.5]), row([0.0])],
        [row([0.0]), row([0.0])],
        [row([1.0], captured=True), row([0.0])],
    ]
    rows = [each | {"group": number} for number, group in enumerate(groups) for each in group]
    done = recredit(write_run(tmp_path, rows), RoundChoice())
    assert done.groups == {GroupKind.ALL_CAPTURED: 2, GroupKind.MIXED: 1, GroupKind.ALL_FAILED: 2}
    shares = {name: [tally.teaching_share(kind) for kind in GroupKind] for name, tally in done.executor.items()}
    assert shares["eq5"] == [0.5, 1.0, 0.5]
    assert shares["terminal"] == [0.0, 1.0, 0.0]
    assert shares["dense_on_failure"] == [0.0, 1.0, 0.5]
    assert shares["eq5, lambda = 0"] == [0.5, 1.0, 0.0]
    assert {name: [tally.teaching_share(kind) for kind in GroupKind] for name, tally in done.planner.items()} == {
        "progress": [0.0, 1.0, 0.5],
        "capture": [0.0, 1.0, 0.0],
        "progress_on_failure": [0.0, 1.0, 0.5],
    }


def test_silenced_woken_and_signs_without_noise() -> None:
    tally, ones = Tally(), np.ones(5)
    turns = Turns(ones, np.arange(5), ones < 0)
    own = np.array([1.0, -1.0, 0.0, 0.0, 1e-17])
    tally.add(GroupKind.MIXED, turns, np.array([0.0, -2.0, 3.0, 0.0, -1e-17]), own)
    assert (tally.own_speaks, tally.silenced, tally.woken, tally.flipped, tally.sign) == (2, 1, 1, 0, 0)
    assert tally.plain()["marked"] == {"turns": 0, "mean_advantage": None, "negative": None}


NUMBERS = st.floats(-3.0, 3.0, width=32)


@given(st.lists(st.tuples(NUMBERS, NUMBERS, st.integers(1, 5)), min_size=2, max_size=30), st.integers(0, 30))
def test_correlation_in_pieces_is_that_of_the_whole(pairs: list[tuple[float, float, int]], cut: int) -> None:
    x, y, weights = (np.array(column, dtype=np.float64) for column in zip(*pairs, strict=True))
    correlation = Correlation()
    for piece in (slice(None, cut), slice(cut, None)):
        correlation.add(x[piece], y[piece], weights[piece])
    long_x, long_y = (np.repeat(values, weights.astype(int)) for values in (x, y))
    assume(min(long_x.std(), long_y.std()) > 1e-3)
    assert correlation.value == pytest.approx(np.corrcoef(long_x, long_y)[0, 1], abs=1e-6)


def test_no_correlation_without_spread() -> None:
    correlation = Correlation()
    assert correlation.value is None
    correlation.add(np.ones(3), np.arange(3.0), np.ones(3))
    assert correlation.value is None


def test_bins_of_lengths_meet() -> None:
    tokens = np.arange(0.0, 40.0)
    for count, number in zip(tokens.tolist(), length_bin(tokens).tolist(), strict=True):
        low, high = bin_range(number)
        assert low <= count <= high


def test_bins_grow_and_have_no_share_of_nothing() -> None:
    bins = Bins()
    bins.add(np.array([2]), np.array([0.0]), np.array([0.0]))
    assert bins.rows() == [(2, 1, 0.0, None)]
    bins.add(np.array([0, 5]), np.array([-1.0, 3.0]), np.array([1.0, 3.0]))
    assert bins.rows() == [(0, 1, -1.0, 0.25), (2, 1, 0.0, 0.0), (5, 1, 3.0, 0.75)]
