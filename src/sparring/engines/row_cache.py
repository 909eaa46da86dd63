"""A key-value cache whose rows advance on their own.

Each row keeps its tokens contiguous from position 0, whatever the other rows of the batch do. A
padded token of a ragged batch is written beyond its row's length, where no query looks and where
the next real token overwrites it; so plain causal visibility by position is the whole mask, and a
row's numbers do not depend on its neighbours' lengths.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache, CacheLayerMixin


class RowLayer(CacheLayerMixin):
    """Keys and values of one layer, buffers of shape (rows, heads, capacity, head size)."""

    is_sliding = False

    keys: Tensor
    values: Tensor

    def __init__(self, cache: RowCache) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.cache = cache

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Allocate at the first write; zeros, since a masked NaN would still poison the sum."""
        rows, heads, _, size = key_states.shape
        self.keys = key_states.new_zeros(rows, heads, self.cache.capacity, size)
        self.values = value_states.new_zeros(rows, heads, self.cache.capacity, value_states.shape[-1])
        self.is_initialized = True

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """Write new states at each row's positions; return everything up to the longest row."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        positions, width = self.cache.positions, self.cache.width
        rows = torch.arange(len(positions), device=positions.device)[:, None]
        self.keys[rows, :, positions] = key_states.transpose(1, 2)
        self.values[rows, :, positions] = value_states.transpose(1, 2)
        return self.keys[:, :, :width], self.values[:, :, :width]

    def select(self, rows: Tensor, used: int, capacity: int) -> None:
        """Keep `rows` (repeats allowed) with their first `used` positions."""
        if not self.is_initialized:
            return
        for name in ("keys", "values"):
            old = getattr(self, name)
            new = old.new_zeros(len(rows), old.shape[1], capacity, old.shape[3])
            new[:, :, :used] = old[:, :, :used].index_select(0, rows)
            setattr(self, name, new)

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Length and offset of the visible keys; unused while masks are given in four dimensions."""
        return self.cache.width, 0

    def get_seq_length(self) -> int:
        """Positions in use by the longest row."""
        return self.cache.width

    def get_max_cache_shape(self) -> int:
        """Positions that the buffers hold."""
        return self.cache.capacity


class RowCache(Cache):
    """The layers, the positions of the write in hand, and how many tokens each row holds."""

    def __init__(self, layers: int, rows: int, device: torch.device) -> None:
        self.capacity = 0
        self.width = 0
        self.lengths = torch.zeros(rows, dtype=torch.long, device=device)
        self.positions = torch.zeros(rows, 0, dtype=torch.long, device=device)
        self.row_layers = [RowLayer(self) for _ in range(layers)]
        super().__init__(layers=list(self.row_layers))

    def place(self, columns: int) -> Tensor:
        """Prepare a write of `columns` tokens a row; returns the mask (rows, 1, columns, width).

        A row's new tokens take the positions after those it holds. `advance` says afterwards how
        many of them were real.
        """
        self.positions = self.lengths[:, None] + torch.arange(columns, device=self.lengths.device)
        self.width = int(self.positions[:, -1].max()) + 1
        if self.width > self.capacity:
            self._resize(torch.arange(len(self.lengths), device=self.lengths.device), self.width + 48)
        keys = torch.arange(self.width, device=self.lengths.device)
        return (keys <= self.positions[:, :, None])[:, None]

    def advance(self, counts: Tensor) -> None:
        """Count the real tokens of the last write, one number a row."""
        self.lengths = self.lengths + counts

    def select(self, rows: Tensor) -> None:
        """Keep these rows, in this order; a row may be repeated to share its prefix."""
        self._resize(rows, self.capacity)
        self.lengths = self.lengths.index_select(0, rows)

    def _resize(self, rows: Tensor, capacity: int) -> None:
        used = int(self.lengths.max()) if len(self.lengths) else 0
        for layer in self.row_layers:
            layer.select(rows, used, capacity)
        self.capacity = capacity
