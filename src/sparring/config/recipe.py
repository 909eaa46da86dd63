"""A recipe: one run, complete, and what must hold between its sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Annotated, Any

import tomli_w
from pydantic import AfterValidator, Field, model_validator

from sparring.config.sections import (
    LARGEST,
    BackboneSection,
    BudgetSection,
    CheckpointSection,
    EngineSection,
    EvaluationSection,
    MethodSection,
    ObjectiveSection,
    PlacementSection,
    PromptsSection,
    RoleSection,
    RolesSection,
    SecretSection,
    Section,
    Seed,
    SimulationSection,
    folder_name,
)
from sparring.credit import ExecutorCredit, PlannerCredit, capture_dominance_holds
from sparring.errors import UserError, nearest
from sparring.objectives import Objective
from sparring.placement.evader_reward import DifficultyReward
from sparring.placement.repetition import Repetition
from sparring.tasks import PromptPack

DEEPEST = 8
"""How deep the settings of an environment may nest."""

_OUTCOME = {"method.executor_credit": (ExecutorCredit.TERMINAL,), "method.planner_credit": (PlannerCredit.CAPTURE,)}
METHOD_PARTS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "grpo": {"placement.name": ("uniform",), **_OUTCOME},
    "grpo_zero": {"placement.name": ("frozen_pool",), **_OUTCOME},
    "r_zero": {
        "placement.name": ("evader",),
        "placement.repetition": (Repetition.BLEU_CLUSTER,),
        "placement.difficulty_reward": (DifficultyReward.FRONTIER, DifficultyReward.UNCERTAINTY),
        **_OUTCOME,
    },
}
"""Whose placement and credit are part of the method, and what they may be."""


SIMULATED = "simulated"
"""The environment of the simulated engine."""


class Recipe(Section):
    """One run, complete."""

    name: Annotated[str, AfterValidator(folder_name)]
    seed: Seed = 0
    rounds: int = Field(default=8, ge=0, le=LARGEST)
    backbone: BackboneSection = BackboneSection()
    engine: EngineSection = EngineSection()
    simulation: SimulationSection = SimulationSection()
    prompts: PromptsSection = PromptsSection()
    environments: dict[str, dict[str, Any]] = Field(min_length=1)
    secret: SecretSection = SecretSection()
    roles: RolesSection = RolesSection()
    method: MethodSection = MethodSection()
    placement: PlacementSection = PlacementSection()
    budget: BudgetSection = BudgetSection()
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
    def _secret_that_the_backbone_reads(self) -> Recipe:
        if self.secret.notice and self.backbone.name == "micro" and not self.backbone.warm_up_secret_share:
            raise ValueError(
                "backbone.warm_up_secret_share = 0 teaches the micro backbone no word of a secret that is kept, so "
                "'kept' would measure strange text alone; give a share above 0, or secret 'removed'"
            )
        return self

    @model_validator(mode="after")
    def _simulation_on_its_own(self) -> Recipe:
        """The simulated engine plays in the simulated environment alone, nobody else plays there, no key is idle."""
        if self.engine.kind == "local":
            if SIMULATED in self.environments:
                raise ValueError(
                    f"environments.{SIMULATED} teaches a language model nothing, and engine.kind = 'local' trains "
                    "one; give engine.kind = 'simulated', or another environment"
                )
            _refuse_set(self.simulation, "simulation", "engine.kind = 'simulated'")
            return self
        for name in self.environments:
            if name != SIMULATED:
                raise ValueError(
                    f"environments.{name} needs a language model, and engine.kind = 'simulated' has none; "
                    f"give environments.{SIMULATED} alone, or engine.kind = 'local'"
                )
        if self.prompts.pack is not PromptPack.COMPACT:
            raise ValueError(
                f"engine.kind = 'simulated' reads no prose, which prompts.pack = '{self.prompts.pack}' writes; "
                "give prompts.pack = 'compact'"
            )
        _refuse_set(self.engine, "engine", "engine.kind = 'local'", besides="kind")
        _refuse_set(self.backbone, "backbone", "engine.kind = 'local'")
        _refuse_set(self.secret, "secret", "engine.kind = 'local'")
        return self

    @model_validator(mode="after")
    def _hints_in_order(self) -> Recipe:
        if self.placement.hint_low > self.placement.hint_high:
            raise ValueError("placement.hint_low is above placement.hint_high; swap them")
        return self

    @model_validator(mode="after")
    def _band_in_order(self) -> Recipe:
        if self.method.band_low > self.method.band_high:
            raise ValueError("method.band_low is above method.band_high; swap them")
        return self

    @model_validator(mode="after")
    def _budget_of_whole_groups(self) -> Recipe:
        rollouts, size = self.budget.rollouts, self.method.group_size
        if rollouts % size:
            below = rollouts - rollouts % size
            near = f"{below} or {below + size}" if below else f"{size}"  # 0 would be no limit at all
            raise ValueError(
                f"budget.rollouts = {rollouts} is no multiple of method.group_size = {size}, so no run can end at it; "
                f"give {near}"
            )
        return self

    @model_validator(mode="after")
    def _parts_of_the_method(self) -> Recipe:
        """A method is what its paper says; another placement or credit makes another method, under LURE's name."""
        name = self.method.name
        for key, wanted in METHOD_PARTS.get(name, {}).items():
            section, _, field = key.partition(".")
            given = getattr(getattr(self, section), field)
            if given not in wanted:
                choice = " or ".join(f"'{each}'" for each in wanted)
                raise ValueError(f"method.name = {name!r} goes with {key} = {choice}, not '{given}'; give that")
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
            kl_reference=self.objective.kl_reference,
            epochs=self.objective.epochs,
            optimiser_steps=self.objective.optimiser_steps,
            gradient_clip=self.objective.gradient_clip,
            temperature=section.temperature,
            keep_zero_variance_kl=self.objective.keep_zero_variance_kl,
        )

    @property
    def emitted(self) -> int:
        """Emissions of one round, all environments together."""
        return self.placement.slots * self.placement.samples * len(self.environments)

    @property
    def probes(self) -> bool:
        """Whether tasks are probed before they are trained on: R-Zero's are."""
        return self.method.name == "r_zero"

    @property
    def expected_trained(self) -> int:
        """Tasks that a round trains on, reckoned without malformed emissions."""
        return round(self.method.expected_kept * self.emitted) if self.probes else self.emitted

    @property
    def expected_rounds(self) -> int:
        """The number of the last round; where a budget ends the run, reckoned without malformed emissions."""
        if not self.budget.rollouts:
            return self.rounds
        groups = self.expected_trained + (self.emitted if self.probes else 0)
        return -(-self.budget.rollouts // (groups * self.method.group_size))

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


def _refuse_set(section: Section, name: str, owner: str, besides: str = "") -> None:
    """ValueError for a key that is not at its default and would do nothing."""
    for key, field in type(section).model_fields.items():
        value = getattr(section, key)
        if key != besides and value != field.default:
            raise ValueError(f"{name}.{key} = {value!r} goes with {owner}; leave it out, or give that")


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
