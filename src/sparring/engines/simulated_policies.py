"""Policies of a handful of weights that speak tokens: a skill that hits or misses, and a preference for words.

Every turn of such a policy is a few fixed tokens around one that it chooses, so a turn's log-prob is that
of one choice, and its gradient is exact. A policy reads what it needs off the tokens before its turn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


@dataclass(frozen=True)
class Frame:
    """How a turn is built: the tokens before the choice, what there is to choose from, the tokens after it."""

    before: tuple[int, ...]
    options: tuple[int, ...]
    after: tuple[int, ...]

    def turn(self, option: int) -> tuple[int, ...]:
        """The whole turn with the option of this index."""
        return (*self.before, self.options[option], *self.after)


class SimulatedPolicy(Protocol):
    """A named policy of the simulated engine.

    weights: float64, shape (m,), a leaf of the gradient. growth multiplies the learning rate, whose
    values are made for networks: a step moves the weights by learning rate x growth x gradient.
    """

    frame: Frame
    weights: Tensor
    growth: float

    def read(self, ids: Sequence[int]) -> tuple[float, ...]:
        """What the policy needs of the tokens before its turn, as numbers. ValueError where it is not there."""

    def logits(self, seen: Tensor) -> Tensor:
        """Logits of the options, (rows, options), after what was read, (rows, numbers); they carry the gradient."""

    def measures(self) -> Mapping[str, float]:
        """Numbers of its weights that an update reports."""


def attempt_log_odds(log_odds: Tensor, noise: float) -> Tensor:
    """Simulation: log p - log(1 - p) of an attempt, p = noise / 2 + (1 - noise) sigmoid(log_odds).

    log_odds: slope (skill - difficulty), in nats, any shape; the result has the same. noise: the share of
    attempts, in [0, 1], that a fair coin decides; with 0 the result is `log_odds` itself. ValueError for
    another noise. Source: ours (item response theory's logistic curve, whose asymptotes noise moves inward).
    """
    if not 0.0 <= noise <= 1.0:
        raise ValueError(f"noise {noise} is outside [0, 1]")
    if noise == 0.0:
        return log_odds
    coin = torch.tensor(math.log(noise) - math.log(2.0), dtype=log_odds.dtype)
    own = math.log1p(-noise) if noise < 1.0 else -math.inf
    hit = torch.logaddexp(coin, own + torch.nn.functional.logsigmoid(log_odds))
    miss = torch.logaddexp(coin, own + torch.nn.functional.logsigmoid(-log_odds))
    return hit - miss


class SkillPolicy:
    """One weight: the log-odds of a hit at difficulty 0, slope x skill. It hits where skill exceeds difficulty.

    difficulties: the tokens that name a difficulty; the last one before a turn counts. options: hit, then miss.
    """

    def __init__(
        self,
        frame: Frame,
        difficulties: Mapping[int, float],
        *,
        skill: float,
        slope: float,
        noise: float,
        growth: float,
    ) -> None:
        self.frame = frame
        self.difficulties = difficulties
        self.slope = slope
        self.noise = noise
        self.growth = growth
        self.weights = torch.tensor([slope * skill], dtype=torch.float64, requires_grad=True)

    def read(self, ids: Sequence[int]) -> tuple[float, ...]:
        """The last difficulty."""
        for token in reversed(ids):
            if token in self.difficulties:
                return (self.difficulties[token],)
        raise ValueError("no token before the turn names a difficulty")

    def logits(self, seen: Tensor) -> Tensor:
        """Of hit and miss: the log-odds and 0."""
        odds = attempt_log_odds(self.weights - self.slope * seen, self.noise)
        return torch.cat([odds, torch.zeros_like(odds)], dim=1)

    def measures(self) -> Mapping[str, float]:
        """The skill: the difficulty at which it hits half of the time."""
        return {"skill": self.weights.item() / self.slope}


@dataclass(frozen=True)
class Layout:
    """Where a preference finds its prompt: a hint behind one marker, a table of ratings behind another.

    values: the number that a hint token names. ratings: the tokens of the table, one weight each. entries:
    how many the table has. places: the table's entry for each option. centres: the number each option names.
    """

    hint_marker: int
    values: Mapping[int, float]
    table_marker: int
    ratings: tuple[int, ...]
    entries: int
    places: tuple[int, ...]
    centres: tuple[float, ...]


class PreferencePolicy:
    """A softmax over number words: near the hint, weighed by what the prompt's table says of each word's place.

    logit(w) = preference[rating of w's place] - ((w - hint) / hint_width)^2 / 2. The preferences are learned,
    from 0: whoever earns at places rated one half comes to choose those, wherever on the axis they are.
    """

    def __init__(self, frame: Frame, layout: Layout, *, hint_width: float, growth: float) -> None:
        self.frame = frame
        self.layout = layout
        self.hint_width = hint_width
        self.growth = growth
        self.weights = torch.zeros(len(layout.ratings), dtype=torch.float64, requires_grad=True)
        self._rating = {token: index for index, token in enumerate(layout.ratings)}
        self._places = torch.tensor(layout.places)
        self._centres = torch.tensor(layout.centres, dtype=torch.float64)

    def read(self, ids: Sequence[int]) -> tuple[float, ...]:
        """The hint, then the table, as indices of ratings."""
        layout = self.layout
        try:
            hint = layout.values[ids[list(ids).index(layout.hint_marker) + 1]]
            start = list(ids).index(layout.table_marker) + 1
            table = [float(self._rating[token]) for token in ids[start : start + layout.entries]]
        except (ValueError, KeyError, IndexError):
            raise ValueError("the tokens before the turn hold no hint or no table of ratings") from None
        if len(table) != layout.entries:
            raise ValueError(f"the table holds {len(table)} ratings, not {layout.entries}")
        return (hint, *table)

    def logits(self, seen: Tensor) -> Tensor:
        """Of every option."""
        ratings = seen[:, 1:].long()[:, self._places]
        from_hint = (self._centres - seen[:, :1]) / self.hint_width
        return self.weights[ratings] - 0.5 * from_hint**2

    def measures(self) -> Mapping[str, float]:
        """Nothing in one number."""
        return {}


class ConstantPolicy:
    """Says one thing, with certainty: its one weight has no gradient."""

    growth = 0.0

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.weights = torch.zeros(1, dtype=torch.float64, requires_grad=True)

    def read(self, ids: Sequence[int]) -> tuple[float, ...]:
        """Nothing."""
        return (0.0,)

    def logits(self, seen: Tensor) -> Tensor:
        """Of the one option."""
        return self.weights + torch.zeros(len(seen), 1, dtype=torch.float64)

    def measures(self) -> Mapping[str, float]:
        """Nothing."""
        return {}
