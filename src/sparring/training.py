"""Puts a recipe together and runs it: environments, backbone, engine, placement, method, folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console

from sparring import backbones
from sparring.clock import Clock
from sparring.config import Recipe, RoleSection
from sparring.credit import Label
from sparring.engines.base import Engine, SamplingParameters
from sparring.engines.local import LocalEngine
from sparring.environments import load_environment
from sparring.environments.base import AnyEnvironment, Environment
from sparring.environments.secret_kept import SecretKept
from sparring.errors import UserError
from sparring.evaluation.heldout import HeldoutTask, heldout_tasks, measure_heldout
from sparring.methods.base import Method, Solver
from sparring.methods.grpo import Grpo
from sparring.methods.lure import Lure
from sparring.methods.r_zero import RZero
from sparring.micro import build_micro
from sparring.objectives import KLReference
from sparring.placement.axis import ShuffledAxis
from sparring.placement.base import Placement
from sparring.placement.evader import Evader
from sparring.placement.evader_reward import EvaderReward
from sparring.placement.fixed import FrozenPool, Thermostat, Uniform
from sparring.reports.live import RoundsTable
from sparring.reports.report import write_report
from sparring.roles import Role, WorkedExample, template_texts
from sparring.rollouts import Pursuers, worked_example
from sparring.runs.folder import RunFolder
from sparring.runs.origin import read_recipe
from sparring.runs.summary import summary_text
from sparring.runs.tracking import emission_rows, metrics_row, rollout_rows, task_keys
from sparring.simulation import make_simulated_engine
from sparring.tasks import GenerationRefusedError, Task, derive_seed

IDLE_ROUNDS = 20
"""After so many rounds without a rollout, a budget of rollouts is held to be out of reach."""


@dataclass
class Setup:
    """Everything a run needs in memory; inputs are the texts and files that it depends on, by name."""

    recipe: Recipe
    environments: dict[str, AnyEnvironment]
    engine: Engine
    method: Method
    evaluator: Pursuers
    heldout: list[HeldoutTask]
    clock: Clock
    inputs: dict[str, str | Path]


def policy_of(recipe: Recipe, role: Role, environment: str) -> str:
    """Whose weights speak: one set per role (unified), or per role and environment (specialist)."""
    return role.value if recipe.method.sharing == "unified" else f"{role.value}/{environment}"


def make_environments(recipe: Recipe) -> dict[str, AnyEnvironment]:
    """The recipe's environments by name, in the recipe's order, which keep their secrets to themselves."""
    return {
        name: load_environment(name, settings, recipe.prompts.pack) for name, settings in recipe.environments.items()
    }


def with_secrets(environments: Mapping[str, AnyEnvironment], secret: str) -> dict[str, AnyEnvironment]:
    """The environments as a recipe's `secret` says: as they are where it is removed, leaking where it is kept."""
    return {name: SecretKept(each) if secret == "kept" else each for name, each in environments.items()}


def turn_limits(environments: Mapping[str, AnyEnvironment]) -> dict[str, int]:
    """The longest episode of each environment, over the difficulty axis."""
    return {
        name: max(_generated(environment, level, 0).public.turn_limit for level in (0.0, 0.25, 0.5, 0.75, 1.0))
        for name, environment in environments.items()
    }


def _generated(environment: AnyEnvironment, difficulty: float, seed: int) -> Task[Any]:
    """A task that the run cannot do without; UserError where the settings leave none."""
    try:
        return environment.generate(difficulty, seed)
    except GenerationRefusedError as refusal:
        raise UserError(
            f"environments.{environment.name} makes no task at difficulty {difficulty:g} ({refusal}); widen its sizes"
        ) from None


def set_up(recipe: Recipe, console: Console) -> Setup:
    """Check the recipe against its environments, load the backbone, and join the parts."""
    check_device(recipe.engine.device)
    environments = make_environments(recipe)
    recipe.check_capture_dominance(max(turn_limits(environments).values()))
    check_labels(recipe, environments)
    policies = [
        policy for role in Role for policy in dict.fromkeys(policy_of(recipe, role, name) for name in environments)
    ]
    engine, files = load_engine(recipe, environments, policies, console)
    clock = Clock()
    trained, evaluated = (
        with_secrets(environments, each) for each in (recipe.secret.training, recipe.secret.evaluation)
    )
    pursuers = make_pursuers(recipe, engine, trained, clock, greedy=False)
    solver = Solver(
        engine=engine,
        environments=trained,
        pursuers=pursuers,
        policy=lambda role, name: policy_of(recipe, role, name),
        objectives={role: recipe.objective_of(role.value) for role in Role},
        group_size=recipe.method.group_size,
        progress_weight=recipe.method.progress_weight,
        zero_progress_cost=recipe.method.zero_progress_cost,
        executor_credit=recipe.method.executor_credit,
        planner_credit=recipe.method.planner_credit,
        run_seed=recipe.seed,
    )
    method = make_method(recipe, solver, make_placement(recipe, engine))
    evaluation = recipe.evaluation
    heldout = heldout_tasks(evaluated, evaluation.levels, evaluation.tasks_per_level)
    evaluator = make_pursuers(recipe, engine, evaluated, clock, greedy=True)
    inputs: dict[str, str | Path] = {**template_texts(), **files}
    return Setup(recipe, environments, engine, method, evaluator, heldout, clock, inputs)


