"""Proposition 2: how emissions spread over signatures when the round's total of Eq. 3 is maximised."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement

import numpy as np
from scipy.optimize import minimize

from sparring.credit import FloatArray
from sparring.placement.evader_reward import capture_frontier_reward
from sparring.theory.statements import ARITHMETIC, Origin, Statement

EXTREMES = (0.5, 0.0)
"""The two signatures farthest apart: captured half of the time, and never."""

EXAMPLES: tuple[tuple[float, ...], ...] = (
    EXTREMES,
    (0.5, 0.6, 0.3, 0.8),
    (0.5, 0.5, 0.2),
    (0.5, 0.5, 0.5, 0.5, 0.5, 0.05, 0.95),
    (0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05),
)
"""Capture rates by signature; in the last two, some signatures get no share."""

RATE_GRID = (0.0, 0.125, 0.25, 0.375, 0.5)
"""Of the exhaustive checks; a rate above 1/2 earns what its mirror below earns."""

SIGNATURES_AT_MOST = 7
ALWAYS_USED = 4
"""Signatures that the optimum never goes below, where there are as many (SPEC 1.13)."""

STEP = 0.25
"""Of a forward difference over two steps, exact for squares whatever its length; a share is never below 0."""

SEARCH = 1e-5
"""How near the numerical maximiser comes to the shares."""


def frontier(rates: Sequence[float]) -> FloatArray:
    """Frontier terms f_s = min(p_s, 1 - p_s) of LURE Eq. 3 by signature, shape (signatures,).

    Written out, for the closed forms: what is computed goes through `capture_frontier_reward`, and a
    claim that went through it too would agree with any mistake in it.
    """
    terms: FloatArray = np.minimum(rates, 1.0 - np.asarray(rates, dtype=np.float64))
    return terms


def mean_reward(shares: Sequence[float] | FloatArray, rates: Sequence[float]) -> float:
    """Objective sum_s m_s (f_s - m_s) of LURE Proposition 2: Eq. 3 per emission, of many emissions.

    shares: m_s, shape (signatures,), of sum 1. rho is the share itself, as (n_s - 1) / N is for large N.
    """
    return float(sum(share * capture_frontier_reward(p, True, share) for share, p in zip(shares, rates, strict=True)))


def best_shares(rates: Sequence[float]) -> FloatArray:
    """Optimal shares m_s = 1/k + (f_s - f_mean) / 2 over the k signatures in use (LURE Proposition 2).

    The k are those of the largest f_s, as many as get a share above 0; f_mean is theirs, and all
    others get 0. A signature joins while its f_s is above the multiplier f_mean - 2/k. Shape
    (signatures,), of sum 1. Raises ValueError without a signature.
    """
    if not rates:
        raise ValueError("no signature, so no shares")
    terms = frontier(rates)
    order = np.argsort(-terms, kind="stable")
    used = 1
    for count in range(2, terms.size + 1):
        multiplier = terms[order[:count]].mean() - 2.0 / count
        if terms[order[count - 1]] > multiplier:
            used = count
    chosen = order[:used]
    shares = np.zeros_like(terms)
    shares[chosen] = 1.0 / used + (terms[chosen] - terms[chosen].mean()) / 2.0
    return shares


def best_shares_found(rates: Sequence[float]) -> FloatArray:
    """The shares that maximise `mean_reward` over the simplex, by sequential least squares from equal shares."""
    count = len(rates)
    found = minimize(
        lambda shares: -mean_reward(np.maximum(shares, 0.0), rates),
        np.full(count, 1.0 / count),
        method="SLSQP",
        bounds=[(0.0, 1.0)] * count,
        constraints={"type": "eq", "fun": lambda shares: shares.sum() - 1.0},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    shares: FloatArray = found.x
    return shares


def optimality_gap(shares: FloatArray, rates: Sequence[float]) -> float:
    """By how much `mean_reward` at these shares can lie below its maximum at most (Frank-Wolfe gap).

    max_s dJ/dm_s - sum_s m_s dJ/dm_s, which bounds the gap as J is concave, the slopes by forward
    differences. 0 exactly at the optimum, whatever formula the shares are from.
    """
    here = mean_reward(shares, rates)
    slopes = np.array(
        [
            (4.0 * mean_reward(shares + step, rates) - mean_reward(shares + 2.0 * step, rates) - 3.0 * here)
            / (2.0 * STEP)
            for step in STEP * np.eye(shares.size)
        ]
    )
    return float(slopes.max() - slopes @ shares)


def rate_grid(signatures: int) -> Iterator[tuple[float, ...]]:
    """Every choice of rates of `RATE_GRID` for so many signatures, their order apart."""
    return combinations_with_replacement(RATE_GRID, signatures)


def signatures_used(rates: Sequence[float]) -> int:
    """How many signatures get a share above 0 at the optimum (LURE Proposition 2, k)."""
    return int((best_shares(rates) > ARITHMETIC).sum())


def fewest_used(signatures: int) -> int:
    """The fewest signatures in use at the optimum, over all rates of `RATE_GRID`; claimed min(signatures, 4)."""
    return min(signatures_used(rates) for rates in rate_grid(signatures))


def tilt(shares: FloatArray) -> float:
    """The largest share minus the smallest."""
    return float(shares.max() - shares.min())


def statements() -> list[Statement]:
    """What LURE Proposition 2 says, and what comes out."""
    found = []
    for rates in EXAMPLES:
        error = float(np.abs(best_shares(rates) - best_shares_found(rates)).max())
        words = f"largest error of the best shares 1/k + (f - f_mean)/2, p = {', '.join(map(str, rates))}"
        found.append(Statement("Proposition 2", Origin.PAPER, words, 0.0, error, SEARCH))
    counts = range(2, SIGNATURES_AT_MOST + 1)
    gap = max(optimality_gap(best_shares(rates), rates) for count in counts for rates in rate_grid(count))
    words = (
        f"most that the total of these shares can lie below its maximum, 2 to {counts[-1]} signatures, a grid of rates"
    )
    found.append(Statement("Proposition 2", Origin.PAPER, words, 0.0, gap))
    for signatures in counts:
        words = f"fewest signatures in use of {signatures}, min({signatures}, {ALWAYS_USED}), over a grid of rates"
        claimed = min(signatures, ALWAYS_USED)
        origin = Origin.PAPER if signatures == 2 else Origin.DERIVED
        found.append(Statement("Proposition 2", origin, words, claimed, fewest_used(signatures)))
    widest = tilt(best_shares_found(EXTREMES))
    words = "tilt between p = 1/2 and p = 0, half the difference of their frontier terms"
    found.append(Statement("Proposition 2", Origin.DERIVED, words, 0.25, widest, SEARCH))
    return found
