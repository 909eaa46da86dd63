"""The local engine: transformers and torch on one machine, several named policies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from sparring.engines.attention import use_grouped_attention
from sparring.engines.base import Capabilities, SamplingParameters, mini_batches
from sparring.engines.conversation import LocalConversation
from sparring.engines.dialogue import TemplateDialogue
from sparring.engines.policies import Policy, make_policies
from sparring.errors import UserError
from sparring.objectives import KLEstimator, KLReference, Objective, policy_loss
from sparring.trajectories import Generation, TrainSequence

LARGEST_EXACT_VOCABULARY = 4096


@dataclass
class Anchor:
    """Log-probs of one sequence's masked tokens under weights that do not move during the update.

    taken: of the tokens themselves, shape (n,). full: of the whole vocabulary, (n, V), kept only
    when the exact KL is asked for.
    """

    taken: Tensor
    full: Tensor | None


@dataclass
class Held:
    """What one sequence is held to: the round-start snapshot, and what the KL is to, mostly the same."""

    snapshot: Anchor
    reference: Anchor


class LocalEngine:
    """Named policies over one backbone, on CPU or one GPU."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        policies: Sequence[str],
        *,
        end_ids: Iterable[int] = (),
        weights: Literal["full", "lora"] = "full",
        lora_rank: int = 16,
        precision: Literal["float32", "bfloat16"] = "float32",
        threads: int = 1,
        tokens_per_micro_batch: int = 16384,
        rows_per_batch: int = 512,
        device: str = "cpu",
        seed: int = 0,
        keep_initial: bool = False,
    ) -> None:
        torch.set_num_threads(threads)
        use_grouped_attention(model)
        self.dialogue = TemplateDialogue(tokenizer, end_ids)
        self.capabilities = Capabilities(top_k=False, full_weights=weights == "full", ema=False)
        self.tokens_per_micro_batch = tokens_per_micro_batch
        self.rows_per_batch = rows_per_batch
        self.context_length = int(model.config.max_position_embeddings)
        self.vocabulary = int(model.config.vocab_size)
        self.policies: dict[str, Policy] = make_policies(
            model.to(device),
            policies,
            self.dialogue.end_ids,
            weights=weights,
            lora_rank=lora_rank,
            precision=precision,
            seed=seed,
            keep_initial=keep_initial,
        )

    def sample(
        self, policy: str, prompts: Sequence[Sequence[int]], copies: int, parameters: SamplingParameters, seed: int
    ) -> list[list[Generation]]:
        """`copies` generations for each prompt; one prefill a prompt. UserError when one leaves no room to answer."""
        longest = max(map(len, prompts))
        if longest + parameters.max_tokens > self.context_length:
            raise UserError(
                f"a prompt of {longest} tokens for {policy} and max_tokens = {parameters.max_tokens} exceed the "
                f"backbone's context of {self.context_length}; lower max_tokens, prompts.worked_examples or the sizes "
                "of the tasks"
            )
        conversation = self.converse(policy, [prompt[:-1] for prompt in prompts], copies, seed)
        rows = range(len(prompts) * copies)
        for row in rows:
            conversation.extend(row, prompts[row // copies][-1:])
        generations = conversation.sample(rows, parameters)
        return [generations[first : first + copies] for first in range(0, len(rows), copies)]

    def converse(self, policy: str, prompts: Sequence[Sequence[int]], copies: int, seed: int) -> LocalConversation:
        """Open `copies` dialogues for each prompt; row = prompt index * copies + copy."""
        chosen = self.policies[policy]
        generator = torch.Generator(chosen.device).manual_seed(seed)
        return LocalConversation(chosen, prompts, copies, generator, self.rows_per_batch)

    def score(self, policy: str, sequences: Sequence[TrainSequence], temperature: float = 1.0) -> list[list[float]]:
        """Log-prob of each masked token under the policy's present weights."""
        anchors = self._anchors(self.policies[policy], sequences, temperature, full=False)
        return [anchor.taken.tolist() for anchor in anchors]

    def update(
        self, policy: str, sequences: Sequence[TrainSequence], objective: Objective, seed: int
    ) -> Mapping[str, float]:
        """LURE Algorithm 1, line 5: one pass (or `epochs`) of several optimiser steps (LURE Eq. 7).

        The anchor log-probs are taken once, before the first step, by the same computation that
        the steps use; the round-start snapshot is thereby behaviour policy, KL reference and
        proximal centre without a second model in memory. KLReference.INITIAL takes the KL to the
        weights that the policy began with instead. Advantages are fixed before the data is
        split. Returns means over tokens (zero_variance, entropy of the policy, and sampler_gap, the
        mean |log-prob at sampling - anchor|), the mean grad_norm, and counts; kl and clip_share are
        those of the last mini-batch, all steps but its own being taken: before the first step both
        are 0 whatever the round did.
        """
        own = self.policies[policy]
        exact = objective.kl_estimator is KLEstimator.EXACT
        if exact and self.vocabulary > LARGEST_EXACT_VOCABULARY:
            raise UserError(
                f"objective.kl_estimator = 'exact' needs a vocabulary of at most {LARGEST_EXACT_VOCABULARY}, "
                f"this backbone has {self.vocabulary}; use 'k3'"
            )
        sequences = [sequence for sequence in sequences if any(sequence.loss_mask)]
        if not sequences:
            return {"tokens": 0.0, "sequences": 0.0, "optimiser_steps": 0.0}
        anchors = self._anchors(own, sequences, objective.temperature, full=exact)
        references = anchors
        if objective.kl_reference is KLReference.INITIAL:
            with own.initial():
                references = self._anchors(own, sequences, objective.temperature, full=exact)
        held = [Held(anchor, reference) for anchor, reference in zip(anchors, references, strict=True)]
        for group in own.optimiser.param_groups:
            group["lr"] = objective.learning_rate
        parts = mini_batches(len(sequences), objective, seed)
        sums: list[Mapping[str, float]] = []
        gradient_norm = 0.0
        for part in parts:
            sums.append(self.accumulate(own, [sequences[i] for i in part], [held[i] for i in part], objective))
            norm = float(torch.nn.utils.clip_grad_norm_(own.trainable.values(), objective.gradient_clip))
            if not math.isfinite(norm):
                raise UserError(
                    f"the update of {policy} diverged: gradient norm {norm} with learning_rate = "
                    f"{objective.learning_rate:g}; lower roles.{policy.split('/')[0]}.learning_rate in a new run"
                )
            gradient_norm += norm
            own.optimiser.step()
            own.optimiser.zero_grad(set_to_none=True)
        tokens = sum(len(anchor.taken) for anchor in anchors)
        gap = sum(
            float((anchor.taken - _sampled_log_probs(sequence, anchor.taken)).abs().sum())
            for anchor, sequence in zip(anchors, sequences, strict=True)
        )
        return {
            "kl": sums[-1]["kl"] / sums[-1]["tokens"],
            "clip_share": sums[-1]["clipped"] / sums[-1]["tokens"],
            "entropy": sum(each["entropy"] for each in sums) / (tokens * objective.epochs),
            "zero_variance": sum(each["zero_variance"] for each in sums) / (tokens * objective.epochs),
            "sampler_gap": gap / tokens,
            "grad_norm": gradient_norm / len(parts),
            "tokens": float(tokens),
            "sequences": float(len(sequences)),
            "optimiser_steps": float(len(parts)),
        }

    def accumulate(
        self,
        own: Policy,
        sequences: Sequence[TrainSequence],
        held: Sequence[Held],
        objective: Objective,
    ) -> dict[str, float]:
        """Add one mini-batch's gradient; it does not depend on how the micro-batches are cut.

        Returns the sums of `policy_loss` over the mini-batch.
        """
        totals: dict[str, float] = {}
        denominator = sum(len(each.snapshot.taken) for each in held)
        with own.switched_in():
            for part in self._micro_batches(sequences):
                chosen = [sequences[i] for i in part]
                full, taken = self._log_probs(own, chosen, objective.temperature)
                wholes = [held[i].reference.full for i in part]
                loss, sums = policy_loss(
                    taken,
                    torch.cat([held[i].snapshot.taken for i in part]),
                    torch.cat([held[i].reference.taken for i in part]),
                    torch.cat([_masked(sequence.advantages, sequence.loss_mask, taken) for sequence in chosen]),
                    torch.cat([_flag(sequence) for sequence in chosen]).to(taken.device),
                    objective,
                    denominator,
                    full,
                    None if wholes[0] is None else torch.cat([whole for whole in wholes if whole is not None]),
                )
                loss.backward()  # type: ignore[no-untyped-call]
                for name, value in sums.items():
                    totals[name] = totals.get(name, 0.0) + value
        return totals

    def save(self, folder: Path) -> None:
        """One subfolder a policy: weights.safetensors and optimiser.pt."""
        for name, policy in self.policies.items():
            target = folder / name
            target.mkdir(parents=True)
            policy.save(target)

    def load(self, folder: Path, *, optimisers: bool = True) -> None:
        """Read back what `save` wrote; without optimisers the policies can act but not go on learning."""
        for name, policy in self.policies.items():
            policy.load(folder / name, optimiser=optimisers)

    def _anchors(
        self, own: Policy, sequences: Sequence[TrainSequence], temperature: float, *, full: bool
    ) -> list[Anchor]:
        anchors: dict[int, Anchor] = {}
        with torch.no_grad(), own.switched_in():
            for part in self._micro_batches(sequences):
                chosen = [sequences[i] for i in part]
                everything, taken = self._log_probs(own, chosen, temperature)
                sizes = [sum(sequence.loss_mask) for sequence in chosen]
                wholes = torch.split(everything, sizes) if full else [None] * len(part)
                for i, one, whole in zip(part, torch.split(taken, sizes), wholes, strict=True):
                    anchors[i] = Anchor(one, whole)
        return [anchors[i] for i in range(len(sequences))]

    def _micro_batches(self, sequences: Sequence[TrainSequence]) -> Iterator[list[int]]:
        """Indices by length, cut so that padded tokens stay within the budget."""
        by_length = sorted(range(len(sequences)), key=lambda i: len(sequences[i].ids))
        part: list[int] = []
        for i in by_length:
            if part and (len(part) + 1) * len(sequences[i].ids) > self.tokens_per_micro_batch:
                yield part
                part = []
            part.append(i)
        if part:
            yield part

    def _log_probs(self, own: Policy, sequences: Sequence[TrainSequence], temperature: float) -> tuple[Tensor, Tensor]:
        """Of all masked tokens of `sequences` in order: full distributions (n, V) and taken (n,).

        Logits are formed only where the loss looks.
        """
        device = own.device
        columns = max(len(sequence.ids) for sequence in sequences)
        padded = [list(sequence.ids) + [0] * (columns - len(sequence.ids)) for sequence in sequences]
        ids = torch.tensor(padded, device=device)
        masks = [list(sequence.loss_mask) + [False] * (columns - len(sequence.ids)) for sequence in sequences]
        mask = torch.tensor(masks, device=device)
        positions = torch.arange(columns, device=device).expand(len(sequences), columns)
        # Right padding under the plain causal mask: no real token ever sees a padded one.
        hidden = own.hidden(ids, None, positions, None)
        logits = own.logits(hidden[:, :-1][mask[:, 1:]])
        full = torch.log_softmax(logits / temperature, -1)
        taken = full.gather(-1, ids[:, 1:][mask[:, 1:]][:, None])[:, 0]
        return full, taken


def _masked(values: Sequence[float], mask: Sequence[bool], like: Tensor) -> Tensor:
    return like.new_tensor([value for value, keep in zip(values, mask, strict=True) if keep])


def _flag(sequence: TrainSequence) -> Tensor:
    return torch.full((sum(sequence.loss_mask),), sequence.zero_variance)


def _sampled_log_probs(sequence: TrainSequence, like: Tensor) -> Tensor:
    return _masked(sequence.log_probs, sequence.loss_mask, like)
