"""The rounds of a run as they happen: a live table in a terminal, one plain line a round elsewhere.

The table fits the terminal: where it is narrow, columns are left out, the least telling first, then
the environments stand below one another, and at last the rounds are plain lines. No number is cut.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from statistics import fmean
from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.measure import Measurement
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Column, Table
from rich.text import Text

from sparring.reports.metrics import number_at

ROUNDS_SHOWN = 12
"""Rounds that the table shows where the terminal is high enough, and that the time left is reckoned from."""

LINES_AROUND = 5
"""Lines of a terminal that the heading, the lines below the table and the cursor take."""

UNBOUNDED = 10_000
"""A width that holds any table, to measure how wide it would like to be."""

HEADINGS = {"KL": "executor\nKL"}
"""How the table heads a number where its label in a plain line is too short."""

FEWER_COLUMNS = ((), ("KL",), ("KL", "mixed"))
"""The columns that are left out, as the terminal gets narrower."""

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
            BarColumn(bar_width=None, table_column=Column(max_width=40)),
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
        """Show the metrics row of one more round; the rounds of a budget may be more than was reckoned."""
        self._rows.append(row)
        self._rounds = max(self._rounds, int(row["round"]))
        if self._live is None:
            self._print(self._line(row))
            return
        self._progress.update(self._bar, completed=row["round"], total=self._rounds, left=self._time_left())
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
        [task] = self._progress.tasks
        return Group(self._rounds_table(), Text(task.description), self._progress)

    def _rounds_table(self) -> RenderableType:
        """The fullest table that the terminal has room for, else plain lines."""
        unbounded = self._console.options.update_width(UNBOUNDED)
        for stacked in (False, True):
            for left_out in FEWER_COLUMNS:
                table = self._table(left_out, stacked)
                if Measurement.get(self._console, unbounded, table).maximum <= self._console.width:
                    return table
        longest = max((len(self._line(row)) for row in self._rows), default=0)
        latest = self._latest(lines_a_round=2 + longest // self._console.width)  # folded at words: one more
        return Text("\n".join(map(self._line, latest)))

    def _latest(self, lines_a_round: int) -> list[Row]:
        """The last rounds, as many as the terminal is high enough for."""
        room = (self._console.height - LINES_AROUND) // lines_a_round
        return list(self._rows)[-max(1, room) :]

    def _table(self, left_out: Sequence[str], stacked: bool) -> Table:
        """The last rounds without some columns; stacked, with the environments below one another."""
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
        table.add_column("round", justify="right", no_wrap=True)
        for heading in ["environment"] if stacked else self._environments:
            table.add_column(Text(f"{heading}\ncapture at d"), justify="right", no_wrap=True)
        kept = [label for label in self._figures({"rollouts": 0}) if label not in left_out]
        for label in kept:
            table.add_column(HEADINGS.get(label, label), justify="right", no_wrap=True)
        for row in self._latest(max(1, len(self._environments)) if stacked else 1):
            pairs = {name: self._capture_at_difficulty(row, name) for name in self._environments}
            if stacked:
                cells = ["\n".join(f"{name} {pair}" for name, pair in pairs.items() if pair)]
            else:
                cells = list(pairs.values())
            figures = self._figures(row)
            table.add_row(str(row["round"]), *map(Text, [*cells, *(figures[label] for label in kept)]))
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
