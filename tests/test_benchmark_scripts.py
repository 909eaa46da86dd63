"""The benchmark scripts' own arithmetic: rates, and the two ways of decoding."""

from pathlib import Path
from typing import Any

import pytest
import torch
from benchmarks import speed

from sparring.config import load_recipe
from sparring.engines.base import SamplingParameters
from sparring.engines.local import LocalEngine
from sparring.micro import make_model, make_tokenizer
from sparring.roles import Role
from sparring.training import make_environments

RECIPE = Path(__file__).parents[1] / "recipes" / "lure-micro.toml"
ENVIRONMENT = {"capture": 0.5, "mixed": 0.25, "invalid": 0.0}


def row(number: int, rollouts: int, seconds: dict[str, float] | None = None) -> dict[str, Any]:
    roles = {"executor": {"tokens": 300, "trained_tokens": 200.0}, "evader": {"tokens": 0, "trained_tokens": None}}
    environments = {"zebra_logic": ENVIRONMENT} if number else {}
    return {
        "round": number,
        "rollouts": rollouts,
        "environments": environments,
        "roles": roles if number else {},
        "seconds": seconds or {},
    }


def test_rates_leave_evaluation_out() -> None:
    seconds = {"rollout": 2.0, "emission": 1.0, "update": 4.0, "verification": 1.0, "evaluation": 100.0}
    found = speed.rates([row(0, 0, {"evaluation": 50.0}), row(1, 80, seconds), row(2, 160, seconds)])
    assert found["rollouts per second of a round"] == pytest.approx(160 / 16)
    assert found["sampled tokens per second of generation"] == pytest.approx(600 / 6)
    assert found["trained tokens per second of update"] == pytest.approx(400 / 8)
    assert found["trained tokens per second of a round"] == pytest.approx(400 / 16)


def test_reading_anew_says_the_same_words() -> None:
    recipe = load_recipe(RECIPE)
    environments = make_environments(recipe)
    tokenizer = make_tokenizer(environments)
    torch.manual_seed(0)
    engine = LocalEngine(make_model(len(tokenizer), tokenizer.eos_token_id, 0), tokenizer, [Role.EXECUTOR.value])
    prompts, greedy = [[5, 6, 7], [8, 9]], SamplingParameters(6, 0.0)
    said = []
    for opener in (engine, speed.RefillingEngine(engine)):
        conversation = opener.converse(Role.EXECUTOR, prompts, 2, 0)
        words = []
        for turn in range(3):
            for index in range(4):
                conversation.extend(index, [10 + turn + index])
            words.append([generation.ids for generation in conversation.sample([0, 1, 2, 3], greedy)])
        said.append(words)
    assert said[0] == said[1]
    assert len(set(map(tuple, said[0]))) == 3  # turns differ, so a lost history would show
