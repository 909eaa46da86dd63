"""A suite file: the arms that are compared, the seeds, and the recipe that all of them change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError, model_validator

from sparring.config import Recipe, read_toml, recipe_from
from sparring.config.sections import Section, Seed, folder_name
from sparring.errors import UserError, nearest
from sparring.wording import mend, shown

SUITES = Path("recipes/suites")
"""Where a suite is looked for that is given by its name alone."""

Name = Annotated[str, AfterValidator(folder_name)]


class Variant(Section):
    """What changes in all arms together, such as unified against specialist policies."""

    name: Name
    overrides: dict[str, Any] = Field(default={})


class Arm(Section):
    """One thing that is compared: its overrides of the suite's recipe, or a recipe file of its own.

    reference: the arm that it is compared with, in place of the suite's.
    """

    name: Name
    label: str = ""
    recipe: str = ""
    overrides: dict[str, Any] = Field(default={})
    reference: str = ""

    @property
    def title(self) -> str:
        """How tables and figures call it."""
        return self.label or self.name


class Suite(Section):
    """A comparison, complete.

    Overrides nest as a recipe does; an arm's win over a variant's, and those over the suite's.
    backbone_seeds: backbones that the seeds take in turn, so that no result hangs on one warm-up.
    """

    name: Name
    title: str
    about: str = ""
    recipe: str
    seeds: list[Seed] = Field(min_length=1)
    backbone_seeds: list[Seed] = Field(default=[])
    reference: str
    overrides: dict[str, Any] = Field(default={})
    variants: list[Variant] = Field(default=[])
    arms: list[Arm] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_once(self) -> Suite:
        for kind, names in (
            ("arms", [arm.name for arm in self.arms]),
            ("variants", [variant.name for variant in self.variants]),
            ("seeds", self.seeds),
        ):
            twice = next((name for number, name in enumerate(names) if name in names[:number]), None)
            if twice is not None:
                raise ValueError(f"{kind} holds {twice!r} twice; give each once")
        names = [arm.name for arm in self.arms]
        for arm in self.arms:
            reference = arm.reference or self.reference
            if reference not in names:
                raise ValueError(f"reference = {reference!r} is no arm; the nearest is {nearest(reference, names)!r}")
        return self

    def backbone_seed(self, seed: int) -> int | None:
        """The backbone that a seed starts from; None leaves it to the recipe."""
        if not self.backbone_seeds:
            return None
        return self.backbone_seeds[self.seeds.index(seed) % len(self.backbone_seeds)]


@dataclass(frozen=True)
class Job:
    """One run of a suite: an arm of a variant ("" without any), a seed, the recipe it comes to."""

    arm: str
    variant: str
    seed: int
    recipe: Recipe

    @property
    def name(self) -> str:
        """The run's folder within the suite's."""
        return "/".join(part for part in (self.variant, self.arm, f"seed-{self.seed}") if part)


def load_suite(given: Path) -> tuple[Suite, Path]:
    """Read a suite file, or the one of that name in recipes/suites; the suite and where it was found.

    Raises UserError, naming field, value and mend.
    """
    path = given
    if given.suffix != ".toml" and not given.exists():
        path = SUITES / f"{given}.toml"
        if not path.exists():
            known = ", ".join(sorted(each.stem for each in SUITES.glob("*.toml"))) or "none in this folder"
            raise UserError(f"no suite {given}; give a TOML file, or a name from {SUITES} ({known})")
    data = read_toml(path, "suite")
    try:
        return Suite.model_validate(data), path
    except ValidationError as error:
        first = error.errors()[0]
    field = ".".join(map(str, first["loc"]))
    if first["type"] == "missing":
        raise UserError(f"suite {path}: {field} is missing; add it")
    where = f"{field} = {shown(first['input'])} is not accepted: " if field else ""
    raise UserError(f"suite {path}: {where}{mend(first)}")


def jobs_of(suite: Suite, path: Path) -> list[Job]:
    """Every run of a suite, seed by seed, so that early results hold all arms.

    Recipes are found beside the suite file. Raises UserError, naming the arm, for a recipe that is refused.
    """
    variants: Sequence[Variant | None] = suite.variants or [None]
    return [
        Job(arm.name, variant.name if variant else "", seed, _recipe(suite, path, variant, arm, seed))
        for seed in suite.seeds
        for variant in variants
        for arm in suite.arms
    ]


def _recipe(suite: Suite, path: Path, variant: Variant | None, arm: Arm, seed: int) -> Recipe:
    own: dict[str, Any] = {"name": arm.name, "seed": seed, "engine": {"threads": 1}}
    backbone_seed = suite.backbone_seed(seed)
    if backbone_seed is not None:
        own["backbone"] = {"seed": backbone_seed}
    data = read_toml(path.parent / (arm.recipe or suite.recipe), "recipe")
    for overrides in (suite.overrides, variant.overrides if variant else {}, arm.overrides, own):
        data = merged(data, overrides)
    try:
        return recipe_from(data)
    except UserError as error:
        raise UserError(f"suite {path}, arm {arm.name!r}: {error}") from None


def merged(data: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Nested data with overrides laid over it, key by key; neither is changed."""
    result = dict(data)
    for key, value in overrides.items():
        below = result.get(key)
        both = isinstance(value, Mapping) and isinstance(below, Mapping)
        result[key] = merged(below, value) if both else value  # type: ignore[arg-type]
    return result
