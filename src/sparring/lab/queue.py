"""The queue of a suite: every run a process of its own, several at a time, resumable at any moment.

A run that is there is kept, one that was broken off is resumed, and one of another recipe is refused
before anything starts. A run that fails is shown and the others go on. When the queue itself is
killed its runs go on alone and keep their folders locked; the next queue waits for them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from sparring.errors import UserError
from sparring.lab.suite import Job
from sparring.runs.folder import is_locked, read_metrics
from sparring.runs.origin import is_run, read_recipe, refuse_other_recipe
from sparring.runs.writing import write_text, writing

POLL_SECONDS = 0.2
STOP_SECONDS = 20.0
"""How long an interrupted run has to finish the write in hand."""


@dataclass
class Running:
    """A run in hand. process is None while another process holds its folder."""

    job: Job
    folder: Path
    log: IO[str] | None = None
    process: subprocess.Popen[str] | None = None
    started: float = field(default_factory=time.monotonic)

    @property
    def rounds(self) -> int:
        """Rounds that it has behind it."""
        return max(0, len(read_metrics(self.folder)) - 1)


def is_finished(folder: Path, job: Job) -> bool:
    """Whether a folder holds this run, complete. UserError where it holds another."""
    if not is_run(folder):
        return False
    stored = read_recipe(folder)
    try:
        refuse_other_recipe(folder, stored, job.recipe)
    except UserError as error:
        raise UserError(
            f"{str(error).partition('; only rounds')[0]}; remove that folder or give another --out"
        ) from None
    return stored.rounds == job.recipe.rounds and (folder / "summary.json").exists()


def run_queue(
    jobs: Sequence[Job],
    runs: Path,
    at_once: int,
    limit_minutes: float,
    show: Callable[[Sequence[Running], int], None],
) -> dict[str, str]:
    """Bring every job to its end in `runs`; the failed ones by name, with what they said last.

    at_once: runs at a time. limit_minutes: what one run may take before it is stopped and counted as
    failed. show: called every POLL_SECONDS with the runs in hand and the number of those that ended.
    """
    waiting = [job for job in jobs if not is_finished(runs / job.name, job)]
    ended = len(jobs) - len(waiting)
    running: list[Running] = []
    failures: dict[str, str] = {}
    show(running, ended)
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                job = waiting.pop(0)
                running.append(Running(job, runs / job.name))
            for each in list(running):
                message = _advance(each, limit_minutes)
                if message is None:
                    continue
                running.remove(each)
                ended += 1
                if message:
                    failures[each.job.name] = message
            show(running, ended)
            if running:
                time.sleep(POLL_SECONDS)
    finally:
        _stop(running)
    return failures


def _advance(running: Running, limit_minutes: float) -> str | None:
    """Start or look after one run; None while it goes on, "" once it is done, else what went wrong."""
    late = time.monotonic() - running.started > 60.0 * limit_minutes
    if running.process is None:
        if not is_locked(running.folder):
            _start(running)
            return None
        return f"another process held its folder for {limit_minutes:g} minutes" if late else None
    code = running.process.poll()
    if code is None and late:
        _stop([running])
        return f"stopped after {limit_minutes:g} minutes; raise --minutes to let it go on"
    if code is None:
        return None
    assert running.log is not None
    running.log.close()
    return "" if code == 0 else f"exit code {code}: {last_line(log_path(running.folder))}"


def _start(running: Running) -> None:
    folder, job = running.folder, running.job
    recipe = folder.with_name(f"{folder.name}.toml")
    with writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
    write_text(recipe, job.recipe.toml())
    command = [sys.executable, "-m", "sparring", "train"]
    if is_run(folder):
        command += ["--resume", str(folder), "--rounds", str(job.recipe.rounds)]
    else:
        command += [str(recipe), "--out", str(folder)]
    with writing(log_path(folder)):
        running.log = log_path(folder).open("a", encoding="utf-8")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    running.process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=running.log, stderr=subprocess.STDOUT, env=environment, text=True
    )


def _stop(running: Sequence[Running]) -> None:
    """Interrupt runs, which can be resumed, and wait for their last write."""
    for each in running:
        if each.process is not None and each.process.poll() is None:
            each.process.terminate()
    for each in running:
        if each.process is not None:
            try:
                each.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                each.process.kill()
                each.process.wait()
        if each.log is not None:
            each.log.close()


def log_path(folder: Path) -> Path:
    """Where the words of a run go: beside its folder, which a run wants empty."""
    return folder.with_name(f"{folder.name}.log")


def last_line(path: Path) -> str:
    """The last line that is not empty; "" without any."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
