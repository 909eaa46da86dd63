"""A toy environment under full control, and short ways to put rollouts, an evader and LURE on a scripted engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from tests.scripted import ScriptedEngine, Speaker, WordDialogue, by_copy

from sparring.clock import Clock
from sparring.credit import ExecutorCredit, PlannerCredit
from sparring.engines.base import SamplingParameters
from sparring.environments.base import (
    AnyEnvironment,
    Environment,
    EnvironmentSettings,
    Episode,
    Solution,
    Verdict,
    best_progress,
)
from sparring.methods.base import Solver
from sparring.methods.lure import Lure
from sparring.objectives import Objective
from sparring.placement.evader import Evader
from sparring.placement.evader_reward import EvaderReward
from sparring.roles import Role, WorkedExample
from sparring.rollouts import Pursuers
from sparring.tasks import GenerationRefusedError, Guide, PromptPack, Task
from sparring.trajectories import Group, Trajectory

OBJECTIVES = {role: Objective(learning_rate=1e-3, kl_weight=0.1 + number) for number, role in enumerate(Role)}


class ToySettings(EnvironmentSettings):
    """turn_limit of every task, and how many gains capture it."""

    turn_limit: int = 4
    parts: int = 2


@dataclass
class ToyEpisode(Episode[int]):
    """The parts gained, and each turn with what `last_turn` was at it."""

    gained: int = 0
    taken: list[tuple[str, bool]] = field(default_factory=list)


class Toy(Environment[ToySettings, int, ToyEpisode]):
    """Gather `secret` parts and submit: "gain" gathers one, "look" returns "seen", "break" breaks the checker.

    Tasks above difficulty 0.9 are refused; the level rounded to tenths is the signature.
    """

    name = "toy"
    settings_type: ClassVar[type[EnvironmentSettings]] = ToySettings

    def __init__(self, settings: ToySettings, pack: PromptPack) -> None:
        super().__init__(settings, pack)
        self.episodes: list[ToyEpisode] = []

    @property
    def guide(self) -> Guide:
        return Guide(tag=self.name, difficulty="how far", planning="plan so", acting="act so")

    def generate(self, difficulty: float, seed: int) -> Task[int]:
        if difficulty > 0.9:
            raise GenerationRefusedError(f"nothing at {difficulty}")
        public = self.public(f"go {difficulty:.2f} seed {seed}", self.settings.turn_limit)
        return Task(public, self.settings.parts, difficulty, seed)

    def signature(self, task: Task[int]) -> str:
        return f"level={task.difficulty:.1f}"

    def start(self, task: Task[int]) -> ToyEpisode:
        self.episodes.append(ToyEpisode(task))
        return self.episodes[-1]

    def step(self, episode: ToyEpisode, action: str) -> Verdict:
        words = action.split()
        episode.taken.append((action, episode.last_turn))
        if "break" in words:
            raise RuntimeError("the checker is down")
        total = episode.task.secret
        episode.gained = min(episode.gained + words.count("gain"), total)
        ended = episode.last_turn or "submit" in words
        episode.progress = best_progress(episode.progress, episode.gained, total, settled=ended)
        return Verdict(
            progress=episode.progress,
            captured=ended and episode.gained == total,
            observation="seen" if "look" in words else "",
            well_formed="noise" not in words,
            stage_done="done" in words,
            ended=ended,
        )

    def solve(self, task: Task[int]) -> Solution:
        return Solution(("fetch",), (" ".join(["gain"] * task.secret + ["submit"]),))

    def with_other_secret(self, task: Task[int], seed: int) -> Task[int]:
        return replace(task, secret=task.secret + 1)


class Tin(Toy):
    """The same under another name."""

    name = "tin"


def toy(kind: type[Toy] = Toy, turn_limit: int = 4, parts: int = 2, pack: PromptPack = PromptPack.COMPACT) -> Toy:
    """A toy environment."""
    return kind(ToySettings(turn_limit=turn_limit, parts=parts), pack)


def named(*environments: AnyEnvironment) -> dict[str, AnyEnvironment]:
    """Environments by name."""
    return {environment.name: environment for environment in environments}


def unified(role: Role, environment: str) -> str:
    """One set of weights per role."""
    return role.value


def specialist(role: Role, environment: str) -> str:
    """A set of weights per role and environment."""
    return f"{role.value}/{environment}"


def make_pursuers(
    engine: ScriptedEngine,
    environments: Mapping[str, AnyEnvironment],
    policy: Callable[[Role, str], str] = unified,
    max_tokens: int = 1000,
    examples: Mapping[str, Sequence[WorkedExample]] | None = None,
) -> Pursuers:
    """Planner and executor on a scripted engine."""
    shown = examples or dict.fromkeys(environments, ())
    limits = SamplingParameters(max_tokens)
    return Pursuers(engine, environments, policy, replace(limits, temperature=0.5), limits, shown, Clock())


def make_evader(
    engine: ScriptedEngine,
    policy: Callable[[Role, str], str] = unified,
    hints: Sequence[float] = (0.5,),
    samples: int = 4,
    reward: EvaderReward | None = None,
    pack: PromptPack = PromptPack.COMPACT,
    examples: int = 0,
) -> Evader:
    """A learned evader on a scripted engine."""
    return Evader(
        engine=engine,
        policy=policy,
        pack=pack,
        hints=hints,
        samples=samples,
        parameters=SamplingParameters(100, temperature=0.7),
        objective=OBJECTIVES[Role.EVADER],
        reward=reward or EvaderReward(),
        run_seed=7,
        examples=examples,
    )


def pursue(
    speaker: Speaker, plan: str = "go", copies: int = 1, environment: Toy | None = None, context_length: int = 10_000
) -> tuple[Group, Toy, ScriptedEngine]:
    """All rollouts of one task of a toy environment."""
    environment = environment or toy()
    engine = ScriptedEngine({Role.PLANNER: lambda floor: plan, Role.EXECUTOR: speaker}, context_length)
    (group,) = make_pursuers(engine, named(environment)).pursue([environment.generate(0.5, 3)], copies, seed=11)
    return group, environment, engine


def roll_out(
    environment: AnyEnvironment, task: Task[Any], scripts: Sequence[Solution], dialogue: WordDialogue
) -> tuple[Group, ScriptedEngine]:
    """One rollout a script of any environment; a script that is too short stays with its last turn."""

    def lasting(turns: Sequence[str]) -> Speaker:
        return lambda floor: turns[min(floor.turn, len(turns) - 1)]

    def planned(script: Solution) -> str:
        return " , ".join(script.stages) if task.public.pack is PromptPack.COMPACT else json.dumps(script.stages)

    speakers = {
        Role.PLANNER: by_copy(*map(planned, scripts)),
        Role.EXECUTOR: by_copy(*(lasting(script.turns) for script in scripts)),
    }
    engine = ScriptedEngine(speakers, dialogue=dialogue)
    (group,) = make_pursuers(engine, named(environment)).pursue([task], len(scripts), seed=0)
    return group, engine


def stages_of(trajectory: Trajectory) -> list[int]:
    return [turn.stage for turn in trajectory.turns]


def heard_by_the_executor(engine: ScriptedEngine) -> list[str]:
    """Its last dialogue, cut at what it said itself: the opening, then what each turn brought."""
    (conversation,) = engine.conversations
    heard, begin = [], 0
    for at, generation in conversation.said[0]:
        heard.append(engine.dialogue.text(conversation.rows[0][begin:at]))
        begin = at + len(generation.ids)
    assert conversation.rows[0][begin:] == []
    return heard


def make_lure(
    engine: ScriptedEngine,
    environments: Mapping[str, AnyEnvironment],
    policy: Callable[[Role, str], str] = unified,
    hints: Sequence[float] = (0.5,),
    samples: int = 4,
    group_size: int = 2,
    executor_credit: ExecutorCredit = ExecutorCredit.EQ5,
    planner_credit: PlannerCredit = PlannerCredit.PROGRESS,
    pack: PromptPack = PromptPack.COMPACT,
    max_tokens: int = 1000,
) -> Lure:
    """LURE with a learned evader on a scripted engine."""
    solver = make_solver(engine, environments, policy, group_size, executor_credit, planner_credit, max_tokens)
    return Lure(solver, make_evader(engine, policy, hints, samples, pack=pack))


def make_solver(
    engine: ScriptedEngine,
    environments: Mapping[str, AnyEnvironment],
    policy: Callable[[Role, str], str] = unified,
    group_size: int = 2,
    executor_credit: ExecutorCredit = ExecutorCredit.TERMINAL,
    planner_credit: PlannerCredit = PlannerCredit.CAPTURE,
    max_tokens: int = 1000,
) -> Solver:
    """Planner and executor on a scripted engine, with their credit and updates."""
    return Solver(
        engine=engine,
        environments=environments,
        pursuers=make_pursuers(engine, environments, policy, max_tokens),
        policy=policy,
        objectives=OBJECTIVES,
        group_size=group_size,
        progress_weight=0.25,
        zero_progress_cost=0.05,
        executor_credit=executor_credit,
        planner_credit=planner_credit,
        run_seed=7,
    )
