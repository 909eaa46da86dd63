"""The report of a run: one offline HTML file, made from what the run folder holds.

Everything that a model wrote is untrusted text: the template escapes it, and the page forbids
itself scripts and outside resources.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparring.config import Recipe
from sparring.config.sections import MethodSection, ObjectiveSection, PlacementSection, RolesSection, Section
from sparring.errors import UserError
from sparring.reports import drawing, figures
from sparring.reports.episodes import chosen_episodes
from sparring.reports.metrics import RunMetrics, check_rows
from sparring.reports.pages import NOT_MEASURED, page_template
from sparring.runs.folder import read_metrics
from sparring.runs.origin import dotted, read_recipe
from sparring.runs.overlap import heldout_overlap
from sparring.runs.summary import summarise
from sparring.runs.writing import write_atomically
from sparring.wording import shown


@dataclass(frozen=True)
class Departure:
    """One number or choice of the recipe that is not the default."""

    field: str
    value: str
    default: str


@dataclass(frozen=True)
class HeldoutLine:
    """Held-out success of one environment, or of all together, before and after training."""

    name: str
    colour: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None

    @property
    def change(self) -> float | None:
        """After minus before, where both were measured."""
        if self.before is None or self.after is None:
            return None
        return float(self.after["capture"] - self.before["capture"])


def write_report(folder: Path) -> Path:
    """Write `report.html` of a run folder and return its path.

    Raises UserError when the folder holds no run, or no metrics yet.
    """
    recipe = read_recipe(folder)
    rows = read_metrics(folder)
    if not rows:
        raise UserError(f"{folder} holds no metrics yet (no row in metrics.jsonl); let the run finish a round first")
    check_rows(folder / "metrics.jsonl", rows)
    roles = list(dict.fromkeys(role for row in rows for role in row["roles"]))
    metrics = RunMetrics(rows, list(recipe.environments), roles)
    episodes = chosen_episodes(folder, metrics.environments)
    summary = summarise(recipe, rows, heldout_overlap(folder, rows[-1]["round"]))
    heldout = heldout_lines(summary, metrics)
    page = page_template("report.html.j2").render(
        recipe=recipe,
        recipe_text=recipe.toml(),
        rounds_done=rows[-1]["round"],
        departures=departures(recipe),
        settings=settings(recipe),
        summary=summary,
        heldout=heldout,
        overall=next((line for line in heldout if line.name == "all"), None),
        costs=costs(metrics, summary),
        sections=figures.sections(metrics),
        episodes=episodes,
        colours={name: drawing.CSS_VARIABLES[colour] for name, colour in metrics.environment_colours.items()},
        versions=_versions(folder),
    )
    path = folder / "report.html"
    # A lone surrogate in a stored text must not cost the report.
    write_atomically(path, page.encode("utf-8", errors="replace"))
    return path


def departures(recipe: Recipe) -> list[Departure]:
    """Every key of the method, its objective, placement and roles that is not the default.

    The defaults are the paper's wherever the paper gives a number.
    """
    defaults: dict[str, Section] = {
        "placement": PlacementSection(),
        "method": MethodSection(),
        "objective": ObjectiveSection(),
        "roles": RolesSection(),
    }
    found = []
    for name, default in defaults.items():
        theirs = dotted({name: default.model_dump(mode="json")})
        ours = dotted({name: getattr(recipe, name).model_dump(mode="json")})
        found += [Departure(key, str(ours[key]), str(theirs[key])) for key in theirs if ours[key] != theirs[key]]
    return found


def settings(recipe: Recipe) -> list[tuple[str, str]]:
    """What the recipe was, in the few lines a reader asks for first; the whole of it is folded below."""
    method, placement, roles = recipe.method, recipe.placement, recipe.roles
    rates = (("evader", roles.evader), ("planner", roles.planner), ("executor", roles.executor))
    return [
        ("Method", f"{method.name}, {method.sharing}"),
        ("Placement", placement.name.replace("_", " ")),
        ("Executor credit", method.executor_credit.value),
        ("Planner credit", method.planner_credit.value),
        ("Backbone", recipe.backbone.name if recipe.engine.kind == "local" else "none: simulated policies"),
        ("Environments", ", ".join(recipe.environments)),
        ("Emissions per environment and round", f"{placement.slots} slots of {placement.samples} samples"),
        ("Rollouts per task", str(method.group_size)),
        ("Progress weight, zero-progress cost", f"{method.progress_weight:g}, {method.zero_progress_cost:g}"),
        ("KL weight, clip", f"{recipe.objective.kl_weight:g}, {recipe.objective.clip:g}"),
        ("Optimiser steps per round", str(recipe.objective.optimiser_steps * recipe.objective.epochs)),
        ("Learning rates", ", ".join(f"{role} {section.learning_rate:g}" for role, section in rates)),
        ("Seed", str(recipe.seed)),
    ]


def heldout_lines(summary: Mapping[str, Any], metrics: RunMetrics) -> list[HeldoutLine]:
    """The rows of the held-out table, all together first; only what was measured at least once."""
    shades = {"all": drawing.INK} | metrics.environment_colours
    stages = [summary["heldout_before"] or {}, summary["heldout_after"] or {}]
    lines = []
    for name, shade in shades.items():
        before, after = (stage.get(name) for stage in stages)
        before, after = (entry if entry and entry["capture"] is not None else None for entry in (before, after))
        if before or after:
            lines.append(HeldoutLine(name, drawing.CSS_VARIABLES[shade], before, after))
    return lines


def costs(metrics: RunMetrics, summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the run spent, in the terms of the paper's Table 4, as label and number."""
    emitted = [metrics.total("environments", name, "emitted") for name in metrics.environments]
    tasks = sum(count for count in emitted if count is not None)
    tokens, each = metrics.tokens_per_role, summary["ledger"]["rollouts_per_trained_task"]
    return [
        ("tasks emitted", f"{tasks:,.0f}" if tasks else NOT_MEASURED),
        ("rollouts", f"{summary['rollouts']:,}"),
        ("rollouts per trained task", f"{each:.1f}" if each else NOT_MEASURED),
        ("sampled tokens", f"{sum(tokens.values()):,.0f}" if tokens else NOT_MEASURED),
        ("minutes", f"{summary['minutes']:.1f}"),
    ]


def _versions(folder: Path) -> dict[str, str]:
    """The software the run used, one entry a line; empty where the folder does not say."""
    path = folder / "versions.json"
    if not path.exists():
        return {}
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is not JSON ({error}); restore or remove it") from None
    if not isinstance(stored, dict):
        raise UserError(f"{path} is {shown(stored)}, not an object; restore or remove it")
    software = stored.pop("packages", {})
    return stored | (software if isinstance(software, dict) else {})
