"""What a credit does to the gradient's weights, added up group by group in float64.

Every measure is a sum over groups, so a run of any length takes the same memory. Measures are over
turns (a plan is one turn) unless they say tokens: the loss is a mean over tokens, in which each
token of a turn carries that turn's advantage, so a turn's weight is |advantage| times its tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparring.credit import NO_SPREAD, FloatArray
from sparring.recredit.stored import GroupKind


@dataclass(frozen=True)
class Turns:
    """All turns of one group, in the order of its rollouts; every array has shape (turns,).

    tokens: how many each sampled. position: its place in its rollout, from 0. marked: the turns
    whose advantage is shown on its own (the executor's early correct ones, the plans that captured).
    """

    tokens: FloatArray
    position: NDArray[np.int64]
    marked: NDArray[np.bool_]


class Correlation:
    """Pearson's r = cov(x, y) / (s_x s_y) of pairs that come in pieces, weighted; None without spread."""

    def __init__(self) -> None:
        self._sums = np.zeros(6)

    def add(self, x: FloatArray, y: FloatArray, weights: FloatArray) -> None:
        """Add pairs, all three of shape (n,)."""
        terms = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y])
        self._sums += terms @ weights

    @property
    def value(self) -> float | None:
        """The coefficient, in [-1, 1]."""
        total, x, y, xx, yy, xy = self._sums.tolist()
        if not total:
            return None
        spread_x, spread_y = xx / total - (x / total) ** 2, yy / total - (y / total) ** 2
        if min(spread_x, spread_y) < NO_SPREAD:
            return None
        r = (xy / total - x * y / total**2) / sqrt(spread_x * spread_y)
        return float(min(1.0, max(-1.0, r)))


class Bins:
    """Turns, sum of advantages and weight (|advantage| x tokens) by a whole number, such as the position."""

    def __init__(self) -> None:
        self._sums = np.zeros((0, 3))

    def add(self, index: NDArray[np.int64], advantages: FloatArray, weights: FloatArray) -> None:
        """Add turns; all of shape (n,)."""
        missing = int(index.max(initial=-1)) + 1 - len(self._sums)
        if missing > 0:
            self._sums = np.pad(self._sums, ((0, missing), (0, 0)))
        np.add.at(self._sums, index, np.column_stack([np.ones_like(advantages), advantages, weights]))

    def rows(self) -> list[tuple[int, int, float, float | None]]:
        """(index, turns, mean advantage, share of all weight) wherever there was a turn; no share of nothing."""
        total = float(self._sums[:, 2].sum())
        return [
            (index, int(count), advantage / count, weight / total if total else None)
            for index, (count, advantage, weight) in enumerate(self._sums.tolist())
            if count
        ]


def length_bin(tokens: FloatArray) -> NDArray[np.int64]:
    """Bin k of a length: 2^(k-1) < tokens <= 2^k, and 0 for one token or none. Shapes (n,) to (n,)."""
    return np.ceil(np.log2(np.maximum(tokens, 1.0))).astype(np.int64)


def bin_range(number: int) -> tuple[int, int]:
    """The shortest and the longest length in a bin, in tokens."""
    return (2 ** (number - 1) + 1, 2**number) if number else (0, 1)


@dataclass
class Tally:
    """The measures of one credit beside those of the run's own."""

    groups: dict[GroupKind, int] = field(default_factory=lambda: dict.fromkeys(GroupKind, 0))
    teaching: dict[GroupKind, int] = field(default_factory=lambda: dict.fromkeys(GroupKind, 0))
    turns: int = 0
    absolute: float = 0.0
    sign: int = 0
    marked: int = 0
    marked_advantage: float = 0.0
    marked_negative: int = 0
    own_speaks: int = 0
    flipped: int = 0
    silenced: int = 0
    woken: int = 0
    over_turns: Correlation = field(default_factory=Correlation)
    over_tokens: Correlation = field(default_factory=Correlation)
    positions: Bins = field(default_factory=Bins)
    lengths: Bins = field(default_factory=Bins)

    def add(self, kind: GroupKind, turns: Turns, advantages: FloatArray, own: FloatArray) -> None:
        """Add one group: this credit's advantages and those of the run's own, shape (turns,)."""
        self.groups[kind] += 1
        self.teaching[kind] += bool(advantages.any())
        self.turns += advantages.size
        self.absolute += float(np.abs(advantages).sum())
        signs, own_signs = _signs(advantages), _signs(own)
        self.sign += int(signs.sum())
        self.marked += int(turns.marked.sum())
        self.marked_advantage += float(advantages[turns.marked].sum())
        self.marked_negative += int((signs[turns.marked] < 0).sum())
        self.own_speaks += int((own_signs != 0).sum())
        self.flipped += int((signs * own_signs < 0).sum())
        self.silenced += int(((signs == 0) & (own_signs != 0)).sum())
        self.woken += int(((signs != 0) & (own_signs == 0)).sum())
        self.over_turns.add(advantages, own, np.ones_like(advantages))
        self.over_tokens.add(advantages, own, turns.tokens)
        weights = np.abs(advantages) * turns.tokens
        self.positions.add(turns.position, advantages, weights)
        self.lengths.add(length_bin(turns.tokens), advantages, weights)

    def teaching_share(self, kind: GroupKind) -> float | None:
        """Share of the groups of a kind with any advantage that is not 0; None where there was no group."""
        return _share(self.teaching[kind], self.groups[kind])

    def plain(self) -> dict[str, Any]:
        """All measures, ready for JSON; null where there was nothing to measure."""
        return {
            "teaching_groups": {
                **{kind.value: self.teaching_share(kind) for kind in GroupKind},
                "all": _share(sum(self.teaching.values()), sum(self.groups.values())),
            },
            "mean_absolute_advantage": _share(self.absolute, self.turns),
            "mean_sign": _share(self.sign, self.turns),
            "marked": {
                "turns": self.marked,
                "mean_advantage": _share(self.marked_advantage, self.marked),
                "negative": _share(self.marked_negative, self.marked),
            },
            "against_own": {
                "pearson_over_turns": self.over_turns.value,
                "pearson_over_tokens": self.over_tokens.value,
                "flipped": _share(self.flipped, self.own_speaks),
                "silenced": _share(self.silenced, self.own_speaks),
                "woken": _share(self.woken, self.turns - self.own_speaks),
            },
            "by_position": [
                {"position": index + 1, "turns": count, "mean_advantage": mean, "weight": weight}
                for index, count, mean, weight in self.positions.rows()
            ],
            "by_length": [
                {"tokens": list(bin_range(index)), "turns": count, "mean_advantage": mean, "weight": weight}
                for index, count, mean, weight in self.lengths.rows()
            ],
        }


def _signs(advantages: FloatArray) -> FloatArray:
    """-1, 0 or 1; a reward at its group's mean has float noise for an advantage, which has no sign."""
    return np.where(np.abs(advantages) < NO_SPREAD, 0.0, np.sign(advantages))


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
