"""Goes through the stored rounds of a run and credits every group anew, under every option."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np

from sparring.config import Recipe
from sparring.credit import Label
from sparring.errors import UserError
from sparring.recredit.measures import Tally, Turns
from sparring.recredit.options import Advantages, ExecutorOption, PlannerOption, executor_options, planner_options
from sparring.recredit.stored import GroupKind, StoredGroup, stored_groups
from sparring.reports.metrics import number_at
from sparring.runs.folder import read_metrics
from sparring.runs.origin import read_recipe


@dataclass(frozen=True)
class RoundChoice:
    """Which complete rounds to read: those from `first` to `final`, of these the newest `last`; None for no limit."""

    first: int | None = None
    final: int | None = None
    last: int | None = None


@dataclass
class Counts:
    """What was read, and what was left out: broken rollouts, and groups without any that finished or without a label.

    turn_rewards: the stored Eq. 4 scalars that were recomputed and found equal.
    """

    groups: int = 0
    rollouts: int = 0
    broken_rollouts: int = 0
    groups_without_outcome: int = 0
    groups_without_label: int = 0
    turn_rewards: int = 0


@dataclass
class Recredit:
    """The measures of every credit of executor and planner over the rounds of one run."""

    recipe: Recipe
    rounds: list[int]
    executor: dict[str, Tally]
    planner: dict[str, Tally]
    counts: Counts = field(default_factory=Counts)
    notes: list[str] = field(default_factory=list)

    @property
    def own_executor(self) -> str:
        """The name of the executor credit that the run trained with."""
        return self.recipe.method.executor_credit.value

    @property
    def own_planner(self) -> str:
        """The name of the planner credit that the run trained with."""
        return self.recipe.method.planner_credit.value

    @property
    def groups(self) -> Mapping[GroupKind, int]:
        """How many groups of each kind there were."""
        return self.executor[self.own_executor].groups

    def plain(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "run": self.recipe.name,
            "method": self.recipe.method.name,
            "rounds": self.rounds,
            "counts": vars(self.counts),
            "group_kinds": {kind.value: count for kind, count in self.groups.items()},
            "notes": self.notes,
            "executor": {
                "own": self.own_executor,
                "marked": "turns that made progress before the last turn of a captured rollout",
                "options": {name: tally.plain() for name, tally in self.executor.items()},
            },
            "planner": {
                "own": self.own_planner,
                "marked": "plans of captured rollouts",
                "options": {name: tally.plain() for name, tally in self.planner.items()},
            },
        }


def recredit(folder: Path, choice: RoundChoice) -> Recredit:
    """Credit the stored rollouts of a run under every option, one group in memory at a time.

    Raises UserError when the folder holds no run or none of the rounds asked for is complete, and
    when the stored rewards or labels are not what the recipe gives.
    """
    recipe = read_recipe(folder)
    rows, notes = _complete_rounds(folder, choice)
    by_executor, by_planner = executor_options(recipe.method), planner_options()
    done = Recredit(
        recipe,
        sorted(rows),
        {name: Tally() for name in by_executor},
        {name: Tally() for name in by_planner},
        notes=notes,
    )
    for number in done.rounds:
        path = _rollouts(folder, number)
        agreed: list[bool] = []
        unlabelled = done.counts.groups_without_label
        for group in stored_groups(path, recipe.method):
            done.counts.broken_rollouts += group.broken
            if not group.labelled:
                done.counts.groups_without_label += 1
            elif not group.rollouts:
                done.counts.groups_without_outcome += 1
            else:
                agreed += [a == b.captured for a, b in zip(group.captures, group.trajectories, strict=True)]
                _add(done, group, by_executor, by_planner)
        if recipe.method.label is Label.MAJORITY and done.counts.groups_without_label == unlabelled:
            _check_labels(path, agreed, rows[number])
    _note(done)
    return done


def _complete_rounds(folder: Path, choice: RoundChoice) -> tuple[dict[int, Mapping[str, Any]], list[str]]:
    """The metrics rows of the rounds to read, by number; and a note on rounds whose rollouts are gone."""
    rows = {row["round"]: row for row in read_metrics(folder) if row["round"] > 0}
    stored = [number for number in sorted(rows) if _rollouts(folder, number).is_file()]
    if not stored:
        raise UserError(f"{folder} holds no complete round (rollouts and a row of metrics); let the run finish one")
    low = stored[0] if choice.first is None else choice.first
    high = stored[-1] if choice.final is None else choice.final
    chosen = [number for number in stored if low <= number <= high]
    if not chosen:
        raise UserError(
            f"--rounds {low}-{high} holds no complete round of {folder}, which has {stored[0]}-{stored[-1]}"
        )
    if choice.last is not None:
        chosen = chosen[-choice.last :]
    lost = sum(chosen[0] <= number <= chosen[-1] for number in rows) - len(chosen)
    notes = [f"rounds without stored rollouts are left out: {lost}"] if lost else []
    return {number: rows[number] for number in chosen}, notes


def _rollouts(folder: Path, number: int) -> Path:
    return folder / "rollouts" / f"round_{number:04d}.jsonl"


def _add(
    done: Recredit,
    group: StoredGroup,
    by_executor: Mapping[str, ExecutorOption],
    by_planner: Mapping[str, PlannerOption],
) -> None:
    trajectories = group.trajectories
    lengths = [len(trajectory.turns) for trajectory in trajectories]
    done.counts.groups += 1
    done.counts.rollouts += len(trajectories)
    done.counts.turn_rewards += sum(lengths)
    turns = Turns(
        tokens=np.concatenate([rollout.turn_tokens for rollout in group.rollouts]),
        position=np.concatenate([np.arange(length) for length in lengths]),
        marked=np.array(
            [
                trajectory.captured and number < length - 1 and turn.gain > 0.0
                for trajectory, length in zip(trajectories, lengths, strict=True)
                for number, turn in enumerate(trajectory.turns)
            ]
        ),
    )
    plans = Turns(
        tokens=np.concatenate([rollout.plan_tokens for rollout in group.rollouts]),
        position=np.zeros(len(trajectories), dtype=np.int64),
        marked=np.array([trajectory.captured for trajectory in trajectories]),
    )
    _tally(
        done.executor,
        group.kind,
        turns,
        {k: option(trajectories) for k, option in by_executor.items()},
        done.own_executor,
    )
    _tally(
        done.planner, group.kind, plans, {k: option(trajectories) for k, option in by_planner.items()}, done.own_planner
    )


def _tally(
    tallies: Mapping[str, Tally], kind: GroupKind, turns: Turns, advantages: Mapping[str, Advantages], own: str
) -> None:
    flat = {name: np.concatenate([np.asarray(part) for part in parts]) for name, parts in advantages.items()}
    for name, tally in tallies.items():
        tally.add(kind, turns, flat[name], flat[own])


def _check_labels(path: Path, agreed: Sequence[bool], row: Mapping[str, Any]) -> None:
    """Hold the recomputed majority labels against the agreement with the verifier that training noted."""
    noted = number_at(row, "notes", "label_agreement")
    if not agreed or noted is None:
        return
    found = sum(agreed) / len(agreed)
    if not isclose(noted, found, abs_tol=1e-9):
        raise UserError(
            f"{path}: the majority's label agrees with the verifier on {found:.4f} of the rollouts, where "
            f"metrics.jsonl says {noted:.4f}; restore both files from a copy"
        )


def _note(done: Recredit) -> None:
    counts, method = done.counts, done.recipe.method
    for count, words in (
        (counts.broken_rollouts, "rollouts that broke are left out"),
        (counts.groups_without_outcome, "groups of which no rollout finished are left out"),
        (counts.groups_without_label, "groups are left out, since no probe of theirs is stored to vote on the label"),
    ):
        if count:
            done.notes.append(f"{count:,} {words}")
    if method.name == "r_zero" and method.label is Label.MAJORITY:
        done.notes.append("captured means: as the majority of the probes answered, which is what training used")
