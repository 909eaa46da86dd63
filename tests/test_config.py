"""Recipes: what is refused, and in which words."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparring.config import load_recipe
from sparring.errors import UserError

MICRO = Path(__file__).parents[1] / "recipes" / "lure-micro.toml"


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("method.group_sizes=4", "unknown key method.group_sizes = 4; the nearest key is method.group_size"),
        ("backbone.warm_up_share.zebra=2", "unknown key backbone.warm_up_share.zebra = 2.0; the nearest key is zebra"),
        ("objective.optimiser_steps=1", "objective.optimiser_steps = 1 is not accepted"),
        ("placement.hint_low=0.95", "placement.hint_low is above placement.hint_high"),
        ("placement.name=random", "placement.name = 'random' is not accepted"),
        ("rounds", "override 'rounds' is not of the form section.key=value"),
        ("rounds.a=1", "override 'rounds.a=1': rounds is a value, not a section"),
    ],
)
def test_wrong_overrides_are_named(override: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        load_recipe(MICRO, [override])
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_resolved_recipe_reads_back_the_same(tmp_path: Path) -> None:
    recipe = load_recipe(MICRO, ["rounds=7", "method.executor_credit=terminal"])
    (tmp_path / "recipe.toml").write_text(recipe.toml(), encoding="utf-8")
    assert load_recipe(tmp_path / "recipe.toml") == recipe
