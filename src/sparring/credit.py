"""What a turn earned: LURE Eq. 1 and 4 to 6, and group standardisation, in float64.

Pure functions over plain numbers; `executor_advantages` and `planner_advantages` put them together
for the rollouts of one task. Unlike a textbook return, Eq. 4's scalars are standardised turn by
turn and never summed over time, unless `ExecutorCredit.REWARD_TO_GO` is asked for.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from sparring.trajectories import Trajectory

FloatArray = NDArray[np.float64]

STANDARDISE_EPSILON = 1e-6
"""Added to the deviation in z, as verl does (SPEC 1.7)."""

NO_SPREAD = 1e-8
"""Deviations below this are float noise around equal rewards, so that z is zero (SPEC 1.7)."""


class ExecutorCredit(StrEnum):
    """What an executor turn earns.

    EQ5: the paper's scalars, standardised over all turns of the group (Eq. 5). REWARD_TO_GO: the same
    scalars summed to the end first. TURNWISE: those sums, each compared with the other rollouts' at
    the same turn alone. STATEWISE: the outcome, and lambda times the turn's gain as compared with those of
    the rollouts that stood at the same turn with the same progress. TERMINAL: the outcome only.
    DENSE_ON_FAILURE: the outcome where some rollout captured, TURNWISE where none did and the outcome
    says nothing.
    """

    EQ5 = "eq5"
    REWARD_TO_GO = "reward_to_go"
    TURNWISE = "turnwise"
    STATEWISE = "statewise"
    TERMINAL = "terminal"
    DENSE_ON_FAILURE = "dense_on_failure"


class PlannerCredit(StrEnum):
    """What a plan earns.

    PROGRESS: what was made under it (Eq. 6). CAPTURE: the outcome. PROGRESS_ON_FAILURE: the outcome
    where some rollout captured, the progress where none did.
    """

    PROGRESS = "progress"
    CAPTURE = "capture"
    PROGRESS_ON_FAILURE = "progress_on_failure"


class Label(StrEnum):
    """Who says that a rollout succeeded: the verifier, or the majority of the answers to the same task."""

    VERIFIER = "verifier"
    MAJORITY = "majority"


def capture_rate(outcomes: Sequence[bool]) -> float:
    """Capture rate p(x) = (1/G) sum_g R_g (LURE Eq. 1).

    outcomes: R of the G finished rollouts of one task. Returns a share in [0, 1]. Raises ValueError
    when there is none: a task whose rollouts all broke has no rate, and certainly not rate 0.
    """
    if not outcomes:
        raise ValueError("no finished rollout, so no capture rate")
    return sum(outcomes) / len(outcomes)


def standardise(rewards: Sequence[float] | FloatArray, epsilon: float = STANDARDISE_EPSILON) -> FloatArray:
    """Group standardisation z(r) = (r - mean) / (s + epsilon), s the sample deviation (LURE Theorem 1).

    rewards: shape (n,), any unit; the result has the same shape and no unit. A group of one, or one
    with s below 1e-8, has nothing to compare and gets exact zeros, so `any(z)` tells whether a
    group teaches. The deviation takes two passes (mean first), which keeps it right for rewards far
    from zero. Raises ValueError for a reward that is not finite. Source: SPEC 1.7.
    """
    values = np.asarray(rewards, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"rewards must be finite, not {values.tolist()}")
    if values.size < 2:
        return np.zeros_like(values)
    deviation = values.std(ddof=1)
    if deviation < NO_SPREAD:
        return np.zeros_like(values)
    standardised: FloatArray = (values - values.mean()) / (deviation + epsilon)
    return standardised


def executor_turn_rewards(gains: Sequence[float], captured: bool, lam: float, zero_progress_cost: float) -> FloatArray:
    """Executor reward r_t = R 1[t=T] + lambda (dphi_t - c_red 1[dphi_t=0]) (LURE Eq. 4).

    gains: dphi_t of one rollout, shape (T,), each >= 0 in units of progress. captured: R, paid
    once, on the last turn. Returns shape (T,), in units of R; empty for a rollout without a turn.
    Raises ValueError for a negative gain, or a capture that no turn can be paid for.
    """
    gain = np.asarray(gains, dtype=np.float64)
    if (gain < 0.0).any():
        raise ValueError(f"gains are never negative: {gain.tolist()}")
    if captured and gain.size == 0:
        raise ValueError("a rollout was captured without an executor turn")
    rewards: FloatArray = lam * (gain - zero_progress_cost * (gain == 0.0))
    if captured:
        rewards[-1] += 1.0
    return rewards


def reward_to_go(rewards: Sequence[float] | FloatArray) -> FloatArray:
    """Sum of the rewards from each turn to the last one, shape (T,) to (T,) (SPEC 1.7, our option).

    Under Eq. 5 alone the correct early turns of a captured rollout get negative z, because the
    terminal reward sits on its last turn; summed to the end, they share in it.
    """
    return np.cumsum(np.asarray(rewards, dtype=np.float64)[::-1])[::-1]


def stage_potentials(stage_ends: Sequence[float]) -> FloatArray:
    """Stage potentials Phi_i = phi(end of stage i) - phi(start of stage i) (LURE Eq. 6, SPEC 1.5).

    stage_ends: progress at the end of each begun stage, shape (stages,). Returns the same shape.
    As increments they sum to the final progress; levels would pay for adding stages.
    """
    return np.diff(np.asarray(stage_ends, dtype=np.float64), prepend=0.0)


def standardise_by_state(rewards: Sequence[FloatArray], states: Sequence[Sequence[Hashable]]) -> list[FloatArray]:
    """Standardisation state by state: a turn against the turns that began in an equal state (our option).

    rewards: one array per rollout, shape (T_g,), G of them. states: one state per turn, in the same
    shapes. Returns the same shapes. Over all turns at once, as in Eq. 5, a turn is also compared with
    earlier and later ones, whose rewards differ by position alone; here only what a rollout did
    differently from there on counts. A turn whose state no other shares gets 0. Raises ValueError for
    shapes that differ. Source: GiGPO's step level (arXiv 2505.10978), whose anchor states these are.
    """
    advantages = [np.zeros_like(each) for each in rewards]
    members: dict[Hashable, list[tuple[int, int]]] = {}
    for index, (reward, own) in enumerate(zip(rewards, states, strict=True)):
        for turn, (_, state) in enumerate(zip(reward, own, strict=True)):
            members.setdefault(state, []).append((index, turn))
    for there in members.values():
        for (index, turn), value in zip(there, standardise([rewards[i][t] for i, t in there]), strict=True):
            advantages[index][turn] = value
    return advantages


def executor_advantages(
    trajectories: Sequence[Trajectory], credit: ExecutorCredit, lam: float, zero_progress_cost: float
) -> list[list[float]]:
    """Advantage of every executor turn of the G rollouts of one task (LURE Eq. 5).

    EQ5 and REWARD_TO_GO standardise over all turns of all rollouts, TURNWISE turn by turn; TERMINAL
    standardises R over the rollouts and gives each turn its rollout's value, to which STATEWISE adds
    lambda z(dphi_t) over the turns that began at the same turn with the same progress. Returns one list
    per rollout, as long as its turns; a rollout without turns gets an empty list. Raises ValueError for
    a rollout that broke.
    """
    _require_finished(trajectories)
    if credit is ExecutorCredit.DENSE_ON_FAILURE:
        captured = any(trajectory.captured for trajectory in trajectories)
        credit = ExecutorCredit.TERMINAL if captured else ExecutorCredit.TURNWISE
    if credit in (ExecutorCredit.TERMINAL, ExecutorCredit.STATEWISE):
        outcomes = standardise([float(trajectory.captured) for trajectory in trajectories])
        gains = [np.array([turn.gain for turn in trajectory.turns]) for trajectory in trajectories]
        steps = standardise_by_state(gains, [_states(trajectory) for trajectory in trajectories])
        weight = lam if credit is ExecutorCredit.STATEWISE else 0.0
        return [(outcome + weight * step).tolist() for outcome, step in zip(outcomes, steps, strict=True)]
    rewards = [
        executor_turn_rewards([turn.gain for turn in trajectory.turns], trajectory.captured, lam, zero_progress_cost)
        for trajectory in trajectories
    ]
    if credit is not ExecutorCredit.EQ5:
        rewards = [reward_to_go(reward) for reward in rewards]
    if credit is ExecutorCredit.TURNWISE:
        return [each.tolist() for each in standardise_by_state(rewards, [range(each.size) for each in rewards])]
    advantages = standardise(np.concatenate(rewards))
    ends = np.cumsum([reward.size for reward in rewards])
    return [part.tolist() for part in np.split(advantages, ends[:-1])]


def _states(trajectory: Trajectory) -> list[tuple[int, float]]:
    """Where each turn began: its number, and the progress made before it."""
    return list(enumerate([0.0, *(turn.progress for turn in trajectory.turns)][: len(trajectory.turns)]))


def planner_rewards(trajectories: Sequence[Trajectory], credit: PlannerCredit) -> list[float]:
    """What each plan earned (LURE Eq. 6, no terminal term).

    PROGRESS: r_plan = sum_i Phi_i, in units of progress. CAPTURE: r_plan = R. Returns shape (G,).
    """
    if credit is PlannerCredit.PROGRESS_ON_FAILURE:
        captured = any(trajectory.captured for trajectory in trajectories)
        credit = PlannerCredit.CAPTURE if captured else PlannerCredit.PROGRESS
    if credit is PlannerCredit.CAPTURE:
        return [float(trajectory.captured) for trajectory in trajectories]
    return [float(stage_potentials(trajectory.stage_ends).sum()) for trajectory in trajectories]


def planner_advantages(trajectories: Sequence[Trajectory], credit: PlannerCredit) -> list[float]:
    """Advantage of each of the G plans of one task: z over r_plan (LURE Eq. 6).

    Returns shape (G,). Raises ValueError for a rollout that broke.
    """
    _require_finished(trajectories)
    return [float(advantage) for advantage in standardise(planner_rewards(trajectories, credit))]


def capture_dominance_holds(lam: float, zero_progress_cost: float, turn_limit: int) -> bool:
    """Whether every capture outranks every failure in Eq. 4's total (LURE Proposition 3).

    True iff lambda c_red (T_max - 1) < 1: the slowest capture pays the cost on all turns but one,
    the best failure pays none. Holds for raw sums; not for sums of z-scores over rollouts of
    different lengths, since z subtracts a mean per turn.
    """
    return lam * zero_progress_cost * (turn_limit - 1) < 1.0


def _require_finished(trajectories: Sequence[Trajectory]) -> None:
    """A rollout that broke for reasons of ours is no outcome and must not enter a group."""
    if not trajectories:
        raise ValueError("no finished rollout, so no group to standardise over")
    for trajectory in trajectories:
        if trajectory.error is not None:
            raise ValueError(f"a rollout that broke entered the group: {trajectory.error}")
