"""Compare who chooses the tasks, at one number of rollouts: evader, uniform, thermostat, frozen pool.

    python benchmarks/placements.py recipes/lure-micro.toml --seeds 0 1 2 --rounds 50 --jobs 2 --out DIR

Every run is a `sparring train` of its own with one thread. The runs of one recipe start from the
same backbone and are measured on the same held-out tasks, before the first round and after the
last. A placement whose rounds are smaller (a frozen pool drops malformed emissions) goes on for more
rounds until its rollouts are as near the others' as whole rounds allow. Runs that DIR already holds
are not done again, and one that was broken off is resumed. The table goes to the screen and
to DIR/table.md, its numbers to DIR/table.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from rich.console import Console

from sparring.config import Recipe, load_recipe
from sparring.errors import UserError
from sparring.micro import build_micro
from sparring.runs.folder import read_metrics
from sparring.runs.origin import is_run, read_recipe, refuse_other_recipe
from sparring.runs.writing import write_json, write_text
from sparring.training import make_environments

PLACEMENTS = ("evader", "uniform", "thermostat", "frozen_pool")
LABELS = {"evader": "LURE (evader)", "frozen_pool": "frozen pool"}
COLUMNS = {
    "mixed": "mixed groups",
    "capture": "capture in training",
    "frontier": "min(p, 1-p)",
    "invalid": "malformed or refused",
    "rounds": "rounds",
    "rollouts": "rollouts",
    "minutes": "minutes",
}


@dataclass(frozen=True)
class Job:
    """One run: a placement, a seed, and the folder it lives in."""

    placement: str
    seed: int
    folder: Path
    recipe_file: Path
    rounds: int

    @property
    def overrides(self) -> dict[str, str]:
        """What this run changes in the recipe; held-out tasks are measured before and after only."""
        return {
            "seed": str(self.seed),
            "placement.name": self.placement,
            "engine.threads": "1",
            "evaluation.every": str(self.rounds),
        }

    def recipe(self) -> Recipe:
        """The recipe as this run has it."""
        overrides = {**self.overrides, "rounds": str(self.rounds)}
        return load_recipe(self.recipe_file, [f"{key}={value}" for key, value in overrides.items()])


def rounds_missing(spent: int, last_round: int, target: int) -> int:
    """Whole further rounds of `last_round` rollouts that bring `spent` nearest to `target`."""
    if last_round == 0:
        raise UserError(f"the last round spent no rollout, so {target} are out of reach; look into the run's emissions")
    return max(0, round((target - spent) / last_round))


def target_rollouts(recipe: Recipe) -> int:
    """Rollouts of the asked rounds when every emission is well-formed."""
    tasks = recipe.placement.slots * recipe.placement.samples * len(recipe.environments)
    return tasks * recipe.method.group_size * recipe.rounds


def carry_out(job: Job) -> bool:
    """Bring one run to its number of rollouts; False when it was there already."""
    recipe = job.recipe()
    wanted, worked = recipe.rounds, False
    while True:
        rows = read_metrics(job.folder)
        if is_run(job.folder):
            refuse_other_recipe(job.folder, read_recipe(job.folder), recipe)
        if len(rows) > wanted and (job.folder / "summary.json").exists():
            last_round = rows[-1]["rollouts"] - rows[-2]["rollouts"]
            missing = rounds_missing(rows[-1]["rollouts"], last_round, target_rollouts(recipe))
            if missing == 0:
                return worked
            wanted = len(rows) - 1 + missing
        train(job, wanted)
        worked = True


def train(job: Job, rounds: int) -> None:
    """Begin or resume the run in a process of its own; its words go to DIR/NAME.log."""
    command = [str(Path(sys.executable).with_name("sparring")), "train", "--rounds", str(rounds)]
    if is_run(job.folder):
        command += ["--resume", str(job.folder)]
    else:
        command += [str(job.recipe_file), "--out", str(job.folder)]
        command += [word for key, value in job.overrides.items() for word in (f"--{key}", value)]
    log = job.folder.with_suffix(".log")
    with log.open("a", encoding="utf-8") as words:
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        code = subprocess.run(command, stdout=words, stderr=subprocess.STDOUT, env=environment, check=False).returncode
    if code != 0:
        raise UserError(f"{job.placement}, seed {job.seed} ended with exit code {code}; see {log}")


def run_result(folder: Path) -> dict[str, Any]:
    """The numbers of one finished run."""
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    rows = read_metrics(folder)[1:]
    rates = [rate for row in rows for rate in emission_rates(folder, row["round"])]
    return {
        "before": {name: entry["capture"] for name, entry in summary["heldout_before"].items()},
        "after": {name: entry["capture"] for name, entry in summary["heldout_after"].items()},
        "mixed": mean_over_rounds(rows, "mixed"),
        "capture": mean_over_rounds(rows, "capture"),
        "frontier": fmean(min(rate, 1.0 - rate) for rate in rates),
        "invalid": mean_over_rounds(rows, "invalid"),
        "rounds": len(rows),
        "rollouts": summary["rollouts"],
        "minutes": summary["minutes"],
    }


def emission_rates(folder: Path, number: int) -> list[float]:
    """The capture rate p of every task of a round."""
    lines = (folder / "emissions" / f"round_{number:04d}.jsonl").read_text(encoding="utf-8").splitlines()
    return [rate for rate in (json.loads(line)["capture"] for line in lines) if rate is not None]


def mean_over_rounds(rows: Sequence[Mapping[str, Any]], metric: str) -> float:
    """Mean over environments and rounds; what was not measured is left out."""
    found = [entry[metric] for row in rows for entry in row["environments"].values()]
    return fmean(value for value in found if value is not None)


def table(results: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """Markdown: one row a placement, mean ± sample deviation over its seeds."""
    first = next(iter(next(iter(results.values())).values()))
    names = list(first["after"])
    heads = ["placement", "n", "before", *(f"after, {name}" for name in names), *COLUMNS.values()]
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for placement, by_seed in results.items():
        runs = list(by_seed.values())
        cells = [LABELS.get(placement, placement), str(len(runs)), spread([run["before"]["all"] for run in runs])]
        cells += [spread([run["after"][name] for run in runs]) for name in names]
        cells += [spread([run[key] for run in runs]) for key in COLUMNS]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def spread(values: Sequence[float]) -> str:
    """Mean ± deviation; plain where all agree, so counts stay counts."""
    if max(values) == min(values):
        return f"{values[0]:,}" if isinstance(values[0], int) else f"{values[0]:.3f}"
    digits = 0 if isinstance(values[0], int) else 3
    return f"{fmean(values):,.{digits}f} ± {stdev(values):,.{digits}f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, then print and write the table."""
    parser = argparse.ArgumentParser(description="compare placements at one number of rollouts")
    parser.add_argument("recipe", nargs="?", type=Path, default=Path("recipes/lure-micro.toml"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time; one thread each")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    recipe = load_recipe(given.recipe)
    if recipe.backbone.name == "micro":  # once, before the runs would all build it
        build_micro(make_environments(recipe), recipe.backbone, Console())
    jobs = [
        Job(placement, seed, given.out / f"{placement}-{seed}", given.recipe, given.rounds)
        for seed in given.seeds
        for placement in PLACEMENTS
    ]
    with ThreadPoolExecutor(given.jobs) as pool:
        running = {pool.submit(carry_out, job): job for job in jobs}
        for number, finished in enumerate(as_completed(running), start=1):
            job = running[finished]
            done = "trained" if finished.result() else "already there"
            after = run_result(job.folder)["after"]["all"]
            print(f"{number}/{len(jobs)}  {job.placement}, seed {job.seed}: {done}, held-out {after:.3f}", flush=True)
    results = {
        placement: {str(job.seed): run_result(job.folder) for job in jobs if job.placement == placement}
        for placement in PLACEMENTS
    }
    write_json(given.out / "table.json", results)
    write_text(given.out / "table.md", table(results) + "\n")
    print(f"\n{table(results)}\n")


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(f"placements: {error}")
