"""Roles: a name, a prompt template, and the public fields it may read.

Renderers take `PublicTask` and plain aggregates only, so a secret cannot reach a prompt by type.
Templates are package data, one file per role and pack.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources

import jinja2

from sparring.tasks import Guide, PromptPack, PublicTask


class Role(StrEnum):
    """The three roles of LURE."""

    EVADER = "evader"
    PLANNER = "planner"
    EXECUTOR = "executor"


@dataclass(frozen=True)
class WorkedExample:
    """A solved task of the same environment, shown to planner and executor.

    dialogue: what the executor heard (a stage, a tool's words) and the turn that it took, in order.
    """

    task: PublicTask
    stages: tuple[str, ...]
    dialogue: tuple[tuple[str, str], ...]


@functools.cache
def _templates(pack: PromptPack) -> jinja2.Environment:
    loader = jinja2.PackageLoader("sparring", f"prompts/{pack.value}")
    # Prompts go to a model, not to a browser: escaping would only corrupt them.
    environment = jinja2.Environment(
        loader=loader, undefined=jinja2.StrictUndefined, trim_blocks=True, auto_reload=False
    )
    # The compact vocabulary has a word for every twentieth of difficulty and every tenth of a rate.
    environment.filters["twentieths"] = lambda value: f"{round(20 * value) / 20:.2f}"
    environment.filters["tenths"] = lambda rate: "none" if rate is None else str(round(10 * rate))
    return environment


def _render(pack: PromptPack, name: str, **fields: object) -> str:
    return _templates(pack).get_template(f"{name}.j2").render(**fields).strip()


def render_evader(
    pack: PromptPack, environment: str, guide: Guide, hint: float, bins: Sequence[tuple[int, float | None]]
) -> str:
    """The evader's prompt: a difficulty hint and, per difficulty bin, (attempts, capture rate)."""
    return _render(pack, Role.EVADER, environment=environment, guide=guide, hint=hint, bins=bins)


def shown_emissions(
    pack: PromptPack, environment: str, guide: Guide, bins: Sequence[tuple[int, float | None]], examples: int
) -> list[tuple[str, str]]:
    """Exchanges before the evader's prompt: well-formed emissions near other hints.

    They show the form and nothing about where the frontier is: each answers with its own hint.
    """
    hints = [(number + 1) / (examples + 1) for number in range(examples)]
    return [
        (render_evader(pack, environment, guide, hint, bins), json.dumps({"difficulty": round(hint, 2)}))
        for hint in hints
    ]


def render_planner(task: PublicTask) -> str:
    """The planner's prompt for one task."""
    return _render(task.pack, Role.PLANNER, task=task)


def shown_plans(examples: Sequence[WorkedExample]) -> list[tuple[str, str]]:
    """The worked examples as exchanges before the planner's prompt: a prompt and its plan."""
    return [(render_planner(each.task), json.dumps(each.stages, ensure_ascii=False)) for each in examples]


def render_executor(task: PublicTask, *, instructed: bool = False) -> str:
    """The part of the executor's prompt that all rollouts of a task share.

    instructed: a worked example has said already how to act, so only the task is put.
    """
    return _render(task.pack, Role.EXECUTOR, task=task, instructed=instructed)


def shown_episodes(examples: Sequence[WorkedExample]) -> list[tuple[str, str]]:
    """The worked examples as exchanges before the executor's prompt, turn by turn."""
    shown = []
    for number, each in enumerate(examples):
        opening = render_executor(each.task, instructed=number > 0)
        shown += [(opening + heard if turn == 0 else heard, said) for turn, (heard, said) in enumerate(each.dialogue)]
    return shown


def render_stage(pack: PromptPack, number: int, stages: Sequence[str]) -> str:
    """The announcement of stage `number` (from 0) of a plan; the first stands under the task."""
    return ("" if number else "\n\n") + _render(pack, "stage", number=number, stages=stages)


def template_texts() -> dict[str, str]:
    """Every template's text by its name, for the run folder's hashes."""
    root = resources.files("sparring") / "prompts"
    found: dict[str, str] = {}
    for pack in PromptPack:
        for entry in sorted((root / pack.value).iterdir(), key=lambda item: item.name):
            if entry.name.endswith(".j2"):
                found[f"{pack.value}/{entry.name}"] = entry.read_text(encoding="utf-8")
    return found
