"""Recipes: frozen, typed, read from TOML, overridden from the command line, refused by name.

A recipe is one TOML file. `load_recipe` merges it with dotted overrides such as
`method.group_size=4` and validates both along one path, so that a mistake in either reads the same.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sparring.credit import ExecutorCredit, PlannerCredit, capture_dominance_holds
from sparring.errors import UserError, nearest
from sparring.objectives import KLEstimator, Objective
from sparring.tasks import PromptPack


class Section(BaseModel):
    """A frozen section of a recipe; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class BackboneSection(Section):
    """Which weights all policies start from: `micro`, `smollm2`, a local folder or a hub id.

    The warm_up keys are micro's alone. warm_up_difficulty is, per environment, the mean of the
    exponential that the difficulty of its lessons is drawn from (0.13 where none is given), and
    warm_up_share its weight among the lessons (1 where none is given).
    """

    name: str = "micro"
    seed: int = Field(default=0, ge=0)
    trust_remote_code: bool = False
    warm_up_steps: int = Field(default=1000, ge=1)
    warm_up_difficulty: dict[str, Annotated[float, Field(gt=0.0)]] = {}
    warm_up_share: dict[str, Annotated[float, Field(gt=0.0)]] = {}
    warm_up_learning_rate: float = Field(default=5e-3, gt=0.0)


class EngineSection(Section):
    """How the local engine computes."""

    precision: Literal["float32", "bfloat16"] = "float32"
    weights: Literal["full", "lora"] = "full"
    lora_rank: int = Field(default=16, ge=1)
    threads: int = Field(default=1, ge=1)
    tokens_per_micro_batch: int = Field(default=16384, ge=1)
    rows_per_batch: int = Field(default=512, ge=1)
    device: str = "cpu"


class PromptsSection(Section):
    """How the roles are addressed."""

    pack: PromptPack = PromptPack.CHAT
    worked_examples: int = Field(default=0, ge=0, le=8)


class RoleSection(Section):
    """Limits, sampling and learning of one role."""

    max_tokens: int = Field(default=512, ge=1)
    temperature: float = Field(default=1.0, gt=0.0)
    top_p: float = Field(default=1.0, gt=0.0, le=1.0)
    learning_rate: float = Field(default=5e-6, ge=0.0)


class RolesSection(Section):
    """The three roles of LURE."""

    evader: RoleSection = RoleSection()
    planner: RoleSection = RoleSection()
    executor: RoleSection = RoleSection()


class ObjectiveSection(Section):
    """LURE Eq. 7, the same for every role."""

    kl_weight: float = Field(default=0.1, ge=0.0)
    kl_estimator: KLEstimator = KLEstimator.K3_STRAIGHT_THROUGH
    clip: float = Field(default=0.2, gt=0.0, lt=1.0)
    optimiser_steps: int = Field(default=4, ge=2)
    gradient_clip: float = Field(default=1.0, gt=0.0)
    keep_zero_variance_kl: bool = True


class MethodSection(Section):
    """LURE's own numbers; the defaults are the paper's."""

    name: Literal["lure"] = "lure"
    sharing: Literal["unified", "specialist"] = "unified"
    group_size: int = Field(default=8, ge=2)
    progress_weight: float = Field(default=0.25, ge=0.0)
    zero_progress_cost: float = Field(default=0.05, ge=0.0)
    executor_credit: ExecutorCredit = ExecutorCredit.EQ5
    planner_credit: PlannerCredit = PlannerCredit.PROGRESS


class PlacementSection(Section):
    """Who chooses the tasks, and LURE's evader settings (8 slots of 6 samples)."""

    name: Literal["evader", "uniform", "thermostat", "frozen_pool"] = "evader"
    slots: int = Field(default=8, ge=1)
    samples: int = Field(default=6, ge=1)
    hint_low: float = Field(default=0.3, ge=0.0, le=1.0)
    hint_high: float = Field(default=1.0, ge=0.0, le=1.0)
    repetition_scale: float = Field(default=1.0, ge=0.0)
    repetition_over: Literal["environment", "round"] = "environment"
    thermostat_step: float = Field(default=0.15, gt=0.0)
    thermostat_spread: float = Field(default=0.07, ge=0.0)


class EvaluationSection(Section):
    """Held-out generated tasks, by difficulty, of seeds that training never uses."""

    every: int = Field(default=1, ge=1)
    levels: int = Field(default=6, ge=1)
    tasks_per_level: int = Field(default=20, ge=0)


