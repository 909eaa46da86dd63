"""What an environment is: a generator with a difficulty axis, a dialogue, and a verifier.

An environment knows tasks and text, never tokens. It is built once per run with its settings and a
prompt pack; `generate` and `step` are the same code for both packs, only the wording differs.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, ValidatorFunctionWrapHandler, field_validator

from sparring.parsing import STAGES_AT_MOST
from sparring.tasks import Guide, PromptPack, PublicTask, Secret, Task
from sparring.wording import shown


class EnvironmentSettings(BaseModel):
    """Sizes and switches of one environment, a section of the recipe. Subclass per environment.

    Values are of their own types: `"3"` and true are refused for 3, as are inf and nan.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    @field_validator("*", mode="wrap")
    @classmethod
    def _list_for_a_tuple(cls, value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
        """A tuple is written as a list in TOML, which has no other word for it."""
        try:
            return validate(value)
        except ValidationError as error:
            if not any(each["type"] in ("tuple_type", "named_tuple_type") for each in error.errors()):
                raise
            return validate(_as_tuples(value))


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


class InvalidTaskError(Exception):
    """A task with which an environment breaks a rule: its solution, its verifier, or its secret."""


@dataclass(frozen=True)
class Verdict:
    """What the verifier says after one executor turn.

    progress: best so far, in [0, 1], never falling, 1 exactly at capture (LURE phi_t).
    captured: whether the task is captured; only ever true when the episode has ended.
    observation: what a tool returned, "" when nothing did. Never a word on correctness.
    well_formed: the turn could be read as an action.
    stage_done: the executor declared its stage done.
    ended: the executor submitted, or this was its last turn.
    """

    progress: float
    captured: bool
    observation: str = ""
    well_formed: bool = True
    stage_done: bool = False
    ended: bool = False


@dataclass
class Episode(Generic[Secret]):
    """The state of one rollout inside an environment; subclass to keep more.

    last_turn: set by the caller before `step` when no further turn is allowed, so that the
    environment can settle what stands (a last draft, a final grid).
    """

    task: Task[Secret]
    progress: float = 0.0
    turns: int = 0
    last_turn: bool = False


@dataclass(frozen=True)
class Solution:
    """A task's own solution, as the words a perfect planner and executor would write.

    stages: 1 to the environment's stage_limit, each one line of the plan.
    turns: the executor's turns in order, flags for stage ends and submission included, within
    the stage budgets of `stage_budget`.
    """

    stages: tuple[str, ...]
    turns: tuple[str, ...]


SettingsT = TypeVar("SettingsT", bound=EnvironmentSettings)
EpisodeT = TypeVar("EpisodeT", bound="Episode[Any]")


class Environment(ABC, Generic[SettingsT, Secret, EpisodeT]):
    """Generator, dialogue and verifier of one kind of task."""

    name: ClassVar[str]
    settings_type: ClassVar[type[EnvironmentSettings]]

    def __init__(self, settings: SettingsT, pack: PromptPack) -> None:
        """Keep the settings and the prompt pack; read data files here, not in `generate`."""
        self.settings = settings
        self.pack = pack

    @property
    def stage_limit(self) -> int:
        """Stages that a plan may have. The chat pack's planner is told 4, so only a compact one may have more."""
        return STAGES_AT_MOST

    @property
    @abstractmethod
    def guide(self) -> Guide:
        """What the roles are told about this environment, in this prompt pack."""

    @abstractmethod
    def generate(self, difficulty: float, seed: int) -> Task[Secret]:
        """A task at `difficulty` in [0, 1]; equal arguments give equal tasks.

        Raises GenerationRefusedError when none is found within a fixed number of attempts.
        """

    @abstractmethod
    def signature(self, task: Task[Secret]) -> str:
        """The structural class of a task, after rounding (LURE: the repetition penalty counts it)."""

    @abstractmethod
    def start(self, task: Task[Secret]) -> EpisodeT:
        """A fresh episode."""

    @abstractmethod
    def step(self, episode: EpisodeT, action: str) -> Verdict:
        """Take one executor turn, as text. Malformed text is a turn without progress, no error."""

    @abstractmethod
    def solve(self, task: Task[Secret]) -> Solution:
        """The task's own solution as a plan and turns."""

    @abstractmethod
    def with_other_secret(self, task: Task[Secret], seed: int) -> Task[Secret]:
        """The same public half with another secret of the same shape (the gold-swap audit)."""

    def mutate(self, task: Task[Secret], seed: int) -> Solution:
        """A solution with something wrong in it, as small a thing as there is, which the verifier must refuse.

        Here the solution of the same task with another secret; override it with a nearer miss.
        """
        return self.solve(self.with_other_secret(task, seed))

    def answer(self, episode: EpisodeT) -> str | None:
        """What an ended episode submitted, equal for equal answers; None when it submitted nothing.

        Majority votes compare these, and nothing else does; an environment without one is not voted on.
        """
        return None

    def content_key(self, task: Task[Secret]) -> str:
        """Sixteen hex digits that name a task by what is asked and how it is solved, whatever its seed."""
        return hashlib.sha256(f"{task.public.content_key} {self.solve(task)}".encode()).hexdigest()[:16]

    def compact_words(self) -> Sequence[str]:
        """Every word this environment may write or accept in the compact pack; [] without one."""
        return ()

    def public(self, statement: str, turn_limit: int) -> PublicTask:
        """The public half of a task of this environment."""
        return PublicTask(self.name, self.pack, self.guide, statement, turn_limit)

    def validate(self, task: Task[Secret]) -> tuple[Solution, Solution]:
        """Prove without a model that the verifier accepts the task's own solution and refuses a mutated one.

        Returns both.
        Raises InvalidTaskError when the one is not captured or the other is, and when in either the
        turns exceed the limit, a turn cannot be read or ends the episode too soon, progress falls,
        or it is 1 without capture.
        """
        solution = self.solve(task)
        if not self._play(task, solution, "own"):
            raise InvalidTaskError("the own solution is not captured")
        mutated = self.mutate(task, task.seed)
        if mutated.turns == solution.turns:
            raise InvalidTaskError("the mutated solution is the own one")
        if self._play(task, mutated, "mutated"):
            raise InvalidTaskError(f"the mutated solution is captured; its last turn is {shown(mutated.turns[-1])}")
        return solution, mutated

    def _play(self, task: Task[Secret], solution: Solution, which: str) -> bool:
        """Whether a solution is captured at its last turn; InvalidTaskError when a rule breaks on the way."""
        stages, turns = len(solution.stages), len(solution.turns)
        if not 1 <= stages <= self.stage_limit:
            raise InvalidTaskError(f"the plan of the {which} solution has {stages} stages, not 1 to {self.stage_limit}")
        if not 1 <= turns <= task.public.turn_limit:
            raise InvalidTaskError(f"the {which} solution has {turns} turns, not 1 to {task.public.turn_limit}")
        episode = self.start(task)
        verdict = Verdict(progress=0.0, captured=False)
        for number, turn in enumerate(solution.turns, start=1):
            before = verdict.progress
            episode.last_turn = number == turns
            verdict = self.step(episode, turn)
            at = f"at turn {number} of the {which} solution, {shown(turn)}"
            if not verdict.well_formed:
                raise InvalidTaskError(f"it cannot be read {at}")
            if verdict.progress < before:
                raise InvalidTaskError(f"progress falls from {before} to {verdict.progress} {at}")
            if not 0.0 <= verdict.progress <= 1.0 or (verdict.progress == 1.0) != verdict.captured:
                raise InvalidTaskError(f"progress is {verdict.progress} with captured={verdict.captured} {at}")
            if verdict.ended != episode.last_turn:
                raise InvalidTaskError(f"the episode has {'' if verdict.ended else 'not '}ended {at}")
        return verdict.captured


def best_progress(best: float, right: int, total: int, *, settled: bool) -> float:
    """Best-so-far progress after `right` of `total` parts hold (LURE 1.1: phi is 1 at capture).

    Before the episode is settled (submitted, or out of turns) a complete state counts
    (total - 1/2) / total, so that progress 1 is kept for capture. Raises ValueError when
    `right` is not in 0..total or total is not positive.
    """
    if total < 1 or not 0 <= right <= total:
        raise ValueError(f"{right} of {total} parts")
    value = right / total
    if right == total and not settled:
        value = (total - 0.5) / total
    return max(best, value)


def stage_budget(turn_limit: int, stages: int) -> int:
    """Turns that one stage may take: ceil(T_max / number of stages) (SPEC 1.5)."""
    return -(-turn_limit // stages)


AnyEnvironment = Environment[Any, Any, Any]
_registry: dict[str, type[AnyEnvironment]] = {}
E = TypeVar("E", bound=type[AnyEnvironment])


def environment(name: str) -> Callable[[E], E]:
    """Class decorator that registers an environment under `name`."""

    def register(cls: E) -> E:
        if name in _registry and _registry[name] is not cls:
            raise ValueError(f"environment {name!r} is registered twice")
        cls.name = name
        _registry[name] = cls
        return cls

    return register


def environment_type(name: str) -> type[AnyEnvironment]:
    """The registered class; raises KeyError that lists the registered names."""
    if name not in _registry:
        raise KeyError(f"environment {name!r} is not registered (known: {', '.join(sorted(_registry))})")
    return _registry[name]


def registered() -> tuple[str, ...]:
    """The names of all registered environments, sorted."""
    return tuple(sorted(_registry))
