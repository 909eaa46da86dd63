"""What each verb of the command line does. Heavy imports wait until the verb that needs them runs."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparring.errors import UserError

if TYPE_CHECKING:
    from sparring.config import Recipe

MICRO_RECIPE = Path("recipes/lure-micro.toml")
"""Whose tasks warm up the micro backbone when no other recipe is named."""

PROVED_TASKS = 1000
"""How many tasks of each environment, pack and difficulty the doctor proves unless told otherwise."""

LARGEST_SEED = 10_000
"""Below which the seed of a task to play is drawn: short enough to be typed again."""

RATE_KEYS = {"rate", "low", "high", "n"}
"""What a rate with its interval holds; it is shown on one line."""


def train(
    recipe_path: Path | None,
    overrides: Sequence[str],
    out: Path | None,
    resume: Path | None,
    dry_run: bool,
    json_file: Path | None,
) -> None:
    """Train a recipe in a new run folder, go on with a run, or only print the plan."""
    if resume and out:
        raise UserError(f"--out {out} and --resume {resume} exclude each other; a resumed run stays in its folder")
    if json_file and not dry_run:
        raise UserError(f"--json {json_file} goes with --dry-run; a run writes its own summary.json")
    recipe = _recipe(recipe_path, overrides, resume)
    folder = resume or out or default_folder(recipe.name)

    from sparring.runs.folder import refuse_taken
    from sparring.runs.origin import is_run

    if not resume and not dry_run:
        refuse_taken(folder)  # before minutes go into loading

    from rich.console import Console

    from sparring import planning, training

    if dry_run:
        _show(planning.plan(recipe), json_file)
        return
    try:
        if resume:
            training.resume(folder, recipe.rounds, Console())
        else:
            training.train(recipe, folder, Console())
    except KeyboardInterrupt as interrupt:
        hint = f"resume with: sparring train --resume {folder}" if is_run(folder) else "nothing was begun"
        raise KeyboardInterrupt(hint) from interrupt


def lab(
    suite: Path,
    out: Path | None,
    at_once: int | None,
    arms: Sequence[str] | None,
    seeds: Sequence[int] | None,
    minutes: float,
    *,
    dry_run: bool,
) -> bool:
    """Run a suite; False when a run of it failed."""
    from rich.console import Console

    from sparring.lab.command import lab as run_lab

    try:
        return run_lab(suite, out, at_once, arms, seeds, minutes, dry_run, Console())
    except KeyboardInterrupt as interrupt:
        raise KeyboardInterrupt("the same command goes on with the suite") from interrupt


def evaluate(target: str, benchmarks: Sequence[str], limit: int | None, out: Path | None) -> None:
    """Generate answers of a run or model to benchmarks, store them, score them."""
    from rich.console import Console

    from sparring.evaluation import runner

    runner.evaluate(target, benchmarks, limit, out, Console())


def score(file: Path, benchmark: str, profile: str, json_file: Path | None) -> None:
    """Score stored generations, of this program or anyone's."""
    from sparring.evaluation import runner

    _show(runner.score(file, benchmark, profile), json_file)


def report(run: Path) -> None:
    """Write the report of a run."""
    from sparring.reports.report import write_report

    print(write_report(run))


def backbone(name: str, recipe_path: Path | None, out: Path | None) -> None:
    """Make or fetch a backbone, and copy it where it is asked for."""
    from sparring.config import load_recipe
    from sparring.runs.writing import partial_name, writing

    if out and out.exists():
        raise UserError(f"--out {out} exists; give another folder")
    if name == "micro":
        if recipe_path is None and not MICRO_RECIPE.exists():
            raise UserError(
                f"backbone micro is warmed up on the tasks of a recipe, and {MICRO_RECIPE} is not in this folder; "
                "name one with --recipe FILE"
            )
        recipe = load_recipe(recipe_path or MICRO_RECIPE)

        from rich.console import Console

        from sparring import micro, training

        made = micro.build_micro(training.make_environments(recipe), recipe.backbone, Console())
    else:
        from sparring import backbones

        made = backbones.locate(name)
    if out:
        temporary = partial_name(out)
        with writing(out):
            try:
                shutil.rmtree(temporary, ignore_errors=True)
                shutil.copytree(made, temporary)
                temporary.rename(out)
            except BaseException:
                shutil.rmtree(temporary, ignore_errors=True)
                raise
    print(out or made)


