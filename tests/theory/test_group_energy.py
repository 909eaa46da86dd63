"""Theorem 1: the energy of a group of rollouts, and the rate at which it is largest."""

import numpy as np
import pytest

from sparring.credit import standardise
from sparring.theory.group_energy import (
    capture_weights,
    expected_energy,
    expected_energy_claimed,
    group_energy,
    most_energetic_rate,
    outcomes,
)


@pytest.mark.parametrize("rollouts", [2, 4, 8])
def test_only_a_mixed_group_has_energy(rollouts: int) -> None:
    for captures in range(rollouts + 1):
        rewards = np.array(outcomes(captures, rollouts), dtype=float)
        mixed = 0 < captures < rollouts
        assert group_energy(captures, rollouts) == pytest.approx((rollouts - 1) * mixed)
        assert (standardise(rewards, epsilon=0.0) ** 2).sum() == pytest.approx((rollouts - 1) * mixed)
        if mixed:
            population = (rewards - rewards.mean()) / rewards.std(ddof=0)
            assert (population**2).sum() == pytest.approx(rollouts)


@pytest.mark.parametrize(("p", "anchor"), [(0.5, 6.945), (0.25, 6.299), (0.1, 3.987)])
def test_expected_energy(p: float, anchor: float) -> None:
    assert expected_energy(p, 8) == pytest.approx(7 * (1 - p**8 - (1 - p) ** 8))
    assert expected_energy(p, 8) == pytest.approx(expected_energy_claimed(p, 8))
    assert round(expected_energy(p, 8), 3) == anchor


def test_weights_are_binomial() -> None:
    assert capture_weights(0.25, 3).tolist() == pytest.approx([27 / 64, 27 / 64, 9 / 64, 1 / 64])


@pytest.mark.parametrize("rollouts", [2, 3, 8])
def test_energy_is_largest_at_one_half(rollouts: int) -> None:
    assert most_energetic_rate(rollouts) == pytest.approx(0.5, abs=1e-5)
    assert expected_energy(0.0, rollouts) == expected_energy(1.0, rollouts) == 0.0


def test_what_training_adds_to_the_deviation_takes_away_little() -> None:
    assert 6.9999 < group_energy(1, 8, epsilon=1e-6) < 7.0
