"""Does the learned evader steer? The evader of a recipe against a fixed synthetic pursuer.

    python benchmarks/steering.py recipes/lure-micro.toml --rounds 300 --seeds 0 1 2

Everything of the evader is real: its backbone, its engine, its prompts, Eq. 3 with the signatures
of real tasks, its updates. Only the pursuer is a formula: it captures a task of difficulty d with a
probability that falls along a logistic curve, with another midpoint in each environment, and never
learns. So the best possible is known, and a round costs milliseconds. Printed is the mean of
min(p, 1-p) over all emissions, p being the share of captures among the rollouts of one task; an
emission that gave no task counts as 0.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb, exp
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
from rich.console import Console

from sparring.config import Recipe, load_recipe
from sparring.environments.base import AnyEnvironment
from sparring.errors import UserError
from sparring.placement.base import Competence, Emission, Outcome, Placement
from sparring.roles import Role
from sparring.tasks import GenerationRefusedError, derive_seed
from sparring.training import load_backbone, make_engine, make_environments, make_placement
from sparring.trajectories import Group, PolicySequence, Trajectory

MIDPOINTS = {"phantom_wiki": 0.7, "ifeval": 0.8, "zebra_logic": 0.3}
WINDOW = 20
"""Rounds over which the frontier is averaged."""
PLACEMENTS = ("evader", "uniform", "thermostat")


@dataclass(frozen=True)
class SyntheticPursuer:
    """Captures with a probability that falls along the difficulty axis, and never learns.

    midpoints: the difficulty of an even chance, by environment. spread: deviation of a single task's
    midpoint from that.
    """

    midpoints: Mapping[str, float]
    slope: float = 12.0
    spread: float = 0.1
    group_size: int = 8

    def group(self, environment: AnyEnvironment, emission: Emission) -> Group | None:
        """The rollouts of an emission's task as outcomes alone; None when it gave no task."""
        if emission.difficulty is None:
            return None
        try:
            task = environment.generate(emission.difficulty, emission.task_seed)
        except GenerationRefusedError:
            return None
        draw = random.Random(derive_seed("synthetic", emission.task_seed))
        ease = self.midpoints[environment.name] + draw.gauss(0.0, self.spread) - emission.difficulty
        rate = logistic(self.slope * ease)
        return Group(
            task, environment.signature(task), [outcome_only(draw.random() < rate) for _ in range(self.group_size)]
        )

    def frontier(self, ease: float) -> float:
        """Expected min(p, 1-p) of one task that is `ease` below the midpoint."""
        deviations = np.linspace(-4.0, 4.0, 161)
        weights = np.exp(-(deviations**2) / 2)
        values = [self._frontier_at(logistic(self.slope * (ease + self.spread * each))) for each in deviations]
        return float(np.average(values, weights=weights))

    def _frontier_at(self, rate: float) -> float:
        n = self.group_size
        return sum(comb(n, k) * rate**k * (1 - rate) ** (n - k) * min(k, n - k) / n for k in range(n + 1))

    def best_frontier(self) -> float:
        """The most that any choice of difficulty can expect: every task at its environment's best one.

        Tasks differ by more than their difficulty and nobody sees by how much, so this is a bound
        for every placement.
        """
        return fmean(
            max(self.frontier(midpoint - step / 100) for step in range(101)) for midpoint in self.midpoints.values()
        )


def logistic(value: float) -> float:
    """1 / (1 + e^-value)."""
    return 1.0 / (1.0 + exp(-value))


def outcome_only(captured: bool) -> Trajectory:
    """A rollout of which nothing is known but whether it captured."""
    plan, execution = PolicySequence(Role.PLANNER), PolicySequence(Role.EXECUTOR)
    return Trajectory("", ("",), True, plan, execution, captured=captured)


@dataclass(frozen=True)
class SteeringRound:
    """What one round of a placement came to, by environment."""

    frontier: dict[str, float]
    difficulty: dict[str, float | None]
    malformed: float


