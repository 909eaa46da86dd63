"""Drives groups of rollouts: every pending turn of every rollout of a role in one batch.

The protocol (SPEC 1.5): the planner speaks once a rollout and writes 1 to 4 stages; the executor
works through them under a turn budget, sees tool results only, and never learns whether it is
right. A plan that cannot be read leaves the executor one stage without advice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sparring.clock import Clock
from sparring.engines.base import Conversation, DialogueFormat, Engine, SamplingParameters
from sparring.environments.base import AnyEnvironment, stage_budget
from sparring.parsing import parse_plan
from sparring.roles import Role, WorkedExample, render_executor, render_planner, render_stage, shown_plans
from sparring.tasks import Task, derive_seed
from sparring.trajectories import (
    Generation,
    Group,
    PolicySequence,
    Span,
    Trajectory,
    Turn,
)

NO_ADVICE = ("",)


class Pursuit:
    """One rollout under way: the executor's dialogue with one environment."""

    def __init__(
        self,
        environment: AnyEnvironment,
        task: Task[Any],
        trajectory: Trajectory,
        dialogue: DialogueFormat,
        clock: Clock,
    ) -> None:
        self.clock = clock
        self.environment = environment
        self.task = task
        self.trajectory = trajectory
        self.dialogue = dialogue
        self.episode = environment.start(task)
        self.budget = stage_budget(task.public.turn_limit, len(trajectory.stages))
        self.stage = 0
        self.turns_in_stage = 0

    def announce(self) -> str:
        """The words that open the present stage."""
        return render_stage(self.task.public.pack, self.stage, self.trajectory.stages)

    def begin(self) -> list[Span]:
        """What follows the shared prompt: the first stage, and the floor to the executor."""
        return self._heard(self.dialogue.ready(self.announce()))

    def take(self, generation: Generation) -> list[Span] | None:
        """Hand one sampled turn to the environment; what is heard next, or None at the end."""
        trajectory = self.trajectory
        trajectory.execution.append_sampled(generation)
        self.turns_in_stage += 1
        last_stage = self.stage + 1 == len(trajectory.stages)
        out_of_stage = self.turns_in_stage == self.budget
        out_of_turns = len(trajectory.turns) + 1 == self.task.public.turn_limit
        self.episode.last_turn = out_of_turns or (last_stage and out_of_stage)
        text = self.dialogue.decode(generation)
        before = trajectory.progress
        try:
            with self.clock.phase("verification"):
                verdict = self.environment.step(self.episode, text)
        except Exception as error:  # a checker's failure is counted, never scored
            trajectory.error = f"{type(error).__name__}: {error}"
            return None
        trajectory.turns.append(
            Turn(
                self.stage,
                text,
                verdict.observation,
                verdict.progress,
                verdict.progress - before,
                verdict.well_formed,
                generation.stop,
            )
        )
        if verdict.ended or self.episode.last_turn:
            trajectory.stage_ends.append(verdict.progress)
            trajectory.captured = verdict.captured
            return None
        heard = verdict.observation
        if (verdict.stage_done and not last_stage) or out_of_stage:
            trajectory.stage_ends.append(verdict.progress)
            self.stage += 1
            self.turns_in_stage = 0
            heard = f"{heard}\n{self.announce()}" if heard else self.announce()
        return self._heard(self.dialogue.reply(heard, generation))

    def stop_short(self) -> None:
        """End a rollout whose context is full: no capture, what progress there was stands."""
        self.trajectory.stage_ends.append(self.trajectory.progress)

    def _heard(self, spans: list[Span]) -> list[Span]:
        self.trajectory.execution.append(spans)
        return spans


