"""What is evaluated: a run's newest checkpoint, or a chat model as it comes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from rich.console import Console

from sparring import micro, training
from sparring.clock import Clock
from sparring.config import BackboneSection, Recipe
from sparring.config.sections import MOST_THREADS, EngineSection, PromptsSection
from sparring.engines.base import Engine
from sparring.environments.base import AnyEnvironment
from sparring.errors import UserError, nearest
from sparring.evaluation.benchmarks import BENCHMARKS, Benchmark, HeldoutBenchmark
from sparring.roles import Role
from sparring.rollouts import Pursuers
from sparring.runs.checkpoint import newest_checkpoint
from sparring.runs.origin import is_run, read_recipe
from sparring.tasks import PromptPack

RUNS = Path("runs")
"""Where runs go unless told otherwise."""

MODEL = "model"
"""The policy that plays every role when a model is evaluated as it comes: one copy of its weights."""


@dataclass(frozen=True)
class Subject:
    """A loaded run or model. policy names whose weights speak; round is None for a model."""

    round: int | None
    engine: Engine
    environments: Mapping[str, AnyEnvironment]
    policy: Callable[[Role, str], str]
    pursuers: Pursuers


def recipe_of(target: str) -> Recipe:
    """A run's own recipe; for a model, the defaults of all environments in natural language."""
    if is_run(Path(target)):
        return read_recipe(Path(target))
    if target == "micro":
        raise _reads_no_prose(target)
    _refuse_mistyped(target)
    return Recipe(
        name="eval",
        backbone=BackboneSection(name=target),
        engine=EngineSection(
            threads=min(os.cpu_count() or 1, MOST_THREADS), device="cuda" if torch.cuda.is_available() else "cpu"
        ),
        prompts=PromptsSection(pack=PromptPack.CHAT),
        environments={card.environment: {} for card in BENCHMARKS.values()},
    )


def _refuse_mistyped(target: str) -> None:
    """Raise a UserError for what is neither a run, a model folder, `smollm2`, nor the form of a hub id.

    What stands in `runs`, or in a folder that exists, is a path, so the hub is not asked for `runs/demoo`.
    """
    path = Path(target).expanduser()
    of_a_hub = target.count("/") == 1 and "" not in target.split("/") and target[0] not in "./~"
    if (
        target == "smollm2"
        or (path / "config.json").is_file()
        or (of_a_hub and path.parent != RUNS and not path.parent.is_dir())
    ):
        return
    runs = sorted({each for folder in (RUNS, path.parent) for each in folder.glob("*") if is_run(each)})
    near = nearest(target, map(str, runs)) if runs else None
    raise UserError(
        f"{target!r} is neither a run folder (no recipe.toml in it) nor a model folder (no config.json in it); "
        + (f"the nearest run is {near}" if near else "give a run, a model folder, smollm2 or a hub id (org/name)")
    )


def refuse_unfit(target: str, recipe: Recipe, cards: Sequence[Benchmark]) -> None:
    """Raise a UserError for a benchmark that the run has no environment or no weights for."""
    if recipe.engine.kind == "simulated":
        raise UserError(
            f"{target} is a run of the simulated engine, which holds no language model to evaluate; its own held-out "
            "figures are in its summary.json"
        )
    for card in cards:
        needed = isinstance(card, HeldoutBenchmark) or recipe.method.sharing == "specialist"
        if needed and card.environment not in recipe.environments:
            raise UserError(
                f"benchmark {card.name!r} needs the environment {card.environment}, and the recipe of {target} has "
                f"{', '.join(recipe.environments)}; leave the benchmark out"
            )


def load_subject(target: str, recipe: Recipe, cards: Sequence[Benchmark], console: Console) -> Subject:
    """Load what the cards need: planner and executor of a run, or a model once for all roles."""
    path = Path(target)
    checkpoint = None
    if is_run(path):
        checkpoint = newest_checkpoint(path / "checkpoints")
        if checkpoint is None:
            raise UserError(f"{path} has no complete checkpoint yet; go on with sparring train --resume {path}")

    def policy(role: Role, environment: str) -> str:
        return training.policy_of(recipe, role, environment) if checkpoint else MODEL

    environments = training.make_environments(recipe)
    loaded = training.load_backbone(recipe, environments, console)
    if checkpoint is None and loaded.tokenizer.chat_template == micro.TEMPLATE:
        raise _reads_no_prose(target)
    needed = [
        policy(role, card.environment)
        for card in cards
        for role in ((Role.PLANNER, Role.EXECUTOR) if isinstance(card, HeldoutBenchmark) else (Role.EXECUTOR,))
    ]
    engine = training.make_engine(recipe, loaded, list(dict.fromkeys(needed)))
    if checkpoint:
        engine.load(checkpoint.weights, optimisers=False)
    environments = training.with_secrets(environments, recipe.secret.evaluation)
    pursuers = training.make_pursuers(recipe, engine, environments, Clock(), greedy=True)
    return Subject(
        round=checkpoint.round if checkpoint else None,
        engine=engine,
        environments=environments,
        policy=policy,
        pursuers=replace(pursuers, policy=policy),
    )


def _reads_no_prose(target: str) -> UserError:
    return UserError(
        f"{target} is the micro backbone, which reads no natural language; evaluate a run of its recipe "
        "(with rounds = 0 for the backbone untrained)"
    )
