"""Recipes: what a run is made of."""

from sparring.config.reading import apply_override, load_recipe, read_toml, recipe_from
from sparring.config.recipe import Recipe
from sparring.config.sections import BackboneSection, RoleSection

__all__ = ["BackboneSection", "Recipe", "RoleSection", "apply_override", "load_recipe", "read_toml", "recipe_from"]
