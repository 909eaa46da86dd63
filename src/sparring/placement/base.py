"""Placement: who chooses the tasks of a round.

A method calls `propose` at the start of a round, makes a task of every emission it can, rolls them
out, and hands all of it back to `learn`. A placement never sees a task's secret being used: it
knows difficulties, signatures and outcomes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sparring.credit import capture_rate
from sparring.environments.base import AnyEnvironment
from sparring.tasks import derive_seed
from sparring.trajectories import Group, PolicySequence

INVALID = "INVALID"
"""The signature that all emissions share which gave no task (SPEC 1.3)."""

COMPETENCE_BINS = 10
_INNER_EDGES = tuple(number / COMPETENCE_BINS for number in range(1, COMPETENCE_BINS))


@dataclass
class Emission:
    """One proposed task.

    slot, sample: where it stands among the emissions of its environment and round.
    difficulty: in [0, 1]; None when what a learned evader wrote could not be read.
    task_seed: the seed to generate the task with, so equal emissions give equal tasks.
    sequence: the tokens a policy sampled to propose it; None when no policy did. prompt, text: what
    it was asked and what it wrote.
    reward: what a learning placement gave it, None before that and in placements that do not learn.
    """

    environment: str
    slot: int
    sample: int
    difficulty: float | None
    task_seed: int
    sequence: PolicySequence | None = None
    reward: float | None = None
    prompt: str = ""
    text: str = ""


@dataclass(frozen=True)
class Outcome:
    """An emission with the rollouts of its task; group None when it gave no task.

    That is so when its difficulty could not be read, or when the generator refused.
    """

    emission: Emission
    group: Group | None

    @property
    def signature(self) -> str:
        """The signature of the task, or INVALID."""
        return INVALID if self.group is None else self.group.signature

    @property
    def capture_rate(self) -> float | None:
        """p(x) over the finished rollouts (LURE Eq. 1); None without a task or a finished rollout."""
        if self.group is None or not self.group.finished:
            return None
        return capture_rate(self.group.outcomes)


@dataclass(frozen=True)
class CompetenceBin:
    """Finished rollouts in one tenth of the difficulty axis, and how many captured."""

    attempts: int = 0
    captures: int = 0

    @property
    def capture_rate(self) -> float | None:
        """Share captured; None without an attempt."""
        return self.captures / self.attempts if self.attempts else None


def bin_of(difficulty: float) -> int:
    """Index of the bin [0,.1), ..., [.9,1] that holds a difficulty."""
    return bisect_right(_INNER_EDGES, difficulty)


@dataclass(frozen=True)
class Competence:
    """How well the pursuer did in the previous round, by environment and tenth of difficulty (SPEC 1.3).

    An environment that has no entry has no data. `state` and `restore` go through JSON.
    """

    by_environment: Mapping[str, tuple[CompetenceBin, ...]]

    @classmethod
    def no_data(cls) -> Competence:
        """The competence known before the first round."""
        return cls({})

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> Competence:
        """Count one round's finished rollouts."""
        counts: dict[str, list[list[int]]] = {}
        for outcome in outcomes:
            if outcome.group is None:
                continue
            rows = counts.setdefault(outcome.emission.environment, [[0, 0] for _ in range(COMPETENCE_BINS)])
            row = rows[bin_of(outcome.group.task.difficulty)]
            row[0] += len(outcome.group.outcomes)
            row[1] += sum(outcome.group.outcomes)
        return cls.restore(counts)

    def bins(self, environment: str) -> tuple[CompetenceBin, ...]:
        """The ten bins of an environment, empty ones when it has no data."""
        return self.by_environment.get(environment, (CompetenceBin(),) * COMPETENCE_BINS)

    def state(self) -> dict[str, list[list[int]]]:
        """Attempts and captures per bin, for a checkpoint."""
        return {name: [[each.attempts, each.captures] for each in bins] for name, bins in self.by_environment.items()}

    @classmethod
    def restore(cls, state: Mapping[str, Sequence[Sequence[int]]]) -> Competence:
        """The competence that `state` wrote."""
        return cls(
            {
                name: tuple(CompetenceBin(attempts, captures) for attempts, captures in rows)
                for name, rows in state.items()
            }
        )


class Placement(Protocol):
    """Chooses the tasks of each round, and may learn from what became of them."""

    def propose(
        self, round_number: int, environments: Sequence[AnyEnvironment], competence: Competence
    ) -> list[Emission]:
        """The round's emissions, all environments together; equal state and arguments give equal ones."""

    def learn(self, outcomes: Sequence[Outcome]) -> Mapping[str, float]:
        """Take in every outcome of the round, once; returns metrics of its own update, if any."""

    def state(self) -> dict[str, Any]:
        """All that must survive a restart, ready for JSON; weights belong to the engine."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state` wrote."""


def task_seed(run_seed: int, environment: str, round_number: int, slot: int, sample: int) -> int:
    """The seed of one task, by name, so that no other choice of the run moves it."""
    return derive_seed(run_seed, environment, round_number, slot, sample)