class CheckpointSection(Section):
    """How often to checkpoint and how many to keep."""

    every: int = Field(default=1, ge=1)
    keep: int = Field(default=2, ge=1)


class Recipe(Section):
    """One run, complete."""

    name: str
    seed: int = Field(default=0, ge=0)
    rounds: int = Field(default=8, ge=0)
    backbone: BackboneSection = BackboneSection()
    engine: EngineSection = EngineSection()
    prompts: PromptsSection = PromptsSection()
    environments: dict[str, dict[str, Any]] = Field(min_length=1)
    roles: RolesSection = RolesSection()
    method: MethodSection = MethodSection()
    placement: PlacementSection = PlacementSection()
    objective: ObjectiveSection = ObjectiveSection()
    evaluation: EvaluationSection = EvaluationSection()
    checkpoint: CheckpointSection = CheckpointSection()

    @model_validator(mode="after")
    def _hints_in_order(self) -> Recipe:
        if self.placement.hint_low > self.placement.hint_high:
            raise ValueError("placement.hint_low is above placement.hint_high; swap them")
        return self

    @model_validator(mode="after")
    def _warm_up_of_known_environments(self) -> Recipe:
        for key in ("warm_up_difficulty", "warm_up_share"):
            for name, value in getattr(self.backbone, key).items():
                if name not in self.environments:
                    near = nearest(name, self.environments)
                    raise ValueError(f"unknown key backbone.{key}.{name} = {value}; the nearest key is {near}")
        return self

    def objective_of(self, role: str) -> Objective:
        """The update numbers of one role."""
        section: RoleSection = getattr(self.roles, role)
        return Objective(
            learning_rate=section.learning_rate,
            kl_weight=self.objective.kl_weight,
            clip_low=self.objective.clip,
            clip_high=self.objective.clip,
            kl_estimator=self.objective.kl_estimator,
            optimiser_steps=self.objective.optimiser_steps,
            gradient_clip=self.objective.gradient_clip,
            temperature=section.temperature,
            keep_zero_variance_kl=self.objective.keep_zero_variance_kl,
        )

    def toml(self) -> str:
        """The resolved recipe, every default written out."""
        return tomli_w.dumps(self.model_dump(mode="json"))

    def check_capture_dominance(self, turn_limit: int) -> None:
        """Refuse a recipe under which a failure could outrank a capture (LURE Prop. 3)."""
        if not capture_dominance_holds(self.method.progress_weight, self.method.zero_progress_cost, turn_limit):
            raise UserError(
                f"method.zero_progress_cost = {self.method.zero_progress_cost} breaks capture dominance: "
                f"progress_weight * zero_progress_cost * (turn limit {turn_limit} - 1) must stay below 1; lower it"
            )


def load_recipe(path: Path, overrides: Sequence[str] = ()) -> Recipe:
    """Read a TOML recipe and apply `section.key=value` overrides, later ones winning.

    Raises UserError for a missing or broken file, an unknown key (naming the nearest), or a value
    out of range.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"recipe {path} does not exist; see the recipes folder") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"recipe {path} cannot be read ({error}); give a TOML file") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"recipe {path} is not valid TOML: {error}") from None
    for override in overrides:
        _apply_override(data, override)
    return recipe_from(data)


def recipe_from(data: Mapping[str, Any]) -> Recipe:
    """Validate plain data; UserError names the first wrong field, its value and the mend."""
    try:
        return Recipe.model_validate(data)
    except ValidationError as error:
        raise UserError(_explain(error)) from None


def _apply_override(data: dict[str, Any], override: str) -> None:
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
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _explain(error: ValidationError) -> str:
    first = error.errors()[0]
    location = [str(part) for part in first["loc"]]
    field = ".".join(location)
    if first["type"] == "extra_forbidden":
        known = _known_keys(location[:-1])
        near = ".".join([*location[:-1], nearest(location[-1], known)])
        return f"unknown key {field} = {first['input']!r}; the nearest key is {near}"
    if first["type"] == "missing":
        return f"{field} is missing; add it to the recipe"
    if first["type"] == "value_error":
        return str(first["ctx"]["error"])
    return f"{field} = {first['input']!r} is not accepted: {first['msg'].lower()}"


def _known_keys(section: list[str]) -> list[str]:
    model: type[BaseModel] = Recipe
    for part in section:
        model = model.model_fields[part].annotation  # type: ignore[assignment]
    return list(model.model_fields)
