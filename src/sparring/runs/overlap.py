"""How many of a run's training tasks have the content of a held-out task, from its stored emissions.

Held-out seeds are never training seeds, but a small world comes up more than once, whatever its seed.
"""

from __future__ import annotations

import json
from pathlib import Path

from sparring.errors import UserError


def heldout_overlap(folder: Path, rounds: int) -> dict[str, dict[str, int]]:
    """By environment: distinct content keys of the tasks of rounds 1 to `rounds`, and those held out.

    Environments whose emissions say nothing of it are left out: a run may be older than the record.
    """
    keys: dict[str, dict[str, bool]] = {}
    for number in range(1, rounds + 1):
        path = folder / "emissions" / f"round_{number:04d}.jsonl"
        if not path.exists():
            continue
        for line in path.read_text(encoding="utf-8").split("\n"):
            if not line:
                continue
            try:
                row = json.loads(line)
                if row.get("task") is not None:
                    keys.setdefault(row["environment"], {})[row["task"]] = row["held_out"]
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                raise UserError(f"{path} holds a line that is no emission; restore the file") from None
    return {name: {"distinct": len(found), "held_out": sum(found.values())} for name, found in keys.items()}
