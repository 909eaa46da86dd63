"""Simulated tasks: a statement that says how hard it is, and turns that hit or miss.

There is nothing to find out, so no language model learns anything here. The simulated engine, whose
skill is one number, says at each turn whether its attempt hit, by how hard the statement says it is; so
placement, credit and updates can be studied over thousands of rounds by the code that trains models.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from pydantic import Field, model_validator

from sparring.environments.base import (
    Environment,
    EnvironmentSettings,
    Episode,
    Solution,
    Verdict,
    best_progress,
    environment,
)
from sparring.tasks import Guide, PromptPack, Task, derive_seed

HIT, MISS = "hit", "miss"
STAGE = "try"
LABELS = tuple(f"t{number:02d}" for number in range(100))
LABELS_PER_TASK = 3
"""A million names: tasks of one difficulty are of different content, and hardly one is held out too."""


class SimulatedSettings(EnvironmentSettings):
    """Turns of a task, what captures it, and how finely difficulty is told.

    hits: turns that must hit before the last one is over. difficulty_noise: the standard deviation of a task's true
    difficulty, which its statement says, around the one that was asked for. signatures: the steps of the
    difficulty axis that count as one structural class.
    """

    turn_limit: int = Field(default=1, ge=1, le=64)
    hits: int = Field(default=1, ge=1, le=64)
    difficulty_noise: float = Field(default=0.0, ge=0.0, le=1.0)
    signatures: int = Field(default=20, ge=1, le=100)

    @model_validator(mode="after")
    def _hits_within_the_turns(self) -> SimulatedSettings:
        if self.hits > self.turn_limit:
            raise ValueError(f"hits = {self.hits} are more than turn_limit = {self.turn_limit} allows; lower it")
        return self


@dataclass
class SimulatedEpisode(Episode[str]):
    """The words said so far, None for a turn that could not be read."""

    said: list[str | None] = field(default_factory=list)


@environment("simulated")
class Simulated(Environment[SimulatedSettings, str, SimulatedEpisode]):
    """Attempts at a stated difficulty. The secret is the word that hits: "hit" in every generated task."""

    settings_type: ClassVar[type[EnvironmentSettings]] = SimulatedSettings

    @property
    def guide(self) -> Guide:
        """The same words in both packs."""
        return Guide(
            tag="sim",
            difficulty="how hard an attempt is, from 0 to 1",
            planning=f'The stage "{STAGE}".',
            acting=f'Say "{HIT}" or "{MISS}".',
        )

    def generate(self, difficulty: float, seed: int) -> Task[str]:
        """The task of a seed: its true difficulty in hundredths, then its name."""
        draw = random.Random(derive_seed("simulated", seed))
        true = min(1.0, max(0.0, draw.gauss(difficulty, self.settings.difficulty_noise)))
        name = " ".join(draw.choices(LABELS, k=LABELS_PER_TASK))
        return Task(self.public(f"{true:.2f} {name}", self.settings.turn_limit), HIT, difficulty, seed)

    def signature(self, task: Task[str]) -> str:
        """The step of the difficulty axis that was asked for."""
        return f"step {round(self.settings.signatures * task.difficulty)} of {self.settings.signatures}"

    def start(self, task: Task[str]) -> SimulatedEpisode:
        """Nothing said yet."""
        return SimulatedEpisode(task)

    def step(self, episode: SimulatedEpisode, action: str) -> Verdict:
        """Count a hit, or a miss; the executor hears nothing of it."""
        word = action.strip()
        well_formed = word in (HIT, MISS)
        episode.turns += 1
        episode.said.append(word if well_formed else None)
        hits = min(episode.said.count(episode.task.secret), self.settings.hits)
        settled = episode.last_turn
        episode.progress = best_progress(episode.progress, hits, self.settings.hits, settled=settled)
        return Verdict(episode.progress, settled and hits == self.settings.hits, "", well_formed, False, settled)

    def solve(self, task: Task[str]) -> Solution:
        """The word that hits, at every turn."""
        return Solution((STAGE,), (task.secret,) * self.settings.turn_limit)

    def with_other_secret(self, task: Task[str], seed: int) -> Task[str]:
        """The same statement, where the other word hits."""
        return replace(task, secret=MISS if task.secret == HIT else HIT)

    def mutate(self, task: Task[str], seed: int) -> Solution:
        """One hit too few."""
        hits, turns = self.settings.hits - 1, self.settings.turn_limit
        miss = self.with_other_secret(task, seed).secret
        return Solution((STAGE,), (task.secret,) * hits + (miss,) * (turns - hits))

    def answer(self, episode: SimulatedEpisode) -> str | None:
        """Every word said; None when one could not be read."""
        words = [word for word in episode.said if word is not None]
        return " ".join(words) if len(words) == len(episode.said) else None

    def compact_words(self) -> Sequence[str]:
        """Both words, the stage, every hundredth of difficulty, and the names."""
        if self.pack is not PromptPack.COMPACT:
            return ()
        return (HIT, MISS, STAGE, *(f"{step / 100:.2f}" for step in range(101)), *LABELS)
