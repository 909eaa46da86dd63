"""The policy objective: clipped surrogate (LURE Eq. 7), KL to the round anchor, token-mean loss.

The round anchor pi_0 is the round-start snapshot. It is at once the policy that sampled the tokens,
the centre of the clip and the reference of the KL, so one stored log-prob a token serves all three.
At the first optimiser step pi = pi_0: every ratio is 1 and the KL and its gradient are 0. Clip and
KL act from the second step on, which is why an objective has at least two.

Tensors hold the sampled tokens of a micro-batch, one entry a token: shape (n,), or (n, vocabulary)
for distributions. The engine selects them; what prompts, tools and markers wrote never comes here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor

from sparring.errors import UserError


class KLEstimator(StrEnum):
    """How the KL term of a token is measured.

    K3_STRAIGHT_THROUGH: k3 from the sampled token alone, see `kl_term`. EXACT: the sum over the
    vocabulary, see `exact_kl`; for small vocabularies, where k3 spikes on rare tokens.
    """

    K3_STRAIGHT_THROUGH = "k3"
    EXACT = "exact"


class KLReference(StrEnum):
    """What the KL holds a policy to: its own round-start snapshot (LURE), or the weights it began with.

    The clip is centred on the snapshot in either case, since that is what sampled.
    """

    ROUND_START = "round_start"
    INITIAL = "initial"


@dataclass(frozen=True)
class Objective:
    """All numbers of one policy's update.

    The ratio is clipped to [1 - clip_low, 1 + clip_high]. epochs passes are made over the round's
    data, each of optimiser_steps. temperature is the one the tokens were sampled at: log-probs are those of
    the tempered policy. keep_zero_variance_kl keeps the KL term on groups whose credit had no
    spread (their policy term is 0 either way). Raises UserError for a number out of range.
    """

    learning_rate: float
    kl_weight: float
    clip_low: float = 0.2
    clip_high: float = 0.2
    kl_estimator: KLEstimator = KLEstimator.K3_STRAIGHT_THROUGH
    kl_reference: KLReference = KLReference.ROUND_START
    optimiser_steps: int = 4
    epochs: int = 1
    gradient_clip: float = 1.0
    temperature: float = 1.0
    keep_zero_variance_kl: bool = True

    def __post_init__(self) -> None:
        """Refuse numbers that cannot be meant."""
        self._require("learning_rate", self.learning_rate >= 0.0, "0 or more")
        self._require("kl_weight", self.kl_weight >= 0.0, "0 or more")
        self._require("clip_low", 0.0 < self.clip_low < 1.0, "between 0 and 1")
        self._require("clip_high", self.clip_high > 0.0, "above 0")
        self._require(
            "optimiser_steps", self.optimiser_steps >= 2, "at least 2, since with one step clip and KL are inert"
        )
        self._require("epochs", self.epochs >= 1, "1 or more")
        self._require("gradient_clip", self.gradient_clip > 0.0, "above 0")
        self._require("temperature", self.temperature > 0.0, "above 0")

    def _require(self, field: str, holds: bool, mend: str) -> None:
        value = getattr(self, field)
        if not (holds and math.isfinite(value)):
            raise UserError(f"objective.{field} = {value} is not accepted: give a number {mend}")


def clipped_surrogate(
    log_probs: Tensor, anchor_log_probs: Tensor, advantages: Tensor, clip_low: float, clip_high: float
) -> Tensor:
    """Clipped surrogate min(w A, clip(w, 1 - clip_low, 1 + clip_high) A) per token (LURE Eq. 7).

    w = pi / pi_0 on the sampled token. To be maximised. All shapes equal.
    """
    ratio = torch.exp(log_probs - anchor_log_probs)
    return torch.minimum(ratio * advantages, ratio.clamp(1.0 - clip_low, 1.0 + clip_high) * advantages)


def k1(log_probs: Tensor, reference_log_probs: Tensor) -> Tensor:
    """KL estimator log(pi/q) on a token drawn from pi: unbiased for KL(pi || q), often negative."""
    return log_probs - reference_log_probs


def k2(log_probs: Tensor, reference_log_probs: Tensor) -> Tensor:
    """KL estimator log(pi/q)^2 / 2 on a token drawn from pi: biased, but with the KL's own gradient."""
    return 0.5 * (log_probs - reference_log_probs) ** 2


