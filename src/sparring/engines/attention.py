"""Attention for grouped keys that never copies the cache.

With a mask given, transformers' own sdpa path repeats every key and value head once per query head of
its group, on each decoding step and for the whole cache; on a CPU that copy costs more than all
the rest. Here the query heads of a group are laid side by side as further queries instead.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

GROUPED = "sparring_grouped"


def grouped_attention(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Scaled dot-product attention over grouped heads, in the shape transformers expects.

    query (rows, heads, T, size); key and value (rows, groups, W, size); attention_mask
    (rows, 1, T, W), true where visible. Returns (rows, T, heads, size). Without a mask, or with a
    head a group, transformers' own path is taken: it copies nothing there.
    """
    rows, heads, columns, size = query.shape
    groups = key.shape[1]
    if attention_mask is None or groups == heads:
        result: tuple[Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **kwargs
        )
        return result
    share = heads // groups
    side_by_side = query.reshape(rows, groups, share * columns, size)
    mask = attention_mask if columns == 1 else attention_mask.repeat(1, 1, share, 1)
    attended = torch.nn.functional.scaled_dot_product_attention(
        side_by_side, key, value, attn_mask=mask, dropout_p=dropout, scale=scaling
    )
    return attended.reshape(rows, heads, columns, -1).transpose(1, 2).contiguous(), None


def use_grouped_attention(model: Any) -> None:
    """Switch a loaded model from sdpa to `grouped_attention`; other implementations stay."""
    AttentionInterface.register(GROUPED, grouped_attention)
    AttentionMaskInterface.register(GROUPED, sdpa_mask)
    if model.config._attn_implementation == "sdpa":
        model.set_attn_implementation(GROUPED)
