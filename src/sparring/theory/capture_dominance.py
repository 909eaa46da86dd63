"""Proposition 3: when every capture outranks every failure under Eq. 4, and where that ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import fsum

import numpy as np

from sparring.config.sections import MethodSection
from sparring.credit import capture_dominance_holds, executor_turn_rewards, standardise
from sparring.theory.statements import ARITHMETIC, Origin, Relation, Statement

ENUMERATED_TURNS = 8
"""Turns up to which every pattern of progress is tried."""

TURNS_AT_MOST = 120
"""Turn limits up to which the slowest capture is set against the best failure."""

DEFAULT = MethodSection()
"""Whose lambda and c_red are the paper's (SPEC 1.8)."""

PAPER_TURN_LIMIT = 80
"""The largest T_max for which the proposition holds with them (SPEC 1.13)."""

OTHERS = ((1.0, 0.3), (3.0, 0.2))
"""lambda and c_red with which it fails early."""

SLOW_CAPTURE = (0.0,) * 9 + (1.0,)
QUICK_FAILURE = (0.9,)
"""Gains of the two rollouts that z-scores put in the wrong order."""


@dataclass(frozen=True)
class CounterExample:
    """Two rollouts of one group: the sums of their Eq. 4 rewards, and of the z of these rewards."""

    captured_total: float
    failed_total: float
    captured_z: float
    failed_z: float


def total_reward(gains: Sequence[float], captured: bool, lam: float, zero_progress_cost: float) -> float:
    """The sum of Eq. 4 over the turns of a rollout, in units of R, through `executor_turn_rewards`."""
    return fsum(executor_turn_rewards(gains, captured, lam, zero_progress_cost))


def total_reward_claimed(gains: Sequence[float], captured: bool, lam: float, zero_progress_cost: float) -> float:
    """Total R + lambda phi_T - lambda c_red Z, Z the turns without progress (LURE Proposition 3)."""
    return captured + lam * fsum(gains) - lam * zero_progress_cost * sum(gain == 0.0 for gain in gains)


def rollouts_up_to(turn_limit: int) -> Iterator[tuple[list[float], bool]]:
    """Every pattern of turns with and without progress, as gains and outcome.

    A capture ends at progress 1. A failure stays below; here it has the limit 1 too, or made no
    progress at all, so that it is the best of its pattern.
    """
    for turns in range(1, turn_limit + 1):
        for pattern in product((0, 1), repeat=turns):
            steps = sum(pattern)
            gains = [step / max(steps, 1) for step in pattern]
            yield gains, False
            if steps:
                yield gains, True


def enumerated_margin(lam: float, zero_progress_cost: float, turn_limit: int) -> float:
    """The worst total of a capture minus the best of a failure, over `rollouts_up_to` the turn limit."""
    totals = [
        (total_reward(gains, captured, lam, zero_progress_cost), captured)
        for gains, captured in rollouts_up_to(turn_limit)
    ]
    worst_capture = min(total for total, captured in totals if captured)
    return worst_capture - max(total for total, captured in totals if not captured)


def extreme_margin(lam: float, zero_progress_cost: float, turn_limit: int) -> float:
    """The same margin from its two extremes alone: one step on the last turn, and one step on the only turn."""
    slowest = [0.0] * (turn_limit - 1) + [1.0]
    captured = total_reward(slowest, True, lam, zero_progress_cost)
    return captured - total_reward([1.0], False, lam, zero_progress_cost)


def margin_claimed(lam: float, zero_progress_cost: float, turn_limit: int) -> float:
    """Margin 1 - lambda c_red (T_max - 1) by which a capture outranks a failure (LURE Proposition 3)."""
    return 1.0 - lam * zero_progress_cost * (turn_limit - 1)


def longest_dominated(lam: float, zero_progress_cost: float) -> int:
    """The largest turn limit up to `TURNS_AT_MOST` with a margin above 0; 0 when there is none."""
    limits = range(1, TURNS_AT_MOST + 1)
    return max((limit for limit in limits if extreme_margin(lam, zero_progress_cost, limit) > ARITHMETIC), default=0)


def counter_example(lam: float, zero_progress_cost: float) -> CounterExample:
    """A slow capture beside a quick failure, whose order z over all turns of the group turns round (SPEC 1.13).

    z subtracts a mean per turn, so a rollout of many turns pays it many times.
    """
    captured = executor_turn_rewards(SLOW_CAPTURE, True, lam, zero_progress_cost)
    failed = executor_turn_rewards(QUICK_FAILURE, False, lam, zero_progress_cost)
    advantages = standardise(np.concatenate([captured, failed]))
    parts = captured, failed, advantages[: captured.size], advantages[captured.size :]
    return CounterExample(*(fsum(part) for part in parts))


def statements() -> list[Statement]:
    """What LURE Proposition 3 says, and what comes out."""
    lam, cost = DEFAULT.progress_weight, DEFAULT.zero_progress_cost
    found = []
    for weight, charge in ((lam, cost), *OTHERS):
        error = max(
            abs(total_reward(*rollout, weight, charge) - total_reward_claimed(*rollout, weight, charge))
            for rollout in rollouts_up_to(ENUMERATED_TURNS)
        )
        words = (
            f"largest error of the total R + lambda phi_T - lambda c_red Z, every pattern of up to "
            f"{ENUMERATED_TURNS} turns, lambda = {weight:g}, c_red = {charge:g}"
        )
        found.append(_statement(words, 0.0, error))
        margin = enumerated_margin(weight, charge, ENUMERATED_TURNS)
        words = (
            f"worst capture minus best failure, 1 - lambda c_red (T_max - 1), T_max = {ENUMERATED_TURNS}, "
            f"lambda = {weight:g}, c_red = {charge:g}"
        )
        found.append(_statement(words, margin_claimed(weight, charge, ENUMERATED_TURNS), margin))
    words = f"largest T_max at which a capture outranks every failure, lambda = {lam:g}, c_red = {cost:g}"
    found.append(_statement(words, PAPER_TURN_LIMIT, longest_dominated(lam, cost)))
    limits = range(1, TURNS_AT_MOST + 1)
    wrong = sum(
        capture_dominance_holds(lam, cost, limit) != (extreme_margin(lam, cost, limit) > ARITHMETIC) for limit in limits
    )
    words = f"turn limits of 1 to {TURNS_AT_MOST} at which the check of a recipe says otherwise than the rewards"
    found.append(Statement("Proposition 3", Origin.DERIVED, words, 0, wrong))
    example = counter_example(lam, cost)
    words = "a capture after ten turns minus a failure at progress 0.9 after one, sums of rewards"
    found.append(_ordered(words, example.captured_total - example.failed_total, Relation.ABOVE))
    words = "the same two, sums of standardised rewards: the order does not carry over"
    found.append(_ordered(words, example.captured_z - example.failed_z, Relation.BELOW))
    return found


def _statement(words: str, claimed: float, computed: float) -> Statement:
    return Statement("Proposition 3", Origin.PAPER, words, claimed, computed)


def _ordered(words: str, difference: float, relation: Relation) -> Statement:
    return Statement("Proposition 3", Origin.DERIVED, words, 0.0, difference, relation=relation)
