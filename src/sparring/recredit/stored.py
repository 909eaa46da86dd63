"""Groups of rollouts as a run stored them, one group at a time, ready for the credit functions.

Only what credit needs is kept of a line, so memory does not grow with a run or with its texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from sparring.config.sections import MethodSection
from sparring.credit import FloatArray, Label, executor_turn_rewards
from sparring.errors import UserError
from sparring.methods.r_zero import judged_by, majority
from sparring.reports.episodes import StoredOutcome, rollout_rows
from sparring.reports.metrics import StoredRow, checked
from sparring.trajectories import PolicySequence, Trajectory, Turn

Gain = Annotated[float, Field(ge=0.0)]
TurnOfToken = Annotated[int, Field(ge=-1)]


class GroupKind(StrEnum):
    """What came of the finished rollouts of one task."""

    ALL_CAPTURED = "all_captured"
    MIXED = "mixed"
    ALL_FAILED = "all_failed"


class StoredPlace(StoredOutcome):
    """Where a stored rollout belongs, and what it answered; a broken one says so too."""

    group: int
    probe: bool = False
    answer: str | None = None


class CreditTurn(StoredRow):
    """What credit reads of a turn, and the Eq. 4 scalar that training wrote beside it."""

    stage: int
    progress: float
    gain: Gain
    reward: float
    well_formed: bool


class CreditPlan(StoredRow):
    """What credit reads of a plan; turn holds the turn that sampled each token, -1 for none."""

    stage_ends: list[float]
    turn: list[TurnOfToken]


class CreditExecution(StoredRow):
    """Which turn sampled each token of the executor's sequence, -1 for none."""

    turn: list[TurnOfToken]


class CreditRollout(StoredRow):
    """What credit reads of a rollout that finished."""

    turns: list[CreditTurn] = Field(min_length=1)
    plan: CreditPlan
    execution: CreditExecution


@dataclass(frozen=True)
class StoredRollout:
    """A finished rollout with the sampled tokens of each turn, shape (T,), and of its plan, shape (1,)."""

    trajectory: Trajectory
    turn_tokens: FloatArray
    plan_tokens: FloatArray


@dataclass(frozen=True)
class StoredGroup:
    """The trained rollouts of one task under the label that training used.

    broken: how many are left out because they broke. captures: R by the verifier, as stored, which
    differs from the trajectories' where a majority judged. labelled: False where the majority's
    label cannot be recomputed, since no probe of this task is stored.
    """

    rollouts: list[StoredRollout]
    broken: int
    captures: list[bool]
    labelled: bool

    @property
    def trajectories(self) -> list[Trajectory]:
        """The finished rollouts, for the credit functions."""
        return [rollout.trajectory for rollout in self.rollouts]

    @property
    def kind(self) -> GroupKind:
        """What came of it."""
        outcomes = {trajectory.captured for trajectory in self.trajectories}
        if len(outcomes) == 2:
            return GroupKind.MIXED
        return GroupKind.ALL_CAPTURED if True in outcomes else GroupKind.ALL_FAILED


def stored_groups(path: Path, method: MethodSection) -> Iterator[StoredGroup]:
    """The trained groups of one round's file, in order; probes serve for the majority's label alone.

    UserError for a line that is no rollout, or whose stored turn rewards are not what the recipe's
    Eq. 4 gives: the run's own credit could then not be reproduced.
    """
    placed = ((where, row, checked(StoredPlace, row, where)) for where, row in rollout_rows(path))
    for _, lines in groupby(placed, key=lambda each: each[2].group):
        votes: list[str | None] = []
        probed, broken = False, 0
        rollouts = []
        for where, row, place in lines:
            probed = probed or place.probe
            if place.probe:
                votes += [place.answer] if place.error is None else []
            elif place.error is not None:
                broken += 1
            else:
                rollouts.append(_rollout(row, place, where, method))
        if rollouts or broken:
            by_majority = method.name == "r_zero" and method.label is Label.MAJORITY
            captures = [rollout.trajectory.captured for rollout in rollouts]
            judged = _judged(rollouts, majority(votes)) if by_majority else rollouts
            yield StoredGroup(judged, broken, captures, labelled=probed or not by_majority)


def _judged(rollouts: Sequence[StoredRollout], label: str | None) -> list[StoredRollout]:
    judged = judged_by(label, [rollout.trajectory for rollout in rollouts])
    return [replace(each, trajectory=trajectory) for each, trajectory in zip(rollouts, judged, strict=True)]


def _rollout(row: Any, place: StoredPlace, where: str, method: MethodSection) -> StoredRollout:
    stored = checked(CreditRollout, row, where)
    gains, said = [turn.gain for turn in stored.turns], [turn.reward for turn in stored.turns]
    rewards = executor_turn_rewards(gains, place.captured, method.progress_weight, method.zero_progress_cost).tolist()
    for number, (ours, theirs) in enumerate(zip(rewards, said, strict=True)):
        if ours != theirs:
            raise UserError(
                f"{where} has turns.{number}.reward = {theirs}, where Eq. 4 under the run's recipe gives {ours}; "
                "restore recipe.toml and the file from a copy"
            )
    trajectory = Trajectory(
        plan_text="",
        stages=(),
        plan_well_formed=True,
        plan=PolicySequence("planner"),
        execution=PolicySequence("executor"),
        turns=[Turn(turn.stage, "", "", turn.progress, turn.gain, turn.well_formed) for turn in stored.turns],
        stage_ends=stored.plan.stage_ends,
        captured=place.captured,
        answer=place.answer,
    )
    turn_tokens = _tokens_of_turns(stored.execution.turn, len(stored.turns), f"{where} execution.turn")
    return StoredRollout(trajectory, turn_tokens, _tokens_of_turns(stored.plan.turn, 1, f"{where} plan.turn"))


def _tokens_of_turns(turns: Sequence[int], count: int, where: str) -> FloatArray:
    """How many tokens each of `count` turns sampled."""
    sampled = np.asarray([turn for turn in turns if turn >= 0], dtype=np.int64)
    if sampled.size and sampled.max() >= count:
        raise UserError(f"{where} names turn {sampled.max()} of {count}; restore the file or remove the line")
    return np.bincount(sampled, minlength=count).astype(np.float64)
