"""Batched decoding of live dialogues: one prefill a prompt, caches shared and kept between turns."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import torch
from torch import Tensor

from sparring.engines.base import SamplingParameters
from sparring.engines.row_cache import RowCache
from sparring.trajectories import Generation, StopReason


class Decoder(Protocol):
    """The part of a model that decoding needs."""

    @property
    def layers(self) -> int:
        """Number of layers, hence of caches."""

    @property
    def device(self) -> torch.device:
        """Where the weights are."""

    def hidden(self, ids: Tensor, mask: Tensor | None, positions: Tensor, cache: RowCache | None) -> Tensor:
        """Last hidden states (rows, columns, size)."""

    def logits(self, hidden: Tensor) -> Tensor:
        """Vocabulary logits in float32."""

    @property
    def end_ids(self) -> frozenset[int]:
        """Tokens that end a turn."""

    def inference(self) -> AbstractContextManager[None]:
        """Evaluation mode, the right policy switched in, no gradients."""


class Batch:
    """Rows that are decoded together.

    A row's `pending` tokens are known but not yet fed; they are fed, all rows in one ragged
    batch, before the row samples. The last sampled token of a turn is always pending.
    """

    def __init__(self, decoder: Decoder, prompts: Sequence[Sequence[int]], copies: int, generator: torch.Generator):
        self.decoder = decoder
        self.generator = generator
        self.cache = RowCache(decoder.layers, len(prompts), decoder.device)
        with decoder.inference():
            self._feed([list(prompt) for prompt in prompts])
        shared = torch.arange(len(prompts), device=decoder.device).repeat_interleave(copies)
        self.cache.select(shared)
        self.slots = list(range(len(prompts) * copies))
        self.pending: dict[int, list[int]] = {row: [] for row in self.slots}
        self.finished: set[int] = set()

    def extend(self, row: int, ids: Sequence[int]) -> None:
        """Queue tokens of one row."""
        self.pending[row] += ids

    def finish(self, rows: Sequence[int]) -> None:
        """Forget rows; their memory goes once a quarter of the batch is finished."""
        self.finished.update(rows)
        live = [slot for slot, row in enumerate(self.slots) if row not in self.finished]
        if live and len(live) <= 0.75 * len(self.slots):
            self.cache.select(torch.tensor(live, device=self.decoder.device))
            self.slots = [self.slots[slot] for slot in live]

    def sample(self, rows: Sequence[int], parameters: SamplingParameters) -> list[Generation]:
        """One turn of each of `rows`; the batch's other rows idle."""
        slot_of = {row: slot for slot, row in enumerate(self.slots)}
        wanted = {slot_of[row] for row in rows}
        ids: list[list[int]] = [[] for _ in self.slots]
        log_probs: list[list[float]] = [[] for _ in self.slots]
        ended: set[int] = set()
        feed = [self.pending[row] if slot in wanted else [] for slot, row in enumerate(self.slots)]
        ends = self.decoder.end_ids
        with self.decoder.inference():
            logits = self._feed(feed)
            for _ in range(parameters.max_tokens):
                chosen, chosen_log_probs = draw(logits, parameters, self.generator)
                feed = [[] for _ in self.slots]
                for slot in wanted - ended:
                    token = chosen[slot]
                    ids[slot].append(token)
                    log_probs[slot].append(chosen_log_probs[slot])
                    if token in ends:
                        ended.add(slot)
                    else:
                        feed[slot] = [token]
                if len(ended) == len(wanted) or len(ids[next(iter(wanted - ended))]) == parameters.max_tokens:
                    break
                logits = self._feed(feed)
        for slot in wanted:
            self.pending[self.slots[slot]] = ids[slot][-1:]
        return [
            Generation(
                tuple(ids[slot_of[row]]),
                tuple(log_probs[slot_of[row]]),
                StopReason.END if slot_of[row] in ended else StopReason.LENGTH,
            )
            for row in rows
        ]

    def _feed(self, tokens: list[list[int]]) -> Tensor:
        """Feed a ragged batch; logits after each row's last real token (meaningless for none)."""
        device = self.decoder.device
        counts = torch.tensor([len(row) for row in tokens], device=device)
        columns = max(1, int(counts.max()))
        ids = torch.tensor([row + [0] * (columns - len(row)) for row in tokens], device=device)
        mask = self.cache.place(columns)
        hidden = self.decoder.hidden(ids, mask, self.cache.positions, self.cache)
        self.cache.advance(counts)
        last = (counts - 1).clamp(min=0)
        return self.decoder.logits(hidden[torch.arange(len(tokens), device=device), last])


def draw(logits: Tensor, parameters: SamplingParameters, generator: torch.Generator) -> tuple[list[int], list[float]]:
    """One token a row and its log-prob under the tempered policy (rows, vocabulary) -> rows.

    Temperature 0 takes the most likely token. top_p < 1 draws from the smallest set of tokens
    that holds that mass; the log-prob stays that of the whole tempered policy, which is what
    updates compare with.
    """
    if parameters.temperature == 0.0:
        all_log_probs = torch.log_softmax(logits, -1)
        chosen = all_log_probs.argmax(-1, keepdim=True)
    else:
        all_log_probs = torch.log_softmax(logits / parameters.temperature, -1)
        weights = all_log_probs.exp()
        if parameters.top_p < 1.0:
            ordered, order = weights.sort(-1, descending=True)
            beyond = ordered.cumsum(-1) - ordered >= parameters.top_p
            weights = weights.scatter(-1, order, ordered.masked_fill(beyond, 0.0))
        chosen = torch.multinomial(weights, 1, generator=generator)
    return chosen[:, 0].tolist(), all_log_probs.gather(-1, chosen)[:, 0].tolist()


class LocalConversation:
    """Dialogues in one or more batches of bounded size; rows keep their numbers."""

    def __init__(
        self,
        decoder: Decoder,
        prompts: Sequence[Sequence[int]],
        copies: int,
        generator: torch.Generator,
        rows_per_batch: int,
    ) -> None:
        per_batch = max(1, rows_per_batch // copies)
        starts = range(0, len(prompts), per_batch)
        self.batches = [Batch(decoder, prompts[start : start + per_batch], copies, generator) for start in starts]
        self.rows_per_batch = per_batch * copies

    def extend(self, row: int, ids: Sequence[int]) -> None:
        """Append tokens to one row."""
        self.batches[row // self.rows_per_batch].extend(row % self.rows_per_batch, ids)

    def sample(self, rows: Sequence[int], parameters: SamplingParameters) -> list[Generation]:
        """One turn of each row, batch by batch."""
        result: dict[int, Generation] = {}
        for number, batch in enumerate(self.batches):
            first = number * self.rows_per_batch
            mine = [row - first for row in rows if first <= row < first + self.rows_per_batch]
            if mine:
                result.update(zip([row + first for row in mine], batch.sample(mine, parameters), strict=True))
        return [result[row] for row in rows]

    def finish(self, rows: Sequence[int]) -> None:
        """These rows will not sample again."""
        for number, batch in enumerate(self.batches):
            first = number * self.rows_per_batch
            batch.finish([row - first for row in rows if first <= row < first + self.rows_per_batch])
