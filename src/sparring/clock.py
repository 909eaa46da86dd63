"""Seconds per phase of a round, and word of what is being done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Clock:
    """Adds up wall seconds by phase name; an inner phase's seconds are not counted twice.

    announce hears what is in hand: the name of each outer phase, and how far it is.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.announce: Callable[[str], None] = lambda text: None
        self._inner = [0.0]

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time the block under `name`."""
        if len(self._inner) == 1:
            self.announce(name)
        began = time.perf_counter()
        self._inner.append(0.0)
        try:
            yield
        finally:
            spent = time.perf_counter() - began
            self.seconds[name] = self.seconds.get(name, 0.0) + spent - self._inner.pop()
            self._inner[-1] += spent

    def take(self) -> dict[str, float]:
        """The sums so far; starts again from nothing."""
        taken, self.seconds = self.seconds, {}
        return taken
