"""Recipes: frozen, typed, read from TOML, overridden from the command line, refused by name.

A recipe is one TOML file. `load_recipe` merges it with dotted overrides such as
`method.group_size=4` and validates both along one path, so that a mistake in either reads the same.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal

import tomli_w
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from sparring.credit import ExecutorCredit, PlannerCredit, capture_dominance_holds
from sparring.errors import UserError, nearest
from sparring.objectives import KLEstimator, Objective
from sparring.tasks import PromptPack
from sparring.wording import mend, shown

LARGEST = 1_000_000
"""The bound of counts that nothing else bounds: more is a slip of the hand."""

DEEPEST = 8
"""How deep the settings of an environment may nest."""

MOST_THREADS = 512
"""PyTorch starts as many threads as it is told to, and thousands bring the process down."""

LONGEST_NAME = 200
"""Bytes of a run's name; its folder's name may be 255, and `-2` or a mark may be put to it."""


def _folder_name(name: str) -> str:
    """A name that a run folder can have."""
    if not name.strip(".") or name != name.strip() or "/" in name or not name.isprintable():
        raise ValueError("it names a folder in runs/, so give a word or a few, without slashes")
    if len(name.encode("utf-8")) > LONGEST_NAME:
        raise ValueError(f"it names a folder in runs/, so give at most {LONGEST_NAME} bytes")
    return name


def _not_empty(text: str) -> str:
    if not text.strip():
        raise ValueError("give micro, smollm2, a folder or a hub id")
    return text


def _torch_device(text: str) -> str:
    """A device that the local engine can compute on."""
    if not re.fullmatch(r"cpu|mps|cuda(:\d{1,3})?", text):
        raise ValueError("give 'cpu', 'cuda', 'cuda:0' or 'mps'")
    return text


Count = Annotated[int, Field(ge=1, le=LARGEST)]
Seed = Annotated[int, Field(ge=0, le=2**63 - 1)]
LearningRate = Annotated[float, Field(ge=0.0, le=1.0)]
Weight = Annotated[float, Field(ge=0.0, le=1000.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
# Above 10, hardly a lesson would have a difficulty of at most 1.
MeanDifficulty = Annotated[float, Field(gt=0.0, le=10.0)]
Proportion = Annotated[float, Field(gt=0.0, le=1000.0)]


class Section(BaseModel):
    """A frozen section of a recipe. Unknown keys are refused, and so are inf, nan, and `"3"` or true for 3."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class BackboneSection(Section):
    """Which weights all policies start from: `micro`, `smollm2`, a local folder or a hub id.

    The warm_up keys are micro's alone. warm_up_difficulty is, per environment, the mean of the
    exponential that the difficulty of its lessons is drawn from (0.13 where none is given), and
    warm_up_share its weight among the lessons (1 where none is given).
    """

    name: Annotated[str, AfterValidator(_not_empty)] = "smollm2"
    seed: Seed = 0
    trust_remote_code: bool = False
    warm_up_steps: Count = 1000
    warm_up_difficulty: dict[str, MeanDifficulty] = {}
    warm_up_share: dict[str, Proportion] = {}
    warm_up_learning_rate: float = Field(default=5e-3, gt=0.0, le=1.0)


class EngineSection(Section):
    """How the local engine computes."""

    precision: Literal["float32", "bfloat16"] = "float32"
    weights: Literal["full", "lora"] = "full"
    lora_rank: int = Field(default=16, ge=1, le=1024)
    threads: int = Field(default=1, ge=1, le=MOST_THREADS)
    tokens_per_micro_batch: int = Field(default=16384, ge=1, le=2**31 - 1)
    rows_per_batch: Count = 512
    device: Annotated[str, AfterValidator(_torch_device)] = "cpu"


class PromptsSection(Section):
    """How the roles are addressed. Example i, from 0, has difficulty 0.2 i, so there are six at most."""

    pack: PromptPack = Field(default=PromptPack.CHAT, strict=False)
    worked_examples: int = Field(default=0, ge=0, le=6)


class RoleSection(Section):
    """Limits, sampling and learning of one role."""

    max_tokens: Count = 512
    temperature: float = Field(default=1.0, ge=0.01, le=100.0)
    top_p: float = Field(default=1.0, gt=0.0, le=1.0)
    learning_rate: LearningRate = 5e-6


class RolesSection(Section):
    """The three roles of LURE."""

    evader: RoleSection = RoleSection()
    planner: RoleSection = RoleSection()
    executor: RoleSection = RoleSection()


