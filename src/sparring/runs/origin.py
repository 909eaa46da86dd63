"""What a run was begun from: its recipe, the software and the inputs, and whether they still hold."""

from __future__ import annotations

import hashlib
import json
import logging
import platform
import re
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from sparring.config import Recipe, load_recipe
from sparring.errors import UserError

PACKAGES = ("sparring", "torch", "transformers", "peft", "safetensors", "tokenizers", "numpy")

DECISIVE = re.compile(r"backbone/(.*\.safetensors|.*\.py|tokenizer.*|chat_template.*)")
"""The files without which a run would go on as another model."""

logger = logging.getLogger(__name__)


def is_run(path: Path) -> bool:
    """Whether a folder holds a run that can be resumed."""
    return (path / "recipe.toml").is_file()


def read_recipe(path: Path) -> Recipe:
    """Read the resolved recipe of a run folder; UserError when there is no run."""
    if not is_run(path):
        raise UserError(f"{path} holds no run (no recipe.toml in it); give the folder of a run")
    return load_recipe(path / "recipe.toml")


def refuse_other_recipe(path: Path, stored: Recipe, given: Recipe) -> None:
    """Raise a UserError that shows how two recipes differ, when they differ in more than rounds."""
    ours, theirs = dotted(stored.model_dump(mode="json")), dotted(given.model_dump(mode="json"))
    differences = [
        f"{key}: {ours.get(key, 'absent')} in the run, {theirs.get(key, 'absent')} given"
        for key in sorted(ours.keys() | theirs.keys())
        if key != "rounds" and ours.get(key) != theirs.get(key)
    ]
    if differences:
        raise UserError(
            f"{path} was begun with another recipe ({'; '.join(differences)}); "
            "only rounds may change on --resume, else give another --out"
        )


def versions() -> dict[str, Any]:
    """The software a run depends on. Asks the package records, so nothing is imported."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: metadata.version(name) for name in PACKAGES},
    }


def hashes(inputs: Mapping[str, str | Path]) -> dict[str, str]:
    """SHA-256 of each named text or file. The names are recorded, the places are not."""
    found = {}
    for name, source in sorted(inputs.items()):
        try:
            if isinstance(source, str):
                found[name] = hashlib.sha256(source.encode("utf-8")).hexdigest()
            else:
                with source.open("rb") as file:  # in pieces: weights may be larger than memory
                    found[name] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise UserError(f"{source} cannot be read ({error.strerror}); it is part of this run's input") from error
    return found


def refuse_other_backbone(path: Path, now: Mapping[str, str]) -> None:
    """Raise a UserError when weights, tokenizer or code of a run's backbone are not what it recorded.

    Other files (a config names the library's version) and a lost record are for `warn_of_changes`.
    """
    before = _read(path / "hashes.json")
    recorded = any(map(DECISIVE.fullmatch, before))
    for name in sorted(name for name in {*before, *now} if recorded and DECISIVE.fullmatch(name)):
        if before.get(name) != now.get(name):
            was, today = (str(of.get(name, "absent"))[:12] for of in (before, now))
            raise UserError(
                f"{path} was begun with another backbone: sha256 of {name} was {was} and is {today}; put back the "
                "backbone that it began with, or begin another run with --out"
            )


def warn_of_changes(path: Path, now: Mapping[str, Any]) -> None:
    """Say what has changed since the run began: the resumed run may then differ from the straight one."""
    before, after = dotted(_read(path)), dotted(now)
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            then, today = before.get(name, "unknown"), after.get(name, "absent")
            logger.warning("%s has changed since this run began: %s, now %s", name, then, today)


def _read(path: Path) -> Mapping[str, Any]:
    """A JSON object; an empty one where it is lost."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def dotted(data: Mapping[str, Any]) -> dict[str, Any]:
    """Nested sections as dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, Mapping):
            flat |= {f"{key}.{inner}": item for inner, item in dotted(value).items()} or {key: {}}
        else:
            flat[key] = value
    return flat
