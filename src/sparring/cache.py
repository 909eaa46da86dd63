"""The user's cache: folders that are dear to make, kept between runs and named by their content."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from safetensors import SafetensorError

from sparring.errors import UserError


def cached_folder(name: str, key: str, build: Callable[[Path], None]) -> Path:
    """The folder `name-key` of the cache, made by `build` where it is not there yet.

    `build` fills an empty folder; it appears under its final name only when it is complete, so a
    killed build leaves nothing that a later run could take for whole. Raises UserError when the
    cache cannot be written.
    """
    root = cache_root()
    target = root / f"{name}-{key}"
    if target.is_dir():
        return target
    try:
        root.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=root))
    except OSError as error:
        raise _refused(root, error) from None
    try:
        build(draft)
        draft.chmod(0o755)
        draft.rename(target)
    except (OSError, SafetensorError) as error:
        # Another process may have finished the same folder first; by its key it holds the same.
        if not target.is_dir():
            raise _refused(root, error) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target


def cache_root() -> Path:
    """SPARRING_CACHE, else `sparring` under XDG_CACHE_HOME, else under ~/.cache."""
    own = os.environ.get("SPARRING_CACHE")
    if own:
        return Path(own).expanduser()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "sparring"


def _refused(root: Path, error: Exception) -> UserError:
    reason = " ".join(str(error).split())
    return UserError(f"cannot write to the cache {root} ({reason}); make room, or set SPARRING_CACHE to another folder")