def load_engine(
    recipe: Recipe, environments: Mapping[str, AnyEnvironment], policies: Sequence[str], console: Console
) -> tuple[Engine, Mapping[str, Path]]:
    """The engine that the recipe names, and the files of its backbone, of which a simulated one has none."""
    if recipe.engine.kind == "simulated":
        return make_simulated_engine(environments, recipe.simulation, policies), {}
    loaded = load_backbone(recipe, environments, console)
    return make_engine(recipe, loaded, policies), backbones.backbone_files(loaded.folder)


def check_labels(recipe: Recipe, environments: Mapping[str, AnyEnvironment]) -> None:
    """UserError when R-Zero is to vote on answers of an environment that has none: no task would ever be kept."""
    if not recipe.probes or recipe.method.label is Label.VERIFIER:
        return
    for name, environment in environments.items():
        if type(environment).answer is Environment.answer:
            raise UserError(
                f"method.label = '{recipe.method.label}' compares answers, and environments.{name} has none; "
                "give method.label = 'verifier', or the environment an `answer`"
            )


def check_device(name: str) -> None:
    """UserError, before anything is loaded, when this machine has no such device."""
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        raise UserError(
            f"engine.device = {name!r} is not to be had ({str(error).splitlines()[0]}); give 'cpu', or 'cuda' where "
            "torch finds a GPU"
        ) from None


def load_backbone(
    recipe: Recipe, environments: Mapping[str, AnyEnvironment], console: Console
) -> backbones.LoadedBackbone:
    """The backbone that the recipe names; the micro one is made first if need be."""
    name = recipe.backbone.name
    if name == "micro":
        name = str(build_micro(environments, recipe.backbone, console))
    return backbones.load(name, trust_remote_code=recipe.backbone.trust_remote_code)


def make_engine(recipe: Recipe, loaded: backbones.LoadedBackbone, policies: Sequence[str]) -> LocalEngine:
    """The local engine as the recipe has it, with these policies on a loaded backbone."""
    section = recipe.engine
    return LocalEngine(
        loaded.model,
        loaded.tokenizer,
        policies,
        end_ids=loaded.end_ids,
        weights=section.weights,
        lora_rank=section.lora_rank,
        precision=section.precision,
        threads=section.threads,
        tokens_per_micro_batch=section.tokens_per_micro_batch,
        rows_per_batch=section.rows_per_batch,
        device=section.device,
        seed=derive_seed(recipe.seed, "adapters"),
        keep_initial=recipe.objective.kl_reference is KLReference.INITIAL,
    )


def make_pursuers(
    recipe: Recipe, engine: Engine, environments: Mapping[str, AnyEnvironment], clock: Clock, *, greedy: bool
) -> Pursuers:
    """Planner and executor as the recipe has them, or greedy for evaluation."""

    def parameters(section: RoleSection) -> SamplingParameters:
        return SamplingParameters(section.max_tokens, 0.0 if greedy else section.temperature, section.top_p)

    return Pursuers(
        engine=engine,
        environments=environments,
        policy=lambda role, name: policy_of(recipe, role, name),
        planning=parameters(recipe.roles.planner),
        acting=parameters(recipe.roles.executor),
        examples={name: worked_examples(recipe, environment) for name, environment in environments.items()},
        clock=clock,
    )


def worked_examples(recipe: Recipe, environment: AnyEnvironment) -> list[WorkedExample]:
    """Solved tasks of low difficulty for the prompts; their seeds are named "example"."""
    seeds = [derive_seed("example", environment.name, index) for index in range(recipe.prompts.worked_examples)]
    tasks = [_generated(environment, 0.2 * index, seed) for index, seed in enumerate(seeds)]
    return [worked_example(environment, task) for task in tasks]


def make_method(recipe: Recipe, solver: Solver, placement: Placement) -> Method:
    """The method that the recipe names."""
    section = recipe.method
    if section.name == "lure":
        return Lure(solver, placement)
    if section.name == "r_zero":
        return RZero(solver, placement, section.label, section.band_low, section.band_high)
    return Grpo(solver, placement)


def make_placement(recipe: Recipe, engine: Engine) -> Placement:
    """The placement that the recipe names, on the axis that it names."""
    placement = _placement(recipe, engine)
    return ShuffledAxis(placement, recipe.seed) if recipe.placement.axis == "shuffled" else placement


