"""GRPO and GRPO-Zero, as LURE compares with them: outcome reward alone, and nobody who learns to choose tasks.

GRPO: tasks curated from the generators, difficulty uniform over the axis (SPEC 1.9; what the paper
calls curated is not public). GRPO-Zero: the model's own tasks, made before training, the pool frozen
after the first round. The round is the same; who chooses is the placement, `Uniform` or `FrozenPool`.

Unlike the textbook's GRPO, a rollout has two sequences, a plan and the turns under it; both get the
rollout's z, and one pass is several optimiser steps against the round's anchor (LURE Eq. 7).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparring.methods.base import Round, Solver
from sparring.placement.base import Competence, Outcome, Placement
from sparring.roles import Role


@dataclass
class Grpo:
    """GRPO over curated or frozen tasks; its solver's credit is the outcome."""

    solver: Solver
    placement: Placement

    def round(self, number: int, budget: int | None = None) -> Round:
        """One round, of at most `budget` rollouts."""
        solver, clock = self.solver, self.solver.pursuers.clock

        # 1. The tasks: curated ones, or those of the frozen pool.
        with clock.phase("emission"):
            environments = list(solver.environments.values())
            emissions = self.placement.propose(number, environments, Competence.no_data())
        emissions, tasks = solver.generate(emissions, budget)

        # 2. G rollouts of each; the verifier says R, and that is the reward.
        groups = solver.pursue(tasks, "rollouts", number)

        # 3. A = z(R) over the G rollouts of a task, for the plan and for every turn.
        rolled_out = [group for group in groups if group is not None]
        plans, executions = solver.plan_buffer(rolled_out), solver.execution_buffer(rolled_out)

        # 4. One pass each.
        with clock.phase("update"):
            updates = {
                Role.PLANNER: solver.learn(Role.PLANNER, plans, number),
                Role.EXECUTOR: solver.learn(Role.EXECUTOR, executions, number),
            }
        outcomes = [Outcome(emission, group) for emission, group in zip(emissions, groups, strict=True)]
        return Round(outcomes, updates)

    def state(self) -> dict[str, Any]:
        """The placement's, ready for JSON: a frozen pool must survive a restart."""
        return {"placement": self.placement.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state` wrote."""
        self.placement.restore(state["placement"])
