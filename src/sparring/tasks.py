"""Tasks: what is to be done, split into a public half that prompts may show and a secret half.

The split is by type. Everything that renders a prompt takes a `PublicTask`, which has no way to
reach the secret; only environments ever see a whole `Task`.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Generic, TypeVar


class GenerationRefusedError(Exception):
    """A generator could not make a task at this difficulty and seed within its attempt limit."""


class PromptPack(StrEnum):
    """The two ways an environment talks: natural language, or terse words for the micro backbone."""

    CHAT = "chat"
    COMPACT = "compact"


@dataclass(frozen=True)
class Guide:
    """What a role is told about an environment, the same for all of its tasks.

    tag: one short word that names the environment in compact prompts.
    difficulty: one line on what the difficulty axis means, shown to the evader.
    planning: what a stage of a plan may say, shown to the planner.
    acting: how a turn is written and what it does, shown to the executor.
    """

    tag: str
    difficulty: str
    planning: str
    acting: str


@dataclass(frozen=True)
class PublicTask:
    """The half of a task that a role prompt may show."""

    environment: str
    pack: PromptPack
    guide: Guide
    statement: str
    turn_limit: int

    @property
    def content_key(self) -> str:
        """Sixteen hex digits that name this content, equal for equal public halves."""
        return hashlib.sha256(repr(sorted(asdict(self).items())).encode()).hexdigest()[:16]


Secret = TypeVar("Secret")


@dataclass(frozen=True)
class Task(Generic[Secret]):
    """One task. `secret` holds the gold and goes to the environment only."""

    public: PublicTask
    secret: Secret
    difficulty: float
    seed: int

    def __post_init__(self) -> None:
        """Refuse a difficulty outside the axis."""
        if not 0.0 <= self.difficulty <= 1.0:
            raise ValueError(f"difficulty {self.difficulty} is outside [0, 1]")


def derive_seed(*path: str | int) -> int:
    """Name a 63-bit seed by a path such as (run seed, environment, round, slot, sample).

    Seeds of different paths are independent, so adding an environment or a slot changes no other
    task. Stable across processes, platforms and PYTHONHASHSEED.
    """
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in path)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
