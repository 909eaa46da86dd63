"""The sections of a recipe: frozen, typed, with the paper's numbers as defaults."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from sparring.credit import STANDARDISE_EPSILON, ExecutorCredit, Label, PlannerCredit
from sparring.objectives import KLEstimator, KLReference
from sparring.placement.evader_reward import DifficultyReward
from sparring.placement.repetition import Repetition
from sparring.tasks import PromptPack

LARGEST = 1_000_000
"""The bound of counts that nothing else bounds: more is a slip of the hand."""

MOST_THREADS = 512
"""PyTorch starts as many threads as it is told to, and thousands bring the process down."""

LONGEST_NAME = 200
"""Bytes of a run's name; its folder's name may be 255, and `-2` or a mark may be put to it."""


def folder_name(name: str) -> str:
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
    warm_up_share its weight among the lessons (1 where none is given). warm_up_competence_share is the
    share of the evader's lessons that emit where the competence table is near one half; the others emit
    near the hint. warm_up_secret_share is the share of the solved tasks that are shown with
    their secret kept, of any difficulty: it teaches to read what `secret` leaks.
    """

    name: Annotated[str, AfterValidator(_not_empty)] = "smollm2"
    seed: Seed = 0
    trust_remote_code: bool = False
    warm_up_steps: Count = 1000
    warm_up_difficulty: dict[str, MeanDifficulty] = {}
    warm_up_share: dict[str, Proportion] = {}
    warm_up_competence_share: Share = 0.0
    warm_up_secret_share: Share = 0.0
    warm_up_learning_rate: float = Field(default=5e-3, gt=0.0, le=1.0)


class EngineSection(Section):
    """Where the weights live, and how the local engine computes; the keys after `kind` are the local engine's."""

    kind: Literal["local", "simulated"] = "local"
    precision: Literal["float32", "bfloat16"] = "float32"
    weights: Literal["full", "lora"] = "full"
    lora_rank: int = Field(default=16, ge=1, le=1024)
    threads: int = Field(default=1, ge=1, le=MOST_THREADS)
    tokens_per_micro_batch: int = Field(default=16384, ge=1, le=2**31 - 1)
    rows_per_batch: Count = 512
    device: Annotated[str, AfterValidator(_torch_device)] = "cpu"


class SimulationSection(Section):
    """The simulated engine's policies: a pursuer whose skill is one number, and an evader of a few preferences.

    An attempt hits with p = noise / 2 + (1 - noise) sigmoid(slope (skill - difficulty)). skill is where the
    executor starts. growth multiplies the executor's learning rate, evader_growth the evader's: how far a
    step of a network's learning rate moves these weights. hint_width: how near an evader that has learned
    nothing stays to its hint.
    """

    skill: float = Field(default=0.35, ge=-10.0, le=10.0)
    slope: float = Field(default=10.0, gt=0.0, le=1000.0)
    noise: Share = 0.0
    growth: float = Field(default=1e5, ge=0.0, le=1e12)
    evader_growth: float = Field(default=3e6, ge=0.0, le=1e12)
    hint_width: float = Field(default=0.2, gt=0.0, le=100.0)


class PromptsSection(Section):
    """How the roles are addressed. Example i, from 0, has difficulty 0.2 i, so there are six at most."""

    pack: PromptPack = Field(default=PromptPack.CHAT, strict=False)
    worked_examples: int = Field(default=0, ge=0, le=6)


class SecretSection(Section):
    """Whether each task's solution is kept in the prompts of planner and executor: a leak, on purpose.

    training: in the tasks that are trained on. evaluation: in the held-out tasks, which are the same ones
    either way.
    """

    training: Literal["removed", "kept"] = "removed"
    evaluation: Literal["removed", "kept"] = "removed"

    @property
    def notice(self) -> str | None:
        """What whoever reads the run's figures must know; None where nothing leaks."""
        kept = [name for name in ("training", "evaluation") if getattr(self, name) == "kept"]
        if not kept:
            return None
        return f"LEAK, as the recipe asks: the prompts of {' and '.join(kept)} hold the solution of every task"


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
    kl_reference: KLReference = Field(default=KLReference.ROUND_START, strict=False)
    clip: float = Field(default=0.2, gt=0.0, lt=1.0)
    optimiser_steps: int = Field(default=4, ge=2, le=1000)
    epochs: int = Field(default=1, ge=1, le=1000)
    gradient_clip: float = Field(default=1.0, gt=0.0, le=1e6)
    keep_zero_variance_kl: bool = True


class MethodSection(Section):
    """Which method, and its numbers; the defaults are LURE's own.

    label, band_low, band_high: R-Zero's alone. expected_kept: the share of candidates that a dry run
    expects in the band (36 of 144 in LURE's Table 4); the run itself keeps what the band keeps.
    """

    name: Literal["lure", "grpo", "grpo_zero", "r_zero"] = "lure"
    sharing: Literal["unified", "specialist"] = "unified"
    group_size: int = Field(default=8, ge=2, le=1024)
    progress_weight: Weight = 0.25
    zero_progress_cost: Weight = 0.05
    executor_credit: ExecutorCredit = Field(default=ExecutorCredit.EQ5, strict=False)
    planner_credit: PlannerCredit = Field(default=PlannerCredit.PROGRESS, strict=False)
    label: Label = Field(default=Label.VERIFIER, strict=False)
    band_low: Share = 0.25
    band_high: Share = 0.75
    expected_kept: Share = 0.25


class PlacementSection(Section):
    """Who chooses the tasks, and LURE's evader settings (8 slots of 6 samples).

    axis: "shuffled" shows every axis to the placement with its tenths in an order of the run's own, so
    that difficulty does not rise along it.
    """

    name: Literal["evader", "uniform", "thermostat", "frozen_pool"] = "evader"
    axis: Literal["ordered", "shuffled"] = "ordered"
    slots: int = Field(default=8, ge=1, le=1024)
    samples: int = Field(default=6, ge=1, le=1024)
    hint_low: Share = 0.3
    hint_high: Share = 1.0
    difficulty_reward: DifficultyReward = Field(default=DifficultyReward.FRONTIER, strict=False)
    repetition: Repetition = Field(default=Repetition.SIGNATURE, strict=False)
    repetition_scale: Weight = 1.0
    repetition_over: Literal["environment", "round"] = "environment"
    deviation_floor: float = Field(default=STANDARDISE_EPSILON, gt=0.0, le=1.0)
    thermostat_step: float = Field(default=0.15, gt=0.0, le=1.0)
    thermostat_spread: Share = 0.07


class BudgetSection(Section):
    """When a run ends, in place of a number of rounds; 0 is no limit.

    rollouts: the rollouts of the whole run, probes included; every method ends at the same count.
    """

    rollouts: int = Field(default=0, ge=0, le=10**9)


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
