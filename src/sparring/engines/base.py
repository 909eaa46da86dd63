"""The engine seam: where the weights live. Engines know tokens and weights, never tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch

from sparring.objectives import Objective
from sparring.trajectories import Generation, Span, TrainSequence


@dataclass(frozen=True)
class SamplingParameters:
    """How to sample. temperature 0 means greedy; log-probs are those of the tempered policy."""

    max_tokens: int
    temperature: float = 1.0
    top_p: float = 1.0


@dataclass(frozen=True)
class Capabilities:
    """What an engine can do; a method that needs a missing one is refused before anything loads."""

    top_k: bool
    full_weights: bool
    ema: bool


class DialogueFormat(Protocol):
    """Text to tokens and back, for the tokenizer and chat template of the loaded backbone."""

    def opening(self, text: str, shown: Sequence[tuple[str, str]] = ()) -> list[Span]:
        """The start of a dialogue up to and including `text`, the user's message still open.

        shown: exchanges of user and assistant that come first, as if they had happened.
        """

    def ready(self, text: str = "") -> list[Span]:
        """The rest of the open user message, and the markers after which the policy speaks."""

    def reply(self, text: str, generation: Generation) -> list[Span]:
        """What follows a sampled turn: markers that close it, a tool's words, the next opening.

        Adds the end marker only where the policy did not sample it itself.
        """

    def decode(self, generation: Generation) -> str:
        """The text of a sampled turn, without its end marker."""


class Conversation(Protocol):
    """A batch of live dialogues of one policy whose caches are kept between turns."""

    def extend(self, row: int, ids: Sequence[int]) -> None:
        """Append tokens to one row; they are fed before that row samples next."""

    def sample(self, rows: Sequence[int], parameters: SamplingParameters) -> list[Generation]:
        """One turn of each row, in one batch."""

    def finish(self, rows: Sequence[int]) -> None:
        """These rows will not sample again; their memory may go."""


class Engine(Protocol):
    """Named policies and the few verbs that methods need."""

    @property
    def capabilities(self) -> Capabilities:
        """What this engine offers."""

    @property
    def dialogue(self) -> DialogueFormat:
        """The text format of the backbone."""

    @property
    def context_length(self) -> int:
        """Tokens that a sequence may hold."""

    def sample(
        self, policy: str, prompts: Sequence[Sequence[int]], copies: int, parameters: SamplingParameters, seed: int
    ) -> list[list[Generation]]:
        """`copies` generations for each prompt; one prefill a prompt."""

    def converse(self, policy: str, prompts: Sequence[Sequence[int]], copies: int, seed: int) -> Conversation:
        """Open `copies` dialogues for each prompt; row = prompt index * copies + copy."""

    def score(self, policy: str, sequences: Sequence[TrainSequence], temperature: float = 1.0) -> list[list[float]]:
        """Log-prob of each masked token under the policy's present weights."""

    def update(
        self, policy: str, sequences: Sequence[TrainSequence], objective: Objective, seed: int
    ) -> Mapping[str, float]:
        """One pass over the data in several optimiser steps; returns metrics."""

    def save(self, folder: Path) -> None:
        """Write all policies, their optimisers and counters into an existing folder."""

    def load(self, folder: Path, *, optimisers: bool = True) -> None:
        """Read back what `save` wrote; without optimisers the policies can act but not go on learning."""


def joint_report(reports: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """One report for updates of several policies (specialists): counts add up, the rest are means.

    Means weigh each policy by its trained tokens.
    """
    counts = ("tokens", "sequences", "optimiser_steps")
    joint = {name: sum(report.get(name, 0.0) for report in reports) for name in counts if reports}
    for name in {name for report in reports for name in report} - set(counts):
        having = [report for report in reports if name in report]
        weight = sum(report["tokens"] for report in having)
        joint[name] = sum(report[name] * report["tokens"] for report in having) / weight
    return joint


def mini_batches(sequences: int, objective: Objective, seed: int) -> list[list[int]]:
    """The sequences of each optimiser step of an update, by number: `epochs` shuffles, each cut into equal steps."""
    generator = torch.Generator().manual_seed(seed)
    steps = min(objective.optimiser_steps, sequences)
    orders = [torch.randperm(sequences, generator=generator).tolist() for _ in range(objective.epochs)]
    return [
        order[step * sequences // steps : (step + 1) * sequences // steps] for order in orders for step in range(steps)
    ]
