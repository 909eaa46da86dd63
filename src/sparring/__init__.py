"""sparring: train language models with no data, from tasks that the model chooses itself.

    import sparring as sp

    recipe = sp.load("recipes/lure-micro.toml", overrides=["rounds=20", "method.group_size=4"])
    result = sp.train(recipe)
    scores = sp.evaluate(result.folder, ["phantom_wiki"])

The names an environment of your own needs stand here too (docs/environments.md). PyTorch and all
else that is slow to import waits until a name is used.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparring.errors import UserError

if TYPE_CHECKING:
    from sparring.config import Recipe
    from sparring.environments.base import (
        Environment,
        EnvironmentSettings,
        Episode,
        InvalidTaskError,
        Solution,
        Verdict,
        best_progress,
        environment,
    )
    from sparring.proving import LevelProof, prove
    from sparring.tasks import GenerationRefusedError, Guide, PromptPack, PublicTask, Task

__all__ = [
    "Environment",
    "EnvironmentSettings",
    "Episode",
    "GenerationRefusedError",
    "Guide",
    "InvalidTaskError",
    "LevelProof",
    "PromptPack",
    "PublicTask",
    "Recipe",
    "Result",
    "Solution",
    "Task",
    "UserError",
    "Verdict",
    "best_progress",
    "environment",
    "evaluate",
    "load",
    "prove",
    "resume",
    "score",
    "train",
]

_HOMES = {
    "Recipe": "sparring.config",
    **dict.fromkeys(
        (
            "Environment",
            "EnvironmentSettings",
            "Episode",
            "InvalidTaskError",
            "Solution",
            "Verdict",
            "best_progress",
            "environment",
        ),
        "sparring.environments.base",
    ),
    **dict.fromkeys(("LevelProof", "prove"), "sparring.proving"),
    **dict.fromkeys(("GenerationRefusedError", "Guide", "PromptPack", "PublicTask", "Task"), "sparring.tasks"),
}
"""Where the public names that are imported on first use are defined."""


@dataclass(frozen=True)
class Result:
    """A finished run: its folder, and what its `summary.json` holds."""

    folder: Path
    summary: dict[str, Any]


def load(recipe: str | PathLike[str], overrides: Sequence[str] = ()) -> Recipe:
    """Read a recipe file, with `section.key=value` overrides, the later ones winning."""
    from sparring.config import load_recipe

    return load_recipe(Path(recipe), overrides)


def train(recipe: Recipe, out: str | PathLike[str] | None = None) -> Result:
    """Run a recipe in a new folder: `out`, else the first of `runs/NAME`, `runs/NAME-2` ... that is free."""
    from rich.console import Console

    from sparring import training
    from sparring.commands import default_folder
    from sparring.runs.folder import refuse_taken

    folder = default_folder(recipe.name) if out is None else Path(out)
    refuse_taken(folder)  # before minutes go into loading
    return _result(training.train(recipe, folder, Console()))


def resume(folder: str | PathLike[str], rounds: int | None = None) -> Result:
    """Go on with the run in a folder, to `rounds` rounds in all if given."""
    from rich.console import Console

    from sparring import training

    return _result(training.resume(Path(folder), rounds, Console()))


def evaluate(
    target: str | PathLike[str],
    benchmarks: Sequence[str],
    limit: int | None = None,
    out: str | PathLike[str] | None = None,
) -> dict[str, dict[str, Any]]:
    """Generate answers of a run folder or a model to benchmarks, store them, score them; scores by benchmark."""
    from rich.console import Console

    from sparring.evaluation import runner

    return runner.evaluate(fspath(target), benchmarks, limit, None if out is None else Path(out), Console())


def score(file: str | PathLike[str], benchmark: str, profile: str = "official") -> dict[str, Any]:
    """Score stored generations by a profile: `official` or `fixed`."""
    from sparring.evaluation import runner

    return runner.score(Path(file), benchmark, profile)


def _result(folder: Path) -> Result:
    return Result(folder, json.loads((folder / "summary.json").read_text(encoding="utf-8")))


def __getattr__(name: str) -> Any:
    """Import a public name from where it is defined."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
