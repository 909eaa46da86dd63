"""The bias of Eq. 3's frontier term: min(p, 1-p) is concave, so its plug-in estimate falls short."""

from __future__ import annotations

from math import comb

from sparring.credit import capture_rate
from sparring.placement.evader_reward import capture_frontier_reward
from sparring.theory.group_energy import GROUP_SIZES, capture_weights, outcomes
from sparring.theory.statements import ARITHMETIC, THREE_DIGITS, Origin, Relation, Statement

PUBLISHED = {
    8: {0.5: 0.363, 0.25: 0.242, 0.1: 0.100},
    4: {0.5: 0.313, 0.25: 0.223, 0.1: 0.098},
}
"""E[min(p_hat, 1 - p_hat)] by group size and capture rate (SPEC 1.13)."""


def true_reward(p: float) -> float:
    """Frontier term min(p, 1-p) of LURE Eq. 3 at the true capture rate."""
    return capture_frontier_reward(p, True, 0.0)


def expected_plug_in_reward(p: float, rollouts: int) -> float:
    """E[min(p_hat, 1 - p_hat)], the frontier term that G rollouts at rate p give on average (LURE Eq. 1 and 3).

    p_hat goes through `credit.capture_rate`, the term through `capture_frontier_reward`; summed over
    all capture counts.
    """
    rewards = [
        capture_frontier_reward(capture_rate(outcomes(captures, rollouts)), True, 0.0)
        for captures in range(rollouts + 1)
    ]
    return float(capture_weights(p, rollouts) @ rewards)


def plug_in_bias(p: float, rollouts: int) -> float:
    """Bias E[min(p_hat, 1 - p_hat)] - min(p, 1 - p) of the frontier term, 0 or less by Jensen's inequality."""
    return expected_plug_in_reward(p, rollouts) - true_reward(p)


def bias_at_one_half(rollouts: int) -> float:
    """Bias -C(G, G/2) / 2^(G+1) at p = 1/2 for even G: minus the mean absolute deviation of p_hat.

    About -1 / sqrt(2 pi G). Raises ValueError for odd G.
    """
    if rollouts % 2:
        raise ValueError(f"the closed form holds for even group sizes, not {rollouts}")
    return -comb(rollouts, rollouts // 2) / 2.0 ** (rollouts + 1)


def statements() -> list[Statement]:
    """What SPEC 1.13 says of the bias, and what comes out."""
    found = []
    for rollouts, rewards in PUBLISHED.items():
        for p, reward in rewards.items():
            words = f"expected frontier term at p = {p:g}, G = {rollouts}; the true one is {true_reward(p):g}"
            computed = expected_plug_in_reward(p, rollouts)
            found.append(Statement("Plug-in bias", Origin.DERIVED, words, reward, computed, THREE_DIGITS))
    for rollouts in GROUP_SIZES:
        words = f"bias at p = 1/2, -C(G, G/2) / 2^(G+1), G = {rollouts}"
        claimed, computed = bias_at_one_half(rollouts), plug_in_bias(0.5, rollouts)
        found.append(Statement("Plug-in bias", Origin.DERIVED, words, claimed, computed))
    sizes = ", ".join(map(str, GROUP_SIZES))
    largest = max(plug_in_bias(step / 100, rollouts) for rollouts in GROUP_SIZES for step in range(10, 91))
    words = f"the bias nearest to 0 at p = 0.1 ... 0.9, G = {sizes}: always short of the truth"
    found.append(Statement("Plug-in bias", Origin.DERIVED, words, -ARITHMETIC, largest, relation=Relation.BELOW))
    return found
