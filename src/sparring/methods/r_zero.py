"""R-Zero (arXiv 2508.05004) on environments: challenge, probe, keep the band, train.

The challenger is the evader's machinery under R-Zero's reward: uncertainty (1 - 2 |s - 1/2| in its
paper, min(s, 1 - s) in its code) minus the share of its BLEU cluster. s is the solver's success on a
task, by one of two labels (`Label`): the verifier's, which is the form that LURE compares with, or
the majority of the solver's own answers, as R-Zero's paper has it.

Where this departs from R-Zero: challenger and solver learn in the same round, on the same candidates,
instead of in phases of their own; the candidates come from the environment's generator at the
challenger's difficulty, so no question needs parsing. An unanswered rollout counts in the vote's
share; R-Zero's code drops it, which inflates the share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from sparring.credit import Label
from sparring.methods.base import Round, Solver, within
from sparring.placement.base import Competence, Outcome, Placement
from sparring.roles import Role
from sparring.trajectories import Group, Trajectory


@dataclass
class RZero:
    """R-Zero; its solver's credit is the outcome, low and high are the band of s that is trained on."""

    solver: Solver
    challenger: Placement
    label: Label
    low: float
    high: float
    competence: Competence = field(default_factory=Competence.no_data)

    def round(self, number: int, budget: int | None = None) -> Round:
        """One round, of at most `budget` rollouts, probes included."""
        solver, clock = self.solver, self.solver.pursuers.clock

        # 1. The challenger emits candidates.
        with clock.phase("emission"):
            emissions = self.challenger.propose(number, list(solver.environments.values()), self.competence)
        emissions, tasks = solver.generate(emissions, budget)

        # 2. G probe rollouts of each; s is the share that succeeds, by the label.
        probes = solver.pursue(tasks, "probes", number)
        labels = [None if group is None else self._label(group) for group in probes]
        judged = [
            Outcome(emission, None if group is None else self._judged(group, label))
            for emission, group, label in zip(emissions, probes, labels, strict=True)
        ]

        # 3. The band: low <= s <= high. What the probes left of the budget bounds it too.
        inside = [outcome.capture_rate is not None and self._in_band(outcome.capture_rate) for outcome in judged]
        kept = [task if keep else None for task, keep in zip(tasks, inside, strict=True)]
        left = None if budget is None else budget - sum(len(group.trajectories) for group in probes if group)
        fits = within(kept, solver.groups_of(left))
        kept = [task if keep else None for task, keep in zip(kept, fits, strict=True)]

        # 4. G fresh rollouts of each kept task, judged by the probes' label: A = z(success).
        groups = solver.pursue(kept, "rollouts", number)
        trained = [self._judged(group, label) for group, label in zip(groups, labels, strict=True) if group is not None]
        plans, executions = solver.plan_buffer(trained), solver.execution_buffer(trained)

        # 5. One pass each: challenger, planner, executor.
        with clock.phase("update"):
            updates: dict[Role, Mapping[str, float]] = {Role.EVADER: self.challenger.learn(judged)}
            updates[Role.PLANNER] = solver.learn(Role.PLANNER, plans, number)
            updates[Role.EXECUTOR] = solver.learn(Role.EXECUTOR, executions, number)

        self.competence = Competence.of(judged)
        outcomes = [
            Outcome(emission, probe if group is None else group)
            for emission, probe, group in zip(emissions, probes, groups, strict=True)
        ]
        agreed = [
            one.captured == other.captured
            for group, label in zip(groups, labels, strict=True)
            if group is not None
            for one, other in zip(self._judged(group, label).finished, group.finished, strict=True)
        ]
        return Round(outcomes, updates, probes, {"label_agreement": fmean(agreed)} if agreed else {})

    def state(self) -> dict[str, Any]:
        """What must survive a restart beside the weights, ready for JSON."""
        return {"competence": self.competence.state(), "placement": self.challenger.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state` wrote."""
        self.competence = Competence.restore(state["competence"])
        self.challenger.restore(state["placement"])

    def _label(self, group: Group) -> str | None:
        return majority([trajectory.answer for trajectory in group.finished])

    def _judged(self, group: Group, label: str | None) -> Group:
        return group if self.label is Label.VERIFIER else relabelled(group, label)

    def _in_band(self, success: float) -> bool:
        return self.low <= success <= self.high


def majority(answers: Sequence[str | None]) -> str | None:
    """R-Zero's pseudo-label: the commonest answer, the first of several; None where nobody answered."""
    votes = Counter(answer for answer in answers if answer is not None)
    return votes.most_common(1)[0][0] if votes else None


def relabelled(group: Group, label: str | None) -> Group:
    """The group as if `label` were the gold: a rollout succeeds when its answer is that. The original stays."""
    return Group(group.task, group.signature, judged_by(label, group.trajectories))


def judged_by(label: str | None, trajectories: Sequence[Trajectory]) -> list[Trajectory]:
    """The rollouts as if `label` were the gold; None captures none. The originals stay."""
    return [replace(each, captured=label is not None and each.answer == label) for each in trajectories]
