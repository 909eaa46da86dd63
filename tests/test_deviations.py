"""docs/deviations.md says what the code does."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from sparring.config import Recipe, load_recipe
from sparring.environments import IFEval, PhantomWiki, Simulated, ZebraLogic, base

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "deviations.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL))
ENVIRONMENTS = (PhantomWiki, IFEval, ZebraLogic, Simulated)
HYPERPARAMETERS = ("method", "objective", "placement", "roles", "prompts")


def rows(section: str) -> list[list[str]]:
    """The cells of every table row of a section, headings left out."""
    lines = [line for line in SECTIONS[section].splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if any("`" in cell for cell in row) and row[0] != "key"]


def value_of(model: Any, key: str) -> Any:
    for part in key.split("."):
        model = getattr(model, part)
    return model


def leaves(model: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in model.items():
        key = f"{prefix}{name}"
        found |= leaves(value, f"{key}.") if isinstance(value, dict) else {key: value}
    return found


def departures(recipe: Recipe) -> set[str]:
    sections = set(HYPERPARAMETERS)
    default = leaves(Recipe(name="default", environments={"any": {}}).model_dump(mode="json", include=sections))
    own = leaves(recipe.model_dump(mode="json", include=sections))
    return {key for key, value in own.items() if value != default[key]}


def test_choices_are_recipe_keys_with_these_defaults() -> None:
    default = Recipe(name="default", environments={"any": {}})
    settings = {each.name: each.settings_type() for each in ENVIRONMENTS}
    assert set(settings) <= set(base.registered())
    choices = rows("Choices that a recipe can change")
    assert len(choices) > 20
    for _, key, stated, _ in choices:
        key, stated = key.strip("`"), stated.strip("`")
        environment, _, rest = key.partition(".")
        value = value_of(settings[environment], rest) if environment in settings else value_of(default, key)
        assert str(value) == stated, key


@pytest.mark.parametrize("place", re.findall(r"`([\w/]+\.py)`: ((?:`[\w.]+`(?:, )?)+)", PAGE), ids=str)
def test_places_in_the_code_exist(place: tuple[str, str]) -> None:
    file, names = place
    tree = ast.parse((ROOT / "src" / "sparring" / file).read_text(encoding="utf-8"))
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)} | {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for name in re.findall(r"`([\w.]+)`", names):
        assert set(name.split(".")) <= defined, name


@pytest.mark.parametrize(("recipe", "column"), [("lure-micro", 1), ("lure-smollm2", 2)])
def test_every_departure_of_a_recipe_is_named(recipe: str, column: int) -> None:
    table = rows("Departures of a recipe")
    named = {row[0].strip("`") for row in table if row[column] == "yes"}
    assert named == departures(load_recipe(ROOT / "recipes" / f"{recipe}.toml"))


def test_the_papers_recipe_departs_in_no_hyperparameter() -> None:
    assert departures(load_recipe(ROOT / "recipes" / "lure-qwen2.5-7b.toml")) == set()
