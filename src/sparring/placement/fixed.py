"""Placements without weights: uniform, thermostat, and the frozen pool of GRPO-Zero.

They are the measuring sticks of a learned evader. All draws come from named seeds, so a resumed run
and a run with one more environment propose the same tasks.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import fmean
from typing import Any

from sparring.environments.base import AnyEnvironment
from sparring.placement.base import Competence, Emission, Outcome, Placement, task_seed
from sparring.tasks import derive_seed

THERMOSTAT_START = 0.5
"""The thermostat's first difficulty: the middle of the axis."""


@dataclass
class Uniform:
    """Difficulty d ~ U[0, 1], independent of everything (SPEC 1.9, 1.10)."""

    run_seed: int
    slots: int
    samples: int

    def propose(
        self, round_number: int, environments: Sequence[AnyEnvironment], competence: Competence
    ) -> list[Emission]:
        """Make slots x samples emissions per environment."""
        return [
            Emission(name, slot, sample, draw.random(), seed)
            for name in (environment.name for environment in environments)
            for slot, sample, draw, seed in _places(self.run_seed, name, round_number, self.slots, self.samples)
        ]

    def learn(self, outcomes: Sequence[Outcome]) -> Mapping[str, float]:
        """Nothing to learn."""
        return {}

    def state(self) -> dict[str, Any]:
        """Nothing to keep."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Nothing was kept."""


@dataclass
class Thermostat:
    """One difficulty per environment, moved by step * (p - 1/2) after each round.

    Emissions scatter around it, normally with deviation `spread`, clamped to the axis.
    """

    run_seed: int
    slots: int
    samples: int
    step: float = 0.15
    spread: float = 0.07
    difficulty: dict[str, float] = field(default_factory=dict)

    def propose(
        self, round_number: int, environments: Sequence[AnyEnvironment], competence: Competence
    ) -> list[Emission]:
        """Make slots x samples emissions per environment, around its difficulty."""
        return [
            Emission(name, slot, sample, _clamp(draw.gauss(self._at(name), self.spread)), seed)
            for name in (environment.name for environment in environments)
            for slot, sample, draw, seed in _places(self.run_seed, name, round_number, self.slots, self.samples)
        ]

    def learn(self, outcomes: Sequence[Outcome]) -> Mapping[str, float]:
        """Move each environment by its mean capture rate; one without a rate stays."""
        rates: dict[str, list[float]] = {}
        for outcome in outcomes:
            if outcome.capture_rate is not None:
                rates.setdefault(outcome.emission.environment, []).append(outcome.capture_rate)
        for name, values in rates.items():
            self.difficulty[name] = _clamp(self._at(name) + self.step * (fmean(values) - 0.5))
        return {}

    def state(self) -> dict[str, Any]:
        """The difficulty of each environment."""
        return {"difficulty": dict(self.difficulty)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue at the kept difficulties."""
        self.difficulty = dict(state["difficulty"])

    def _at(self, name: str) -> float:
        return self.difficulty.get(name, THERMOSTAT_START)


@dataclass
class FrozenPool:
    """GRPO-Zero: the well-formed emissions of the first round, the very same tasks in every later one.

    The wrapped placement draws that first round and never learns. The pool holds the environments
    it was drawn for.
    """

    first: Placement
    pool: list[Emission] | None = None

    def propose(
        self, round_number: int, environments: Sequence[AnyEnvironment], competence: Competence
    ) -> list[Emission]:
        """All of the first round's emissions, then the pool again and again."""
        if self.pool is not None:
            return [replace(emission) for emission in self.pool]
        emissions = self.first.propose(round_number, environments, competence)
        # Later rounds train no evader, so the tokens behind an emission are not kept.
        self.pool = [replace(each, sequence=None) for each in emissions if each.difficulty is not None]
        return emissions

    def learn(self, outcomes: Sequence[Outcome]) -> Mapping[str, float]:
        """Nothing to learn: the pool is frozen."""
        return {}

    def state(self) -> dict[str, Any]:
        """The pool; None before the first round."""
        return {"pool": None if self.pool is None else [asdict(emission) for emission in self.pool]}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue with the kept pool."""
        self.pool = None if state["pool"] is None else [Emission(**emission) for emission in state["pool"]]


def _places(
    run_seed: int, environment: str, round_number: int, slots: int, samples: int
) -> list[tuple[int, int, random.Random, int]]:
    """Each (slot, sample) with a generator for its difficulty and the seed of its task."""
    return [
        (
            slot,
            sample,
            random.Random(derive_seed("difficulty", run_seed, environment, round_number, slot, sample)),
            task_seed(run_seed, environment, round_number, slot, sample),
        )
        for slot in range(slots)
        for sample in range(samples)
    ]


def _clamp(difficulty: float) -> float:
    return min(1.0, max(0.0, difficulty))
