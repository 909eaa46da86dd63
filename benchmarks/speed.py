"""How fast a recipe trains, where the time goes, and what keeping the caches saves.

    python benchmarks/speed.py recipes/lure-micro.toml --rounds 10
    python benchmarks/speed.py recipes/lure-micro.toml --run DIR

Rates and shares come from the metrics of a run: one that is made here and thrown away, or the one
in DIR. Then the same tasks are rolled out twice in this process, once in live conversations and once
with a fresh conversation at every turn, which reads everything said so far anew. Both decode greedily,
so they must say the same words, and only the time may differ; the quickest of a few tries is taken,
since other work on the machine can only slow one down.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from rich.console import Console

from sparring.config import Recipe, load_recipe
from sparring.engines.base import Conversation, Engine, SamplingParameters
from sparring.errors import UserError
from sparring.rollouts import Pursuers
from sparring.runs.folder import read_metrics
from sparring.tasks import Task, derive_seed
from sparring.training import set_up, train
from sparring.trajectories import Generation

SHARES = {
    "generation": ("emission", "rollout"),
    "update": ("update",),
    "verification": ("verification",),
    "task generation": ("task generation",),
    "writing": ("writing",),
    "held-out evaluation": ("evaluation",),
}
REPEATS = 5


class RefillingConversation:
    """Dialogues without a kept cache: every turn reads its whole history anew."""

    def __init__(self, engine: Engine, policy: str, prompts: Sequence[Sequence[int]], copies: int, seed: int) -> None:
        self.sample_from = engine.sample
        self.policy, self.seed, self.turns = policy, seed, 0
        self.histories = [list(prompt) for prompt in prompts for _ in range(copies)]

    def extend(self, row: int, ids: Sequence[int]) -> None:
        """Append tokens to one row."""
        self.histories[row] += ids

    def sample(self, rows: Sequence[int], parameters: SamplingParameters) -> list[Generation]:
        """One turn of each row, in a conversation opened for it."""
        self.turns += 1
        seed = derive_seed(self.seed, self.turns)
        prompts = [self.histories[row] for row in rows]
        generations = [own for [own] in self.sample_from(self.policy, prompts, 1, parameters, seed)]
        for row, generation in zip(rows, generations, strict=True):
            self.histories[row] += generation.ids
        return generations

    def finish(self, rows: Sequence[int]) -> None:
        """Nothing is kept, so nothing can go."""


@dataclass(frozen=True)
class RefillingEngine:
    """An engine whose conversations keep no cache; all else is the engine's own."""

    engine: Engine

    def converse(self, policy: str, prompts: Sequence[Sequence[int]], copies: int, seed: int) -> Conversation:
        """Open dialogues that are read anew at every turn."""
        return RefillingConversation(self.engine, policy, prompts, copies, seed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)


def rates(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Rollouts and tokens per second over the training rounds of a run; evaluation is left out."""
    training = [row for row in rows if row["round"] > 0]
    seconds = phase_seconds(training)
    whole = sum(value for name, value in seconds.items() if name != "held-out evaluation")
    sampled = sum(role["tokens"] for row in training for role in row["roles"].values())
    trained = sum(role["trained_tokens"] or 0.0 for row in training for role in row["roles"].values())
    return {
        "rollouts per second of a round": training[-1]["rollouts"] / whole,
        "seconds per round": whole / len(training),
        "sampled tokens per second of generation": sampled / seconds["generation"],
        "sampled tokens per second of a round": sampled / whole,
        "trained tokens per second of update": trained / seconds["update"],
        "trained tokens per second of a round": trained / whole,
    }


def phase_seconds(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Wall seconds by what they were spent on."""
    return {
        name: sum(row["seconds"].get(phase, 0.0) for row in rows for phase in phases) for name, phases in SHARES.items()
    }


def compare_caching(recipe: Recipe) -> tuple[list[float], list[float], int]:
    """Seconds of the same rollouts with kept caches and with fresh ones, in turn; and how many rollouts."""
    setup = set_up(recipe, Console())
    count = recipe.placement.slots * recipe.placement.samples
    tasks = [
        environment.generate(index / max(1, count - 1), derive_seed("speed", name, index))
        for name, environment in setup.environments.items()
        for index in range(count)
    ]
    kept = setup.evaluator
    fresh = replace(kept, engine=cast(Engine, RefillingEngine(setup.engine)))
    seconds: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(REPEATS):
        said = []
        for caching, pursuers in ((True, kept), (False, fresh)):
            began = time.perf_counter()
            said.append(words_of(pursuers, tasks, recipe.method.group_size))
            seconds[caching].append(time.perf_counter() - began)
        if said[0] != said[1]:
            raise UserError("the two ways of decoding said different words, so their times do not compare")
    return seconds[True], seconds[False], len(tasks) * recipe.method.group_size


def words_of(pursuers: Pursuers, tasks: Sequence[Task[Any]], group_size: int) -> list[list[int]]:
    """Roll out the tasks; every token of every executor."""
    groups = pursuers.pursue(tasks, group_size, derive_seed("speed"))
    return [trajectory.execution.ids for group in groups for trajectory in group.trajectories]


def print_run(rows: Sequence[Mapping[str, Any]]) -> None:
    """The two tables of a run."""
    print("| rate | |\n|---|---|")
    for name, value in rates(rows).items():
        print(f"| {name} | {value:,.2f} |" if value < 100 else f"| {name} | {value:,.0f} |")
    seconds = phase_seconds(rows)
    whole = sum(seconds.values())
    rounds = whole - seconds["held-out evaluation"]
    print(f"\n| {len(rows) - 1} rounds, time in | seconds | share | share without evaluation |\n|---|---|---|---|")
    for name, value in seconds.items():
        without = "" if name == "held-out evaluation" else f"{value / rounds:.1%}"
        print(f"| {name} | {value:.2f} | {value / whole:.1%} | {without} |")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="speed of a recipe")
    parser.add_argument("recipe", nargs="?", type=Path, default=Path("recipes/lure-micro.toml"))
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--run", type=Path, help="read this run instead of making one")
    given = parser.parse_args(arguments)
    recipe = load_recipe(given.recipe, [f"rounds={given.rounds}"])
    if given.run:
        rows = read_metrics(given.run)
    else:
        with tempfile.TemporaryDirectory() as folder:
            rows = read_metrics(train(recipe, Path(folder) / "run", Console(quiet=True)))
    if len(rows) < 2:
        raise UserError(f"--run {given.run} has no finished round; give a run that has, or --rounds above 0")
    print_run(rows)
    kept, fresh, rollouts = compare_caching(recipe)
    print(f"\n| {rollouts} greedy rollouts, quickest of {REPEATS} | seconds | rollouts per second |\n|---|---|---|")
    for label, seconds in (("caches kept between turns", min(kept)), ("every turn read anew", min(fresh))):
        print(f"| {label} | {seconds:.2f} | {rollouts / seconds:,.0f} |")
    print(f"\nReading anew takes {min(fresh) / min(kept):.2f} times as long.")


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(f"speed: {error}")
