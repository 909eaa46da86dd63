"""Drives groups of rollouts: every pending turn of every rollout of a role in one batch.

The protocol (SPEC 1.5): the planner speaks once a rollout and writes 1 to 4 stages, or as many as the
environment allows; the executor works through them under a turn budget, sees tool results only, and
never learns whether it is right. A plan that cannot be read leaves the executor one stage without
advice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sparring.clock import Clock
from sparring.engines.base import Conversation, DialogueFormat, Engine, SamplingParameters
from sparring.environments.base import AnyEnvironment, Solution, stage_budget
from sparring.parsing import parse_plan
from sparring.roles import (
    Role,
    WorkedExample,
    render_executor,
    render_planner,
    render_stage,
    shown_episodes,
    shown_plans,
)
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
    """One rollout under way: what the executor says to one environment, and hears from it."""

    def __init__(self, environment: AnyEnvironment, task: Task[Any], trajectory: Trajectory, clock: Clock) -> None:
        self.clock = clock
        self.environment = environment
        self.task = task
        self.trajectory = trajectory
        self.episode = environment.start(task)
        self.budget = stage_budget(task.public.turn_limit, len(trajectory.stages))
        self.stage = 0
        self.turns_in_stage = 0

    def announce(self) -> str:
        """The words that open the present stage."""
        return render_stage(self.task.public.pack, self.stage, self.trajectory.stages)

    def take(self, text: str) -> str | None:
        """Hand one turn to the environment; what the executor hears next, or None at the end."""
        trajectory = self.trajectory
        self.turns_in_stage += 1
        last_stage = self.stage + 1 == len(trajectory.stages)
        out_of_stage = self.turns_in_stage == self.budget
        out_of_turns = len(trajectory.turns) + 1 == self.task.public.turn_limit
        self.episode.last_turn = out_of_turns or (last_stage and out_of_stage)
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
            )
        )
        if verdict.ended or self.episode.last_turn:
            trajectory.stage_ends.append(verdict.progress)
            trajectory.captured = verdict.captured
            trajectory.answer = self.environment.answer(self.episode)
            return None
        if not (verdict.stage_done and not last_stage) and not out_of_stage:
            return verdict.observation
        trajectory.stage_ends.append(verdict.progress)
        self.stage += 1
        self.turns_in_stage = 0
        return f"{verdict.observation}\n{self.announce()}".lstrip("\n")

    def stop_short(self) -> None:
        """End a rollout whose context is full: no capture, what progress there was stands.

        One that never had a turn is no failure of the executor's: it broke.
        """
        if not self.trajectory.turns:
            self.trajectory.error = "ContextFullError: the task's opening leaves no room for a turn"
        self.trajectory.stage_ends.append(self.trajectory.progress)


def open_floor(pursuit: Pursuit, prompt: Sequence[Span], dialogue: DialogueFormat) -> list[Span]:
    """Begin the executor's sequence with the shared prompt; returns what follows it: the first stage."""
    spans = dialogue.ready(pursuit.announce())
    pursuit.trajectory.execution.append([*prompt, *spans])
    return spans


def take_turn(pursuit: Pursuit, generation: Generation, dialogue: DialogueFormat) -> list[Span] | None:
    """One sampled turn into the executor's sequence and the environment; what is heard, None at the end."""
    execution = pursuit.trajectory.execution
    execution.append_sampled(generation)
    heard = pursuit.take(dialogue.decode(generation))
    if heard is None:
        return None
    spans = dialogue.reply(heard, generation)
    execution.append(spans)
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
        dialogue = self.engine.dialogue
        pursuits = [
            Pursuit(self.environments[task.public.environment], task, trajectory, self.clock)
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
            _extend(conversation, row, open_floor(pursuit, openings[row // group_size], dialogue))
        live = self._with_room(conversation, pursuits, list(range(len(pursuits))))
        while live:
            self.clock.announce(f"{len(live)} of {len(pursuits)} rollouts under way")
            ended = set()
            for row, generation in zip(live, conversation.sample(live, self.acting), strict=True):
                heard = take_turn(pursuits[row], generation, dialogue)
                if heard is None:
                    ended.add(row)
                else:
                    _extend(conversation, row, heard)
            conversation.finish(sorted(ended))
            live = self._with_room(conversation, pursuits, [row for row in live if row not in ended])
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
                stages = parse_plan(text, task.public.pack, self.environments[task.public.environment].stage_limit)
                execution = PolicySequence(Role.EXECUTOR)
                planned[-1].append(Trajectory(text, stages or NO_ADVICE, stages is not None, sequence, execution))
        return planned

    def _opening(self, task: Task[Any]) -> list[Span]:
        examples = self.examples[task.public.environment]
        return self.engine.dialogue.opening(
            render_executor(task.public, instructed=bool(examples)), shown_episodes(examples)
        )

    def _with_room(self, conversation: Conversation, pursuits: list[Pursuit], rows: list[int]) -> list[int]:
        """The rows whose context still holds a turn; the others end here."""
        limit = self.engine.context_length - self.acting.max_tokens
        full = {row for row in rows if len(pursuits[row].trajectory.execution.ids) > limit}
        for row in sorted(full):
            pursuits[row].stop_short()
        conversation.finish(sorted(full))
        return [row for row in rows if row not in full]


def plan_prompt(dialogue: DialogueFormat, task: Task[Any], examples: Sequence[WorkedExample]) -> list[Span]:
    """The planner's whole prompt for one task."""
    return [*dialogue.opening(render_planner(task.public), shown_plans(examples)), *dialogue.ready()]


def _extend(conversation: Conversation, row: int, spans: Sequence[Span]) -> None:
    conversation.extend(row, [token for span in spans for token in span.ids])


def worked_example(environment: AnyEnvironment, task: Task[Any]) -> WorkedExample:
    """A task's own solution as a dialogue, for prompts that show solved tasks."""
    solution = environment.solve(task)
    trajectory = _solved(solution)
    pursuit = Pursuit(environment, task, trajectory, Clock())
    heard: str | None = pursuit.announce()
    dialogue = []
    for turn in solution.turns:
        if heard is None:
            break
        dialogue.append((heard, turn))
        heard = pursuit.take(turn)
    return WorkedExample(task.public, solution.stages, tuple(dialogue))


def demonstration(
    environment: AnyEnvironment, task: Task[Any], dialogue: DialogueFormat, speak: Callable[[str], Generation]
) -> Trajectory:
    """A task's own solution as the token sequences that a perfect rollout would leave.

    `speak` turns text into a generation as if the policy had sampled it. Used to warm the micro
    backbone up; the code that shapes the dialogue is the one that rollouts use.
    """
    solution = environment.solve(task)
    trajectory = _solved(solution)
    trajectory.plan.append(plan_prompt(dialogue, task, ()))
    trajectory.plan.append_sampled(speak(trajectory.plan_text))
    pursuit = Pursuit(environment, task, trajectory, Clock())
    open_floor(pursuit, dialogue.opening(render_executor(task.public)), dialogue)
    for turn in solution.turns:
        if take_turn(pursuit, speak(turn), dialogue) is None:
            break
    return trajectory


def _solved(solution: Solution) -> Trajectory:
    return Trajectory(
        " , ".join(solution.stages),
        solution.stages,
        plan_well_formed=True,
        plan=PolicySequence(Role.PLANNER),
        execution=PolicySequence(Role.EXECUTOR),
    )
