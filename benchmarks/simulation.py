"""Curriculum dynamics on the simulated engine: Fig. 4, what changes it, plug-in bias, long runs.

    python -m benchmarks.simulation fig4 --seeds 0 1 2 --out DIR
    python -m benchmarks.simulation sensitivity --seeds 0 1 2
    python -m benchmarks.simulation bias --seeds 0 1 2
    python -m benchmarks.simulation long --rounds 2000

Every number comes from the rounds that train models: recipes/lure-simulated.toml, with the overrides
that a part names. No run folder is written; tables go to the screen, and with --out also numbers
(NAME.json) and a figure (NAME.svg).
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Column, Table

from sparring.config import load_recipe
from sparring.evaluation.heldout import measure_heldout
from sparring.placement.base import Emission, Outcome
from sparring.placement.evader_reward import EvaderReward
from sparring.roles import Role
from sparring.runs.writing import write_json
from sparring.training import Setup, set_up

RECIPE = Path(__file__).parents[1] / "recipes" / "lure-simulated.toml"

OUTCOME_CREDIT = ("method.executor_credit=terminal", "method.planner_credit=capture")
METHODS: Mapping[str, Sequence[str]] = {
    "LURE": (),
    "thermostat": ("placement.name=thermostat",),
    "uniform": ("placement.name=uniform",),
    "R-Zero": ("method.name=r_zero", "placement.repetition=bleu_cluster", *OUTCOME_CREDIT),
    "frozen pool": ("method.name=grpo_zero", "placement.name=frozen_pool", *OUTCOME_CREDIT),
}
"""What each method changes in the recipe."""

SMALL = ("placement.slots=8", "evaluation.tasks_per_level=0")
"""The sensitivity table's base: K = 48 and G = 8, as the paper has them for one environment."""

AXES: Mapping[str, Sequence[str]] = {
    "G": [f"method.group_size={size}" for size in (2, 4, 8, 16)],
    "K": [f"placement.slots={count}" for count in (2, 8, 24)],
    "noise": [f"simulation.noise={share}" for share in (0.0, 0.2, 0.4)],
    "rho": [f"placement.repetition_scale={scale}" for scale in (0.0, 1.0, 4.0)],
    "start": [f"simulation.skill={skill}" for skill in (0.2, 0.35, 0.5)],
    "growth": [f"simulation.growth={growth}" for growth in ("2.5e4", "1e5", "4e5")],
}


@dataclass
class History:
    """A run, one number a round; index 0 of skill, heldout and rollouts is before the first round.

    heldout is greedy capture over the whole axis, None where it was not measured.
    """

    skill: list[float] = field(default_factory=list)
    rollouts: list[int] = field(default_factory=lambda: [0])
    heldout: list[float | None] = field(default_factory=list)
    difficulty: list[float] = field(default_factory=list)
    capture: list[float] = field(default_factory=list)
    mixed: list[float] = field(default_factory=list)

    def at(self, rollouts: float, values: Sequence[Any]) -> Any:
        """The value of the round that brought the run nearest to so many rollouts."""
        nearest = min(range(len(self.rollouts)), key=lambda number: abs(self.rollouts[number] - rollouts))
        return values[nearest if len(values) == len(self.rollouts) else max(0, nearest - 1)]


def prepared(*overrides: str) -> Setup:
    """The recipe with these overrides, ready to run."""
    return set_up(load_recipe(RECIPE, overrides), Console(quiet=True))


def run(rollouts: int, *overrides: str, rounds: int = 0) -> History:
    """Rounds until `rollouts` are spent, to the last one; or on, in whole rounds, to `rounds` where that is more."""
    setup = prepared(*overrides)
    history = History(skill=[setup.recipe.simulation.skill], heldout=[_heldout(setup)])
    while history.rollouts[-1] < rollouts or len(history.capture) < rounds:
        done = setup.method.round(len(history.rollouts), None if rounds else rollouts - history.rollouts[-1])
        if done.rollouts == 0:
            break
        rates = [each.capture_rate for each in done.outcomes if each.capture_rate is not None]
        history.rollouts.append(history.rollouts[-1] + done.rollouts)
        history.skill.append(done.updates[Role.EXECUTOR].get("skill", history.skill[-1]))
        history.heldout.append(_heldout(setup))
        history.difficulty.append(fmean(each.group.task.difficulty for each in done.outcomes if each.group))
        history.capture.append(fmean(rates))
        history.mixed.append(fmean(0.0 < rate < 1.0 for rate in rates))
    return history


