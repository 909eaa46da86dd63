"""The rounds of a run as they happen: a live table in a terminal, one plain line a round elsewhere."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from statistics import fmean
from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from sparring.reports.metrics import number_at

ROUNDS_SHOWN = 12
"""Rounds that the table shows, and that the time left is reckoned from."""

QUIET_SECONDS = 60.0
"""Outside a terminal, what is in hand is told when nothing was printed for so long."""

Row = Mapping[str, Any]


class RoundsTable:
    """Shows metrics rows as they come; use as a context manager.

    The time left comes from the seconds that the rows record, so a resumed run reckons rightly too.
    """

    def __init__(
        self,
        console: Console,
        rounds: int,
        environments: Sequence[str],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`rounds` is the number of the last round; `now` gives seconds."""
        self._now = now
        self._printed = now()
        self._rounds = rounds
        self._environments = environments
        self._rows: deque[Row] = deque(maxlen=ROUNDS_SHOWN)
        self._console = console
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.completed:.0f}/{task.total:.0f} rounds", markup=False),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}", markup=False),
            console=console,
        )
        self._bar = self._progress.add_task("starting", total=rounds, left="")
        self._live = Live(console=console, get_renderable=self._render) if console.is_terminal else None

    def __enter__(self) -> Self:
        """Begin to draw, in a terminal."""
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the last table on the screen."""
        if self._live is not None:
            self._progress.update(self._bar, description="stopped" if kind else "done", left="")
            self._live.stop()

    def status(self, number: int, text: str) -> None:
        """Say what is in hand in round `number`; elsewhere than in a terminal, once a minute at most."""
        if self._live is not None:
            self._progress.update(self._bar, description=f"round {number}: {text}")
        elif self._now() - self._printed >= QUIET_SECONDS:
            self._print(f"round {number}/{self._rounds}: {text}")

    def show(self, row: Row) -> None:
        """Show the metrics row of one more round."""
        self._rows.append(row)
        if self._live is None:
            self._print(self._line(row))
            return
        self._progress.update(self._bar, completed=row["round"], left=self._time_left())
        self._live.refresh()

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)
        self._printed = self._now()

    def _time_left(self) -> str:
        """Mean seconds of the rounds shown times the rounds to come."""
        spent = [sum(row["seconds"].values()) for row in self._rows if row["round"] > 0]
        left = self._rounds - int(self._rows[-1]["round"])
        return f"{timedelta(seconds=round(fmean(spent) * left))} left" if spent and left else ""

    def _render(self) -> Group:
        return Group(self._table(), self._progress)

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
        table.add_column("round", justify="right", no_wrap=True)
        for name in self._environments:
            table.add_column(Text(f"{name}\ncapture at d"), justify="right", no_wrap=True)
        for name in ("held-out", "mixed", "executor\nKL", "rollouts"):
            table.add_column(name, justify="right", no_wrap=True)
        for row in self._rows:
            pairs = [Text(self._capture_at_difficulty(row, name)) for name in self._environments]
            table.add_row(str(row["round"]), *pairs, *(Text(value) for value in self._figures(row).values()))
        return table

    def _line(self, row: Row) -> str:
        """One round on one line; what the round did not measure is left out."""
        parts = [f"round {row['round']}/{self._rounds}"]
        for name in self._environments:
            if text := self._capture_at_difficulty(row, name):
                parts.append(f"{name} {text}")
        parts += [f"{label} {text}" for label, text in self._figures(row).items() if text]
        return "  ".join(parts)

    def _capture_at_difficulty(self, row: Row, name: str) -> str:
        capture = number_at(row, "environments", name, "capture")
        difficulty = number_at(row, "environments", name, "difficulty_mean")
        return "" if capture is None or difficulty is None else f"{capture:.2f} at {difficulty:.2f}"

    def _figures(self, row: Row) -> dict[str, str]:
        """The numbers of a row that are not an environment's, "" where not measured."""
        mixed = [number_at(row, "environments", name, "mixed") for name in self._environments]
        known = [share for share in mixed if share is not None]
        return {
            "held-out": _digits(number_at(row, "heldout", "capture"), 3),
            "mixed": _digits(fmean(known) if known else None, 2),
            "KL": _digits(number_at(row, "roles", "executor", "kl"), 4),
            "rollouts": f"{row['rollouts']:,}",
        }


def _digits(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"
