"""The ledger: what a round cost, and where it is not what the recipe says."""

from __future__ import annotations

from typing import Any

import pytest

from sparring.config import Recipe, recipe_from
from sparring.runs.ledger import LEDGER, discrepancies, total_ledger

OUTCOME = {"executor_credit": "terminal", "planner_credit": "capture", "group_size": 4}
LURE = {"group_size": 4}


def recipe(method: dict[str, Any], placement: dict[str, Any] | None = None, rollouts: int = 0) -> Recipe:
    """Two environments of one slot of five samples, four rollouts a task."""
    return recipe_from(
        {
            "name": "r",
            "environments": {"kin": {}, "grid": {}},
            "method": method,
            "placement": {"slots": 1, "samples": 5, **(placement or {})},
            "budget": {"rollouts": rollouts},
        }
    )


R_ZERO = recipe({"name": "r_zero", **OUTCOME}, {"repetition": "bleu_cluster"})


def row(number: int, rollouts: int, *counts: int) -> dict[str, Any]:
    """counts: those of LEDGER in order."""
    ledger = dict(zip(LEDGER, counts, strict=True)) if counts else None
    roles = {"planner": {"tokens": 7}, "executor": {"tokens": 30}, "evader": {"tokens": None}} if counts else {}
    return {"round": number, "rollouts": rollouts, "ledger": ledger, "roles": roles}


BEFORE = row(0, 0)


def test_a_sound_run_of_each_method_has_no_discrepancy() -> None:
    lure = [BEFORE, row(1, 36, 10, 1, 0, 0, 9, 36), row(2, 76, 10, 0, 0, 0, 10, 40)]
    assert discrepancies(recipe(LURE), lure) == []
    r_zero = [BEFORE, row(1, 48, 10, 1, 36, 6, 3, 12), row(2, 88, 10, 0, 40, 10, 0, 0)]
    assert discrepancies(R_ZERO, r_zero) == []
    pool = recipe({"name": "grpo_zero", **OUTCOME}, {"name": "frozen_pool"})
    assert discrepancies(pool, [BEFORE, row(1, 32, 10, 2, 0, 0, 8, 32), row(2, 64, 8, 0, 0, 0, 8, 32)]) == []


def test_the_round_that_reaches_the_budget_may_emit_fewer_and_no_other() -> None:
    rows = [BEFORE, row(1, 40, 10, 0, 0, 0, 10, 40), row(2, 52, 3, 0, 0, 0, 3, 12)]
    assert discrepancies(recipe(LURE, rollouts=52), rows) == []
    assert discrepancies(recipe(LURE, rollouts=56), rows) == ["round 2: emitted 3, expected 10"]
    assert discrepancies(recipe(LURE), rows) == ["round 2: emitted 3, expected 10"]


@pytest.mark.parametrize(
    ("given", "counts", "said"),
    [
        (recipe(LURE), (9, 0, 0, 0, 9, 36), ["emitted 9, expected 10"]),
        (recipe(LURE), (10, 0, 40, 0, 10, 40), ["probe_rollouts 40, expected 0"]),
        (recipe(LURE), (10, 0, 0, 2, 8, 32), ["dropped_tasks 2, expected 0"]),
        (recipe(LURE), (10, 1, 0, 0, 10, 40), ["trained and dropped tasks 10, expected 9"]),
        (recipe(LURE), (10, 0, 0, 0, 10, 39), ["train_rollouts 39, expected 40"]),
        (R_ZERO, (10, 0, 36, 9, 1, 4), ["probe_rollouts 36, expected 40"]),
        (R_ZERO, (10, 0, 40, 10, 0, 4), ["train_rollouts 4, expected 0"]),
    ],
)
def test_whatever_is_not_what_the_recipe_says_is_said(given: Recipe, counts: tuple[int, ...], said: list[str]) -> None:
    rows = [BEFORE, row(1, counts[2] + counts[5], *counts)]
    assert discrepancies(given, rows) == [f"round 1: {line}" for line in said]


def test_rollouts_that_do_not_add_up_are_said() -> None:
    rows = [BEFORE, row(1, 40, 10, 0, 0, 0, 10, 40), row(2, 84, 10, 0, 0, 0, 10, 40)]
    assert discrepancies(recipe(LURE), rows) == ["round 2: rollouts so far 84, expected 80"]


def test_a_pool_that_grows_or_shrinks_is_a_discrepancy() -> None:
    pool = recipe({"name": "grpo_zero", **OUTCOME}, {"name": "frozen_pool"})
    first = row(1, 32, 10, 2, 0, 0, 8, 32)
    shrinks = [BEFORE, first, row(2, 64, 8, 0, 0, 0, 8, 32), row(3, 92, 7, 0, 0, 0, 7, 28)]
    assert discrepancies(pool, shrinks) == ["round 3: emitted 7, expected 8"]
    assert discrepancies(recipe(pool.method.model_dump(), {"name": "frozen_pool"}, rollouts=92), shrinks) == []
    assert discrepancies(pool, [BEFORE, first, row(2, 76, 11, 0, 0, 0, 11, 44)]) == ["round 2: emitted 11, expected 10"]


def test_totals_are_those_of_table_4() -> None:
    rows = [BEFORE, row(1, 1440, 144, 0, 1152, 108, 36, 288), row(2, 2880, 144, 0, 1152, 108, 36, 288)]
    assert total_ledger(rows) == {
        "emitted": 288,
        "malformed": 0,
        "probe_rollouts": 2304,
        "dropped_tasks": 216,
        "trained_tasks": 72,
        "train_rollouts": 576,
        "total_rollouts": 2880,
        "rollouts_per_trained_task": 40.0,
        "sampled_tokens": {"planner": 14, "executor": 60, "evader": 0},
    }


def test_a_run_that_trained_on_nothing_has_no_rollouts_a_task() -> None:
    assert total_ledger([BEFORE])["rollouts_per_trained_task"] is None
    assert total_ledger([BEFORE, row(1, 40, 10, 0, 40, 10, 0, 0)])["rollouts_per_trained_task"] is None
