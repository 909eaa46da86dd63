"""What is compared: the same work by sparring and by a peer, counted in CPU seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


class PeerMissingError(Exception):
    """The peer is not installed; the message says how to install it."""


@dataclass(frozen=True)
class Work:
    """`count` things done in `seconds` of CPU time, by a version of a package."""

    count: int
    seconds: float
    version: str = ""

    @property
    def rate(self) -> float:
        """Things a second."""
        return self.count / self.seconds


@dataclass(frozen=True)
class Comparison:
    """One row of the table. target: the ratio aimed at. repeats: tries of each side."""

    name: str
    peer: str
    ours: Callable[[], Work]
    theirs: Callable[[], Work]
    target: float | None = None
    repeats: int = 3


def timed(work: Callable[[], int], version: str = "") -> Work:
    """Run something that returns how many things it did."""
    start = time.process_time()
    count = work()
    return Work(count, time.process_time() - start, version)
