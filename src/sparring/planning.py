"""What a recipe will do, counted without loading a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparring import backbones
from sparring.config import Recipe
from sparring.environments.base import AnyEnvironment
from sparring.micro import make_model, make_tokenizer
from sparring.roles import Role
from sparring.training import make_environments, turn_limits

MEGABYTE = 1_000_000


def plan(recipe: Recipe) -> dict[str, Any]:
    """The counts of one round and of the whole run, the longest episodes, and the memory of the weights."""
    environments = make_environments(recipe)
    limits = turn_limits(environments)
    recipe.check_capture_dominance(max(limits.values()))
    per_environment = recipe.placement.slots * recipe.placement.samples
    tasks = per_environment * len(environments)
    rollouts = tasks * recipe.method.group_size
    turns = sum(limits.values()) * per_environment * recipe.method.group_size
    learns = recipe.placement.name == "evader"
    policies = 1 if recipe.method.sharing == "unified" else len(environments)
    steps = recipe.objective.optimiser_steps * (3 if learns else 2) * policies
    evaluations = 1 + -(-recipe.rounds // recipe.evaluation.every)
    evaluated = recipe.evaluation.levels * recipe.evaluation.tasks_per_level * len(environments)
    return {
        "recipe": recipe.name,
        "rounds": recipe.rounds,
        "turn_limits": limits,
        "per_round": {
            "emitted": tasks,
            "probe_rollouts": 0,
            "trained_tasks": tasks,
            "train_rollouts": rollouts,
            "total_rollouts": rollouts,
            "optimiser_steps": steps,
            "most_sampled_tokens": {
                "evader": tasks * recipe.roles.evader.max_tokens if learns else 0,
                "planner": rollouts * recipe.roles.planner.max_tokens,
                "executor": turns * recipe.roles.executor.max_tokens,
            },
        },
        "in_all": {
            "total_rollouts": rollouts * recipe.rounds,
            "optimiser_steps": steps * recipe.rounds,
            "evaluation_rollouts": evaluations * evaluated,
        },
        "weights_and_optimiser_megabytes": weight_megabytes(recipe, environments, policies * len(Role)),
    }


def weight_megabytes(recipe: Recipe, environments: Mapping[str, AnyEnvironment], policies: int) -> int | None:
    """Weights, gradients and AdamW moments in float32; activations come on top.

    None when the backbone's config is not at hand (a hub id that was never fetched).
    """
    if recipe.backbone.name == "micro":
        tokenizer = make_tokenizer(environments)
        model = make_model(len(tokenizer), tokenizer.eos_token_id, 0)
        weights: int | None = sum(parameter.numel() for parameter in model.parameters())
    else:
        weights = backbones.count_weights(recipe.backbone.name)
    if weights is None:
        return None
    # Full weights: each policy has weights and two moments, and one at a time has gradients.
    # LoRA: one base; the adapters are small beside it.
    numbers = weights * (3 * policies + 1) if recipe.engine.weights == "full" else weights
    return round(4 * numbers / MEGABYTE)