def steer(
    placement: Placement, environments: Mapping[str, AnyEnvironment], pursuer: SyntheticPursuer, rounds: int
) -> list[SteeringRound]:
    """Let a placement propose and learn against the pursuer, as a method's rounds would."""
    competence, history = Competence.no_data(), []
    for number in range(1, rounds + 1):
        emissions = placement.propose(number, list(environments.values()), competence)
        outcomes = [Outcome(each, pursuer.group(environments[each.environment], each)) for each in emissions]
        placement.learn(outcomes)
        competence = Competence.of(outcomes)
        history.append(steering_round(outcomes, environments))
    return history


def steering_round(outcomes: Sequence[Outcome], environments: Mapping[str, AnyEnvironment]) -> SteeringRound:
    """Measure one round."""
    frontier, difficulty = {}, {}
    for name in environments:
        own = [outcome for outcome in outcomes if outcome.emission.environment == name]
        frontier[name] = fmean(min(p, 1.0 - p) if (p := each.capture_rate) is not None else 0.0 for each in own)
        asked = [each.emission.difficulty for each in own if each.emission.difficulty is not None]
        difficulty[name] = fmean(asked) if asked else None
    return SteeringRound(frontier, difficulty, fmean(outcome.group is None for outcome in outcomes))


def mean_frontier(history: Sequence[SteeringRound]) -> float:
    """Mean of min(p, 1-p) over environments and rounds."""
    return fmean(value for each in history for value in each.frontier.values())


def run_seed(recipe: Recipe, name: str, seed: int, rounds: int, pursuer: SyntheticPursuer) -> list[SteeringRound]:
    """One placement with one seed, from the fresh backbone."""
    section = recipe.placement.model_copy(update={"name": name})
    own = recipe.model_copy(update={"seed": seed, "placement": section})
    environments = make_environments(own)
    engine = make_engine(own, load_backbone(own, environments, Console()), [Role.EVADER.value])
    return steer(make_placement(own, engine), environments, pursuer, rounds)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the frontier by window of rounds, then where each placement ended."""
    parser = argparse.ArgumentParser(description="the evader against a synthetic pursuer")
    parser.add_argument("recipe", nargs="?", type=Path, default=Path("recipes/lure-micro.toml"))
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--placements", nargs="+", choices=PLACEMENTS, default=PLACEMENTS)
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", help="overrides of the recipe")
    given = parser.parse_args(arguments)
    recipe = load_recipe(given.recipe, given.set)
    unknown = recipe.environments.keys() - MIDPOINTS.keys()
    if unknown:
        raise UserError(
            f"environments.{min(unknown)} has no synthetic midpoint; take a recipe of {', '.join(MIDPOINTS)}"
        )
    midpoints = {name: MIDPOINTS[name] for name in recipe.environments}
    pursuer = SyntheticPursuer(midpoints, group_size=recipe.method.group_size)
    best = pursuer.best_frontier()
    histories = {
        name: [run_seed(recipe, name, seed, given.rounds, pursuer) for seed in given.seeds] for name in given.placements
    }
    print(f"| rounds | {' | '.join(histories)} | best possible |\n|{'---|' * (len(histories) + 2)}")
    for first in range(0, given.rounds, WINDOW):
        cells = []
        for runs in histories.values():
            means = [mean_frontier(run[first : first + WINDOW]) for run in runs]
            cells.append(f"{fmean(means):.3f}" + (f" ± {stdev(means):.3f}" if len(means) > 1 else ""))
        print(f"| {first + 1}-{min(first + WINDOW, given.rounds)} | {' | '.join(cells)} | {best:.3f} |")
    for name, runs in histories.items():
        ends = [each for run in runs for each in run[-WINDOW:]]
        asked = {env: [d for each in ends if (d := each.difficulty[env]) is not None] for env in midpoints}
        places = ", ".join(f"{env} {fmean(asked[env]):.2f} ({midpoints[env]})" for env in midpoints if asked[env])
        print(
            f"{name}: last {WINDOW} rounds at {mean_frontier(ends) / best:.0%} of the best possible, "
            f"{fmean(each.malformed for each in ends):.1%} malformed; mean difficulty (midpoint): {places}"
        )


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(f"steering: {error}")
