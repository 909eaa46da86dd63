"""Proof without a model that an environment keeps its rules, task by task and at scale.

The gold swap (SPEC 1.11) is the test for leaks: with another secret behind the same public half,
planner and executor must hear the same, byte for byte, whatever the executor says.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

from sparring.clock import Clock
from sparring.environments.base import AnyEnvironment, InvalidTaskError, Solution
from sparring.roles import Role, render_executor, render_planner
from sparring.rollouts import Pursuit
from sparring.tasks import GenerationRefusedError, Task
from sparring.trajectories import PolicySequence, Trajectory
from sparring.wording import shown

DIFFICULTIES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Where an environment is proved, unless told otherwise."""

NOISE = ("noise", "", "{", "done", "<done/>", '{"done": true}')
"""Turns that mean nothing, or no more than that a stage is done."""


@dataclass(frozen=True)
class Failure:
    """The first task of a level that broke a rule, by its seed, and how."""

    seed: int
    reason: str


@dataclass(frozen=True)
class LevelProof:
    """What was found of one environment at one difficulty.

    tasks: how many were generated; refused: seeds at which the generator refused. distinct: tasks of
    different content. failed: tasks that broke a rule. cpu_seconds: of generation and proof.
    """

    environment: str
    pack: str
    difficulty: float
    tasks: int
    refused: int
    distinct: int
    failed: int
    failure: Failure | None
    cpu_seconds: float

    @property
    def holds(self) -> bool:
        """Whether there were tasks, and all kept the rules."""
        return self.tasks > 0 and self.failed == 0

    @property
    def tasks_per_second(self) -> float:
        """Tasks generated and proved in a second of one core."""
        return self.tasks / self.cpu_seconds

    def plain(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return {**asdict(self), "holds": self.holds, "tasks_per_second": self.tasks_per_second}

    def __str__(self) -> str:
        """The level, and what broke there, with all that is needed to make the task again."""
        where = f"{self.environment}, {self.pack} pack, difficulty {self.difficulty:g}"
        if self.failure is not None:
            return f"{where}, seed {self.failure.seed}: {self.failure.reason}"
        return f"{where}: {self.tasks} tasks hold" if self.tasks else f"{where}: the generator refused every seed"


def prove(
    environment: AnyEnvironment, tasks: int = 1000, difficulties: Sequence[float] = DIFFICULTIES
) -> list[LevelProof]:
    """Prove an environment on the tasks of seeds 0 to `tasks` - 1 at each difficulty.

    Raises InvalidTaskError with the first task that breaks a rule, or the first difficulty without one.
    """
    proofs = []
    for difficulty in difficulties:
        proofs.append(prove_level(environment, difficulty, tasks))
        if not proofs[-1].holds:
            raise InvalidTaskError(str(proofs[-1]))
    return proofs


def prove_level(
    environment: AnyEnvironment, difficulty: float, tasks: int, advance: Callable[[], object] = lambda: None
) -> LevelProof:
    """Put the tasks of seeds 0 to `tasks` - 1 to the proof; `advance` is called after each."""
    began = time.process_time()
    keys: set[str] = set()
    generated = refused = failed = 0
    first: Failure | None = None
    for seed in range(tasks):
        try:
            task = environment.generate(difficulty, seed)
            generated += 1
            keys.add(environment.content_key(task))
            prove_task(environment, task)
        except GenerationRefusedError:
            refused += 1
        except Exception as error:  # a mistake in a user's environment is a finding too
            failed += 1
            name = "" if isinstance(error, InvalidTaskError) else f"{type(error).__name__}: "
            first = first or Failure(seed, f"{name}{error}")
        advance()
    return LevelProof(
        environment.name,
        environment.pack.value,
        difficulty,
        generated,
        refused,
        len(keys),
        failed,
        first,
        time.process_time() - began,
    )


def prove_task(environment: AnyEnvironment, task: Task[Any]) -> None:
    """Prove the solutions of one task (`Environment.validate`), their fit to the stages, and the gold swap.

    Raises InvalidTaskError for the first rule that is broken.
    """
    right, mutated = environment.validate(task)
    _, rollout = heard(environment, task, right)
    if not rollout.captured:
        raise InvalidTaskError("the own solution is not captured within the turns that its stages have")
    if environment.generate(task.difficulty, task.seed) != task:
        raise InvalidTaskError("the same difficulty and seed give another task the second time")
    if task.public.guide != environment.guide:  # so that it names no task, and neither does the evader's prompt
        raise InvalidTaskError("the task's guide is not the environment's")
    other = environment.with_other_secret(task, task.seed)
    if other.secret == task.secret:
        raise InvalidTaskError("with_other_secret gives the same secret")
    if other.public != task.public:
        raise InvalidTaskError("with_other_secret changes the public half")
    for script in scripts(task, right, environment.solve(other), mutated):
        refuse_leak(environment, task, other, script)


def refuse_leak(environment: AnyEnvironment, task: Task[Any], other: Task[Any], script: Solution) -> None:
    """Raise InvalidTaskError when a rollout by a script sounds different under another secret."""
    mine, theirs = heard(environment, task, script)[0], heard(environment, other, script)[0]
    for ours, others in zip_longest(mine, theirs, fillvalue="the end"):
        if ours != others:
            raise InvalidTaskError(f"the secret leaks: with another one {shown(ours)} becomes {shown(others)}")


def scripts(task: Task[Any], right: Solution, other: Solution, mutated: Solution) -> list[Solution]:
    """What an executor may say to a task, or to the one with another secret, whose solution is `other`.

    The three solutions, all but the last turn of the right one again and again, and noise.
    """
    return [
        right,
        other,
        mutated,
        _to_the_limit(task, right.turns[:-1] or NOISE[:1]),
        _to_the_limit(task, NOISE),
    ]


def _to_the_limit(task: Task[Any], turns: Sequence[str]) -> Solution:
    return Solution(("stage",), tuple(turns[number % len(turns)] for number in range(task.public.turn_limit)))


def heard(environment: AnyEnvironment, task: Task[Any], script: Solution) -> tuple[list[str], Trajectory]:
    """All that planner and executor hear in a rollout that goes by a script, and the rollout.

    The first two texts are the prompts, the others what each turn brought.
    """
    rollout = Trajectory(
        plan_text="",
        stages=script.stages,
        plan_well_formed=True,
        plan=PolicySequence(Role.PLANNER),
        execution=PolicySequence(Role.EXECUTOR),
    )
    pursuit = Pursuit(environment, task, rollout, Clock())
    texts = [render_planner(task.public), render_executor(task.public) + pursuit.announce()]
    for turn in script.turns:
        answer = pursuit.take(turn)
        if rollout.error is not None:
            raise InvalidTaskError(f"the verifier breaks at the turn {shown(turn)}: {rollout.error}")
        if answer is None:
            break
        texts.append(answer)
    return texts, rollout
