"""Theorem 1: how much gradient signal a group of G rollouts carries, by enumeration of its captures."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import binom  # type: ignore[attr-defined]

from sparring.credit import STANDARDISE_EPSILON, FloatArray, standardise
from sparring.theory.statements import THREE_DIGITS, Origin, Statement

GROUP_SIZES = (2, 4, 8, 16)
"""G, from the smallest group that can be mixed to twice the paper's."""

PUBLISHED = {0.5: 6.945, 0.25: 6.299, 0.1: 3.987}
"""Expected energy at G = 8 by capture rate p (SPEC 1.13)."""

PUBLISHED_GROUP_SIZE = 8

SEARCH = 1e-6
"""How near the search for a maximiser comes to it; the curve is flat there."""


def outcomes(captures: int, rollouts: int) -> list[bool]:
    """A group of `rollouts` outcomes of which `captures` captured; their order changes nothing."""
    return [True] * captures + [False] * (rollouts - captures)


def capture_weights(p: float, rollouts: int) -> FloatArray:
    """Binomial weights P(n captures of G) for n = 0 ... G, shape (G + 1,), of independent rollouts at rate p."""
    weights: FloatArray = binom.pmf(np.arange(rollouts + 1), rollouts, p)
    return weights


def group_energy(captures: int, rollouts: int, epsilon: float = 0.0) -> float:
    """Energy sum_g A_g^2 of a group's advantages (LURE Theorem 1), through `credit.standardise`.

    The theorem has epsilon 0; training adds `STANDARDISE_EPSILON`. No unit.
    """
    rewards = np.array(outcomes(captures, rollouts), dtype=np.float64)
    return float((standardise(rewards, epsilon) ** 2).sum())


def expected_energy(p: float, rollouts: int) -> float:
    """Expected energy E[sum_g A_g^2] at capture rate p (LURE Theorem 1), summed over all capture counts."""
    energies = [group_energy(captures, rollouts) for captures in range(rollouts + 1)]
    return float(capture_weights(p, rollouts) @ energies)


def expected_energy_claimed(p: float, rollouts: int) -> float:
    """Expected energy (G - 1)(1 - p^G - (1 - p)^G), the closed form of LURE Theorem 1."""
    return float((rollouts - 1) * (1.0 - p**rollouts - (1.0 - p) ** rollouts))


def most_energetic_rate(rollouts: int) -> float:
    """The p in [0, 1] at which the enumerated expected energy is largest, by bounded search."""
    energies = np.array([group_energy(captures, rollouts) for captures in range(rollouts + 1)])
    found = minimize_scalar(
        lambda p: -float(capture_weights(p, rollouts) @ energies),
        bounds=(0.0, 1.0),
        method="bounded",
        options={"xatol": SEARCH / 10},
    )
    return float(found.x)


def statements() -> list[Statement]:
    """What LURE Theorem 1 says, and what comes out."""
    found = []
    for rollouts in GROUP_SIZES:
        mixed = [group_energy(captures, rollouts) for captures in range(1, rollouts)]
        farthest = max(mixed, key=lambda energy: abs(energy - (rollouts - 1)))
        words = f"energy of a mixed group of {rollouts}, G - 1, at the capture count farthest from it"
        found.append(_paper(words, rollouts - 1, farthest))
    size = PUBLISHED_GROUP_SIZE
    even = max(group_energy(captures, rollouts) for rollouts in GROUP_SIZES for captures in (0, rollouts))
    found.append(_paper("energy of a group of all captures or all failures", 0.0, even))
    rates = np.linspace(0.0, 1.0, 101).tolist()
    for rollouts in GROUP_SIZES:
        error = max(abs(expected_energy(p, rollouts) - expected_energy_claimed(p, rollouts)) for p in rates)
        words = f"largest error of the expected energy (G - 1)(1 - p^G - (1 - p)^G) for p in [0, 1], G = {rollouts}"
        found.append(_paper(words, 0.0, error))
    for p, energy in PUBLISHED.items():
        words = f"expected energy at p = {p:g}, G = {size}"
        found.append(Statement("Theorem 1", Origin.DERIVED, words, energy, expected_energy(p, size), THREE_DIGITS))
    for rollouts in GROUP_SIZES:
        words = f"the rate p of the largest expected energy, G = {rollouts}"
        found.append(Statement("Theorem 1", Origin.DERIVED, words, 0.5, most_energetic_rate(rollouts), 10 * SEARCH))
    trained = group_energy(1, size, STANDARDISE_EPSILON)
    words = f"energy of 1 capture in {size} with the {STANDARDISE_EPSILON:g} that training adds to s, G - 1 still"
    found.append(Statement("Theorem 1", Origin.DERIVED, words, size - 1, trained, THREE_DIGITS))
    return found


def _paper(words: str, claimed: float, computed: float) -> Statement:
    return Statement("Theorem 1", Origin.PAPER, words, claimed, computed)
