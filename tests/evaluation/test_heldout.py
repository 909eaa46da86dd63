"""The held-out set: distinct tasks, every difficulty the same weight."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sparring.config import load_recipe
from sparring.environments import load_environment
from sparring.environments.base import AnyEnvironment
from sparring.errors import UserError
from sparring.evaluation.heldout import heldout_tasks, measure_heldout
from sparring.tasks import PromptPack
from sparring.trajectories import Group, PolicySequence, Trajectory

MICRO = load_recipe(Path(__file__).parents[2] / "recipes" / "lure-micro.toml")


def micro(name: str) -> AnyEnvironment:
    return load_environment(name, MICRO.environments[name], PromptPack.COMPACT)


@pytest.mark.parametrize("name", ["phantom_wiki", "ifeval", "zebra_logic"])
def test_no_task_comes_twice_and_a_small_level_holds_what_it_has(name: str) -> None:
    environment = micro(name)
    tasks = heldout_tasks({name: environment}, 6, 40)
    assert all(each.key == environment.content_key(each.task) for each in tasks)
    for level, count in Counter(each.level for each in tasks).items():
        assert len({each.key for each in tasks if each.level == level}) == count
        assert count == (4 if name == "zebra_logic" and level == 0.0 else 40)


def test_settings_that_leave_no_task_are_refused_in_one_line() -> None:
    alone = {"tree_size": 1, "mean_friends": 0.0, "population": [3, 8], "attribute_question_probability": 0.0}
    environment = load_environment("phantom_wiki", alone, PromptPack.CHAT)
    with pytest.raises(UserError, match=r"environments\.phantom_wiki makes no held-out task at difficulty 0"):
        heldout_tasks({"phantom_wiki": environment}, 2, 1)


class EasiestOnly:
    """Captures exactly the tasks of difficulty 0."""

    def pursue(self, tasks: list[Any], group_size: int, seed: int) -> list[Group]:
        assert group_size == 1
        return [Group(task, "", [rollout(captured=task.difficulty == 0.0)]) for task in tasks]


def rollout(*, captured: bool) -> Trajectory:
    return Trajectory("", (), True, PolicySequence("planner"), PolicySequence("executor"), captured=captured)


def test_a_level_of_four_tasks_weighs_as_much_as_one_of_forty() -> None:
    tasks = heldout_tasks({"zebra_logic": micro("zebra_logic")}, 6, 40)
    measured = measure_heldout(EasiestOnly(), tasks)  # type: ignore[arg-type]
    assert measured["environments"]["zebra_logic"]["by_difficulty"][0] == [0.0, 1.0, 4]
    assert measured["capture"] == pytest.approx(1 / 6)
    assert measured["n"] == 204