def _placement(recipe: Recipe, engine: Engine) -> Placement:
    section = recipe.placement
    if section.name == "uniform":
        return Uniform(recipe.seed, section.slots, section.samples)
    if section.name == "thermostat":
        step, spread = section.thermostat_step, section.thermostat_spread
        return Thermostat(recipe.seed, section.slots, section.samples, step, spread)
    role = recipe.roles.evader
    evader = Evader(
        engine=engine,
        policy=lambda role, name: policy_of(recipe, role, name),
        pack=recipe.prompts.pack,
        hints=np.linspace(section.hint_low, section.hint_high, section.slots).tolist(),
        samples=section.samples,
        parameters=SamplingParameters(role.max_tokens, role.temperature, role.top_p),
        objective=recipe.objective_of("evader"),
        reward=EvaderReward(
            section.difficulty_reward, section.repetition, section.repetition_scale, section.repetition_over
        ),
        run_seed=recipe.seed,
        deviation_floor=section.deviation_floor,
        examples=recipe.prompts.worked_examples,
    )
    return evader if section.name == "evader" else FrozenPool(evader)


def train(recipe: Recipe, out: Path, console: Console) -> Path:
    """Run a recipe in a new folder; returns the folder."""
    setup = set_up(recipe, console)
    with RunFolder.create(out, recipe, setup.inputs) as folder:
        run_rounds(setup, folder, console)
    return out


def resume(path: Path, rounds: int | None, console: Console) -> Path:
    """Go on with the run in `path`, to `rounds` rounds if given."""
    recipe = read_recipe(path)
    if recipe.budget.rollouts and rounds not in (None, recipe.rounds):
        raise UserError(
            f"rounds = {rounds} is not read: {path} ends at budget.rollouts = {recipe.budget.rollouts}; leave it out"
        )
    if rounds is not None:
        recipe = recipe.model_copy(update={"rounds": rounds})
    with RunFolder.resume(path, recipe) as folder:
        setup = set_up(recipe, console)
        folder.check_inputs(setup.inputs)
        if folder.latest is not None:
            setup.engine.load(folder.latest.weights)
            setup.method.restore(folder.latest.state)
        run_rounds(setup, folder, console)
    return path


def run_rounds(setup: Setup, folder: RunFolder, console: Console) -> None:
    """All rounds that are still to do, each written to the folder; then summary and report."""
    recipe, method, clock = setup.recipe, setup.method, setup.clock
    heldout_keys = {each.key for each in setup.heldout}
    if recipe.secret.notice:
        console.print(recipe.secret.notice, style="bold red")
    clock.take()
    with RoundsTable(console, recipe.expected_rounds, list(setup.environments)) as table:
        for row in folder.rows:
            table.show(row)
        while not is_over(recipe, folder.rows):
            number = len(folder.rows)
            done = None
            rollouts = folder.rows[-1]["rollouts"] if folder.rows else 0
            clock.announce = partial(table.status, number)
            if number > 0:
                limit = recipe.budget.rollouts
                done = method.round(number, limit - rollouts if limit else None)
                rollouts += done.rollouts
            row = metrics_row(number, done, method.solver, rollouts)
            last = is_over(recipe, [*folder.rows, row])
            if setup.heldout and (number % recipe.evaluation.every == 0 or last):
                with clock.phase("evaluation"):
                    row["heldout"] = measure_heldout(setup.evaluator, setup.heldout)
            row |= clock.take()
            with clock.phase("writing"):
                if done is not None:
                    keys = task_keys(done.outcomes, method.solver)
                    folder.write_rollouts(number, rollout_rows(done, keys, method.solver))
                    folder.write_emissions(number, emission_rows(done.outcomes, keys, heldout_keys))
                if number % recipe.checkpoint.every == 0 or last:
                    folder.checkpoint(number, row, method.state(), setup.engine.save)
                folder.append_metrics(row)
            table.show(row)
    console.print(summary_text(folder.write_summary()))
    console.print(f"report: {write_report(folder.path)}")


def is_over(recipe: Recipe, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether these rounds, the one before training included, are all: by rollouts where they are the limit.

    UserError when IDLE_ROUNDS in succession spent no rollout of a budget, which would then never end.
    """
    if not rows:
        return False
    if not recipe.budget.rollouts:
        return len(rows) > recipe.rounds
    spent = [row["rollouts"] for row in rows[-IDLE_ROUNDS - 1 :]]
    if len(spent) > IDLE_ROUNDS and spent[0] == spent[-1] < recipe.budget.rollouts:
        raise UserError(
            f"{IDLE_ROUNDS} rounds spent no rollout, so budget.rollouts = {recipe.budget.rollouts} is out of reach; "
            "look into the run's emissions: the evader may have lost its format"
        )
    return bool(spent[-1] >= recipe.budget.rollouts)
