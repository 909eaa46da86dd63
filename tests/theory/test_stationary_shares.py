"""Where the per-sample gradient of Eq. 3 comes to rest."""

from math import comb

import numpy as np
import pytest

from sparring.placement.evader_reward import capture_frontier_reward
from sparring.theory.signature_shares import frontier, tilt
from sparring.theory.stationary_shares import (
    Baseline,
    advantages_by_others,
    compositions,
    emission_rewards,
    expected_advantages,
    stationary_shares,
    stationary_shares_found,
)


def test_compositions_are_all_there() -> None:
    assert list(compositions(2, 2)) == [(0, 2), (1, 1), (2, 0)]
    assert len(list(compositions(11, 3))) == comb(13, 2)


def test_emission_rewards_are_equation_3() -> None:
    rewards = emission_rewards((3, 1, 0), (0.5, 0.75, 0.5))
    assert rewards.tolist() == pytest.approx([0.5 - 2 / 4, 0.25, 0.0])


def test_every_sample_of_the_stationary_shares_expects_the_same() -> None:
    emitted, rates = 12, (0.5, 0.55, 0.4, 0.7, 0.35)
    terms = frontier(rates)
    shares = stationary_shares(rates, emitted, Baseline.NONE)
    assert shares.tolist() == pytest.approx((1 / 5 + (terms - terms.mean()) * 12 / 11).tolist())
    expected = [
        sum(
            comb(11, others) * m**others * (1 - m) ** (11 - others) * capture_frontier_reward(p, True, others / 12)
            for others in range(12)
        )
        for p, m in zip(rates, shares, strict=True)
    ]
    assert max(expected) - min(expected) < 1e-12


@pytest.mark.parametrize(("baseline", "less"), [(Baseline.NONE, 1), (Baseline.GROUP_MEAN, 2)])
@pytest.mark.parametrize("emitted", [4, 12])
def test_the_root_of_the_enumeration_is_the_closed_form(baseline: Baseline, less: int, emitted: int) -> None:
    rates = (0.5, 0.6, 0.25)
    others, advantages = advantages_by_others(rates, emitted, baseline)
    shares = stationary_shares(rates, emitted, baseline)
    expected = expected_advantages(shares, others, advantages)
    assert expected.max() - expected.min() < 1e-12
    assert stationary_shares_found(rates, emitted, baseline).tolist() == pytest.approx(shares.tolist())
    assert tilt(shares) == pytest.approx(0.25 * emitted / (emitted - less))


def test_equal_shares_are_no_rest_where_rates_differ() -> None:
    others, advantages = advantages_by_others((0.5, 0.25), 6, Baseline.NONE)
    expected = expected_advantages(np.array([0.5, 0.5]), others, advantages)
    assert expected[0] - expected[1] == pytest.approx(0.25)


def test_shares_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ValueError, match="stay in use"):
        stationary_shares((0.5, 0.5, 0.5, 0.0), 12, Baseline.NONE)
    with pytest.raises(ValueError, match="group of 2"):
        stationary_shares((0.5, 0.5), 2, Baseline.GROUP_MEAN)
