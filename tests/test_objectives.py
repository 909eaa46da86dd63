"""Objectives: values by hand, gradients by exact enumeration over a small categorical."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from sparring.errors import UserError
from sparring.objectives import (
    KLEstimator,
    KLReference,
    Objective,
    clipped_surrogate,
    entropy,
    exact_kl,
    k1,
    k2,
    k3,
    kl_term,
    policy_loss,
)


def tensor(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


P, Q = tensor(0.7, 0.3), tensor(0.5, 0.5)


def test_b38_estimators_in_expectation() -> None:
    p, q = P.log(), Q.log()
    assert exact_kl(p, q).item() == pytest.approx(0.08228, abs=5e-6)
    assert (P * k1(p, q)).sum().item() == pytest.approx(0.08228, abs=5e-6)
    assert (P * k2(p, q)).sum().item() == pytest.approx(0.07877, abs=5e-6)
    assert (P * k3(p, q)).sum().item() == pytest.approx(0.08228, abs=5e-6)
    # our tokens come from the anchor q
    assert (Q * kl_term(p, q)).sum().item() == pytest.approx(0.08228, abs=5e-6)


def gradient(loss: Tensor, logits: Tensor) -> Tensor:
    return torch.autograd.grad(loss, logits)[0]


@pytest.mark.parametrize("logits", [[0.3, -0.2, 1.0], [1.5, -2.0, 0.4], [-3.0, 0.0, 3.0]])
def test_kl_term_has_the_gradient_of_the_exact_kl_on_anchor_samples(logits: list[float]) -> None:
    anchor = torch.log_softmax(tensor(0.3, -0.2, 1.0), -1)
    theta = tensor(*logits).requires_grad_()
    expected = gradient(exact_kl(torch.log_softmax(theta, -1), anchor), theta)
    sampled = gradient((anchor.exp() * kl_term(torch.log_softmax(theta, -1), anchor)).sum(), theta)
    torch.testing.assert_close(sampled, expected, rtol=1e-10, atol=1e-12)


def test_k2_has_the_gradient_of_the_exact_kl_on_its_own_samples_and_k3_of_the_reverse() -> None:
    anchor = torch.log_softmax(tensor(0.3, -0.2, 1.0), -1)
    theta = tensor(1.5, -2.0, 0.4).requires_grad_()
    policy = torch.log_softmax(theta, -1)
    expected = gradient(exact_kl(torch.log_softmax(theta, -1), anchor), theta)
    weights = policy.exp().detach()
    by_k2 = gradient((weights * k2(torch.log_softmax(theta, -1), anchor)).sum(), theta)
    by_k3 = gradient((weights * k3(torch.log_softmax(theta, -1), anchor)).sum(), theta)
    torch.testing.assert_close(by_k2, expected, rtol=1e-10, atol=1e-12)
    reverse = gradient(exact_kl(anchor, torch.log_softmax(theta, -1)), theta)
    torch.testing.assert_close(by_k3, reverse, rtol=1e-10, atol=1e-12)
    assert (by_k3 - expected).abs().max() > 0.05


@given(st.floats(-20, 0), st.floats(-20, 0))
def test_kl_term_is_k3_under_the_importance_weight_and_never_negative(policy: float, anchor: float) -> None:
    p, q = tensor(policy), tensor(anchor)
    value = kl_term(p, q)
    assert value.item() >= 0.0
    torch.testing.assert_close(value, (p - q).exp() * k3(p, q), rtol=1e-9, atol=1e-12)
    assert kl_term(p, p).item() == 0.0


def test_clipped_surrogate_by_hand() -> None:
    ratio, advantage = tensor(1.5, 1.5, 0.5, 0.5, 1.1), tensor(2.0, -2.0, 2.0, -2.0, 3.0)
    value = clipped_surrogate(ratio.log(), torch.zeros(5, dtype=torch.float64), advantage, 0.2, 0.28)
    assert value.tolist() == pytest.approx([2.56, -3.0, 1.0, -1.6, 3.3])


def test_entropy() -> None:
    assert entropy(Q.log()).item() == pytest.approx(0.693147, abs=1e-6)


OBJECTIVE = Objective(learning_rate=1e-3, kl_weight=0.1)


class Batch:
    """Thirteen sampled tokens in four rows over a vocabulary of three, as a function of one tensor of logits."""

    def __init__(self, moved: bool) -> None:
        generator = torch.Generator().manual_seed(0)
        self.anchor_logits = torch.randn(4, 5, 3, generator=generator, dtype=torch.float64)
        step = torch.randn(4, 5, 3, generator=generator, dtype=torch.float64) if moved else 0.0
        self.logits = (self.anchor_logits + step).requires_grad_()
        self.ids = torch.randint(0, 3, (4, 5, 1), generator=generator)
        self.mask = torch.tensor([[1, 1, 0, 0, 0], [0, 1, 1, 1, 1], [1, 0, 0, 1, 0], [1, 1, 1, 1, 1]]).bool()
        self.advantages = torch.randn(4, 5, generator=generator, dtype=torch.float64)
        self.zero_variance = torch.zeros(4, 5).bool()

    def loss(self, objective: Objective, rows: slice = slice(None)) -> tuple[Tensor, dict[str, float]]:
        mask = self.mask[rows]
        policy = torch.log_softmax(self.logits[rows][mask], -1)
        anchor = torch.log_softmax(self.anchor_logits[rows][mask], -1)
        ids = self.ids[rows][mask]
        loss, sums = policy_loss(
            policy.gather(-1, ids).squeeze(-1),
            anchor.gather(-1, ids).squeeze(-1),
            anchor.gather(-1, ids).squeeze(-1),
            self.advantages[rows][mask],
            self.zero_variance[rows][mask],
            objective,
            int(self.mask.sum()),
            policy,
            anchor,
        )
        return loss, dict(sums)


@pytest.mark.parametrize("estimator", KLEstimator)
def test_first_step_has_ratio_one_and_an_inert_kl(estimator: KLEstimator) -> None:
    batch = Batch(moved=False)
    gradients = []
    for weight in (0.0, 10.0):
        loss, sums = batch.loss(Objective(1e-3, kl_weight=weight, kl_estimator=estimator))
        gradients.append(gradient(loss, batch.logits))
        assert loss.item() == pytest.approx(-batch.advantages[batch.mask].mean().item())
        assert sums["kl"] == pytest.approx(0.0, abs=1e-12)
        assert sums["clipped"] == 0
    torch.testing.assert_close(gradients[0], gradients[1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("estimator", KLEstimator)
def test_b40_kl_pulls_once_the_policy_has_moved(estimator: KLEstimator) -> None:
    batch = Batch(moved=True)
    free, _ = batch.loss(Objective(1e-3, kl_weight=0.0, kl_estimator=estimator))
    bound, sums = batch.loss(Objective(1e-3, kl_weight=0.5, kl_estimator=estimator))
    tokens = sums["tokens"]
    assert sums["kl"] > 0
    assert (bound - free).item() == pytest.approx(0.5 * sums["kl"] / tokens)
    assert (gradient(bound, batch.logits) - gradient(free, batch.logits)).abs().max() > 1e-3


@pytest.mark.parametrize("estimator", KLEstimator)
def test_micro_batches_add_up(estimator: KLEstimator) -> None:
    batch = Batch(moved=True)
    objective = Objective(1e-3, kl_weight=0.3, kl_estimator=estimator)
    whole, sums = batch.loss(objective)
    parts = [batch.loss(objective, rows) for rows in (slice(0, 1), slice(1, 4))]
    torch.testing.assert_close(
        gradient(parts[0][0] + parts[1][0], batch.logits), gradient(whole, batch.logits), rtol=0, atol=1e-12
    )
    for name, value in sums.items():
        assert parts[0][1][name] + parts[1][1][name] == pytest.approx(value)


def test_statistics_are_sums_over_sampled_tokens() -> None:
    batch = Batch(moved=True)
    _, sums = batch.loss(Objective(1e-3, kl_weight=0.0, kl_estimator=KLEstimator.EXACT))
    policy, anchor = torch.log_softmax(batch.logits, -1), torch.log_softmax(batch.anchor_logits, -1)
    assert sums["tokens"] == 13
    assert sums["entropy"] == pytest.approx(entropy(policy)[batch.mask].sum().item())
    assert sums["kl"] == pytest.approx(exact_kl(policy, anchor)[batch.mask].sum().item())
    ratio = (policy - anchor).gather(-1, batch.ids).squeeze(-1).exp()[batch.mask]
    advantage = batch.advantages[batch.mask]
    expected = sum(
        (a > 0 and w > 1.2) or (a < 0 and w < 0.8) for a, w in zip(advantage.tolist(), ratio.tolist(), strict=True)
    )
    assert sums["clipped"] == expected > 0


def test_sampled_kl_is_the_one_for_anchor_samples() -> None:
    batch = Batch(moved=True)
    _, sums = batch.loss(OBJECTIVE)
    policy, anchor = torch.log_softmax(batch.logits, -1), torch.log_softmax(batch.anchor_logits, -1)
    terms = kl_term(policy.gather(-1, batch.ids), anchor.gather(-1, batch.ids)).squeeze(-1)
    assert sums["kl"] == pytest.approx(terms[batch.mask].sum().item())


@pytest.mark.parametrize("kept", [True, False])
def test_b37_group_without_spread_keeps_or_drops_its_kl_by_name(kept: bool) -> None:
    batch = Batch(moved=True)
    batch.zero_variance[:] = True
    loss, sums = batch.loss(Objective(1e-3, kl_weight=0.5, keep_zero_variance_kl=kept))
    assert sums["zero_variance"] == sums["tokens"] == 13
    assert loss.item() == pytest.approx(0.5 * sums["kl"] / 13 if kept else 0.0)
    assert bool(gradient(loss, batch.logits).any()) is kept


def test_b47_loss_and_gradient_of_two_turns_by_hand() -> None:
    log_probs = torch.full((4,), -1.0, requires_grad=True)
    advantages, spread = torch.tensor([1.0, 1.0, -0.5, -0.5]), torch.zeros(4).bool()
    # the anchor holds no gradient, even where the same tensor is passed for it
    loss, sums = policy_loss(log_probs, log_probs, log_probs, advantages, spread, OBJECTIVE, 4)
    assert sums["tokens"] == 4
    assert loss.item() == pytest.approx(-(1.0 + 1.0 - 0.5 - 0.5) / 4)
    assert gradient(loss, log_probs).tolist() == [-0.25, -0.25, 0.125, 0.125]


def test_the_clip_is_centred_on_the_sampler_and_the_kl_on_its_reference() -> None:
    """One token, pi = .4, sampled at .5, held to .8: ratio .8, k3 = .8/.4 - 1 - ln 2, gradient -1 towards it."""
    policy = tensor(0.4).log().requires_grad_()
    objective = Objective(1e-3, kl_weight=0.5, kl_reference=KLReference.INITIAL)
    loss, sums = policy_loss(
        policy, tensor(0.5).log(), tensor(0.8).log(), tensor(3.0), torch.tensor([False]), objective, 1
    )
    assert sums["kl"] == pytest.approx(1.0 - math.log(2.0))
    assert loss.item() == pytest.approx(-(0.8 * 3.0 - 0.5 * sums["kl"]))
    # Of the surrogate -w A, of the KL beta (1 - q/pi).
    assert gradient(loss, policy).item() == pytest.approx(-0.8 * 3.0 + 0.5 * (1.0 - 2.0))
    to_the_round = Objective(1e-3, kl_weight=0.5)
    _, sums = policy_loss(
        policy, tensor(0.5).log(), tensor(0.5).log(), tensor(3.0), torch.tensor([False]), to_the_round, 1
    )
    assert sums["kl"] == pytest.approx(0.8 * (0.5 / 0.4 - 1 - math.log(0.5 / 0.4)))


def test_policy_loss_refuses_what_it_cannot_compute() -> None:
    one, spread = torch.zeros(1, requires_grad=True), torch.zeros(1).bool()
    with pytest.raises(ValueError, match="divided by 0"):
        policy_loss(one, one, one, one, spread, OBJECTIVE, 0)
    with pytest.raises(ValueError, match="needs the distributions"):
        policy_loss(one, one, one, one, spread, Objective(1e-3, 0.1, kl_estimator=KLEstimator.EXACT), 1)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("optimiser_steps", 1),
        ("epochs", 0),
        ("learning_rate", -1e-6),
        ("learning_rate", float("nan")),
        ("kl_weight", float("inf")),
        ("clip_low", 1.0),
        ("clip_high", 0.0),
        ("gradient_clip", 0.0),
        ("temperature", 0.0),
    ],
)
def test_numbers_out_of_range_are_refused_by_name(field: str, value: float) -> None:
    numbers: dict[str, Any] = {"learning_rate": 1e-3, "kl_weight": 0.1, field: value}
    with pytest.raises(UserError, match=rf"objective\.{field} = ") as caught:
        Objective(**numbers)
    assert "\n" not in str(caught.value)
