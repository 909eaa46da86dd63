"""The credits to compare: every one that a recipe can name, and the paper's with one of its terms taken out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sparring.config.sections import MethodSection
from sparring.credit import ExecutorCredit, PlannerCredit, executor_advantages, planner_advantages
from sparring.trajectories import Trajectory

Advantages = list[list[float]]
"""One list a rollout, one number a sampled turn; a plan is one turn."""


@dataclass(frozen=True)
class ExecutorOption:
    """An executor credit with its numbers (the paper's lambda and c_red)."""

    credit: ExecutorCredit
    progress_weight: float
    zero_progress_cost: float

    def __call__(self, trajectories: Sequence[Trajectory]) -> Advantages:
        """The advantage of each turn of a group, from the function that training calls."""
        return executor_advantages(trajectories, self.credit, self.progress_weight, self.zero_progress_cost)


@dataclass(frozen=True)
class PlannerOption:
    """A planner credit."""

    credit: PlannerCredit

    def __call__(self, trajectories: Sequence[Trajectory]) -> Advantages:
        """The advantage of each plan of a group, from the function that training calls."""
        return [[advantage] for advantage in planner_advantages(trajectories, self.credit)]


def executor_options(method: MethodSection) -> Mapping[str, ExecutorOption]:
    """The executor credits by name, under the run's lambda and c_red; the run's own is among them.

    Added: Eq. 5 with c_red = 0 and with lambda = 0, unless the run's own number is 0 already.
    """
    weight, cost = method.progress_weight, method.zero_progress_cost
    options = {credit.value: ExecutorOption(credit, weight, cost) for credit in ExecutorCredit}
    if cost:
        options["eq5, c_red = 0"] = ExecutorOption(ExecutorCredit.EQ5, weight, 0.0)
    if weight:
        options["eq5, lambda = 0"] = ExecutorOption(ExecutorCredit.EQ5, 0.0, cost)
    return options


def planner_options() -> Mapping[str, PlannerOption]:
    """The planner credits by name."""
    return {credit.value: PlannerOption(credit) for credit in PlannerCredit}
