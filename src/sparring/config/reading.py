"""Reads recipes: one TOML file, overridden from the command line, refused by name.

`load_recipe` merges a file with dotted overrides such as `method.group_size=4` and validates both
along one path, so that a mistake in either reads the same.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from sparring.config.recipe import Recipe
from sparring.errors import UserError, nearest
from sparring.wording import mend, shown


def load_recipe(path: Path, overrides: Sequence[str] = ()) -> Recipe:
    """Read a TOML recipe and apply `section.key=value` overrides, later ones winning.

    Raises UserError for a missing or broken file, an unknown key (naming the nearest), or a value
    out of range.
    """
    data = read_toml(path, "recipe")
    for override in overrides:
        apply_override(data, override)
    return recipe_from(data)


def read_toml(path: Path, kind: str) -> dict[str, Any]:
    """The plain data of a TOML file; `kind` is what a message calls it. UserError where it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{kind} {path} does not exist; see the recipes folder") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"{kind} {path} cannot be read ({getattr(error, 'strerror', error)}); give a TOML file"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{kind} {path} is not valid TOML: {error}") from None
    except RecursionError:
        raise UserError(f"{kind} {path} nests too deeply; give sections, keys and plain lists") from None
    except ValueError as error:  # a number of thousands of digits
        raise UserError(f"{kind} {path} holds a value that cannot be read ({error}); correct it") from None


def recipe_from(data: Mapping[str, Any]) -> Recipe:
    """Validate plain data; UserError names the first wrong field, its value and the mend."""
    try:
        return Recipe.model_validate(data)
    except ValidationError as error:
        raise UserError(_explain(error)) from None


def apply_override(data: dict[str, Any], override: str) -> None:
    """Put one `section.key=value` into nested data; UserError when it is not of that form."""
    if any("\ud800" <= character <= "\udfff" for character in override):
        raise UserError(f"override {override!r} is not valid UTF-8; give text that is")
    key, separator, text = override.partition("=")
    parts = key.split(".")
    if not separator or not all(parts):
        raise UserError(f"override {override!r} is not of the form section.key=value")
    target = data
    for part in parts[:-1]:
        target = target.setdefault(part, {})
        if not isinstance(target, dict):
            raise UserError(f"override {override!r}: {part} is a value, not a section")
    target[parts[-1]] = _literal(text)


def _literal(text: str) -> Any:
    """A TOML value if the text is one, else the text itself."""
    try:
        read = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):  # not TOML, or a number or a nesting beyond all reason
        return text
    return read["value"] if len(read) == 1 else text


def _explain(error: ValidationError) -> str:
    first = error.errors()[0]
    location = [str(part) for part in first["loc"]]
    field = ".".join(location)
    if first["type"] == "extra_forbidden":
        known = _known_keys(location[:-1])
        near = ".".join([*location[:-1], nearest(location[-1], known)])
        return f"unknown key {field} = {shown(first['input'])}; the nearest key is {near}"
    if first["type"] == "missing":
        return f"{field} is missing; add it to the recipe"
    if not location:  # a check of the whole recipe, which names its keys itself
        return mend(first)
    return f"{field} = {shown(first['input'])} is not accepted: {mend(first)}"


def _known_keys(section: list[str]) -> list[str]:
    model: type[BaseModel] = Recipe
    for part in section:
        model = model.model_fields[part].annotation  # type: ignore[assignment]
    return list(model.model_fields)
