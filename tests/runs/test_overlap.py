"""How many training tasks are held out too, counted from the emissions that a run stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sparring.errors import UserError
from sparring.runs.overlap import heldout_overlap


def emission(name: str, key: str | None, *, held_out: bool = False) -> dict[str, Any]:
    return {"environment": name, "task": key, "held_out": held_out, "text": "\u2028"}


def store(folder: Path, number: int, rows: list[dict[str, Any]]) -> Path:
    path = folder / "emissions" / f"round_{number:04d}.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_each_content_counts_once_over_all_rounds(tmp_path: Path) -> None:
    store(tmp_path, 1, [emission("kin", "a"), emission("kin", "b", held_out=True), emission("grid", "a")])
    store(tmp_path, 2, [emission("kin", "b", held_out=True), emission("kin", "c"), emission("kin", None)])
    store(tmp_path, 3, [emission("kin", "d", held_out=True)])
    assert heldout_overlap(tmp_path, 2) == {
        "kin": {"distinct": 3, "held_out": 1},
        "grid": {"distinct": 1, "held_out": 0},
    }
    assert heldout_overlap(tmp_path, 3)["kin"] == {"distinct": 4, "held_out": 2}


def test_a_run_older_than_the_record_says_nothing(tmp_path: Path) -> None:
    assert heldout_overlap(tmp_path, 4) == {}
    store(tmp_path, 1, [{"environment": "kin", "slot": 0}])
    assert heldout_overlap(tmp_path, 4) == {}


@pytest.mark.parametrize(
    "line", ["{", "[]", '"a"', '{"task": "a"}', '{"task": ["a"], "environment": "k", "held_out": true}']
)
def test_a_damaged_file_is_one_line(tmp_path: Path, line: str) -> None:
    store(tmp_path, 1, []).write_text(line + "\n")
    with pytest.raises(UserError, match=r"round_0001\.jsonl holds a line that is no emission; restore the file"):
        heldout_overlap(tmp_path, 1)
