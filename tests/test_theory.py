"""The paper's theorems and propositions, checked on this project's functions (SPEC 1.13)."""

from collections.abc import Iterator
from itertools import product
from math import comb

import numpy as np
import pytest

from sparring.credit import capture_dominance_holds, capture_rate, executor_turn_rewards, standardise
from sparring.placement.evader_reward import capture_frontier_reward


def binomial(trials: int, p: float) -> list[float]:
    return [comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(trials + 1)]


def outcomes(captures: int, rollouts: int) -> list[bool]:
    return [True] * captures + [False] * (rollouts - captures)


@pytest.mark.parametrize("rollouts", [2, 4, 8])
def test_theorem_1_energy_of_a_group(rollouts: int) -> None:
    for captures in range(rollouts + 1):
        rewards = np.array(outcomes(captures, rollouts), dtype=float)
        mixed = 0 < captures < rollouts
        energy = (standardise(rewards, epsilon=0.0) ** 2).sum()
        assert energy == pytest.approx((rollouts - 1) * mixed)
        if mixed:
            population = (rewards - rewards.mean()) / rewards.std(ddof=0)
            assert (population**2).sum() == pytest.approx(rollouts)


@pytest.mark.parametrize(("p", "anchor"), [(0.5, 6.945), (0.25, 6.299), (0.1, 3.987)])
def test_theorem_1_expected_energy(p: float, anchor: float) -> None:
    energies = [(standardise(np.array(outcomes(k, 8), dtype=float), epsilon=0.0) ** 2).sum() for k in range(9)]
    expectation = float(np.dot(binomial(8, p), energies))
    assert expectation == pytest.approx(7 * (1 - p**8 - (1 - p) ** 8))
    assert round(expectation, 3) == anchor


@pytest.mark.parametrize(
    ("rollouts", "p", "anchor"),
    [(8, 0.5, 0.363), (8, 0.25, 0.242), (8, 0.1, 0.100), (4, 0.5, 0.313), (4, 0.25, 0.223), (4, 0.1, 0.098)],
)
def test_plug_in_bias_of_the_frontier_term(rollouts: int, p: float, anchor: float) -> None:
    rewards = [capture_frontier_reward(capture_rate(outcomes(k, rollouts)), True, 0.0) for k in range(rollouts + 1)]
    expectation = float(np.dot(binomial(rollouts, p), rewards))
    assert expectation == pytest.approx(anchor, abs=5.1e-4)
    assert expectation < min(p, 1 - p)


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def total_reward(counts: tuple[int, ...], rates: tuple[float, ...]) -> float:
    emitted = sum(counts)
    return sum(
        count * capture_frontier_reward(p, True, (count - 1) / emitted)
        for count, p in zip(counts, rates, strict=True)
        if count
    )


@pytest.mark.parametrize(
    ("rates", "emitted", "best"),
    [
        ((0.5, 0.6, 0.3, 0.8), 40, (13, 11, 9, 7)),
        ((0.5, 0.7), 40, (22, 18)),
        ((0.5, 0.5, 0.2), 60, (23, 23, 14)),
    ],
)
def test_proposition_2_optimum_by_brute_force(rates: tuple[float, ...], emitted: int, best: tuple[int, ...]) -> None:
    frontier = np.minimum(rates, 1 - np.array(rates))
    closed_form = emitted * (1 / len(rates) + (frontier - frontier.mean()) / 2)
    found = max(compositions(emitted, len(rates)), key=lambda counts: total_reward(counts, rates))
    assert closed_form.tolist() == pytest.approx(best)
    assert found == best


def test_proposition_2_stationary_point_of_the_per_sample_gradient() -> None:
    emitted = 12
    rates = (0.5, 0.55, 0.4, 0.7, 0.35)
    frontier = np.minimum(rates, 1 - np.array(rates))
    shares = 1 / len(rates) + (frontier - frontier.mean()) * emitted / (emitted - 1)
    assert shares.sum() == pytest.approx(1.0)
    expected = [
        sum(
            weight * capture_frontier_reward(p, True, others / emitted)
            for others, weight in enumerate(binomial(emitted - 1, share))
        )
        for p, share in zip(rates, shares, strict=True)
    ]
    assert max(expected) - min(expected) < 1e-12


def rollouts_up_to(turn_limit: int) -> Iterator[tuple[list[float], bool]]:
    """Every pattern of gains: captures reach progress 1, failures stay below it."""
    for turns in range(1, turn_limit + 1):
        for pattern in product([0, 1], repeat=turns):
            for last, captured in ((1.0, True), (0.999, False)):
                steps = sum(pattern)
                if steps or not captured:
                    yield [last * step / max(steps, 1) for step in pattern], captured


@pytest.mark.parametrize(("lam", "cost"), [(0.25, 0.05), (1.0, 0.3), (1.0, 0.7), (3.0, 0.2)])
@pytest.mark.parametrize("turn_limit", [1, 2, 4, 6])
def test_proposition_3_capture_outranks_failure(lam: float, cost: float, turn_limit: int) -> None:
    totals = [
        (executor_turn_rewards(gains, captured, lam, cost).sum(), captured)
        for gains, captured in rollouts_up_to(turn_limit)
    ]
    worst_capture = min(total for total, captured in totals if captured)
    best_failure = max(total for total, captured in totals if not captured)
    assert (worst_capture > best_failure) == capture_dominance_holds(lam, cost, turn_limit)


def test_proposition_3_does_not_carry_over_to_summed_standardised_rewards() -> None:
    assert capture_dominance_holds(0.25, 0.05, 10)
    captured = executor_turn_rewards([0.0] * 9 + [1.0], True, 0.25, 0.05)
    failed = executor_turn_rewards([0.9], False, 0.25, 0.05)
    assert captured.sum() > failed.sum()
    advantages = standardise(np.concatenate([captured, failed]))
    assert advantages[:10].sum() < advantages[10:].sum()
