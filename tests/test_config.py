"""Recipes: what is refused, and in which words."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from sparring.config import Recipe, load_recipe
from sparring.config.recipe import METHOD_PARTS
from sparring.credit import ExecutorCredit
from sparring.errors import UserError

RECIPES = Path(__file__).parents[1] / "recipes"
MICRO = RECIPES / "lure-micro.toml"


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
        (
            "budget.rollouts=12",
            "budget.rollouts = 12 is no multiple of method.group_size = 8, so no run can end at it; g",
        ),
        ("budget.rollouts=12", "give 8 or 16"),
        ("budget.rollouts=3", "so no run can end at it; give 8"),
        ("method.band_low=0.8", "method.band_low is above method.band_high; swap them"),
        ("secret.training=shown", "secret.training = 'shown' is not accepted: give 'removed' or 'kept'"),
        ("secret.training=kept", "backbone.warm_up_secret_share = 0 teaches the micro backbone no word of a secret"),
        ("secret.evaluation=kept", "give a share above 0, or secret 'removed'"),
        ("objective.epochs=0", "objective.epochs = 0 is not accepted: give a number of at least 1"),
        ("objective.kl_reference=start", "objective.kl_reference = 'start' is not accepted: give 'round_start' or"),
        ("method.label=vote", "method.label = 'vote' is not accepted: give 'verifier' or 'majority'"),
        ("placement.deviation_floor=0", "placement.deviation_floor = 0 is not accepted: give a number above 0"),
        ("method.name=grpo", "method.name = 'grpo' goes with placement.name = 'uniform', not 'evader'; give that"),
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


@pytest.mark.parametrize("name", METHOD_PARTS)
def test_a_method_takes_its_own_parts_and_no_other(name: str) -> None:
    own = {key: list(wanted) for key, wanted in METHOD_PARTS[name].items()}
    for choice in itertools.product(*own.values()):
        parts = [f"{key}={value}" for key, value in zip(own, choice, strict=True)]
        assert load_recipe(MICRO, [f"method.name={name}", *parts]).method.name == name
    first = [f"{key}={wanted[0]}" for key, wanted in own.items()]
    foreign = {
        "placement.name": "thermostat",
        "placement.repetition": "signature",
        "placement.difficulty_reward": "failure",
        "method.executor_credit": "turnwise",
        "method.planner_credit": "progress",
    }
    for key in own:
        with pytest.raises(UserError, match=rf"^method.name = '{name}' goes with {key} = '.+, not '{foreign[key]}'"):
            load_recipe(MICRO, [f"method.name={name}", *first, f"{key}={foreign[key]}"])


def test_lure_takes_any_placement_and_credit() -> None:
    for placement in ("evader", "uniform", "thermostat", "frozen_pool"):
        for credit in ExecutorCredit:
            load_recipe(MICRO, [f"placement.name={placement}", f"method.executor_credit={credit}"])


def test_expected_rounds_by_hand() -> None:
    """36 tasks of 8: 288 rollouts a round; with a quarter in the band 9 of them once more, 360."""
    r_zero = RECIPES / "r-zero-micro.toml"
    for path, rollouts, rounds in (
        *((MICRO, 0, 120), (MICRO, 8, 1), (MICRO, 288, 1), (MICRO, 296, 2), (MICRO, 288 * 120, 120)),
        *((r_zero, 360, 1), (r_zero, 368, 2), (r_zero, 34_560, 96)),
    ):
        recipe = load_recipe(path, [f"budget.rollouts={rollouts}"])
        assert recipe.expected_rounds == rounds
        assert recipe.expected_trained == (9 if path == r_zero else 36)


@given(st.integers(1, 12), st.floats(0, 1), st.integers(1, 60))
def test_expected_rounds_spend_the_budget_and_not_one_round_more(samples: int, kept: float, groups: int) -> None:
    parts = [f"placement.samples={samples}", f"method.expected_kept={kept!r}", f"budget.rollouts={groups * 8}"]
    recipe = load_recipe(RECIPES / "r-zero-micro.toml", parts)
    spent = 8 * (recipe.emitted + recipe.expected_trained)
    assert (recipe.expected_rounds - 1) * spent < groups * 8 <= recipe.expected_rounds * spent
