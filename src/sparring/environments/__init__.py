"""Generators with a difficulty axis, their dialogues and verifiers."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from sparring.environments.base import AnyEnvironment, environment_type, registered
from sparring.environments.ifeval.environment import IFEval
from sparring.environments.phantom_wiki.environment import PhantomWiki
from sparring.environments.simulated.environment import Simulated
from sparring.environments.zebra_logic.environment import ZebraLogic
from sparring.errors import UserError, nearest
from sparring.tasks import PromptPack
from sparring.wording import mend, shown

__all__ = ["IFEval", "PhantomWiki", "Simulated", "ZebraLogic", "default_environment", "load_environment"]

COMPACT_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "phantom_wiki": {"tools": "lookup", "population": [3, 8], "attribute_question_probability": 0.0}
}
"""What an environment's own defaults are too large for in the compact pack, as recipes/lure-micro.toml has it."""


def default_environment(name: str, pack: PromptPack, settings: Mapping[str, Any] | None = None) -> AnyEnvironment:
    """The environment with the settings given, and else with those that suit the pack."""
    suited = COMPACT_SETTINGS.get(name, {}) if pack is PromptPack.COMPACT else {}
    return load_environment(name, {**suited, **(settings or {})}, pack)


def load_environment(name: str, settings: Mapping[str, Any], pack: PromptPack) -> AnyEnvironment:
    """The environment registered under `name`, with validated settings.

    Raises UserError for an unknown name or a wrong setting.
    """
    if name not in registered():
        raise UserError(
            f"environments.{name} is not registered; the nearest is {nearest(name, registered())} "
            f"(registered: {', '.join(registered())})"
        )
    kind = environment_type(name)
    try:
        checked = kind.settings_type.model_validate(settings)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(["environments", name, *map(str, first["loc"])])
        if first["type"] == "extra_forbidden":
            near = nearest(str(first["loc"][-1]), kind.settings_type.model_fields)
            raise UserError(f"unknown key {field} = {shown(first['input'])}; the nearest key is {near}") from None
        raise UserError(f"{field} = {shown(first['input'])} is not accepted: {mend(first)}") from None
    return kind(checked, pack)
