"""The run folder: one folder that holds a whole run, and that any kill leaves empty or resumable.

A folder is a run from the moment `recipe.toml` is in it, which is written last. Then, each round:
rollouts, checkpoint, metrics row. `resume` goes back to the newest complete checkpoint and forgets
everything after it, so the resumed run repeats those rounds exactly as the straight run does them.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sparring.config import Recipe
from sparring.errors import UserError
from sparring.runs.checkpoint import Checkpoint, newest_checkpoint, tidy, write_checkpoint
from sparring.runs.origin import (
    hashes,
    is_run,
    read_recipe,
    refuse_other_backbone,
    refuse_other_recipe,
    versions,
    warn_of_changes,
)
from sparring.runs.overlap import heldout_overlap
from sparring.runs.summary import summarise
from sparring.runs.writing import partial_name, write_json, write_json_lines, write_text, writing

BEGINNING = ("lock", "versions.json", "hashes.json")
"""What a start that was killed can leave behind, besides partial files; a new run may take it over."""


class RunFolder:
    """An open run folder, locked against other processes until closed.

    rows holds the metrics rows so far; latest is the checkpoint to continue from, None at the start.
    """

    def __init__(self, path: Path, recipe: Recipe, lock: int) -> None:
        """Use `create` or `resume`."""
        self.path = path
        self.recipe = recipe
        self.rows: list[dict[str, Any]] = []
        self.latest: Checkpoint | None = None
        self._lock = lock

    @classmethod
    def create(cls, path: Path, recipe: Recipe, inputs: Mapping[str, str | Path] | None = None) -> Self:
        """Begin a run in a new or empty folder.

        inputs names what else the run depends on, and whose hashes the folder records: texts (prompt
        templates) and the paths of data files.
        Raises UserError when the folder is taken, locked or cannot be written.
        """
        refuse_taken(path)
        hashed = hashes(inputs or {})
        with writing(path):
            path.mkdir(parents=True, exist_ok=True)
            lock = _lock(path)
        try:
            refuse_taken(path)  # again: another process may have come first
            write_json(path / "versions.json", versions())
            write_json(path / "hashes.json", hashed)
            write_text(path / "recipe.toml", recipe.toml())
        except BaseException:
            if not (path / "recipe.toml").exists():
                with suppress(OSError):
                    for name in BEGINNING:
                        (path / name).unlink(missing_ok=True)
                    path.rmdir()
            os.close(lock)
            raise
        return cls(path, recipe, lock)

    @classmethod
    def resume(cls, path: Path, recipe: Recipe | None = None) -> Self:
        """Continue a run from its newest complete checkpoint, or from the start when it has none.

        Without `recipe` the stored one is used; a given one may differ in `rounds` only. Warns when
        packages have changed since the run began. Raises UserError when there is no run, another
        recipe, or another process at work.
        """
        stored = read_recipe(path)
        recipe = recipe or stored
        refuse_other_recipe(path, stored, recipe)
        with writing(path):
            lock = _lock(path)
        try:
            folder = cls(path, recipe, lock)
            folder._go_back()
            warn_of_changes(path / "versions.json", versions())
        except BaseException:
            os.close(lock)
            raise
        return folder

    def __enter__(self) -> Self:
        return self

    def check_inputs(self, inputs: Mapping[str, str | Path]) -> None:
        """Hold all inputs of a resumed run against the hashes that it recorded.

        Warns of changed ones; raises UserError for another backbone, which would go on as another model.
        """
        now = hashes(inputs)
        refuse_other_backbone(self.path, now)
        warn_of_changes(self.path / "hashes.json", now)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let other processes use the folder."""
        os.close(self._lock)

    def write_rollouts(self, round_number: int, trajectories: Sequence[Mapping[str, Any]]) -> None:
        """Write every trajectory of a round, one JSON object a line."""
        self._write_rows("rollouts", round_number, trajectories)

    def write_emissions(self, round_number: int, emissions: Sequence[Mapping[str, Any]]) -> None:
        """Write every task that was emitted in a round, one JSON object a line."""
        self._write_rows("emissions", round_number, emissions)

    def checkpoint(
        self, round_number: int, row: Mapping[str, Any], state: Mapping[str, Any], save: Callable[[Path], None]
    ) -> None:
        """Write a complete checkpoint of a round, to which a resumed run can go back.

        Called after the round's rollouts and emissions are written and before `append_metrics`.
        """
        write_checkpoint(self.path / "checkpoints", round_number, row, state, save, self.recipe.checkpoint.keep)

    def append_metrics(self, row: Mapping[str, Any]) -> None:
        """Add one round's row. The file is small and written afresh, so it never holds half a row."""
        self.rows.append(dict(row))
        write_json_lines(self.path / "metrics.jsonl", self.rows)

    def write_summary(self) -> dict[str, Any]:
        """Write `summary.json` from the rows and emissions so far and return what it holds."""
        summary = summarise(self.recipe, self.rows, heldout_overlap(self.path, len(self.rows) - 1))
        write_json(self.path / "summary.json", summary)
        return summary

    def _write_rows(self, kind: str, round_number: int, rows: Sequence[Mapping[str, Any]]) -> None:
        path = self.path / kind / f"round_{round_number:04d}.jsonl"
        with writing(path):
            path.parent.mkdir(exist_ok=True)
        write_json_lines(path, rows)

    def _go_back(self) -> None:
        """Return to the newest complete checkpoint; forget every trace of later rounds."""
        self.latest = newest_checkpoint(self.path / "checkpoints")
        done = self.latest.round if self.latest else -1
        if self.latest is None and (rows := read_metrics(self.path)):
            raise UserError(
                f"{self.path} has {len(rows)} rows of metrics but no complete checkpoint to go on from; restore its "
                "checkpoints folder, or begin another run with --out"
            )
        if self.recipe.rounds < done and not self.recipe.budget.rollouts:
            raise UserError(f"rounds = {self.recipe.rounds}, but {self.path} has done {done}; give {done} or more")
        if self.latest:
            self.rows = [row for row in read_metrics(self.path) if row["round"] < done] + [self.latest.row]
        missing = sorted(set(range(done)) - {row["round"] for row in self.rows})
        if missing:
            raise UserError(f"{self.path / 'metrics.jsonl'} has no row of round {missing[0]}; restore the file")
        with writing(self.path):
            tidy(self.path / "checkpoints", done, self.recipe.checkpoint.keep)
            for path in (*self.path.glob(".*.partial"), *self.path.glob("*/.*.partial")):
                path.unlink()
            for path in (*self.path.glob("rollouts/round_*.jsonl"), *self.path.glob("emissions/round_*.jsonl")):
                number = path.stem.removeprefix("round_")
                if number.isdecimal() and int(number) > done:
                    path.unlink()
        write_json_lines(self.path / "metrics.jsonl", self.rows)
        write_text(self.path / "recipe.toml", self.recipe.toml())


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """Read the metrics rows of a run folder; none when no round has been finished."""
    try:
        lines = (path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not (isinstance(row, dict) and isinstance(row.get("round"), int) and isinstance(row.get("rollouts"), int)):
            raise UserError(f"{path / 'metrics.jsonl'} line {number} is no row of a round; restore the file")
        rows.append(row)
    return rows


@contextmanager
def folder_lock(path: Path) -> Iterator[None]:
    """Hold a folder against other processes; UserError where one holds it already."""
    descriptor = _lock(path)
    try:
        yield
    finally:
        os.close(descriptor)


def is_locked(path: Path) -> bool:
    """Whether a process is at work in a run folder."""
    try:
        descriptor = os.open(path / "lock", os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _lock(path: Path) -> int:
    descriptor = os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise UserError(f"{path} is in use by another sparring process; wait for it or give another --out") from None
    return descriptor


def refuse_taken(path: Path) -> None:
    """Raise a UserError when a new run cannot be begun in this folder."""
    if is_run(path):
        raise UserError(f"{path} already holds a run; continue it with --resume {path} or give another --out")
    if path.is_dir():
        with writing(path):
            names = {entry.name for entry in path.iterdir()}
        if names - {*BEGINNING, *(partial_name(path / name).name for name in (*BEGINNING, "recipe.toml"))}:
            raise UserError(f"{path} is not empty and holds no run; give another --out")
