"""What a recipe will do, counted without loading a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparring import backbones
from sparring.config import Recipe
from sparring.environments.base import AnyEnvironment
from sparring.micro import make_model, make_tokenizer
from sparring.objectives import KLReference
from sparring.roles import Role
from sparring.training import check_labels, make_environments, turn_limits

MEGABYTE = 1_000_000


def plan(recipe: Recipe) -> dict[str, Any]:
    """The counts of one round and of the whole run, the longest episodes, and the memory of the weights."""
    environments = make_environments(recipe)
    limits = turn_limits(environments)
    recipe.check_capture_dominance(max(limits.values()))
    check_labels(recipe, environments)
    tasks, trained = recipe.emitted, recipe.expected_trained
    probes, training = (tasks if recipe.probes else 0) * recipe.method.group_size, trained * recipe.method.group_size
    rollouts = probes + training
    turns = sum(limits.values()) * rollouts // len(environments)
    learns, emits = recipe.placement.name == "evader", recipe.placement.name in ("evader", "frozen_pool")
    rounds = recipe.expected_rounds
    policies = 1 if recipe.method.sharing == "unified" else len(environments)
    steps = recipe.objective.optimiser_steps * recipe.objective.epochs * (3 if learns else 2) * policies
    evaluations = 1 + -(-rounds // recipe.evaluation.every)
    evaluated = recipe.evaluation.levels * recipe.evaluation.tasks_per_level * len(environments)
    return {
        "recipe": recipe.name,
        "rounds": rounds,
        "turn_limits": limits,
        "per_round": {
            "emitted": tasks,
            "probe_rollouts": probes,
            "trained_tasks": trained,
            "train_rollouts": training,
            "total_rollouts": rollouts,
            "rollouts_per_trained_task": rollouts / trained if trained else None,
            "optimiser_steps": steps,
            "most_sampled_tokens": {
                "evader": tasks * recipe.roles.evader.max_tokens if emits else 0,
                "planner": rollouts * recipe.roles.planner.max_tokens,
                "executor": turns * recipe.roles.executor.max_tokens,
            },
        },
        "in_all": {
            "total_rollouts": recipe.budget.rollouts or rollouts * rounds,
            "optimiser_steps": steps * rounds,
            "evaluation_rollouts": evaluations * evaluated,
        },
        "weights_and_optimiser_megabytes": weight_megabytes(recipe, environments, policies * len(Role)),
    }


def weight_megabytes(recipe: Recipe, environments: Mapping[str, AnyEnvironment], policies: int) -> int | None:
    """Weights, gradients and AdamW moments in float32; activations come on top.

    None when the backbone's config is not at hand (a hub id that was never fetched), or the engine has none.
    """
    if recipe.engine.kind == "simulated":
        return None
    if recipe.backbone.name == "micro":
        tokenizer = make_tokenizer(environments)
        model = make_model(len(tokenizer), tokenizer.eos_token_id, 0)
        weights: int | None = sum(parameter.numel() for parameter in model.parameters())
    else:
        weights = backbones.count_weights(recipe.backbone.name)
    if weights is None:
        return None
    # Full weights: each policy has weights and two moments, and one at a time has gradients.
    # Where the KL is to the first weights, those are kept too. LoRA: one base, which is its own beginning;
    # the adapters are small beside it.
    kept = 1 if recipe.objective.kl_reference is KLReference.INITIAL else 0
    numbers = weights * (3 * policies + 1 + kept) if recipe.engine.weights == "full" else weights
    return round(4 * numbers / MEGABYTE)
