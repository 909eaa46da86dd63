"""Confidence intervals of the rates that reports and scores show."""

from __future__ import annotations

import math

Z_95 = 1.959963984540054
"""The standard normal's 97.5 % point."""


def wilson_interval(rate: float, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a rate seen in n independent trials. Raises ValueError for n < 1."""
    if n < 1:
        raise ValueError("an interval needs at least one trial")
    centre = rate + Z_95**2 / (2 * n)
    half_width = Z_95 * math.sqrt(rate * (1 - rate) / n + Z_95**2 / (4 * n**2))
    scale = 1 + Z_95**2 / n
    # At the ends the bound is the rate itself, which the arithmetic misses by a rounding error.
    low = (centre - half_width) / scale if rate > 0.0 else 0.0
    high = (centre + half_width) / scale if rate < 1.0 else 1.0
    return low, high
