"""`sparring lab`: runs what a suite lacks, and writes what it came to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from sparring.errors import UserError, nearest
from sparring.lab.page import write_page
from sparring.lab.queue import Running, is_finished, run_queue
from sparring.lab.results import as_json, lines_of, run_result
from sparring.lab.suite import Job, Suite, jobs_of, load_suite
from sparring.lab.tables import markdown
from sparring.micro import build_micro
from sparring.planning import plan
from sparring.runs.folder import folder_lock
from sparring.runs.origin import dotted
from sparring.runs.writing import write_json, write_text, writing
from sparring.training import make_environments


def lab(
    given: Path,
    out: Path | None,
    at_once: int | None,
    arms: Sequence[str] | None,
    seeds: Sequence[int] | None,
    minutes: float,
    dry_run: bool,
    console: Console,
) -> bool:
    """Run a suite, or the part of it that is asked for; False when a run failed.

    Results are always of all runs that the folder holds, so parts add up.
    """
    suite, path = load_suite(given)
    every = jobs_of(suite, path)
    asked = chosen(suite, every, arms, seeds)
    if dry_run:
        show_plan(suite, asked, console)
        return True
    folder = out or Path("runs") / suite.name
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with folder_lock(folder):
        make_backbones(asked, console)
        failures = run_all(asked, folder / "runs", at_once or os.cpu_count() or 1, minutes, console)
        write_results(suite, every, folder, failures, console)
    return not failures


def chosen(suite: Suite, jobs: Sequence[Job], names: Sequence[str] | None, seeds: Sequence[int] | None) -> list[Job]:
    """The jobs of these arms or variants and seeds; UserError for one that the suite has not."""
    known = [*(arm.name for arm in suite.arms), *(variant.name for variant in suite.variants)]
    for name in names or ():
        if name not in known:
            raise UserError(
                f"--only {name} is no arm or variant of {suite.name}; the nearest is {nearest(name, known)}"
            )
    for seed in seeds or ():
        if seed not in suite.seeds:
            raise UserError(f"--seeds {seed} is no seed of {suite.name}; it has {', '.join(map(str, suite.seeds))}")
    return [
        job
        for job in jobs
        if (not names or job.arm in names or job.variant in names) and (not seeds or job.seed in seeds)
    ]


def show_plan(suite: Suite, jobs: Sequence[Job], console: Console) -> None:
    """What each arm changes against the reference of the first variant, and what a run of it spends."""
    console.print(f"{suite.name}: {len(jobs)} runs; seeds {', '.join(map(str, dict.fromkeys(j.seed for j in jobs)))}")
    seen: dict[tuple[str, str], Job] = {}
    for job in jobs:
        seen.setdefault((job.variant, job.arm), job)
    basis = next((job for job in jobs if job.arm == suite.reference), jobs[0])
    reference = dotted(basis.recipe.model_dump(mode="json"))
    for (variant, arm), job in seen.items():
        own = dotted(job.recipe.model_dump(mode="json"))
        changed = [key for key in own if key not in ("name", "seed") and own[key] != reference.get(key)]
        rollouts = plan(job.recipe)["in_all"]["total_rollouts"]
        changes = "; ".join(f"{key} = {own[key]}" for key in changed) or "the reference"
        console.print(
            f"  {'/'.join(filter(None, (variant, arm)))}: {rollouts:,} rollouts; {changes}",
            highlight=False,
            soft_wrap=True,
        )


def make_backbones(jobs: Sequence[Job], console: Console) -> None:
    """Each micro backbone once, before the runs would all build it."""
    made = set()
    for job in jobs:
        recipe = job.recipe
        key = (recipe.backbone.model_dump_json(), str(recipe.environments))
        if recipe.backbone.name == "micro" and key not in made:
            made.add(key)
            build_micro(make_environments(recipe), recipe.backbone, console)


def run_all(jobs: Sequence[Job], runs: Path, at_once: int, minutes: float, console: Console) -> dict[str, str]:
    """The queue under a progress line."""
    columns = (
        TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )  # fmt: skip
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=len(jobs))

        def show(running: Sequence[Running], ended: int) -> None:
            words = ", ".join(f"{each.job.name} round {each.rounds}" for each in running)
            progress.update(task, completed=ended, description=words)

        return run_queue(jobs, runs, at_once, minutes, show)


def write_results(suite: Suite, jobs: Sequence[Job], folder: Path, failures: dict[str, str], console: Console) -> None:
    """results.json, table.md and suite.html of all runs that are finished."""
    finished = [job for job in jobs if is_finished(folder / "runs" / job.name, job)]
    lines = lines_of(suite, [run_result(folder / "runs" / job.name, job) for job in finished])
    missing = len(jobs) - len(finished)
    text = markdown(suite, lines, failures)
    write_json(folder / "results.json", as_json(suite, lines, failures))
    write_text(folder / "table.md", text)
    page = write_page(folder / "suite.html", suite, lines, failures, missing)
    console.print(text, markup=False, highlight=False, soft_wrap=True)
    if missing:
        console.print(f"{missing} of {len(jobs)} runs are missing; the same command goes on with them")
    console.print(f"table: {folder / 'table.md'}; page: {page}", soft_wrap=True)
