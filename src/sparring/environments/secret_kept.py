"""A LEAK, on purpose: any environment, with the solution of each task written into what the roles read.

LURE's audit found a role prompt that held the gold grid; without it R-Zero lost up to 62 points (SPEC
1.11). This wrapper is that mistake, to measure what it is worth and to prove that audits notice it.
It is the only code that puts a secret where a prompt can show it, and only a recipe's `secret` section
(or a test) uses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sparring.environments.base import AnyEnvironment, Environment, Solution, Verdict
from sparring.tasks import Guide, PromptPack, Task

MARKER = "gold"
"""The compact word that the solution stands behind; no environment uses it for anything else."""


class SecretKept(Environment[Any, Any, Any]):
    """The environment within, except that statements begin with the turns of the task's own solution.

    Tasks, verdicts and content keys are those of the environment within, so runs with and without the
    leak are measured on the same held-out tasks.
    """

    def __init__(self, within: AnyEnvironment) -> None:
        """Take the settings, pack and name of the environment within."""
        super().__init__(within.settings, within.pack)
        self.name = within.name  # type: ignore[misc]  # a class has one name, a wrapper that of what it wraps
        self.within = within

    @property
    def stage_limit(self) -> int:
        """That of the environment within."""
        return self.within.stage_limit

    @property
    def guide(self) -> Guide:
        """That of the environment within: what stands behind the marker is left to the reader to find out."""
        return self.within.guide

    def generate(self, difficulty: float, seed: int) -> Task[Any]:
        """The task of the environment within, with its solution."""
        return self._shown(self.within.generate(difficulty, seed))

    def with_other_secret(self, task: Task[Any], seed: int) -> Task[Any]:
        """The task with another secret and thus another statement, by which a gold swap notices the leak."""
        return self._shown(self.within.with_other_secret(self._hidden(task), seed))

    def content_key(self, task: Task[Any]) -> str:
        """The key of the task without the leak."""
        return self.within.content_key(self._hidden(task))

    def compact_words(self) -> Sequence[str]:
        """The words of the environment within, and the marker."""
        return (*self.within.compact_words(), MARKER)

    def signature(self, task: Task[Any]) -> str:
        """That of the environment within."""
        return self.within.signature(task)

    def start(self, task: Task[Any]) -> Any:
        """An episode of the environment within."""
        return self.within.start(task)

    def step(self, episode: Any, action: str) -> Verdict:
        """The verdict of the environment within."""
        return self.within.step(episode, action)

    def solve(self, task: Task[Any]) -> Solution:
        """That of the environment within."""
        return self.within.solve(task)

    def mutate(self, task: Task[Any], seed: int) -> Solution:
        """That of the environment within."""
        return self.within.mutate(task, seed)

    def answer(self, episode: Any) -> str | None:
        """That of the environment within."""
        return self.within.answer(episode)

    def _leak(self, task: Task[Any]) -> str:
        turns = self.within.solve(task).turns
        if self.pack is PromptPack.COMPACT:
            return " ".join([MARKER, *turns, ""])
        return "\n".join(["Reference solution, turn by turn:", *turns, "", ""])

    def _shown(self, task: Task[Any]) -> Task[Any]:
        return replace(task, public=replace(task.public, statement=self._leak(task) + task.public.statement))

    def _hidden(self, task: Task[Any]) -> Task[Any]:
        statement = task.public.statement.removeprefix(self._leak(task))
        return replace(task, public=replace(task.public, statement=statement))
