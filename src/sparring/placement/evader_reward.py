"""The evader's reward (LURE Eq. 3): capture frontier minus repetition, and the rewards it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from sparring.placement.base import Outcome
from sparring.placement.repetition import Repetition, bleu_cluster_sizes, repeated_signatures


class DifficultyReward(StrEnum):
    """What a valid emission earns for its capture rate p.

    FRONTIER: min(p, 1-p), LURE's Eq. 3 and R-Zero's code. UNCERTAINTY: 1 - 2 |p - 1/2|, R-Zero's
    paper. VALIDITY: 0, so that being well-formed and unlike the others is all that pays. FAILURE:
    1 - p, the plain adversary. The last two are LURE's ablation of the frontier (SPEC 1.10).
    """

    FRONTIER = "frontier"
    UNCERTAINTY = "uncertainty"
    VALIDITY = "validity"
    FAILURE = "failure"


_OF_RATE: Mapping[DifficultyReward, Callable[[float], float]] = {
    DifficultyReward.FRONTIER: lambda p: min(p, 1.0 - p),
    DifficultyReward.UNCERTAINTY: lambda p: 1.0 - 2.0 * abs(p - 0.5),
    DifficultyReward.VALIDITY: lambda p: 0.0,
    DifficultyReward.FAILURE: lambda p: 1.0 - p,
}


def capture_frontier_reward(
    p: float | None, valid: bool, repetition: float, difficulty: DifficultyReward = DifficultyReward.FRONTIER
) -> float:
    """Evader reward r_C = min(p, 1-p) - rho if x in V, else -1 - rho (LURE Eq. 3).

    p: capture rate, read only when valid (x in V). repetition: rho, 0 or more. `difficulty` puts another
    function of p in the place of min(p, 1-p). Raises ValueError for numbers out of range.
    """
    if repetition < 0.0:
        raise ValueError(f"repetition {repetition} is below 0")
    if not valid:
        return -1.0 - repetition
    if p is None or not 0.0 <= p <= 1.0:
        raise ValueError(f"a valid emission has a capture rate in [0, 1], not {p}")
    return _OF_RATE[difficulty](p) - repetition


@dataclass(frozen=True)
class EvaderReward:
    """Eq. 3 over a round, and the switches around it.

    scale multiplies rho; 1 is the paper's. over: what N counts, the emissions of the environment or
    of the whole round, where the paper does not say (SPEC 1.3).
    """

    difficulty: DifficultyReward = DifficultyReward.FRONTIER
    repetition: Repetition = Repetition.SIGNATURE
    scale: float = 1.0
    over: Literal["environment", "round"] = "environment"

    def __call__(self, outcomes: Sequence[Outcome]) -> list[float | None]:
        """The reward of every emission of a round, in order.

        rho = scale (n_sig - 1) / N with signatures, scale n_cluster / N with BLEU clusters, counted per
        environment. Malformed and refused emissions share one signature. A valid one whose rollouts all
        broke still counts as an emission but has no p and so no reward: None, to be left out of the update.
        """
        repeated = self._repeated(outcomes)
        emitted: dict[str, int] = {}
        for outcome in outcomes:
            emitted[outcome.emission.environment] = emitted.get(outcome.emission.environment, 0) + 1
        rewards: list[float | None] = []
        for outcome, count in zip(outcomes, repeated, strict=True):
            p, valid = outcome.capture_rate, outcome.group is not None
            if valid and p is None:
                rewards.append(None)
                continue
            of = emitted[outcome.emission.environment] if self.over == "environment" else len(outcomes)
            rewards.append(capture_frontier_reward(p, valid, self.scale * count / of, self.difficulty))
        return rewards

    def _repeated(self, outcomes: Sequence[Outcome]) -> list[int]:
        if self.repetition is Repetition.SIGNATURE:
            return repeated_signatures([f"{each.emission.environment}\n{each.signature}" for each in outcomes])
        sizes = [0] * len(outcomes)
        for name in dict.fromkeys(outcome.emission.environment for outcome in outcomes):
            mine = [index for index, each in enumerate(outcomes) if each.emission.environment == name]
            for index, size in zip(mine, bleu_cluster_sizes([_question(outcomes[i]) for i in mine]), strict=True):
                sizes[index] = size
        return sizes


def _question(outcome: Outcome) -> str:
    """What is asked: the task's statement, or the emission itself where it gave no task."""
    return outcome.emission.text if outcome.group is None else outcome.group.task.public.statement
