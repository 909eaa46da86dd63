"""Writing so that nothing is ever half-written: whole files, deferred Ctrl-C, clear disk errors."""

from __future__ import annotations

import errno
import json
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from sparring.errors import UserError

DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Hold Ctrl-C back while a write is in hand, and let it through right after.

    Nested uses hand the signal outwards, so it arrives after the outermost write. Only the main
    thread receives Ctrl-C; elsewhere this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived = False

    def remember(_signal: int, _frame: FrameType | None) -> None:
        nonlocal arrived
        arrived = True

    before = signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if arrived:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Finish the write of `path` before Ctrl-C counts; a disk that refuses becomes a UserError."""
    with interrupts_deferred():
        try:
            yield
        except OSError as error:
            if error.errno in DISK_FULL:
                raise UserError(f"disk full while writing {path}; free some space and try again") from error
            reason = error.strerror or str(error)
            raise UserError(f"{path} cannot be written ({reason}); choose a folder that can be") from error


def refuse_unwritable(path: Path) -> None:
    """Raise UserError when no file can be written at `path`; to be asked before long work."""
    folder = path.parent
    if not folder.is_dir():
        raise UserError(f"{path} cannot be written (its folder does not exist); choose a folder that does")
    if path.is_dir():
        raise UserError(f"{path} cannot be written (it is a folder); choose the name of a file")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(f"{path} cannot be written (its folder refuses it); choose a folder that can be")


def write_atomically(path: Path, data: bytes) -> None:
    """Write a whole file or none: under another name in the same folder, to the disk, then renamed."""
    temporary = partial_name(path)
    with writing(path):
        try:
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
            sync_folder(path.parent)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def write_text(path: Path, text: str) -> None:
    """Write a whole UTF-8 text file or none."""
    write_atomically(path, text.encode("utf-8"))


def write_json(path: Path, data: Any) -> None:
    """Write one JSON value, indented, whole or not at all. NaN and infinity are refused."""
    write_text(path, json.dumps(data, indent=2, allow_nan=False) + "\n")


def write_json_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write one JSON object a line, whole or not at all. NaN and infinity are refused.

    Text is written in ASCII escapes: what a model samples may hold lone surrogates and odd line ends.
    """
    write_text(path, "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows))


def partial_name(path: Path) -> Path:
    """Where a file or folder is made before it gets its name."""
    return path.with_name(f".{path.name}.partial")


def sync_folder(folder: Path) -> None:
    """Make renames inside a folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