@dataclass(frozen=True)
class Pursuers:
    """Planner and executor of one run: who they are, how they sample, what they are shown.

    policy names the weights of a role in an environment, so that unified and specialist runs
    differ in this one function. examples are the worked examples of each environment.
    """

    engine: Engine
    environments: Mapping[str, AnyEnvironment]
    policy: Callable[[Role, str], str]
    planning: SamplingParameters
    acting: SamplingParameters
    examples: Mapping[str, Sequence[WorkedExample]]
    clock: Clock

    def pursue(self, tasks: Sequence[Task[Any]], group_size: int, seed: int) -> list[Group]:
        """`group_size` rollouts of every task; groups in the order of `tasks`."""
        groups: list[Group | None] = [None] * len(tasks)
        for name in sorted({self.policy(Role.EXECUTOR, task.public.environment) for task in tasks}):
            mine = [i for i, task in enumerate(tasks) if self.policy(Role.EXECUTOR, task.public.environment) == name]
            done = self._pursue([tasks[i] for i in mine], group_size, derive_seed(seed, name))
            for i, group in zip(mine, done, strict=True):
                groups[i] = group
        return [group for group in groups if group is not None]

    def _pursue(self, tasks: Sequence[Task[Any]], group_size: int, seed: int) -> list[Group]:
        pursuits = [
            Pursuit(self.environments[task.public.environment], task, trajectory, self.engine.dialogue, self.clock)
            for task, trajectories in zip(tasks, self._plan(tasks, group_size, seed), strict=True)
            for trajectory in trajectories
        ]
        openings = [self._opening(task) for task in tasks]
        conversation = self.engine.converse(
            self.policy(Role.EXECUTOR, tasks[0].public.environment),
            [[token for span in opening for token in span.ids] for opening in openings],
            group_size,
            derive_seed(seed, Role.EXECUTOR),
        )
        for row, pursuit in enumerate(pursuits):
            pursuit.trajectory.execution.append(openings[row // group_size])
            _extend(conversation, row, pursuit.begin())
        live = self._with_room(conversation, pursuits, list(range(len(pursuits))))
        while live:
            ended = []
            for row, generation in zip(live, conversation.sample(live, self.acting), strict=True):
                heard = pursuits[row].take(generation)
                if heard is None:
                    ended.append(row)
                else:
                    _extend(conversation, row, heard)
            conversation.finish(ended)
            live = self._with_room(conversation, pursuits, [row for row in live if row not in set(ended)])
        return [
            Group(
                task,
                self.environments[task.public.environment].signature(task),
                [pursuit.trajectory for pursuit in pursuits[first * group_size : (first + 1) * group_size]],
            )
            for first, task in enumerate(tasks)
        ]

    def _plan(self, tasks: Sequence[Task[Any]], group_size: int, seed: int) -> list[list[Trajectory]]:
        dialogue = self.engine.dialogue
        prompts = [plan_prompt(dialogue, task, self.examples[task.public.environment]) for task in tasks]
        sampled = self.engine.sample(
            self.policy(Role.PLANNER, tasks[0].public.environment),
            [[token for span in prompt for token in span.ids] for prompt in prompts],
            group_size,
            self.planning,
            derive_seed(seed, Role.PLANNER),
        )
        planned: list[list[Trajectory]] = []
        for task, prompt, generations in zip(tasks, prompts, sampled, strict=True):
            planned.append([])
            for generation in generations:
                sequence = PolicySequence(Role.PLANNER)
                sequence.append(prompt)
                sequence.append_sampled(generation)
                text = dialogue.decode(generation)
                stages = parse_plan(text, task.public.pack)
                execution = PolicySequence(Role.EXECUTOR)
                planned[-1].append(Trajectory(text, stages or NO_ADVICE, stages is not None, sequence, execution))
        return planned

    def _opening(self, task: Task[Any]) -> list[Span]:
        text = render_executor(task.public, self.examples[task.public.environment])
        return self.engine.dialogue.opening(text)

    def _with_room(self, conversation: Conversation, pursuits: list[Pursuit], rows: list[int]) -> list[int]:
        """The rows whose context still holds a turn; the others end here."""
        limit = self.engine.context_length - self.acting.max_tokens
        full = [row for row in rows if len(pursuits[row].trajectory.execution.ids) > limit]
        for row in full:
            pursuits[row].stop_short()
        conversation.finish(full)
        return [row for row in rows if row not in set(full)]


def plan_prompt(dialogue: DialogueFormat, task: Task[Any], examples: Sequence[WorkedExample]) -> list[Span]:
    """The planner's whole prompt for one task."""
    return [*dialogue.opening(render_planner(task.public), shown_plans(task.public, examples)), *dialogue.ready()]


def _extend(conversation: Conversation, row: int, spans: Sequence[Span]) -> None:
    conversation.extend(row, [token for span in spans for token in span.ids])


def worked_example(environment: AnyEnvironment, task: Task[Any]) -> WorkedExample:
    """A task's own solution as a dialogue, for prompts that show solved tasks."""
    solution = environment.solve(task)
    episode = environment.start(task)
    budget = stage_budget(task.public.turn_limit, len(solution.stages))
    stage = in_stage = 0
    dialogue = []
    for number, turn in enumerate(solution.turns, start=1):
        episode.last_turn = number == len(solution.turns)
        verdict = environment.step(episode, turn)
        in_stage += 1
        announced = ""
        if stage + 1 < len(solution.stages) and (verdict.stage_done or in_stage == budget):
            stage, in_stage = stage + 1, 0
            announced = render_stage(task.public.pack, stage, solution.stages)
        dialogue.append((turn, verdict.observation, announced))
    return WorkedExample(task.public.statement, solution.stages, tuple(dialogue))


def demonstration(
    environment: AnyEnvironment, task: Task[Any], dialogue: DialogueFormat, speak: Callable[[str], Generation]
) -> Trajectory:
    """A task's own solution as the token sequences that a perfect rollout would leave.

    `speak` turns text into a generation as if the policy had sampled it. Used to warm the micro
    backbone up; the code that shapes the dialogue is the one that rollouts use.
    """
    solution = environment.solve(task)
    plan = PolicySequence(Role.PLANNER)
    plan.append(plan_prompt(dialogue, task, ()))
    plan_text = " , ".join(solution.stages)
    plan.append_sampled(speak(plan_text))
    trajectory = Trajectory(plan_text, solution.stages, True, plan, PolicySequence(Role.EXECUTOR))
    pursuit = Pursuit(environment, task, trajectory, dialogue, Clock())
    trajectory.execution.append(dialogue.opening(render_executor(task.public, ())))
    pursuit.begin()
    for turn in solution.turns:
        if pursuit.take(speak(turn)) is None:
            break
    return trajectory
