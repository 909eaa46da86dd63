"""Where the evader's own gradient comes to rest, which is not where Proposition 2's total is largest.

The total counts that one more emission of a signature costs the others of it too. The gradient of
one sample takes the others as they are, so its pull against repetition is half as strong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

import numpy as np
from scipy.optimize import root
from scipy.stats import multinomial

from sparring.config.sections import PlacementSection
from sparring.credit import FloatArray
from sparring.placement.evader_reward import capture_frontier_reward
from sparring.placement.repetition import repeated_signatures
from sparring.theory.signature_shares import EXTREMES, frontier, tilt
from sparring.theory.statements import ARITHMETIC, Origin, Statement

EXAMPLE = (0.5, 0.6, 0.25)
"""Capture rates of three signatures that all keep a share."""

EMITTED = (6, 12, 24, PlacementSection().slots * PlacementSection().samples)
"""N, up to the default emissions of one environment and round, which are the paper's."""


class Baseline(StrEnum):
    """What is subtracted from a reward: nothing, or the mean over the group that the sample stands in.

    Samples are exchangeable, so that the group may be the round or a slot of it: A differs by a factor only.
    """

    NONE = "none"
    GROUP_MEAN = "group_mean"


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Every way to write `total` as an ordered sum of `parts` whole numbers of 0 or more."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def emission_rewards(counts: Sequence[int], rates: Sequence[float]) -> FloatArray:
    """Eq. 3 of one emission of each signature, in a round of `counts` emissions; 0 for one without emissions.

    The repetition is counted by `repeated_signatures`, over N = sum of counts. Shape (signatures,).
    """
    emitted = sum(counts)
    repeated = repeated_signatures([str(index) for index, count in enumerate(counts) for _ in range(count)])
    rewards = np.zeros(len(counts))
    first = 0
    for index, (count, p) in enumerate(zip(counts, rates, strict=True)):
        if count:
            rewards[index] = capture_frontier_reward(p, True, repeated[first] / emitted)
        first += count
    return rewards


def advantages_by_others(
    rates: Sequence[float], emitted: int, baseline: Baseline
) -> tuple[list[tuple[int, ...]], FloatArray]:
    """The advantage of a sample of each signature, for every outcome of the other N - 1 samples.

    Returns the outcomes, as counts by signature, and the advantages, shape (outcomes, signatures).
    """
    others = list(compositions(emitted - 1, len(rates)))
    advantages = np.zeros((len(others), len(rates)))
    rewards = {counts: emission_rewards(counts, rates) for counts in compositions(emitted, len(rates))}
    for row, counts in enumerate(others):
        for own in range(len(rates)):
            together = (*counts[:own], counts[own] + 1, *counts[own + 1 :])
            mean = float(rewards[together] @ together) / emitted
            advantages[row, own] = rewards[together][own] - (mean if baseline is Baseline.GROUP_MEAN else 0.0)
    return others, advantages


def expected_advantages(
    shares: Sequence[float] | FloatArray, others: Sequence[tuple[int, ...]], advantages: FloatArray
) -> FloatArray:
    """E[A | own signature], the N - 1 others drawn independently by `shares`; shape (signatures,).

    A policy over signatures rests where all are equal: d/d logit_s = m_s (E[A | s] - mean).
    """
    weights = multinomial.pmf(np.array(others), n=sum(others[0]), p=shares)
    expected: FloatArray = weights @ advantages
    return expected


def stationary_shares(rates: Sequence[float], emitted: int, baseline: Baseline) -> FloatArray:
    """Resting shares m_s = 1/k + (f_s - f_mean) N / (N - 1), with a group-mean baseline N / (N - 2).

    Derived from LURE Eq. 3 for all k signatures in use: given its own signature s, a sample repeats
    (N - 1) m_s others; and the group's mean falls with m_s too, by 2 (N - 1) m_s / N^2, which the
    baseline gives back. Shape (signatures,), of sum 1. Raises ValueError where some share would not
    be above 0, or N is below 3.
    """
    if emitted < 3:
        raise ValueError(f"a group of {emitted} is too small; give 3 emissions or more")
    terms = frontier(rates)
    factor = emitted / (emitted - (2 if baseline is Baseline.GROUP_MEAN else 1))
    shares: FloatArray = 1.0 / terms.size + (terms - terms.mean()) * factor
    if shares.min() <= 0.0:
        raise ValueError(f"not all of these signatures stay in use: shares {shares.tolist()}")
    return shares


def stationary_shares_found(rates: Sequence[float], emitted: int, baseline: Baseline) -> FloatArray:
    """The resting shares, by a root search on the enumerated `expected_advantages` from equal shares."""
    others, advantages = advantages_by_others(rates, emitted, baseline)
    count = len(rates)

    def pull(free: FloatArray) -> FloatArray:
        expected = expected_advantages(np.append(free, 1.0 - free.sum()), others, advantages)
        differences: FloatArray = expected[:-1] - expected[-1]
        return differences

    free: FloatArray = root(pull, np.full(count - 1, 1.0 / count), tol=1e-12).x
    return np.append(free, 1.0 - free.sum())


def statements() -> list[Statement]:
    """What SPEC 1.13 says of the per-sample gradient, and what comes out."""
    found = []
    for baseline, words in ((Baseline.NONE, "N / (N - 1)"), (Baseline.GROUP_MEAN, "N / (N - 2), group-mean baseline")):
        for emitted in EMITTED:
            shares = stationary_shares(EXAMPLE, emitted, baseline)
            error = float(np.abs(shares - stationary_shares_found(EXAMPLE, emitted, baseline)).max())
            line = f"largest error of the resting shares 1/k + (f - f_mean) {words}, N = {emitted}"
            found.append(Statement("Per-sample gradient", Origin.DERIVED, line, 0.0, error, ARITHMETIC))
    for baseline, less, words in (
        (Baseline.NONE, 1, "the gradient rests, N / (N - 1) / 2"),
        (Baseline.GROUP_MEAN, 2, "it rests with a group-mean baseline, N / (N - 2) / 2"),
    ):
        emitted = EMITTED[-1]
        claimed = emitted / (emitted - less) / 2
        computed = tilt(stationary_shares_found(EXTREMES, emitted, baseline))
        line = f"tilt between p = 1/2 and p = 0 where {words}, N = {emitted}; the total's is 1/4"
        found.append(Statement("Per-sample gradient", Origin.DERIVED, line, claimed, computed))
    return found
