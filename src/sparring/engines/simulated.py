"""The simulated engine: policies of a few weights behind the protocol that a language model's engine keeps.

What a round does to a policy is computed, not assumed: turns are sampled token by token, and an update
is the gradient of the same objective (LURE Eq. 7, `policy_loss`) on the same sequences, in the same
mini-batches, with the same anchor, clip and KL. Unlike the local engine's, its optimiser is plain
gradient descent: AdamW divides by the gradient's size, and a single weight would then grow at one pace
whatever the tasks taught.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from sparring.engines.base import Capabilities, DialogueFormat, SamplingParameters, mini_batches
from sparring.engines.conversation import draw
from sparring.engines.simulated_policies import SimulatedPolicy
from sparring.errors import UserError
from sparring.objectives import KLReference, Objective, policy_loss
from sparring.trajectories import Generation, StopReason, TrainSequence

CONTEXT_LENGTH = 4096
"""Tokens of a sequence; there is no cache to fill, so this only bounds what rollouts may ask for."""


@dataclass(frozen=True)
class Choices:
    """The choices that stand in some sequences, in order.

    seen: what the policy read before each, (n, numbers). chosen: the option's index, (n,). sequence: the
    sequence it stands in, (n,); position: its token there.
    """

    seen: Tensor
    chosen: Tensor
    sequence: tuple[int, ...]
    position: tuple[int, ...]


class SimulatedConversation:
    """A batch of live dialogues: the tokens of each row, and one random generator for all."""

    def __init__(self, policy: SimulatedPolicy, prompts: Sequence[Sequence[int]], copies: int, seed: int) -> None:
        self.policy = policy
        self.rows = [list(prompt) for prompt in prompts for _ in range(copies)]
        self.generator = torch.Generator().manual_seed(seed)

    def extend(self, row: int, ids: Sequence[int]) -> None:
        """Append tokens to one row."""
        self.rows[row] += ids

    def sample(self, rows: Sequence[int], parameters: SamplingParameters) -> list[Generation]:
        """One turn of each row."""
        said = speak(self.policy, [self.rows[row] for row in rows], parameters, self.generator)
        for row, generation in zip(rows, said, strict=True):
            self.rows[row] += generation.ids
        return said

    def finish(self, rows: Sequence[int]) -> None:
        """These rows will not sample again."""
        for row in rows:
            self.rows[row] = []


class SimulatedEngine:
    """Named simulated policies, and the format in which they are spoken to."""

    def __init__(self, dialogue: DialogueFormat, policies: Mapping[str, SimulatedPolicy]) -> None:
        self.dialogue = dialogue
        self.policies = dict(policies)
        self.capabilities = Capabilities(top_k=False, full_weights=True, ema=False)
        self.context_length = CONTEXT_LENGTH
        self._beginning = {name: policy.weights.detach().clone() for name, policy in self.policies.items()}

    def sample(
        self, policy: str, prompts: Sequence[Sequence[int]], copies: int, parameters: SamplingParameters, seed: int
    ) -> list[list[Generation]]:
        """`copies` generations for each prompt."""
        rows = [prompt for prompt in prompts for _ in range(copies)]
        said = speak(self.policies[policy], rows, parameters, torch.Generator().manual_seed(seed))
        return [said[first : first + copies] for first in range(0, len(said), copies)]

    def converse(self, policy: str, prompts: Sequence[Sequence[int]], copies: int, seed: int) -> SimulatedConversation:
        """Open `copies` dialogues for each prompt; row = prompt index * copies + copy."""
        return SimulatedConversation(self.policies[policy], prompts, copies, seed)

    def score(self, policy: str, sequences: Sequence[TrainSequence], temperature: float = 1.0) -> list[list[float]]:
        """Log-prob of each masked token: that of the choice, and 0 for the fixed tokens around it."""
        own = self.policies[policy]
        found = choices(own, sequences)
        with torch.no_grad():
            taken = _log_probs(own, found, temperature)[1].tolist()
        log_probs = [dict.fromkeys(_masked(sequence), 0.0) for sequence in sequences]
        for number, position, value in zip(found.sequence, found.position, taken, strict=True):
            log_probs[number][position] = value
        return [list(each.values()) for each in log_probs]

    def update(
        self, policy: str, sequences: Sequence[TrainSequence], objective: Objective, seed: int
    ) -> Mapping[str, float]:
        """LURE Algorithm 1, line 5: one pass (or `epochs`) of several optimiser steps (LURE Eq. 7).

        As `LocalEngine.update`, whose metrics it returns, with the policy's own measures. The fixed tokens
        of a turn count in the mean over tokens; they have probability 1, so nothing else of them does.
        """
        own = self.policies[policy]
        sequences = [sequence for sequence in sequences if any(sequence.loss_mask)]
        if not sequences:
            return {"tokens": 0.0, "sequences": 0.0, "optimiser_steps": 0.0}
        everything = choices(own, sequences)
        with torch.no_grad():
            anchor_full, anchor = _log_probs(own, everything, objective.temperature)
            reference_full, reference = anchor_full, anchor
            if objective.kl_reference is KLReference.INITIAL:
                now = own.weights.clone()
                own.weights.copy_(self._beginning[policy])
                reference_full, reference = _log_probs(own, everything, objective.temperature)
                own.weights.copy_(now)
        sizes = [sum(sequence.loss_mask) for sequence in sequences]
        of_sequence = torch.tensor(everything.sequence)
        places = list(zip(everything.sequence, everything.position, strict=True))
        advantages = torch.tensor([sequences[number].advantages[at] for number, at in places], dtype=torch.float64)
        still = torch.tensor([sequences[number].zero_variance for number, _ in places], dtype=torch.bool)
        sampled = torch.tensor([sequences[number].log_probs[at] for number, at in places], dtype=torch.float64)

        optimiser = torch.optim.SGD([own.weights], lr=objective.learning_rate * own.growth)
        totals = {"entropy": 0.0, "grad_norm": 0.0}
        parts = mini_batches(len(sequences), objective, seed)
        for part in parts:
            tokens = sum(sizes[number] for number in part)
            rows = torch.isin(of_sequence, torch.tensor(part)).nonzero()[:, 0]
            inside = Choices(everything.seen[rows], everything.chosen[rows], (), ())
            full, taken = _log_probs(own, inside, objective.temperature)
            loss, sums = policy_loss(
                taken,
                anchor[rows],
                reference[rows],
                advantages[rows],
                still[rows],
                objective,
                tokens,
                full,
                reference_full[rows],
            )
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            norm = float(torch.nn.utils.clip_grad_norm_([own.weights], objective.gradient_clip))
            if not math.isfinite(norm):
                raise UserError(
                    f"the update of {policy} diverged: gradient norm {norm}; lower the growth of its weights in "
                    "the recipe's simulation section"
                )
            optimiser.step()
            totals["entropy"] += sums["entropy"]
            totals["grad_norm"] += norm
        tokens_of_all = sum(sizes)
        flagged = sum(size for size, sequence in zip(sizes, sequences, strict=True) if sequence.zero_variance)
        return {
            "kl": sums["kl"] / tokens,
            "clip_share": sums["clipped"] / tokens,
            "entropy": totals["entropy"] / (tokens_of_all * objective.epochs),
            "zero_variance": flagged / tokens_of_all,
            "sampler_gap": float((anchor - sampled).abs().sum()) / tokens_of_all,
            "grad_norm": totals["grad_norm"] / len(parts),
            "tokens": float(tokens_of_all),
            "sequences": float(len(sequences)),
            "optimiser_steps": float(len(parts)),
            **own.measures(),
        }

    def save(self, folder: Path) -> None:
        """One subfolder a policy with its weights; the optimiser has no state."""
        for name, policy in self.policies.items():
            (folder / name).mkdir(parents=True)
            save_file({"weights": policy.weights.detach().clone()}, folder / name / "weights.safetensors")

    def load(self, folder: Path, *, optimisers: bool = True) -> None:
        """Read back what `save` wrote; there is no optimiser to leave out."""
        with torch.no_grad():
            for name, policy in self.policies.items():
                policy.weights.copy_(load_file(folder / name / "weights.safetensors")["weights"])


def speak(
    policy: SimulatedPolicy, rows: Sequence[Sequence[int]], parameters: SamplingParameters, generator: torch.Generator
) -> list[Generation]:
    """One turn after each row of tokens, cut at `max_tokens`."""
    with torch.no_grad():
        logits = policy.logits(torch.tensor([policy.read(row) for row in rows], dtype=torch.float64))
    chosen, log_probs = draw(logits, parameters, generator)
    turns = [policy.frame.turn(option) for option in range(len(policy.frame.options))]
    at, limit = len(policy.frame.before), parameters.max_tokens
    said = []
    for option, log_prob in zip(chosen, log_probs, strict=True):
        turn = turns[option]
        each = tuple(log_prob if place == at else 0.0 for place in range(len(turn)))
        stop = StopReason.END if len(turn) <= limit else StopReason.LENGTH
        said.append(Generation(turn[:limit], each[:limit], stop))
    return said


def choices(policy: SimulatedPolicy, sequences: Sequence[TrainSequence]) -> Choices:
    """Every choice that the policy made in these sequences; ValueError for a token that it could not have said."""
    at = len(policy.frame.before)
    option = {token: index for index, token in enumerate(policy.frame.options)}
    seen, chosen, owners, positions = [], [], [], []
    for number, sequence in enumerate(sequences):
        for start, length in _turns(sequence):
            said = sequence.ids[start : start + length]
            if length <= at:  # cut before the choice
                continue
            if said[at] not in option or said != policy.frame.turn(option[said[at]])[:length]:
                raise ValueError(f"the tokens {said} are no turn of this policy")
            seen.append(policy.read(sequence.ids[:start]))
            chosen.append(option[said[at]])
            owners.append(number)
            positions.append(start + at)
    return Choices(
        torch.tensor(seen, dtype=torch.float64), torch.tensor(chosen).long(), tuple(owners), tuple(positions)
    )


def _turns(sequence: TrainSequence) -> Iterator[tuple[int, int]]:
    """Start and length of each run of masked tokens."""
    start = None
    for position, mine in enumerate((*sequence.loss_mask, False)):
        if mine and start is None:
            start = position
        elif not mine and start is not None:
            yield start, position - start
            start = None


def _masked(sequence: TrainSequence) -> list[int]:
    return [position for position, mine in enumerate(sequence.loss_mask) if mine]


def _log_probs(policy: SimulatedPolicy, found: Choices, temperature: float) -> tuple[Tensor, Tensor]:
    """Of the choices: whole distributions (n, options), and what was chosen (n,)."""
    full = torch.log_softmax(policy.logits(found.seen) / temperature, -1)
    return full, full.gather(-1, found.chosen[:, None])[:, 0]
