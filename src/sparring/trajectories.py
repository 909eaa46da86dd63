"""What the policies did, token by token: spans with owners, turns, trajectories, groups.

Sampled ids and log-probs are kept as the engine gave them and never re-encoded. Each token has an
owner, and the loss mask comes from the owner alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sparring.tasks import Task


class Owner(StrEnum):
    """Who put a token into a sequence."""

    PROMPT = "prompt"
    TOOL = "tool"
    MARKER = "marker"
    SAMPLED = "sampled"


class StopReason(StrEnum):
    """Why a generation stopped."""

    END = "end"
    LENGTH = "length"


@dataclass(frozen=True)
class Span:
    """A run of tokens with one owner."""

    owner: Owner
    ids: tuple[int, ...]


@dataclass(frozen=True)
class Generation:
    """What a policy sampled in one go: ids with the log-prob of each, and why it stopped."""

    ids: tuple[int, ...]
    log_probs: tuple[float, ...]
    stop: StopReason

    def __post_init__(self) -> None:
        """Ids and log-probs belong together."""
        if len(self.ids) != len(self.log_probs):
            raise ValueError(f"{len(self.ids)} ids but {len(self.log_probs)} log-probs")


@dataclass
class PolicySequence:
    """All tokens that one policy saw and sampled in one rollout, in order.

    Parallel lists: ids; owners; log_probs (0.0 where not sampled); turn (index of the turn that
    sampled the token, -1 where not sampled). stops: why each sampled turn stopped.
    """

    role: str
    ids: list[int] = field(default_factory=list)
    owners: list[Owner] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)
    turn: list[int] = field(default_factory=list)
    stops: list[StopReason] = field(default_factory=list)

    def append(self, spans: list[Span]) -> None:
        """Add tokens that no policy sampled."""
        for span in spans:
            if span.owner is Owner.SAMPLED:
                raise ValueError("sampled tokens are added with their log-probs")
            self.ids += span.ids
            self.owners += [span.owner] * len(span.ids)
            self.log_probs += [0.0] * len(span.ids)
            self.turn += [-1] * len(span.ids)

    def append_sampled(self, generation: Generation) -> None:
        """Add one sampled turn."""
        count = len(generation.ids)
        self.ids += generation.ids
        self.owners += [Owner.SAMPLED] * count
        self.log_probs += generation.log_probs
        self.turn += [len(self.stops)] * count
        self.stops.append(generation.stop)

    @property
    def loss_mask(self) -> list[bool]:
        """True on the tokens that the policy itself sampled."""
        return [owner is Owner.SAMPLED for owner in self.owners]


@dataclass(frozen=True)
class Turn:
    """One executor turn as the environment saw it."""

    stage: int
    text: str
    observation: str
    progress: float
    gain: float
    well_formed: bool


@dataclass
class Trajectory:
    """One rollout: a plan, the turns that followed it, and what the verifier said.

    progress after turn t is turns[t].progress; gain is LURE's delta phi_t >= 0. stage_ends holds
    the progress at the end of each stage that was begun, so LURE's stage potentials
    Phi_i are the differences of (0, *stage_ends). answer: what was submitted at the end, in a form in
    which equal answers are equal; None when nothing was, or the environment has no such form.
    """

    plan_text: str
    stages: tuple[str, ...]
    plan_well_formed: bool
    plan: PolicySequence
    execution: PolicySequence
    turns: list[Turn] = field(default_factory=list)
    stage_ends: list[float] = field(default_factory=list)
    captured: bool = False
    answer: str | None = None
    error: str | None = None

    @property
    def progress(self) -> float:
        """Best-so-far progress at the end (LURE phi_T)."""
        return self.turns[-1].progress if self.turns else 0.0


@dataclass
class Group:
    """The rollouts of one task. Rollouts that failed for reasons of ours are not outcomes."""

    task: Task[Any]
    signature: str
    trajectories: list[Trajectory]

    @property
    def finished(self) -> list[Trajectory]:
        """The rollouts that ended by themselves, without a service or checker error."""
        return [trajectory for trajectory in self.trajectories if trajectory.error is None]

    @property
    def outcomes(self) -> list[bool]:
        """R of each finished rollout."""
        return [trajectory.captured for trajectory in self.finished]


@dataclass(frozen=True)
class TrainSequence:
    """One sequence ready for an update. All lists have the sequence's length.

    advantages counts only where loss_mask is true. zero_variance marks sequences of a group
    whose credit had no spread: their policy term is 0, the KL term is kept or dropped by the
    objective's switch.
    """

    ids: tuple[int, ...]
    loss_mask: tuple[bool, ...]
    log_probs: tuple[float, ...]
    advantages: tuple[float, ...]
    zero_variance: bool = False


def train_sequence(sequence: PolicySequence, turn_advantages: list[float], *, zero_variance: bool) -> TrainSequence:
    """Spread one advantage per turn over the tokens that turn sampled.

    Raises ValueError when the number of advantages differs from the number of turns.
    """
    if len(turn_advantages) != len(sequence.stops):
        raise ValueError(f"{len(turn_advantages)} advantages for {len(sequence.stops)} turns")
    return TrainSequence(
        ids=tuple(sequence.ids),
        loss_mask=tuple(sequence.loss_mask),
        log_probs=tuple(sequence.log_probs),
        advantages=tuple(turn_advantages[turn] if turn >= 0 else 0.0 for turn in sequence.turn),
        zero_variance=zero_variance,
    )
