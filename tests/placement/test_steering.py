"""The learned evader against a synthetic pursuer: it must find the frontier, by its own updates."""

import random
from pathlib import Path

import pytest
import torch
from benchmarks.steering import SyntheticPursuer, mean_frontier, steer
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from sparring.config import BackboneSection, Recipe, load_recipe
from sparring.engines.local import LocalEngine
from sparring.micro import Lessons, make_model, make_tokenizer, warm_up
from sparring.roles import Role
from sparring.training import make_environments, make_placement
from sparring.trajectories import PolicySequence

RECIPE = Path(__file__).parents[2] / "recipes" / "lure-micro.toml"
# One hard and one easy: a single difficulty for all would not do.
PURSUER = SyntheticPursuer({"phantom_wiki": 0.75, "zebra_logic": 0.2})
ROUNDS, LAST = 40, 10


class EmissionLessons(Lessons):
    """The evader's format alone, which a few seconds teach."""

    def lesson(self, rng: random.Random) -> list[PolicySequence]:
        return [self.emission(rng.choice(sorted(self.environments)), rng)]


def recipe_with(**placement: object) -> Recipe:
    recipe = load_recipe(RECIPE, ["roles.evader.learning_rate=2e-3"])
    return recipe.model_copy(
        update={
            "environments": {name: recipe.environments[name] for name in PURSUER.midpoints},
            "placement": recipe.placement.model_copy(update=placement),
        }
    )


def test_the_evader_finds_the_frontier() -> None:
    recipe = recipe_with(name="evader", repetition_scale=0.25)
    environments = make_environments(recipe)
    tokenizer = make_tokenizer(environments)
    section = BackboneSection(warm_up_steps=80)
    torch.set_num_threads(1)
    model = make_model(len(tokenizer), tokenizer.eos_token_id, 0)
    warm_up(model, EmissionLessons(environments, tokenizer, section), section, Console(quiet=True))
    engine = LocalEngine(model, tokenizer, [Role.EVADER.value])
    steered = steer(make_placement(recipe, engine), environments, PURSUER, ROUNDS)
    uniform = steer(make_placement(recipe_with(name="uniform"), engine), environments, PURSUER, ROUNDS)
    assert mean_frontier(steered[-LAST:]) > 1.6 * mean_frontier(uniform)
    assert mean_frontier(steered[-LAST:]) > 1.3 * mean_frontier(steered[:5])


def test_no_single_difficulty_beats_the_best_possible() -> None:
    best = PURSUER.best_frontier()
    assert best == pytest.approx(PURSUER.frontier(0.0))
    assert 0.2 < best < 0.5


@settings(max_examples=30, deadline=None)
@given(st.floats(0.0, 0.5), st.floats(0.01, 0.5))
def test_the_frontier_falls_away_from_the_midpoint_on_both_sides(near: float, further: float) -> None:
    assert PURSUER.frontier(near + further) < PURSUER.frontier(near)
    assert PURSUER.frontier(-near) == pytest.approx(PURSUER.frontier(near))
