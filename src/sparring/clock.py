"""Seconds per phase of a round, and word of what is being done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

EVALUATION = "evaluation"
"""The phase that is not part of training."""


class Clock:
    """Adds up wall seconds by phase name; an inner phase's seconds are not counted twice.

    announce hears what is in hand: the name of each outer phase, and how far it is.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.announce: Callable[[str], None] = lambda text: None
        self._inner = [0.0]
        self._cpu = time.process_time()
        self._evaluated = 0.0

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time the block under `name`."""
        if len(self._inner) == 1:
            self.announce(name)
        began, began_cpu = time.perf_counter(), time.process_time()
        self._inner.append(0.0)
        try:
            yield
        finally:
            spent = time.perf_counter() - began
            self.seconds[name] = self.seconds.get(name, 0.0) + spent - self._inner.pop()
            self._inner[-1] += spent
            if name == EVALUATION:
                self._evaluated += time.process_time() - began_cpu

    def take(self) -> dict[str, Any]:
        """`seconds`, the sums so far, and `cpu_seconds`, those of the whole process; starts again from nothing.

        The processor's seconds leave evaluation out: they are what training costs.
        """
        taken, self.seconds = self.seconds, {}
        spent, self._cpu = time.process_time() - self._cpu, time.process_time()
        evaluated, self._evaluated = self._evaluated, 0.0
        return {"seconds": taken, "cpu_seconds": spent - evaluated}
