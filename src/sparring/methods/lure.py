"""LURE (arXiv 2608.21871), Algorithm 1: one round, read from top to bottom.

Where this departs from the box: malformed emissions enter the evader's buffer too (Eq. 3 pays
them, the box's loop never visits them); "one update" is one pass of several optimiser steps,
since with a single step the ratio is 1 and clip and KL do nothing; the evader's part of lines 2,
4 and 5 lives in its placement, so that a uniform draw or a thermostat can take its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sparring.credit import ExecutorCredit, PlannerCredit, executor_advantages, planner_advantages
from sparring.engines.base import Engine, joint_report
from sparring.environments.base import AnyEnvironment
from sparring.objectives import Objective
from sparring.placement.base import Competence, Outcome, Placement
from sparring.roles import Role
from sparring.rollouts import Pursuers
from sparring.tasks import GenerationRefusedError, Task, derive_seed
from sparring.trajectories import Group, TrainSequence, train_sequence


@dataclass
class LureRound:
    """All that came of one round."""

    outcomes: list[Outcome]
    updates: dict[Role, Mapping[str, float]]


@dataclass
class Lure:
    """LURE over any placement; the numbers are the paper's lambda, c_red and G."""

    engine: Engine
    environments: Mapping[str, AnyEnvironment]
    placement: Placement
    pursuers: Pursuers
    policy: Callable[[Role, str], str]
    objectives: Mapping[Role, Objective]
    group_size: int
    progress_weight: float
    zero_progress_cost: float
    executor_credit: ExecutorCredit
    planner_credit: PlannerCredit
    run_seed: int
    competence: Competence = field(default_factory=Competence.no_data)

    def round(self, number: int) -> LureRound:
        """One round of Algorithm 1."""
        # 1. The snapshots are the weights as they stand: none moves before line 5, and each
        #    role's own pass takes its anchor log-probs before its first step.
        clock = self.pursuers.clock

        # 2. The placement (LURE: the snapshot evader) emits tasks; the well-formed ones are X.
        with clock.phase("emission"):
            emissions = self.placement.propose(number, list(self.environments.values()), self.competence)
        with clock.phase("task generation"):
            tasks = [self._task(each.environment, each.difficulty, each.task_seed) for each in emissions]

        # 3. G plan-execute rollouts of each x in X; the verifier gives R and phi_t.
        with clock.phase("rollout"):
            pool = [task for task in tasks if task is not None]
            seed = derive_seed(self.run_seed, "rollouts", number)
            groups = iter(self.pursuers.pursue(pool, self.group_size, seed))
        outcomes = [
            Outcome(emission, None if task is None else next(groups))
            for emission, task in zip(emissions, tasks, strict=True)
        ]

        # 4. Buffers: D_C inside the placement (Eq. 3), D_plan (Eq. 6), D_exec (Eq. 4 and 5).
        #    Groups keep only rollouts that ended by themselves: a broken checker is no failure.
        finished = [outcome.group for outcome in outcomes if outcome.group is not None and outcome.group.finished]
        plans = [pair for group in finished for pair in self._plan_buffer(group)]
        executions = [pair for group in finished for pair in self._execution_buffer(group)]

        # 5. One pass each: C, then planner, then executor; none sees another's new weights.
        with clock.phase("update"):
            updates: dict[Role, Mapping[str, float]] = {Role.EVADER: self.placement.learn(outcomes)}
            updates[Role.PLANNER] = self._update(Role.PLANNER, plans, number)
            updates[Role.EXECUTOR] = self._update(Role.EXECUTOR, executions, number)

        self.competence = Competence.of(outcomes)
        return LureRound(outcomes, updates)

    def state(self) -> dict[str, Any]:
        """What must survive a restart beside the weights, ready for JSON."""
        return {"competence": self.competence.state(), "placement": self.placement.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state` wrote."""
        self.competence = Competence.restore(state["competence"])
        self.placement.restore(state["placement"])

    def _task(self, environment: str, difficulty: float | None, seed: int) -> Task[Any] | None:
        if difficulty is None:
            return None
        try:
            return self.environments[environment].generate(difficulty, seed)
        except GenerationRefusedError:
            return None

    def _plan_buffer(self, group: Group) -> list[tuple[str, TrainSequence]]:
        advantages = planner_advantages(group.finished, self.planner_credit)
        still = not any(advantages)
        name = self.policy(Role.PLANNER, group.task.public.environment)
        return [
            (name, train_sequence(trajectory.plan, [advantage], zero_variance=still))
            for trajectory, advantage in zip(group.finished, advantages, strict=True)
        ]

    def _execution_buffer(self, group: Group) -> list[tuple[str, TrainSequence]]:
        advantages = executor_advantages(
            group.finished, self.executor_credit, self.progress_weight, self.zero_progress_cost
        )
        still = not any(map(any, advantages))
        name = self.policy(Role.EXECUTOR, group.task.public.environment)
        return [
            (name, train_sequence(trajectory.execution, own, zero_variance=still))
            for trajectory, own in zip(group.finished, advantages, strict=True)
        ]

    def _update(self, role: Role, buffer: Sequence[tuple[str, TrainSequence]], number: int) -> Mapping[str, float]:
        reports = []
        for policy in sorted({name for name, _ in buffer}):
            batch = [sequence for name, sequence in buffer if name == policy]
            seed = derive_seed(self.run_seed, policy, number)
            self.pursuers.clock.announce(f"update of the {policy} on {len(batch)} sequences")
            reports.append(self.engine.update(policy, batch, self.objectives[role], seed))
        return joint_report(reports)
