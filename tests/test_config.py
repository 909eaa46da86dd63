"""Recipes: what is refused, and in which words."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from sparring.config import Recipe, load_recipe
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
        ("name=", "name = '' is not accepted: it names a folder in runs/"),
        ("name=..", "name = '..' is not accepted"),
        ("name=a/b", "name = 'a/b' is not accepted"),
        ('name="a\\u0000b"', r"name = 'a\x00b' is not accepted"),
        (f"name={'é' * 101}", "give at most 200 bytes"),
        ("name=o_\udcff", r"override 'name=o_\udcff' is not valid UTF-8"),
        ("name=3", "name = 3 is not accepted: give text, in quotes"),
        ("rounds=true", "rounds = True is not accepted: give a whole number"),
        ('rounds="3"', "rounds = '3' is not accepted: give a whole number"),
        ("rounds=3.0", "rounds = 3.0 is not accepted: give a whole number"),
        ("rounds=[[[[", "rounds = '[[[[' is not accepted"),
        (f"rounds={'[' * 200_000}", "... is not accepted: give a whole number"),
        (f"rounds={'9' * 5000}", "... is not accepted: give a whole number"),
        (f"rounds=0x{'f' * 5000}", "rounds = a number too long to show is not accepted: give a number of at most"),
        ("rounds=1\nseed = 2", r"rounds = '1\nseed = 2' is not accepted"),
        (f"seed={2**63}", "seed = 9223372036854775808 is not accepted: give a number of at most 9223372036854775807"),
        (f"backbone.seed={2**63}", "backbone.seed = 9223372036854775808 is not accepted"),
        ("backbone.name=", "backbone.name = '' is not accepted: give micro, smollm2, a folder or a hub id"),
        ("backbone.trust_remote_code=1", "backbone.trust_remote_code = 1 is not accepted: give true or false"),
        ("backbone.warm_up_share=3", "backbone.warm_up_share = 3 is not accepted: give named values"),
        (
            "backbone.warm_up_share.ifeval=-1",
            "backbone.warm_up_share.ifeval = -1 is not accepted: give a number above 0",
        ),
        ("roles=3", "roles = 3 is not accepted: give named values, not one value"),
        ("roles.executor.temperature=inf", "roles.executor.temperature = inf is not accepted: give a finite number"),
        ("roles.planner.learning_rate=nan", "roles.planner.learning_rate = nan is not accepted: give a finite number"),
        ("environments={}", "environments = {} is not accepted: give at least 1"),
        ("environments.ifeval=3", "environments.ifeval = 3 is not accepted: give named values"),
        ("environments.ifeval.x=[1, inf]", "environments.ifeval.x = inf is not accepted: give a finite number"),
        (f"environments.ifeval.x={'[' * 20}{']' * 20}", "environments.ifeval.x nests more than 8 deep"),
        ("engine.threads=100000", "engine.threads = 100000 is not accepted: give a number of at most 512"),
        ("engine.device=gpu", "engine.device = 'gpu' is not accepted: give 'cpu'"),
        ("engine.precision=float64", "engine.precision = 'float64' is not accepted: give 'float32' or 'bfloat16'"),
        ("prompts.worked_examples=7", "prompts.worked_examples = 7 is not accepted: give a number of at most 6"),
        ("prompts.worked_examples=1", "prompts.worked_examples = 1 goes with prompts.pack = 'chat' alone"),
        ("prompts.pack=chat", "backbone.name = 'micro' reads no prose, which prompts.pack = 'chat' writes; give"),
        ("prompts.pack=prose", "prompts.pack = 'prose' is not accepted: give 'chat' or 'compact'"),
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


def numbers(section: type[BaseModel], prefix: str = "") -> list[str]:
    """The keys of a recipe that take a number."""
    found = []
    for name, field in section.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            found += numbers(field.annotation, f"{prefix}{name}.")
        elif field.annotation in (int, float):
            found.append(prefix + name)
    return found


@pytest.mark.parametrize("value", ["inf", "-inf", "nan", "1e300", "true", '"1"', "[]"])
@pytest.mark.parametrize("key", numbers(Recipe))
def test_no_number_is_odd(key: str, value: str) -> None:
    with pytest.raises(UserError, match=rf"^{key} = .* is not accepted: give a "):
        load_recipe(MICRO, [f"{key}={value}"])


def test_numbers_are_found() -> None:
    assert {"rounds", "roles.evader.temperature", "backbone.seed"} <= set(numbers(Recipe))


def test_deep_and_endless_recipes_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    for text, said in ((f"a = {'[' * 100_000}", "nests too deeply"), (f"a = {'9' * 5000}", "cannot be read")):
        path.write_text(text)
        with pytest.raises(UserError, match=said):
            load_recipe(path)


def test_a_whole_number_may_stand_for_a_fraction() -> None:
    assert load_recipe(MICRO, ["placement.hint_low=0", "rounds=3"]).placement.hint_low == 0.0


def test_a_recipe_that_names_no_backbone_gets_one_that_reads_its_prompts() -> None:
    recipe = Recipe(name="short", environments={"ifeval": {}})
    assert (recipe.backbone.name, recipe.prompts.pack) == ("smollm2", "chat")