class ObjectiveSection(Section):
    """LURE Eq. 7, the same for every role."""

    kl_weight: Weight = 0.1
    kl_estimator: KLEstimator = Field(default=KLEstimator.K3_STRAIGHT_THROUGH, strict=False)
    clip: float = Field(default=0.2, gt=0.0, lt=1.0)
    optimiser_steps: int = Field(default=4, ge=2, le=1000)
    gradient_clip: float = Field(default=1.0, gt=0.0, le=1e6)
    keep_zero_variance_kl: bool = True


class MethodSection(Section):
    """LURE's own numbers; the defaults are the paper's."""

    name: Literal["lure"] = "lure"
    sharing: Literal["unified", "specialist"] = "unified"
    group_size: int = Field(default=8, ge=2, le=1024)
    progress_weight: Weight = 0.25
    zero_progress_cost: Weight = 0.05
    executor_credit: ExecutorCredit = Field(default=ExecutorCredit.EQ5, strict=False)
    planner_credit: PlannerCredit = Field(default=PlannerCredit.PROGRESS, strict=False)


class PlacementSection(Section):
    """Who chooses the tasks, and LURE's evader settings (8 slots of 6 samples)."""

    name: Literal["evader", "uniform", "thermostat", "frozen_pool"] = "evader"
    slots: int = Field(default=8, ge=1, le=1024)
    samples: int = Field(default=6, ge=1, le=1024)
    hint_low: Share = 0.3
    hint_high: Share = 1.0
    repetition_scale: Weight = 1.0
    repetition_over: Literal["environment", "round"] = "environment"
    thermostat_step: float = Field(default=0.15, gt=0.0, le=1.0)
    thermostat_spread: Share = 0.07


class EvaluationSection(Section):
    """Held-out generated tasks, by difficulty, of seeds that training never uses.

    A level is named by two digits, so there are at most 101.
    """

    every: Count = 1
    levels: int = Field(default=6, ge=1, le=101)
    tasks_per_level: int = Field(default=20, ge=0, le=10_000)


class CheckpointSection(Section):
    """How often to checkpoint and how many to keep."""

    every: Count = 1
    keep: Count = 2


class Recipe(Section):
    """One run, complete."""

    name: Annotated[str, AfterValidator(_folder_name)]
    seed: Seed = 0
    rounds: int = Field(default=8, ge=0, le=LARGEST)
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
    def _settings_of_plain_values(self) -> Recipe:
        """The environments check their own settings; inf, nan and endless nesting are refused everywhere."""
        for name, settings in self.environments.items():
            _refuse_odd(settings, f"environments.{name}", DEEPEST)
        return self

    @model_validator(mode="after")
    def _pack_that_the_backbone_reads(self) -> Recipe:
        prompts, compact = self.prompts, self.prompts.pack is PromptPack.COMPACT
        if self.backbone.name == "micro" and not compact:
            raise ValueError(
                f"backbone.name = 'micro' reads no prose, which prompts.pack = '{prompts.pack}' writes; "
                "give prompts.pack = 'compact', or another backbone"
            )
        if prompts.worked_examples and compact:
            raise ValueError(
                f"prompts.worked_examples = {prompts.worked_examples} goes with prompts.pack = 'chat' alone: "
                "the compact words cannot write an example's plan; give prompts.worked_examples = 0"
            )
        return self

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
        raise UserError(
            f"recipe {path} cannot be read ({getattr(error, 'strerror', error)}); give a TOML file"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"recipe {path} is not valid TOML: {error}") from None
    except RecursionError:
        raise UserError(f"recipe {path} nests too deeply; give sections, keys and plain lists") from None
    except ValueError as error:  # a number of thousands of digits
        raise UserError(f"recipe {path} holds a value that cannot be read ({error}); correct it") from None
    for override in overrides:
        apply_override(data, override)
    return recipe_from(data)


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


def _refuse_odd(value: Any, key: str, depth: int) -> None:
    """ValueError for a number that is not finite, or for tables and lists nested deeper than `depth`."""
    if depth == 0:
        raise ValueError(f"{key} nests more than {DEEPEST} deep; give keys and plain lists")
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"{key} = {value} is not accepted: give a finite number")
    if isinstance(value, Mapping):
        for name, inner in value.items():
            _refuse_odd(inner, f"{key}.{name}", depth - 1)
    elif isinstance(value, list):
        for inner in value:
            _refuse_odd(inner, key, depth - 1)
