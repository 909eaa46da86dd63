"""What a run cost, in tasks and rollouts (LURE Table 4), and whether it is what the recipe said it would be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sparring.config import Recipe
from sparring.methods.base import Round

LEDGER = ("emitted", "malformed", "probe_rollouts", "dropped_tasks", "trained_tasks", "train_rollouts")


def round_ledger(done: Round) -> dict[str, int]:
    """The ledger of one round, counted from its rollouts.

    emitted: emissions, of which `malformed` gave no task. dropped_tasks were probed and not trained on.
    """
    trained, probed = done.trained, done.probed
    return {
        "emitted": len(done.outcomes),
        "malformed": sum(outcome.group is None for outcome in done.outcomes),
        "probe_rollouts": sum(len(group.trajectories) for group in probed),
        "dropped_tasks": sum(outcome.group is not None for outcome in done.outcomes) - len(trained),
        "trained_tasks": len(trained),
        "train_rollouts": sum(len(group.trajectories) for group in trained),
    }


def total_ledger(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The ledger of a run from its metrics rows: sums, all rollouts, rollouts a trained task, tokens of each role."""
    trained = [row for row in rows if row["ledger"]]
    total: dict[str, Any] = {name: sum(row["ledger"][name] for row in trained) for name in LEDGER}
    total["total_rollouts"] = total["probe_rollouts"] + total["train_rollouts"]
    total["rollouts_per_trained_task"] = (
        total["total_rollouts"] / total["trained_tasks"] if total["trained_tasks"] else None
    )
    roles = dict.fromkeys(role for row in trained for role in row["roles"])
    total["sampled_tokens"] = {role: sum(row["roles"][role]["tokens"] or 0 for row in trained) for role in roles}
    return total


def discrepancies(recipe: Recipe, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Where the measured ledger is not what the recipe says, a line each; none in a sound run.

    Each round: slots x samples emissions an environment (fewer at the end of a budget, and in a frozen pool
    from round 2 on, always as many); G rollouts a trained task; G probes a task for R-Zero, none else;
    every task trained or dropped, and dropped by R-Zero alone; rollouts that add up to the run's count.
    """
    size, probing, emitted = recipe.method.group_size, recipe.probes, recipe.emitted
    frozen = recipe.placement.name == "frozen_pool"
    found, spent = [], 0
    for row in rows:
        if not (ledger := row["ledger"]):
            continue
        tasks = ledger["emitted"] - ledger["malformed"]
        spent += ledger["probe_rollouts"] + ledger["train_rollouts"]
        ends = row["rollouts"] == (recipe.budget.rollouts or None)
        fewer = ends or (frozen and row["round"] == 2)
        held = {
            "emitted": (ledger["emitted"], min(emitted, ledger["emitted"]) if fewer else emitted),
            "probe_rollouts": (ledger["probe_rollouts"], tasks * size if probing else 0),
            "trained and dropped tasks": (ledger["trained_tasks"] + ledger["dropped_tasks"], tasks),
            "dropped_tasks": (ledger["dropped_tasks"], ledger["dropped_tasks"] if probing else 0),
            "train_rollouts": (ledger["train_rollouts"], ledger["trained_tasks"] * size),
            "rollouts so far": (row["rollouts"], spent),
        }
        emitted = ledger["emitted"] if frozen and not ends else emitted
        found += [
            f"round {row['round']}: {name} {seen:,}, expected {wanted:,}"
            for name, (seen, wanted) in held.items()
            if seen != wanted
        ]
    return found