def doctor(names: Sequence[str] | None, tasks: int | None, pack: str | None, json_file: Path | None) -> bool:
    """Report the installation, or prove environments; False when a proof fails."""
    if names is None:
        if tasks or pack:
            raise UserError(f"--{'tasks' if tasks else 'pack'} goes with --environments; give that too")

        from sparring import doctor as diagnosis

        _show(diagnosis.installation(), json_file)
        return True

    from rich.console import Console

    from sparring import doctor as diagnosis
    from sparring.runs.writing import refuse_unwritable, write_json
    from sparring.tasks import PromptPack

    if json_file:
        refuse_unwritable(json_file)  # told now, not after minutes of proofs
    packs = list(PromptPack) if pack in (None, "both") else [PromptPack(pack)]
    rows = list(diagnosis.proofs(diagnosis.names_of(names), packs, tasks or PROVED_TASKS, Console(stderr=True)))
    Console().print(diagnosis.table(rows))
    for row in rows:
        if not row.holds:
            print(row)
    if json_file:
        write_json(json_file, diagnosis.report(rows))
    return all(row.holds for row in rows)


def theory(out: Path | None, as_json: bool, scores_file: Path | None) -> bool:
    """Check the statements of the theory, print and write what came out; False when one fails."""
    from sparring.theory import checks
    from sparring.theory.power_law import read_scores

    checked = checks.check(None if scores_file is None else read_scores(scores_file))
    if as_json:
        print(json.dumps(checked.plain(), indent=2, allow_nan=False))
    else:
        from rich.console import Console

        console = Console()
        console.print(checks.table(checked))
        for words in (checks.verdict_words(checked), checks.power_law_words(checked)):
            console.print(words, markup=False, highlight=False, soft_wrap=True)
    if out:
        from sparring.theory.page import write_theory

        write_theory(checked, out)
    return checked.agrees


def play(name: str, difficulty: float, seed: int | None, pack: str, settings: Sequence[str]) -> None:
    """Let a person be the executor of one task."""
    from sparring import playing
    from sparring.environments import default_environment
    from sparring.tasks import PromptPack

    given: dict[str, Any] = {}
    if settings:
        from sparring.config import apply_override  # which takes as long to load as all else together

        for setting in settings:
            apply_override(given, setting)
    environment = default_environment(name, PromptPack(pack), given)
    playing.play(environment, difficulty, secrets.randbelow(LARGEST_SEED) if seed is None else seed)


def default_folder(name: str) -> Path:
    """`runs/NAME`, or the first of `runs/NAME-2`, `runs/NAME-3` ... that is free."""
    folder, number = Path("runs") / name, 1
    while folder.exists():
        number += 1
        folder = Path("runs") / f"{name}-{number}"
    return folder


def _recipe(recipe_path: Path | None, overrides: Sequence[str], resume: Path | None) -> Recipe:
    """The recipe that the command line means; on resume it must be the run's own but for `rounds`."""
    from sparring.config import load_recipe
    from sparring.runs.origin import read_recipe, refuse_other_recipe

    if resume:
        stored = read_recipe(resume)
        recipe = load_recipe(recipe_path or resume / "recipe.toml", overrides)
        refuse_other_recipe(resume, stored, recipe)
        return recipe
    if recipe_path:
        return load_recipe(recipe_path, overrides)
    raise UserError("train needs a recipe or --resume DIR; see sparring train --help")


def _show(result: Mapping[str, Any], json_file: Path | None) -> None:
    """Print a nested result as an indented table, and write it as JSON where that is asked for."""
    from sparring.runs.writing import write_json

    print("\n".join(_lines(result)))
    if json_file:
        write_json(json_file, result)


def _lines(result: Mapping[str, Any], indent: str = "") -> list[str]:
    nested = {key for key, value in result.items() if isinstance(value, Mapping) and set(value) != RATE_KEYS}
    width = max((len(str(key)) for key in result if key not in nested), default=0)
    lines: list[str] = []
    for key, value in result.items():
        if key in nested:
            lines += [f"{indent}{key}", *_lines(value, indent + "  ")]
        else:
            lines.append(f"{indent}{key:<{width}}  {_words(value)}")
    return lines


def _words(value: Any) -> str:
    match value:
        case None:
            return "not measured"
        case {"rate": None, "n": n}:
            return f"not measured (n = {n})"
        case {"rate": rate, "low": None, "n": n}:
            return f"{rate:.3f} (n = {n})"
        case {"rate": rate, "low": low, "high": high, "n": n}:
            return f"{rate:.3f} ({low:.3f}-{high:.3f}, n = {n})"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.4g}"
        case _:
            return str(value)
