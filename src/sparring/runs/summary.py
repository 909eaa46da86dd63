"""What a run came to: held-out capture before and after, with intervals, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from sparring.config import Recipe
from sparring.intervals import wilson_interval
from sparring.runs.ledger import discrepancies, total_ledger


def summarise(
    recipe: Recipe, rows: Sequence[Mapping[str, Any]], overlap: Mapping[str, Mapping[str, int]]
) -> dict[str, Any]:
    """Summarise metrics rows, one a round, round 0 being the evaluation before training.

    overlap is what `heldout_overlap` found: how many training tasks are held out too.
    Whatever was not measured is None. First and last mean the first and last tenth of the training
    rounds, at least one round; rates are means over environments, then over rounds.
    """
    training = [row for row in rows if row["round"] > 0]
    before = next((row["heldout"] for row in rows if row["round"] == 0), None)
    after = next((row["heldout"] for row in reversed(training) if row["heldout"]), None)
    tenth = max(1, len(training) // 10)
    first, last = training[:tenth], training[-tenth:]
    return {
        "leak": recipe.secret.notice,
        "heldout_before": _with_intervals(before),
        "heldout_after": _with_intervals(after),
        "by_difficulty_before": _by_difficulty(before),
        "by_difficulty_after": _by_difficulty(after),
        "capture_first": _mean(first, "capture"),
        "capture_last": _mean(last, "capture"),
        "difficulty_first": _mean(first, "difficulty_mean"),
        "difficulty_last": _mean(last, "difficulty_mean"),
        "training_tasks": dict(overlap),
        "rollouts": rows[-1]["rollouts"] if rows else 0,
        "ledger": total_ledger(rows),
        "ledger_discrepancies": discrepancies(recipe, rows),
        "minutes": sum(sum(row["seconds"].values()) for row in rows) / 60,
        "cpu_minutes": sum(row["cpu_seconds"] for row in rows) / 60,
    }


def summary_text(summary: Mapping[str, Any]) -> str:
    """The summary as a few lines for a terminal."""
    before, after = summary["heldout_before"] or {}, summary["heldout_after"] or {}
    lines = [summary["leak"]] if summary["leak"] else []
    lines.append("held-out capture (95 % interval), before → after")
    for name in before | after:
        lines.append(f"  {name:<16} {_rate(before.get(name))} → {_rate(after.get(name))}")
    if not before | after:
        lines.append("  not measured")
    levels_before, levels_after = summary["by_difficulty_before"], summary["by_difficulty_after"]
    if levels_before or levels_after:
        lines.append("the same by difficulty, easiest to hardest")
    for name in levels_before | levels_after:
        rates = (" ".join(_short(rate) for rate in of.get(name, ())) for of in (levels_before, levels_after))
        lines.append(f"  {name:<16} {' → '.join(rates)}")
    for label, key in (("capture in training", "capture"), ("emitted difficulty", "difficulty")):
        first, last = summary[f"{key}_first"], summary[f"{key}_last"]
        lines.append(f"{label}, first → last tenth of rounds: {_number(first)} → {_number(last)}")
    if summary["training_tasks"]:
        lines.append("training tasks of different content, and how many of these are held out too")
    for name, count in summary["training_tasks"].items():
        lines.append(f"  {name:<16} {count['distinct']:,}, {count['held_out']:,}")
    ledger = summary["ledger"]
    if ledger["probe_rollouts"]:
        lines.append(
            f"{ledger['emitted']:,} emissions, {ledger['probe_rollouts']:,} probe rollouts, "
            f"{ledger['trained_tasks']:,} tasks trained on and {ledger['dropped_tasks']:,} dropped, "
            f"{ledger['train_rollouts']:,} training rollouts"
        )
    lines += [f"the ledger is not the recipe's: {line}" for line in summary["ledger_discrepancies"]]
    lines.append(f"{summary['rollouts']:,} rollouts in {summary['minutes']:.1f} minutes of rounds and evaluation")
    return "\n".join(lines)


def _with_intervals(heldout: Mapping[str, Any] | None) -> dict[str, dict[str, Any]] | None:
    if not heldout:
        return None
    measured = {"all": heldout} | heldout["environments"]
    return {name: _with_interval(entry["capture"], entry["n"]) for name, entry in measured.items()}


def _by_difficulty(heldout: Mapping[str, Any] | None) -> dict[str, list[float | None]]:
    """Capture at each difficulty, easiest first, per environment."""
    environments = heldout["environments"] if heldout else {}
    return {name: [rate for _, rate, _ in entry["by_difficulty"]] for name, entry in environments.items()}


def _with_interval(capture: float | None, n: int) -> dict[str, Any]:
    low, high = (None, None) if capture is None else wilson_interval(capture, n)
    return {"capture": capture, "low": low, "high": high, "n": n}


def _mean(rows: Sequence[Mapping[str, Any]], metric: str) -> float | None:
    """Mean over environments in each round, then over rounds; None values are left out."""
    rounds = []
    for row in rows:
        values = [entry[metric] for entry in row["environments"].values() if entry[metric] is not None]
        if values:
            rounds.append(fmean(values))
    return fmean(rounds) if rounds else None


def _rate(entry: Mapping[str, Any] | None) -> str:
    if entry is None or entry["capture"] is None:
        return "not measured"
    return f"{entry['capture']:.3f} ({entry['low']:.3f}-{entry['high']:.3f}, n = {entry['n']})"


def _short(rate: float | None) -> str:
    return "  - " if rate is None else f"{rate:.2f}"


def _number(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.3f}"
