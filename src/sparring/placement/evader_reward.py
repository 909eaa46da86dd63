"""The evader's reward (LURE Eq. 3): capture frontier minus repetition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from sparring.placement.base import Outcome


def capture_frontier_reward(
    p: float | None, valid: bool, same_signature: int, emitted: int, repetition_scale: float = 1.0
) -> float:
    """Evader reward r_C = min(p, 1-p) - rho if x in V, else -1 - rho; rho = (n_sig - 1) / N (LURE Eq. 3).

    p: capture rate, read only when valid (x in V). same_signature: n_sig, emissions with this
    signature, itself included, 1..N. emitted: N, emissions of this environment this round, or of all.
    repetition_scale multiplies rho; 1 is the paper's. Raises ValueError for numbers out of range.
    """
    if not 1 <= same_signature <= emitted:
        raise ValueError(f"{same_signature} of {emitted} emissions share a signature")
    repetition = repetition_scale * (same_signature - 1) / emitted
    if not valid:
        return -1.0 - repetition
    if p is None or not 0.0 <= p <= 1.0:
        raise ValueError(f"a valid emission has a capture rate in [0, 1], not {p}")
    return min(p, 1.0 - p) - repetition


def evader_rewards(
    outcomes: Sequence[Outcome],
    repetition_scale: float = 1.0,
    repetition_over: Literal["environment", "round"] = "environment",
) -> list[float | None]:
    """Eq. 3 for all emissions of one round, in order.

    n_sig is counted per environment, since signatures of two environments never agree; N counts the
    emissions of the environment or of the whole round, where the paper does not say (SPEC 1.3).

    Malformed and refused emissions share one signature. A valid one whose rollouts all broke still
    counts as an emission but has no p and so no reward: None, to be left out of the update.
    """
    emitted = Counter(outcome.emission.environment for outcome in outcomes)
    signatures = Counter((outcome.emission.environment, outcome.signature) for outcome in outcomes)
    rewards: list[float | None] = []
    for outcome in outcomes:
        environment, p, valid = outcome.emission.environment, outcome.capture_rate, outcome.group is not None
        if valid and p is None:
            rewards.append(None)
            continue
        same = signatures[environment, outcome.signature]
        count = emitted[environment] if repetition_over == "environment" else len(outcomes)
        rewards.append(capture_frontier_reward(p, valid, same, count, repetition_scale))
    return rewards