def _heldout(setup: Setup) -> float | None:
    return measure_heldout(setup.evaluator, setup.heldout)["capture"] if setup.heldout else None


def measured_frontier(p: float, group_size: int, tasks: int, seed: int = 0) -> float:
    """Mean of min(p, 1 - p) as the evader is paid it: of `tasks` tasks of capture probability p, G rollouts each."""
    skill = 0.5 + math.log(p / (1.0 - p)) / 10.0
    setup = prepared(
        f"simulation.skill={skill}",
        "simulation.slope=10.0",
        "environments.simulated.difficulty_noise=0.0",
        f"method.group_size={group_size}",
        f"seed={seed}",
        "evaluation.tasks_per_level=0",
    )
    emissions = [Emission("simulated", 0, sample, 0.5, sample) for sample in range(tasks)]
    solver = setup.method.solver
    emitted, made = solver.generate(emissions)
    groups = solver.pursue(made, "bias")
    outcomes = [Outcome(emission, group) for emission, group in zip(emitted, groups, strict=True)]
    return fmean(reward for reward in EvaderReward(scale=0.0)(outcomes) if reward is not None)


def expected_frontier(p: float, group_size: int) -> float:
    """E[min(k/G, 1 - k/G)], k binomial in G and p: what a plug-in estimate of min(p, 1 - p) pays (SPEC 1.13)."""
    return sum(
        math.comb(group_size, k) * p**k * (1.0 - p) ** (group_size - k) * min(k, group_size - k) / group_size
        for k in range(group_size + 1)
    )


def fig4(seeds: Sequence[int], rounds: int, out: Path | None, console: Console) -> None:
    """Every method at the same rollouts, the paper's 144 tasks a round."""
    budget = rounds * 1152
    runs = {name: [run(budget, *overrides, f"seed={seed}") for seed in seeds] for name, overrides in METHODS.items()}
    points = sorted({1, min(4, rounds), min(8, rounds), rounds})
    for title, pick in (
        ("emitted difficulty", "difficulty"),
        ("capture rate in training", "capture"),
        ("share of mixed groups", "mixed"),
        ("skill", "skill"),
        ("held-out capture", "heldout"),
    ):
        table = Table("method", *(f"{1152 * point:,} rollouts" for point in points), title=title)
        for name, histories in runs.items():
            cells = [[each.at(1152 * point, getattr(each, pick)) for each in histories] for point in points]
            table.add_row(name, *map(_spread, cells))
        console.print(table)
    if out:
        write_json(out / "fig4.json", {name: [vars(each) for each in histories] for name, histories in runs.items()})
        _draw({name: histories[0] for name, histories in runs.items()}).savefig(out / "fig4.svg")


def sensitivity(seeds: Sequence[int], rounds: int, out: Path | None, console: Console) -> None:
    """One number changed at a time; skill at the same rollouts and, since updates differ then, at the same rounds."""
    budget = rounds * 48 * 8
    gains = f"skill gained in {budget:,} rollouts", f"in {rounds} rounds"
    changed = Column("changed", no_wrap=True)
    table = Table(changed, *gains, "capture, round 1", f"round {rounds}", "mixed groups", title="sensitivity")
    found: dict[str, list[dict[str, Any]]] = {}
    for changes in AXES.values():
        for change in changes:
            histories = [run(budget, *SMALL, change, f"seed={seed}", rounds=rounds) for seed in seeds]
            found[change] = [vars(each) for each in histories]
            table.add_row(
                change,
                _spread([each.at(budget, each.skill) - each.skill[0] for each in histories]),
                _spread([each.skill[rounds] - each.skill[0] for each in histories]),
                _spread([each.capture[0] for each in histories]),
                _spread([each.capture[rounds - 1] for each in histories]),
                _spread([fmean(each.mixed[:rounds]) for each in histories]),
            )
        table.add_section()
    console.print(table)
    if out:
        write_json(out / "sensitivity.json", found)