def k3(log_probs: Tensor, reference_log_probs: Tensor) -> Tensor:
    """KL estimator q/pi - 1 - log(q/pi) on a token drawn from pi: unbiased and never negative.

    Its derivative is not that of the KL (in expectation it is that of KL(q || pi)), so it is a
    value to report; to train on, take `kl_term`.
    """
    return torch.expm1(reference_log_probs - log_probs) + log_probs - reference_log_probs


def kl_term(log_probs: Tensor, anchor_log_probs: Tensor) -> Tensor:
    """KL(pi || pi_0) per token drawn from the anchor pi_0: w k3, w = pi/pi_0, in nats.

    The tokens of a round come from pi_0, not from the pi being trained, so k3, which wants tokens
    of pi, carries the importance weight: w k3 = w log w - w + 1. It is never negative, equals k3
    where pi = pi_0, and is unbiased for KL(pi || pi_0) at and away from the anchor. Differentiating
    straight through the weight gives w log w d(log pi), the weighted gradient of k2, which is
    unbiased for the KL's gradient. The contexts before a token remain those that pi_0 visited.
    """
    log_ratio = log_probs - anchor_log_probs
    return torch.exp(log_ratio) * log_ratio - torch.expm1(log_ratio)


def exact_kl(log_distribution: Tensor, anchor_log_distribution: Tensor) -> Tensor:
    """KL(pi || pi_0) = sum_v pi(v) (log pi(v) - log pi_0(v)) over the last dimension, in nats.

    Shapes (..., vocabulary) to (...). Both are finite, normalised log-probs.
    """
    return (log_distribution.exp() * (log_distribution - anchor_log_distribution)).sum(-1)


def entropy(log_distribution: Tensor) -> Tensor:
    """Entropy over the last dimension, in nats; shapes (..., vocabulary) to (...)."""
    return -(log_distribution.exp() * log_distribution).sum(-1)


def policy_loss(
    log_probs: Tensor,
    anchor_log_probs: Tensor,
    reference_log_probs: Tensor,
    advantages: Tensor,
    zero_variance: Tensor,
    objective: Objective,
    denominator: int,
    log_distribution: Tensor | None = None,
    reference_log_distribution: Tensor | None = None,
) -> tuple[Tensor, Mapping[str, float]]:
    """Loss to be minimised for one micro-batch: -(sum over tokens of Eq. 7's integrand) / denominator.

    anchor: the policy that sampled, centre of the clip; reference: what the KL is to. In LURE they are
    the same round-start snapshot; with another reference k3 is taken as GRPO takes it, `k3`, unweighted.
    The denominator is the number of sampled tokens of the whole optimiser step, those of
    zero-variance groups included (SPEC 1.7), so the losses of its micro-batches add up to the same
    gradient however it is split. zero_variance is boolean. The policy's distribution adds entropy
    to the statistics; both distributions are needed for KLEstimator.EXACT.

    Returns the loss and sums over tokens: tokens, kl, clipped (tokens whose policy gradient the
    clip removed), zero_variance, and entropy when it can be known. Raises ValueError for a
    denominator below 1 or a missing distribution.
    """
    if denominator < 1:
        raise ValueError(f"the loss is divided by {denominator} tokens")
    anchor = anchor_log_probs.detach()
    # Zero already when the credit standardised to zero; forced here so that the flag alone decides.
    advantage = advantages.masked_fill(zero_variance, 0.0)

    surrogate = clipped_surrogate(log_probs, anchor, advantage, objective.clip_low, objective.clip_high)
    if objective.kl_estimator is KLEstimator.EXACT:
        if log_distribution is None or reference_log_distribution is None:
            raise ValueError("the exact KL needs the distributions of the policy and of its reference")
        kl = exact_kl(log_distribution, reference_log_distribution.detach())
    elif objective.kl_reference is KLReference.ROUND_START:
        kl = kl_term(log_probs, reference_log_probs.detach())
    else:
        kl = k3(log_probs, reference_log_probs.detach())
    kept_kl = kl if objective.keep_zero_variance_kl else kl.masked_fill(zero_variance, 0.0)
    loss = -(surrogate - objective.kl_weight * kept_kl).sum() / denominator

    with torch.no_grad():
        ratio = torch.exp(log_probs - anchor)
        clipped = ((advantage > 0) & (ratio > 1.0 + objective.clip_high)) | (
            (advantage < 0) & (ratio < 1.0 - objective.clip_low)
        )
        sums = {"kl": kl.sum(), "clipped": clipped.sum(), "zero_variance": zero_variance.sum()}
        if log_distribution is not None:
            sums["entropy"] = entropy(log_distribution).sum()
    return loss, {"tokens": float(len(log_probs)), **{name: float(value) for name, value in sums.items()}}
