"""The summary of a run."""

from __future__ import annotations

from typing import Any

import pytest

from sparring.config import recipe_from
from sparring.intervals import wilson_interval
from sparring.runs.summary import summarise, summary_text

LEDGER = {
    "emitted": 6,
    "malformed": 1,
    "probe_rollouts": 0,
    "dropped_tasks": 0,
    "trained_tasks": 5,
    "train_rollouts": 10,
}
RECIPE = recipe_from(
    {"name": "r", "environments": {"kin": {}}, "method": {"group_size": 2}, "placement": {"slots": 2, "samples": 3}}
)


def row(number: int, captures: dict[str, float | None], heldout: float | None = None) -> dict[str, Any]:
    return {
        "round": number,
        "environments": {name: {"capture": rate, "difficulty_mean": rate} for name, rate in captures.items()},
        "heldout": None
        if heldout is None
        else {
            "capture": heldout,
            "n": 100,
            "environments": {
                "kin": {"capture": heldout, "n": 60, "by_difficulty": [[0.0, heldout, 60], [1.0, None, 0]]}
            },
        },
        "roles": {"executor": {"tokens": 5}} if number else {},
        "ledger": LEDGER if number else None,
        "rollouts": 10 * number,
        "cpu_seconds": 3.0,
        "seconds": {"rollouts": 4.0, "update": 2.0},
    }


def test_summary_of_a_run() -> None:
    rows = [row(0, {}, heldout=0.5)]
    rows += [row(number, {"kin": number / 20, "grid": None}) for number in range(1, 20)]
    rows.append(row(20, {"kin": 1.0, "grid": 0.5}, heldout=0.6))
    summary = summarise(RECIPE, rows, {"kin": {"distinct": 1200, "held_out": 7}})
    assert set(summary) == {
        "heldout_before",
        "heldout_after",
        "by_difficulty_before",
        "by_difficulty_after",
        "capture_first",
        "capture_last",
        "difficulty_first",
        "difficulty_last",
        "leak",
        "training_tasks",
        "rollouts",
        "minutes",
        "cpu_minutes",
        "ledger",
        "ledger_discrepancies",
    }
    low, high = wilson_interval(0.6, 100)
    assert summary["heldout_after"]["all"] == {"capture": 0.6, "low": low, "high": high, "n": 100}
    assert summary["heldout_before"]["kin"]["n"] == 60
    assert summary["capture_first"] == pytest.approx((1 / 20 + 2 / 20) / 2)
    assert summary["capture_last"] == pytest.approx((19 / 20 + (1.0 + 0.5) / 2) / 2)
    assert summary["rollouts"] == 200
    assert summary["minutes"] == pytest.approx(21 * 6 / 60)
    assert summary["cpu_minutes"] == pytest.approx(21 * 3 / 60)
    assert summary["ledger"] == {
        **{name: 20 * count for name, count in LEDGER.items()},
        "total_rollouts": 200,
        "rollouts_per_trained_task": 2.0,
        "sampled_tokens": {"executor": 100},
    }
    assert summary["ledger_discrepancies"] == []
    text = summary_text(summary)
    assert "0.500 (0.404-0.596, n = 100) → 0.600 (0.502-0.691, n = 100)" in text
    assert summary["by_difficulty_before"] == {"kin": [0.5, None]}
    assert "  kin              0.50   -  → 0.60   - " in text
    assert "held out too\n  kin              1,200, 7\n200 rollouts in 2.1 minutes" in text


def test_nothing_measured_is_said_and_not_invented() -> None:
    summary = summarise(RECIPE, [row(0, {}), row(1, {"kin": None})], {})
    assert summary["heldout_before"] is None
    assert summary["heldout_after"] is None
    assert summary["capture_first"] is None
    assert summary_text(summary).count("not measured") == 5
    assert "held out too" not in summary_text(summary)
    assert summarise(RECIPE, [], {})["rollouts"] == 0


def test_before_is_never_taken_for_after() -> None:
    summary = summarise(RECIPE, [row(0, {}, heldout=0.5), row(1, {"kin": 0.5})], {})
    assert summary["heldout_after"] is None
    assert "0.500 (0.404-0.596, n = 100) → not measured" in summary_text(summary)