def bias(seeds: Sequence[int], tasks: int, out: Path | None, console: Console) -> None:
    """What the frontier term pays, from rollouts and from the binomial, against the true min(p, 1 - p)."""
    table = Table("G", "p", "min(p, 1 - p)", "expected", f"measured, {tasks:,} tasks a seed", title="plug-in bias")
    found = []
    for group_size in (2, 4, 8, 16):
        for p in (0.5, 0.25, 0.1):
            expected = expected_frontier(p, group_size)
            measured = [measured_frontier(p, group_size, tasks, seed) for seed in seeds]
            found.append({"G": group_size, "p": p, "expected": expected, "measured": measured})
            table.add_row(str(group_size), f"{p:g}", f"{min(p, 1.0 - p):.3f}", f"{expected:.3f}", _spread(measured))
        table.add_section()
    console.print(table)
    if out:
        write_json(out / "bias.json", found)


def long(rounds: int, out: Path | None, console: Console) -> None:
    """Thousands of small rounds of a pursuer that learns slowly: LURE and uniform."""
    small = ("placement.slots=4", "placement.samples=4", "method.group_size=4", "simulation.growth=2e3")
    table = Table(
        "method", "rounds", "skill at 1/4, 1/2, 3/4, 1", "difficulty", "capture", "seconds", title="long runs"
    )
    for name in ("LURE", "uniform"):
        began = time.perf_counter()
        history = run(rounds * 64, *small, *METHODS[name], "evaluation.tasks_per_level=0")
        seconds = time.perf_counter() - began
        quarters = [round(len(history.capture) * part / 4) for part in (1, 2, 3, 4)]
        table.add_row(
            name,
            f"{len(history.capture):,}",
            " ".join(f"{history.skill[at]:.2f}" for at in quarters),
            " ".join(f"{fmean(history.difficulty[max(0, at - 50) : at]):.2f}" for at in quarters),
            " ".join(f"{fmean(history.capture[max(0, at - 50) : at]):.2f}" for at in quarters),
            f"{seconds:.0f}",
        )
        if out:
            write_json(out / f"long-{name}.json", vars(history))
    console.print(table)


def _spread(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "not measured"
    return f"{fmean(known):.3f}" + (f" ± {stdev(known):.3f}" if len(known) > 1 else "")


def _draw(histories: Mapping[str, History]) -> Figure:
    figure = Figure(figsize=(12, 3.6), layout="constrained")
    axes = figure.subplots(1, 3)
    for name, history in histories.items():
        axes[0].plot(history.rollouts[1:], history.difficulty, label=name)
        axes[1].plot(history.rollouts[1:], history.capture)
        axes[2].plot(history.rollouts, history.skill)
    axes[1].axhline(0.5, linewidth=0.8, linestyle=":")
    for axis, title in zip(axes, ("emitted difficulty", "capture rate in training", "skill"), strict=True):
        axis.set(title=title, xlabel="rollouts")
    axes[0].legend()
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("fig4", "sensitivity", "bias", "long"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="of fig4, sensitivity and bias")
    parser.add_argument("--rounds", type=int, help="of 144 tasks (fig4), 48 tasks (sensitivity), 16 tasks (long)")
    parser.add_argument("--tasks", type=int, default=4000, help="of bias, for each G, p and seed")
    parser.add_argument("--out", type=Path, help="a folder for numbers and figures")
    given = parser.parse_args()
    console = Console(width=120)
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
    if given.part == "fig4":
        fig4(given.seeds, given.rounds or 16, given.out, console)
    elif given.part == "sensitivity":
        sensitivity(given.seeds, given.rounds or 12, given.out, console)
    elif given.part == "bias":
        bias(given.seeds, given.tasks, given.out, console)
    else:
        long(given.rounds or 2000, given.out, console)


if __name__ == "__main__":
    main()
