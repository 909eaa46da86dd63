"""A made-up run folder, for what reads one."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from sparring.config import Recipe, recipe_from

ENVIRONMENTS = ("phantom_wiki", "ifeval", "zebralogic")
ROLES = ("evader", "planner", "executor")
LEVELS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def make_recipe(**changes: Any) -> Recipe:
    micro = {"backbone": {"name": "micro"}, "prompts": {"pack": "compact"}}
    return recipe_from({"name": "made-up", "environments": {name: {} for name in ENVIRONMENTS}} | micro | changes)


def heldout(skill: float) -> dict[str, Any]:
    """An evaluation in which success falls gradually over difficulty."""
    environments: dict[str, dict[str, Any]] = {}
    for index, name in enumerate(ENVIRONMENTS):
        levels: list[tuple[float, int, int]] = [
            (d, round(20 / (1 + math.exp(7 * (d - skill - 0.1 * index)))), 20) for d in LEVELS
        ]
        n = sum(count for _, _, count in levels)
        environments[name] = {
            "capture": sum(passed for _, passed, _ in levels) / n,
            "n": n,
            "by_difficulty": [[d, passed / count, count] for d, passed, count in levels],
        }
    total = sum(entry["n"] for entry in environments.values())
    capture = sum(entry["capture"] * entry["n"] for entry in environments.values()) / total
    return {"capture": capture, "n": total, "environments": environments}


def training_row(number: int, evaluation: dict[str, Any] | None) -> dict[str, Any]:
    wobble = math.sin(number * 1.7) * 0.08 + math.sin(number * 0.61) * 0.05
    mixed = 0.5 + wobble
    return {
        "round": number,
        "environments": {
            name: {
                "capture": 0.35 + 0.1 * index + 0.1 * (1 - math.exp(-number / 20)) + wobble,
                "difficulty_mean": 0.3 + 0.1 * index + 0.2 * (1 - math.exp(-number / 30)) + wobble / 2,
                "difficulty_spread": 0.12,
                "signature_entropy": 1.4 + wobble,
                "all_fail": (1 - mixed) * 0.6,
                "all_pass": (1 - mixed) * 0.4,
                "mixed": mixed,
                "progress": 0.6,
                "invalid": 1,
                "emitted": 12,
                "errored": 0,
            }
            for index, name in enumerate(ENVIRONMENTS)
        },
        "roles": {
            role: {
                "reward": 0.2,
                "kl": 0.004 * (index + 1) * (1 + wobble),
                "entropy": 1.2 * math.exp(-number / 90) + 0.1 * index + wobble,
                "clip_share": 0.02,
                "tokens": 4000 * (index + 1),
                "grad_norm": 0.5,
                "well_formed": 0.98,
                "truncated": 0.0,
            }
            for index, role in enumerate(ROLES)
        },
        "heldout": evaluation,
        "rollouts": 288 * number,
        "ledger": {
            "emitted": 36,
            "malformed": 0,
            "probe_rollouts": 0,
            "dropped_tasks": 0,
            "trained_tasks": 36,
            "train_rollouts": 288,
        },
        "cpu_seconds": 0.5,
        "seconds": {"propose": 0.05, "rollouts": 0.3, "update": 0.2} | ({"evaluate": 0.1} if evaluation else {}),
    }


def rollout_row(environment: str, captured: bool, text: str) -> dict[str, Any]:
    return {
        "task": "0123456789abcdef",
        "environment": environment,
        "difficulty": 0.4,
        "signature": "hops=3",
        "statement": "who is the mother of the friend of ann",
        "group": 0,
        "plan": {
            "text": '["friend", "mother"]',
            "stages": ["friend", "mother"],
            "well_formed": True,
            "ids": [1],
            "owners": ["sampled"],
            "log_probs": [-0.1],
        },
        "turns": [
            {
                "stage": stage,
                "text": text,
                "observation": "eve" if stage == 0 else "",
                "progress": 0.5 if stage == 0 or not captured else 1.0,
                "gain": 0.5 if stage == 0 or captured else 0.0,
                "reward": 0.125,
                "well_formed": True,
                "stop": "end",
            }
            for stage in (0, 1)
        ],
        "captured": captured,
        "progress": 1.0 if captured else 0.5,
        "error": None,
        "execution": {"ids": [1], "owners": ["sampled"], "log_probs": [-0.1], "turn": [0]},
    }


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def make_run(folder: Path, rounds: int = 3, text: str = "lookup ann friend", **changes: Any) -> Path:
    """A whole run folder of `rounds` rounds, evaluated before, every tenth round and after."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "recipe.toml").write_text(make_recipe(rounds=rounds, **changes).toml(), encoding="utf-8")
    before: dict[str, Any] = {"round": 0, "environments": {}, "roles": {}, "heldout": heldout(0.35)}
    rows = [before | {"rollouts": 0, "ledger": None, "seconds": {"evaluate": 0.4}, "cpu_seconds": 0.0}]
    for number in range(1, rounds + 1):
        evaluated = number % 10 == 0 or number == rounds
        skill = 0.35 + 0.3 * (1 - math.exp(-number / 40))
        rows.append(training_row(number, heldout(skill) if evaluated else None))
    write_lines(folder / "metrics.jsonl", rows)
    for number in range(1, rounds + 1):
        episodes = [rollout_row(name, captured, text) for name in ENVIRONMENTS for captured in (True, False, True)]
        write_lines(folder / "rollouts" / f"round_{number:04d}.jsonl", episodes)
    (folder / "versions.json").write_text(json.dumps({"python": "3.11.2", "packages": {"torch": "2.13.0"}}))
    return folder
