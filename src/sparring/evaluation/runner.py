"""Evaluation in two steps: generations are stored first, then scored from their file.

The second step is `score`, the same for this program's generations and for anyone's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sparring.errors import UserError
from sparring.evaluation.benchmarks import (
    IN_COMPACT_WORDS,
    Benchmark,
    HeldoutBenchmark,
    PromptBenchmark,
    benchmark,
    benchmarks_for,
)
from sparring.evaluation.generate import answer_prompts, pursue_heldout
from sparring.evaluation.heldout_replay import heldout_set
from sparring.evaluation.stored import read_generations
from sparring.evaluation.subject import Subject, load_subject, recipe_of, refuse_unfit
from sparring.profiles import Profile
from sparring.roles import Role
from sparring.runs.origin import is_run
from sparring.runs.writing import write_json, write_json_lines, writing

Item = TypeVar("Item")


def evaluate(
    target: str, benchmarks: Sequence[str], limit: int | None, out: Path | None, console: Console
) -> dict[str, dict[str, Any]]:
    """Generate and score; returns the scores by benchmark, which are also in `<out>/<benchmark>.json`.

    target: a run folder (its newest complete checkpoint), a model folder, a hub id or `smollm2`.
    limit: only the first so many tasks of each benchmark. Raises UserError before anything loads
    for an unknown benchmark, a missing data file, or generations that would be overwritten.
    """
    recipe = recipe_of(target)
    cards = benchmarks_for(benchmarks, recipe.prompts.pack)
    refuse_unfit(target, recipe, cards)
    for card in cards:
        if isinstance(card, PromptBenchmark):
            card.rows()
    folder = _folder(target, cards, out)
    for name in benchmarks:
        if benchmark(name) not in cards:
            console.print(f"{name}: {target} speaks compact words, so {IN_COMPACT_WORDS[name]} is measured instead")
    if recipe.secret.notice:
        console.print(recipe.secret.notice, style="bold red")
    subject = load_subject(target, recipe, cards, console)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    results = {}
    for card in cards:
        console.print(f"{card.name}: {card.what}", highlight=False)
        file = folder / f"{card.name}.jsonl"
        write_json_lines(file, _generations(card, subject, limit, console))
        leak = recipe.secret.notice if isinstance(card, HeldoutBenchmark) else None
        scores = {"target": target, "round": subject.round, "leak": leak, **score(file, card.name, Profile.OFFICIAL)}
        write_json(file.with_suffix(".json"), scores)
        _show(scores, console)
        console.print(f"generations: {file}", highlight=False, soft_wrap=True)
        results[card.name] = scores
    return results


def score(file: Path, name: str, profile: str) -> dict[str, Any]:
    """Score a file of generations: what was measured, counts, and every rate with its 95 % interval.

    Raises UserError for an unknown benchmark, a missing data file, and any line of the file that is
    not a generation for it.
    """
    card = benchmark(name)
    return {"benchmark": card.name, "what": card.what, **card.score(read_generations(file), Profile(profile))}


def _generations(card: Benchmark, subject: Subject, limit: int | None, console: Console) -> list[dict[str, Any]]:
    with Progress(console=console) as progress:
        bar = progress.add_task(card.name, total=None)

        def advance(done: int) -> None:
            progress.advance(bar, done)

        if isinstance(card, PromptBenchmark):
            prompts = _first(card.prompts(), limit)
            progress.update(bar, total=len(prompts))
            policy = subject.policy(Role.EXECUTOR, card.environment)
            return answer_prompts(subject.engine, policy, prompts, card.max_tokens, advance)
        environment = subject.environments[card.environment]
        tasks = _first(heldout_set(environment, card.levels, card.tasks_per_level), limit)
        progress.update(bar, total=len(tasks))
        return pursue_heldout(subject.pursuers, environment, tasks, advance)


def _first(items: Mapping[str, Item], limit: int | None) -> dict[str, Item]:
    return dict(islice(items.items(), limit))


def _folder(target: str, cards: Sequence[Benchmark], out: Path | None) -> Path:
    """Where generations go; by default the first folder that holds none for these benchmarks."""
    path = Path(target)

    def taken(folder: Path) -> list[Path]:
        files = [folder / f"{card.name}.jsonl" for card in cards]
        return [file for file in files if file.exists()]

    if out is not None:
        if taken(out):
            raise UserError(f"{taken(out)[0]} exists; remove it, or give another --out than {out}")
        return out
    base = path / "eval" if is_run(path) else Path("runs") / f"eval-{path.name}"
    numbered = (base if number == 1 else base.with_name(f"{base.name}-{number}") for number in count(1))
    return next(folder for folder in numbered if not taken(folder))


GROUPS = ("capture_by_difficulty", "exact_match_by_difficulty", "puzzle_accuracy_by_size", "cell_accuracy_by_size")
"""What scores hold by difficulty or size, in the order in which it is shown."""


def _show(scores: Mapping[str, Any], console: Console) -> None:
    """The scores as one table, with what was counted beside them."""
    table = Table("", "rate", "95 % interval", "n", title=f"{scores['benchmark']} ({scores['profile']})")
    for name, entry in scores["metrics"].items():
        table.add_row(name, *_cells(entry))
    for group in GROUPS:
        metric, _, axis = group.partition("_by_")
        for name, entry in scores.get(group, {}).items():
            table.add_row(f"  {metric}, {axis} {name}", *_cells(entry))
    console.print(table)
    counts = ("n", "without_reply", "broken", "no_answer", "format_error", "truncated")
    known = [f"{name.replace('_', ' ')} {scores[name]}" for name in counts if scores.get(name) is not None]
    console.print(", ".join(known), highlight=False)


def _cells(entry: Mapping[str, Any]) -> tuple[str, str, str]:
    if entry["rate"] is None:
        return "not measured", "", str(entry["n"])
    if entry["low"] is None:
        return f"{entry['rate']:.3f}", "", str(entry["n"])
    return f"{entry['rate']:.3f}", f"{entry['low']:.3f}-{entry['high']:.3f}", str(entry["n"])
