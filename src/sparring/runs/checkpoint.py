"""Checkpoints: made under another name, sealed with a marker that lists every file, then renamed.

Only a checkpoint whose marker agrees with its files is ever read. A kill or a full disk therefore
costs at most the checkpoint in hand; the one before it is still there.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparring.runs.writing import DISK_FULL, partial_name, sync_folder, write_json, writing

MARKER = "COMPLETE"
"""Name of the file that seals a checkpoint."""

PROBE_BYTES = 1 << 20
"""How much a disk must still take after a failed save for the failure not to be a full disk."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Checkpoint:
    """One complete checkpoint: the method's state and metrics row of a round, and its weights."""

    folder: Path
    round: int
    state: dict[str, Any]
    row: dict[str, Any]

    @property
    def weights(self) -> Path:
        """The folder that the engine saved into."""
        return self.folder / "weights"


def write_checkpoint(
    checkpoints: Path,
    round_number: int,
    row: Mapping[str, Any],
    state: Mapping[str, Any],
    save: Callable[[Path], None],
    keep: int,
) -> None:
    """Write `checkpoints/round_NNNN`, whole or not at all, then drop all but the newest `keep`.

    `save` writes weights and optimisers into the existing folder it is given. Raises UserError
    when the disk is full or refuses.
    """
    final = checkpoints / f"round_{round_number:04d}"
    temporary = partial_name(final)
    with writing(final):
        try:
            shutil.rmtree(temporary, ignore_errors=True)
            weights = temporary / "weights"
            weights.mkdir(parents=True)
            _save_weights(save, weights)
            write_json(temporary / "state.json", state)
            write_json(temporary / "metrics.json", row)
            write_json(temporary / MARKER, {"round": round_number, "files": _sealed_files(temporary)})
            if final.exists():  # torn, or this call would not write the round again
                _remove(final)
            os.replace(temporary, final)
            sync_folder(checkpoints)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        _keep_newest(checkpoints, keep)


def newest_checkpoint(checkpoints: Path) -> Checkpoint | None:
    """Read the newest complete checkpoint; warn about every newer one that is torn."""
    for folder in _newest_first(checkpoints):
        flaw = _flaw(folder)
        if flaw is None:
            return Checkpoint(
                folder=folder,
                round=_round_of(folder),
                state=json.loads((folder / "state.json").read_text(encoding="utf-8")),
                row=json.loads((folder / "metrics.json").read_text(encoding="utf-8")),
            )
        logger.warning("checkpoint %s is torn (%s) and is passed over", folder, flaw)
    return None


def tidy(checkpoints: Path, round_number: int, keep: int) -> None:
    """Remove torn checkpoints of later rounds, old ones, and whatever a killed write left behind."""
    for folder in _newest_first(checkpoints):
        if _round_of(folder) > round_number:
            _remove(folder)
    _keep_newest(checkpoints, keep)
    for left_over in checkpoints.glob(".*.partial"):
        shutil.rmtree(left_over)


def _save_weights(save: Callable[[Path], None], weights: Path) -> None:
    """Save, and find out from the disk itself whether a failure was a full disk.

    The libraries that write weights hide the cause in errors of their own.
    """
    try:
        save(weights)
    except Exception as failure:
        probe = weights / "probe"
        try:
            with probe.open("wb") as file:
                file.write(bytes(PROBE_BYTES))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            if error.errno in DISK_FULL:
                raise error from failure
        raise


def _sealed_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Size and hash of every file, each forced to the disk first: a marker must not outlive its files."""
    sealed = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        sealed[path.relative_to(folder).as_posix()] = {"bytes": path.stat().st_size, "sha256": digest}
    for subfolder in [path for path in folder.rglob("*") if path.is_dir()]:
        sync_folder(subfolder)
    return sealed


def _flaw(folder: Path) -> str | None:
    """Why a checkpoint must not be read, or None when it is whole."""
    try:
        files = json.loads((folder / MARKER).read_text(encoding="utf-8"))["files"]
    except FileNotFoundError:
        return f"no {MARKER} marker"
    except (OSError, ValueError, KeyError, TypeError):
        return f"unreadable {MARKER} marker"
    for name, seal in files.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        if path.stat().st_size != seal["bytes"]:
            return f"{name} has another size"
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != seal["sha256"]:
                return f"{name} has other content"
    return None


def _newest_first(checkpoints: Path) -> list[Path]:
    found = [path for path in checkpoints.glob("round_*") if re.fullmatch(r"round_\d+", path.name)]
    return sorted(found, key=_round_of, reverse=True)


def _round_of(folder: Path) -> int:
    return int(folder.name.removeprefix("round_"))


def _keep_newest(checkpoints: Path, keep: int) -> None:
    for old in _newest_first(checkpoints)[keep:]:
        _remove(old)


def _remove(folder: Path) -> None:
    """Take the marker first, so that a kill in between leaves a folder that nobody reads."""
    (folder / MARKER).unlink(missing_ok=True)
    shutil.rmtree(folder)
