"""The wrapper that leaks on purpose: the same tasks, with the solution where every role reads it, and audits notice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sparring.config import load_recipe
from sparring.environments import default_environment
from sparring.environments.base import AnyEnvironment, InvalidTaskError
from sparring.environments.secret_kept import MARKER, SecretKept
from sparring.evaluation.heldout import heldout_tasks
from sparring.proving import prove_task, refuse_leak
from sparring.roles import render_executor, render_planner
from sparring.tasks import PromptPack, Task
from sparring.training import make_environments, with_secrets

RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.toml"))
KINDS = pytest.mark.parametrize(
    ("name", "pack"), [(name, pack) for name in ("phantom_wiki", "ifeval", "zebra_logic") for pack in PromptPack]
)


def prompts(task: Task[Any]) -> list[str]:
    return [render_planner(task.public), render_executor(task.public), render_executor(task.public, instructed=True)]


def swapped(environment: AnyEnvironment, difficulty: float, seed: int = 3) -> tuple[list[str], list[str]]:
    task = environment.generate(difficulty, seed)
    return prompts(task), prompts(environment.with_other_secret(task, 5))


@pytest.mark.parametrize("difficulty", [0.3, 0.8])  # the lookup of a single hop says no more than its question
@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_the_gold_swap_sees_which_recipe_leaks(path: Path, difficulty: float) -> None:
    recipe = load_recipe(path)
    assert (recipe.secret.training == "kept") == (recipe.secret.evaluation == "kept") == (path.stem.endswith("-leaky"))
    for environment in with_secrets(make_environments(recipe), recipe.secret.training).values():
        mine, theirs = swapped(environment, difficulty)
        if recipe.secret.training == "kept":
            assert all(one != other for one, other in zip(mine, theirs, strict=True))
        else:
            assert mine == theirs


@KINDS
def test_the_proof_refuses_it(name: str, pack: PromptPack) -> None:
    environment = SecretKept(default_environment(name, pack))
    task = environment.generate(0.2, 1)
    other = environment.with_other_secret(task, 1)
    with pytest.raises(InvalidTaskError, match="with_other_secret changes the public half"):
        prove_task(environment, task)
    with pytest.raises(InvalidTaskError, match="the secret leaks: with another one"):
        refuse_leak(environment, task, other, environment.solve(task))


@KINDS
def test_nothing_else_changes(name: str, pack: PromptPack) -> None:
    within = default_environment(name, pack)
    environment = SecretKept(within)
    assert (environment.name, environment.settings, environment.pack) == (within.name, within.settings, pack)
    assert (environment.guide, environment.stage_limit) == (within.guide, within.stage_limit)
    for difficulty in (0.0, 0.4):
        task, bare = environment.generate(difficulty, 2), within.generate(difficulty, 2)
        assert task.public.statement.endswith(bare.public.statement)
        assert replace(task, public=bare.public) == bare
        assert environment.content_key(task) == within.content_key(bare)
        assert environment.signature(task) == within.signature(bare)
        assert environment.solve(task) == within.solve(bare)
        assert environment.validate(task) == within.validate(bare)
        other = environment.with_other_secret(task, 4)
        assert other.secret == within.with_other_secret(bare, 4).secret
        assert environment.content_key(other) == within.content_key(within.with_other_secret(bare, 4))
        episode = environment.start(task)
        episode.last_turn = True
        environment.step(episode, environment.solve(task).turns[-1])
        assert environment.answer(episode) == within.answer(episode)


@KINDS
def test_every_turn_of_the_solution_is_told_before_the_task(name: str, pack: PromptPack) -> None:
    environment = SecretKept(default_environment(name, pack))
    task = environment.generate(0.6, 7)
    told = task.public.statement.removesuffix(environment.within.generate(0.6, 7).public.statement)
    assert all(turn in told for turn in environment.solve(task).turns)
    if pack is PromptPack.COMPACT:
        assert told.startswith(f"{MARKER} ")
        assert MARKER not in environment.within.compact_words()
        assert set(task.public.statement.split()) <= set(environment.compact_words())


def test_heldout_tasks_are_the_same_ones() -> None:
    within = default_environment("zebra_logic", PromptPack.COMPACT)
    removed, kept = (heldout_tasks({"zebra_logic": each}, 3, 4) for each in (within, SecretKept(within)))
    assert [(each.level, each.key, each.task.seed) for each in kept] == [
        (each.level, each.key, each.task.seed) for each in removed
    ]
