"""LURE (arXiv 2608.21871), Algorithm 1: one round, read from top to bottom.

Where this departs from the box: malformed emissions enter the evader's buffer too (Eq. 3 pays
them, the box's loop never visits them); "one update" is one pass of several optimiser steps,
since with a single step the ratio is 1 and clip and KL do nothing; the evader's part of lines 2,
4 and 5 lives in its placement, so that a uniform draw or a thermostat can take its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sparring.methods.base import Round, Solver
from sparring.placement.base import Competence, Outcome, Placement
from sparring.roles import Role


@dataclass
class Lure:
    """LURE over any placement: evader, uniform, thermostat."""

    solver: Solver
    placement: Placement
    competence: Competence = field(default_factory=Competence.no_data)

    def round(self, number: int, budget: int | None = None) -> Round:
        """One round of Algorithm 1, of at most `budget` rollouts."""
        # 1. The snapshots are the weights as they stand: none moves before line 5, and each
        #    role's own pass takes its anchor log-probs before its first step.
        solver, clock = self.solver, self.solver.pursuers.clock

        # 2. The placement (LURE: the snapshot evader) emits tasks; the well-formed ones are X.
        with clock.phase("emission"):
            emissions = self.placement.propose(number, list(solver.environments.values()), self.competence)
        emissions, tasks = solver.generate(emissions, budget)

        # 3. G plan-execute rollouts of each x in X; the verifier gives R and phi_t.
        groups = solver.pursue(tasks, "rollouts", number)
        outcomes = [Outcome(emission, group) for emission, group in zip(emissions, groups, strict=True)]

        # 4. Buffers: D_C inside the placement (Eq. 3), D_plan (Eq. 6), D_exec (Eq. 4 and 5).
        rolled_out = [group for group in groups if group is not None]
        plans, executions = solver.plan_buffer(rolled_out), solver.execution_buffer(rolled_out)

        # 5. One pass each: C, then planner, then executor; none sees another's new weights.
        with clock.phase("update"):
            updates: dict[Role, Mapping[str, float]] = {Role.EVADER: self.placement.learn(outcomes)}
            updates[Role.PLANNER] = solver.learn(Role.PLANNER, plans, number)
            updates[Role.EXECUTOR] = solver.learn(Role.EXECUTOR, executions, number)

        self.competence = Competence.of(outcomes)
        return Round(outcomes, updates)

    def state(self) -> dict[str, Any]:
        """What must survive a restart beside the weights, ready for JSON."""
        return {"competence": self.competence.state(), "placement": self.placement.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state` wrote."""
        self.competence = Competence.restore(state["competence"])
        self.placement.restore(state["placement"])
