"""What a method is, and the solver that all of them share.

Methods differ in who chooses the tasks, which of them are trained on, and what a turn earned. All the
rest is one code: tasks from emissions, rollouts, buffers, one pass of updates for planner and
executor. So a comparison changes exactly what it names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Protocol

from sparring.credit import ExecutorCredit, PlannerCredit, executor_advantages, planner_advantages
from sparring.engines.base import Engine, joint_report
from sparring.environments.base import AnyEnvironment
from sparring.objectives import Objective
from sparring.placement.base import Emission, Outcome
from sparring.roles import Role
from sparring.rollouts import Pursuers
from sparring.tasks import GenerationRefusedError, Task, derive_seed
from sparring.trajectories import Group, TrainSequence, train_sequence


@dataclass
class Round:
    """All that came of one round.

    outcomes: every emission with its trained group; with its probe where the task was probed and then
    dropped. probes: the group that each emission was probed with, None where it was not; empty for a
    method that does not probe. notes: numbers of the method's own.
    """

    outcomes: list[Outcome]
    updates: dict[Role, Mapping[str, float]]
    probes: list[Group | None] = field(default_factory=list)
    notes: Mapping[str, float] = field(default_factory=dict)

    @property
    def probed(self) -> list[Group]:
        """The groups that were rolled out to look, not to train on."""
        return [group for group in self.probes if group is not None]

    @property
    def trained(self) -> list[Group]:
        """The groups that were trained on."""
        probed = {id(group) for group in self.probed}
        groups = [outcome.group for outcome in self.outcomes]
        return [group for group in groups if group is not None and id(group) not in probed]

    @property
    def rollouts(self) -> int:
        """Rollouts spent: those trained on, and the probes."""
        return sum(len(group.trajectories) for group in (*self.trained, *self.probed))


class Method(Protocol):
    """A training method: a short program, a round at a time."""

    @property
    def solver(self) -> Solver:
        """Its planner and executor."""

    def round(self, number: int, budget: int | None = None) -> Round:
        """One round; with a budget it spends no more rollouts than that."""

    def state(self) -> dict[str, Any]:
        """What must survive a restart beside the weights, ready for JSON."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state` wrote."""


@dataclass
class Solver:
    """Planner and executor: their rollouts, their credit, their updates (the paper's lambda, c_red and G)."""

    engine: Engine
    environments: Mapping[str, AnyEnvironment]
    pursuers: Pursuers
    policy: Callable[[Role, str], str]
    objectives: Mapping[Role, Objective]
    group_size: int
    progress_weight: float
    zero_progress_cost: float
    executor_credit: ExecutorCredit
    planner_credit: PlannerCredit
    run_seed: int

    def groups_of(self, budget: int | None) -> int | None:
        """How many groups of G rollouts a budget of rollouts is good for."""
        return None if budget is None else budget // self.group_size

    def generate(
        self, emissions: Sequence[Emission], budget: int | None = None
    ) -> tuple[list[Emission], list[Task[Any] | None]]:
        """The task of each emission, None where it could not be read or the generator refused.

        Emissions whose task a budget of rollouts has no room for are left out. Those without a task cost
        no rollout and stay: an evader learns from them.
        """
        with self.pursuers.clock.phase("task generation"):
            tasks = [self._task(each.environment, each.difficulty, each.task_seed) for each in emissions]
        fits = within(tasks, self.groups_of(budget))
        kept = [index for index, task in enumerate(tasks) if task is None or fits[index]]
        return [emissions[index] for index in kept], [tasks[index] for index in kept]

    def pursue(self, tasks: Sequence[Task[Any] | None], *seed: str | int) -> list[Group | None]:
        """G plan-execute rollouts of each task, in place; `seed` names them within the run."""
        with self.pursuers.clock.phase("rollout"):
            pool = [task for task in tasks if task is not None]
            groups = iter(self.pursuers.pursue(pool, self.group_size, derive_seed(self.run_seed, *seed)))
        return [None if task is None else next(groups) for task in tasks]

    def plan_buffer(self, groups: Sequence[Group]) -> list[tuple[str, TrainSequence]]:
        """D_plan (LURE Eq. 6): every finished rollout's plan with its advantage, and whose weights it trains."""
        return [pair for group in groups if group.finished for pair in self._plans(group)]

    def execution_buffer(self, groups: Sequence[Group]) -> list[tuple[str, TrainSequence]]:
        """D_exec (LURE Eq. 4 and 5): every finished rollout's turns with their advantages."""
        return [pair for group in groups if group.finished for pair in self._executions(group)]

    def learn(self, role: Role, buffer: Sequence[tuple[str, TrainSequence]], number: int) -> Mapping[str, float]:
        """One pass over a buffer for each set of weights in it."""
        reports = []
        for policy in sorted({name for name, _ in buffer}):
            batch = [sequence for name, sequence in buffer if name == policy]
            seed = derive_seed(self.run_seed, policy, number)
            self.pursuers.clock.announce(f"update of the {policy} on {len(batch)} sequences")
            reports.append(self.engine.update(policy, batch, self.objectives[role], seed))
        return joint_report(reports)

    def _task(self, environment: str, difficulty: float | None, seed: int) -> Task[Any] | None:
        if difficulty is None:
            return None
        try:
            return self.environments[environment].generate(difficulty, seed)
        except GenerationRefusedError:
            return None

    # Groups keep only rollouts that ended by themselves: a broken checker is no failure.

    def _plans(self, group: Group) -> Iterator[tuple[str, TrainSequence]]:
        advantages = planner_advantages(group.finished, self.planner_credit)
        still = not any(advantages)
        name = self.policy(Role.PLANNER, group.task.public.environment)
        for trajectory, advantage in zip(group.finished, advantages, strict=True):
            yield name, train_sequence(trajectory.plan, [advantage], zero_variance=still)

    def _executions(self, group: Group) -> Iterator[tuple[str, TrainSequence]]:
        advantages = executor_advantages(
            group.finished, self.executor_credit, self.progress_weight, self.zero_progress_cost
        )
        still = not any(map(any, advantages))
        name = self.policy(Role.EXECUTOR, group.task.public.environment)
        for trajectory, own in zip(group.finished, advantages, strict=True):
            yield name, train_sequence(trajectory.execution, own, zero_variance=still)


def within(tasks: Sequence[Task[Any] | None], most: int | None) -> list[bool]:
    """Which of these tasks a budget of `most` groups of rollouts is for; None is for them all.

    Environments take turns, so that the end of a budget falls on all of them alike. Where there is no
    task there is nothing to be for.
    """
    if most is None:
        return [task is not None for task in tasks]
    by_environment: dict[str, list[int]] = {}
    for index, task in enumerate(tasks):
        if task is not None:
            by_environment.setdefault(task.public.environment, []).append(index)
    in_turn = [index for row in zip_longest(*by_environment.values()) for index in row if index is not None]
    kept = set(in_turn[:most])
    return [index in kept for index in range(len(tasks))]
