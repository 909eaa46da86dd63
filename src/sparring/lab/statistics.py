"""The statistics of a suite: means over seeds with intervals, paired differences, corrected p values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from scipy.special import stdtr, stdtrit

CONFIDENCE = 0.95

NO_DIFFERENCE = 1e-12
"""Scores that differ by less, the noise of sums of floats, are tied."""


@dataclass(frozen=True)
class Mean:
    """A mean over n seeds; low and high are None where n = 1 allows no interval."""

    n: int
    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Difference:
    """An arm minus its reference over the seeds that both have.

    p: of a two-sided paired t test; None for one seed. wins, ties, losses: seeds.
    """

    mean: Mean
    p: float | None
    wins: int
    ties: int
    losses: int


def mean_interval(values: Sequence[float]) -> Mean:
    """Student's t interval at 95 %: mean ± t(0.975, n - 1) s / sqrt(n), s the sample deviation.

    It is about the mean over seeds. Raises ValueError without values.
    """
    if not values:
        raise ValueError("a mean needs at least one value")
    n, mean = len(values), fmean(values)
    if n == 1:
        return Mean(n, mean, None, None)
    half_width = float(stdtrit(n - 1, (1.0 + CONFIDENCE) / 2.0)) * stdev(values) / math.sqrt(n)
    return Mean(n, mean, mean - half_width, mean + half_width)


def paired_difference(ours: Sequence[float], theirs: Sequence[float]) -> Difference:
    """Paired t test: the mean of ours minus theirs, seed by seed, with its interval and two-sided p value.

    Both of shape (seeds,), in the same order. Where all differences are equal the p value is 1 if
    they are 0 and 0 otherwise. Raises ValueError for unequal lengths or none.
    """
    differences = [our - their for our, their in zip(ours, theirs, strict=True)]
    mean = mean_interval(differences)
    wins = sum(each > NO_DIFFERENCE for each in differences)
    losses = sum(each < -NO_DIFFERENCE for each in differences)
    return Difference(mean, _p_value(differences), wins, len(differences) - wins - losses, losses)


def _p_value(differences: Sequence[float]) -> float | None:
    n = len(differences)
    if n == 1:
        return None
    mean, deviation = fmean(differences), stdev(differences)
    if deviation <= NO_DIFFERENCE:
        return 1.0 if abs(mean) <= NO_DIFFERENCE else 0.0
    return float(2.0 * stdtr(n - 1, -abs(mean) / (deviation / math.sqrt(n))))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm (1979): step-down adjusted p values of m comparisons made at once, in the order given.

    Sorted ascending, the i-th (from 0) is max over j <= i of min(1, (m - j) p_j). Shape (m,).
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted
