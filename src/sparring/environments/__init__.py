"""Generators with a difficulty axis, their dialogues and verifiers."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from sparring.environments import instructions, phantom_wiki, zebra
from sparring.environments.base import AnyEnvironment, environment_type, registered
from sparring.errors import UserError, nearest
from sparring.tasks import PromptPack
from sparring.wording import mend, shown

__all__ = ["instructions", "load_environment", "phantom_wiki", "zebra"]


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
