"""Helpers of the figures: smoothing and labels that do not collide."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from sparring.reports.drawing import EndLabel, label_ends, smoothing_window, trailing_mean


def test_trailing_mean_by_hand() -> None:
    assert trailing_mean([1, 3, 5, 7], 2) == [1, 2, 4, 6]
    assert trailing_mean([1, 3, 5, 7], 1) == [1, 3, 5, 7]


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=60), st.integers(1, 20))
def test_trailing_mean_stays_within_the_values(values: list[float], window: int) -> None:
    means = trailing_mean(values, window)
    assert len(means) == len(values)
    assert all(min(values) - 1e-9 <= mean <= max(values) + 1e-9 for mean in means)


def test_short_runs_are_not_smoothed() -> None:
    assert smoothing_window(8) == 1
    assert smoothing_window(120) == 12


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=4))
def test_labels_keep_apart_and_inside_and_in_order(ends: list[float]) -> None:
    axes = Figure().subplots()
    axes.set_ylim(0, 1)
    label_ends(axes, [EndLabel(1, end, str(index), "#000000") for index, end in enumerate(ends)], gap=0.1)
    labels = [text for text in axes.texts if isinstance(text, Annotation)]
    heights = [label.xy[1] for label in labels]
    assert len(heights) == len(ends)
    assert all(0 < height <= 1 for height in heights)
    assert all(second - first > 0.08 for first, second in pairwise(heights))
    named = {label.get_text(): label.xy[1] for label in labels}
    ordered = sorted(range(len(ends)), key=lambda index: ends[index])
    assert [named[str(index)] for index in ordered] == sorted(named.values())
