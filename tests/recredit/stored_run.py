"""Run folders with stored rollouts: of a toy solver that was trained, and of rows written by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.made_up_run import write_lines
from tests.scripted import Floor, ScriptedEngine
from tests.toy import Toy, ToyEpisode, make_solver, named, toy

from sparring.config import Recipe, recipe_from
from sparring.credit import Label, executor_turn_rewards
from sparring.methods.base import Method
from sparring.methods.lure import Lure
from sparring.methods.r_zero import RZero
from sparring.placement.fixed import Uniform
from sparring.roles import Role
from sparring.runs.folder import RunFolder
from sparring.runs.tracking import metrics_row, rollout_rows, task_keys

SIZE = 4
TURNS = {
    "easy": [["gain", "gain submit"], ["look", "gain gain submit"], ["gain gain submit"], ["gain gain submit"]],
    "middle": [["gain", "gain submit"], ["look", "gain", "submit"], ["submit"], ["break"]],
    "hard": [["gain", "look", "submit"], ["submit"], ["look", "look", "gain submit"], ["look", "break"]],
}
"""What the executor says in its four copies, by the difficulty of the task; the third group has no capture."""


class Answering(Toy):
    """The toy environment with answers to vote on: how many parts were gained."""

    def answer(self, episode: ToyEpisode) -> str | None:
        return str(episode.gained)


def act(floor: Floor) -> str:
    [difficulty] = re.findall(r" go (\d\.\d+) seed ", floor.heard)
    band = "easy" if float(difficulty) < 0.3 else "middle" if float(difficulty) < 0.6 else "hard"
    return TURNS[band][floor.copy][floor.turn]


def make_recipe(**method: Any) -> Recipe:
    parts: dict[str, Any] = {"method": {"group_size": SIZE} | method}
    if method.get("name") == "r_zero":
        parts["method"] |= {"executor_credit": "terminal", "planner_credit": "capture"}
        parts["placement"] = {"repetition": "bleu_cluster"}
    return recipe_from({"name": "toy", "environments": {"toy": {}}} | parts)


def train_toy(path: Path, rounds: int = 2, **method: Any) -> ScriptedEngine:
    """Train the toy solver as `sparring train` does, evaluation and weights aside; what the engine was asked for."""
    recipe = make_recipe(**method)
    engine = ScriptedEngine({Role.PLANNER: lambda floor: "a , b", Role.EXECUTOR: act})
    environments = named(toy(Answering))
    credits = recipe.method.executor_credit, recipe.method.planner_credit
    solver = make_solver(engine, environments, group_size=SIZE, executor_credit=credits[0], planner_credit=credits[1])
    placement = Uniform(7, 3, 4)
    trained: Method = Lure(solver, placement)
    if recipe.method.name == "r_zero":
        trained = RZero(solver, placement, Label(recipe.method.label), 0.3, 0.8)
    with RunFolder.create(path, recipe) as folder:
        folder.append_metrics(metrics_row(0, None, solver, 0))
        for number in range(1, rounds + 1):
            done = trained.round(number)
            folder.write_rollouts(number, rollout_rows(done, task_keys(done.outcomes, solver), solver))
            folder.append_metrics(metrics_row(number, done, solver, 0))
    return engine


def row(
    gains: Sequence[float],
    captured: bool = False,
    tokens: Sequence[int] | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """One stored rollout under the default lambda and c_red; tokens: how many each turn sampled (default: one)."""
    rewards = executor_turn_rewards(gains, captured, 0.25, 0.05).tolist()
    sampled = tokens or [1] * len(gains)
    return {
        "environment": "toy",
        "group": 0,
        "captured": captured,
        "error": None,
        "turns": [
            {"stage": 0, "progress": sum(gains[: turn + 1]), "gain": gain, "reward": reward, "well_formed": True}
            for turn, (gain, reward) in enumerate(zip(gains, rewards, strict=True))
        ],
        "plan": {"stage_ends": [sum(gains)], "turn": [-1, 0, 0]},
        "execution": {"turn": [turn for turn, count in enumerate(sampled) for turn in [-1, *[turn] * count]]},
    } | changes


def write_run(path: Path, *rounds: list[dict[str, Any]], **method: Any) -> Path:
    """A run folder whose rounds stored these rows."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "recipe.toml").write_text(make_recipe(**method).toml(), encoding="utf-8")
    numbers = range(1, len(rounds) + 1)
    write_lines(path / "metrics.jsonl", [{"round": number, "rollouts": 0, "notes": {}} for number in [0, *numbers]])
    for number, rows in zip(numbers, rounds, strict=True):
        write_lines(path / "rollouts" / f"round_{number:04d}.jsonl", rows)
    return path
