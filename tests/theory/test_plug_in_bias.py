"""The plug-in bias of Eq. 3's frontier term."""

import pytest

from sparring.theory.plug_in_bias import bias_at_one_half, expected_plug_in_reward, plug_in_bias, true_reward


@pytest.mark.parametrize(
    ("rollouts", "p", "anchor"),
    [(8, 0.5, 0.363), (8, 0.25, 0.242), (8, 0.1, 0.100), (4, 0.5, 0.313), (4, 0.25, 0.223), (4, 0.1, 0.098)],
)
def test_expected_frontier_term(rollouts: int, p: float, anchor: float) -> None:
    assert expected_plug_in_reward(p, rollouts) == pytest.approx(anchor, abs=5.1e-4)
    assert plug_in_bias(p, rollouts) == pytest.approx(expected_plug_in_reward(p, rollouts) - min(p, 1 - p))
    assert plug_in_bias(p, rollouts) < 0.0


def test_one_rollout_sees_no_frontier() -> None:
    assert expected_plug_in_reward(0.5, 1) == 0.0
    assert true_reward(0.5) == 0.5


@pytest.mark.parametrize(("rollouts", "bias"), [(2, -0.25), (4, -0.1875), (8, -0.13671875)])
def test_bias_at_one_half(rollouts: int, bias: float) -> None:
    assert bias_at_one_half(rollouts) == bias
    assert plug_in_bias(0.5, rollouts) == pytest.approx(bias)


def test_bias_at_one_half_is_for_even_groups() -> None:
    with pytest.raises(ValueError, match="not 3"):
        bias_at_one_half(3)
