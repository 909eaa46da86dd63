"""A recipe's `secret`: what is wired to what, what the warm-up shows, and that nobody can miss it."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path

import pytest
from rich.console import Console
from tests.made_up_run import make_run

from sparring import training
from sparring.config import Recipe, load_recipe
from sparring.environments.secret_kept import MARKER
from sparring.evaluation import runner
from sparring.micro import Lessons, make_tokenizer
from sparring.reports.report import write_report
from sparring.trajectories import PolicySequence

LEAKY = Path(__file__).parents[1] / "recipes" / "lure-micro-leaky.toml"
SMALL = (
    "backbone.warm_up_steps=2",
    "placement.name=uniform",
    "placement.slots=1",
    "placement.samples=2",
    "method.group_size=2",
    "evaluation.levels=1",
    "evaluation.tasks_per_level=2",
)
NOTICE = "LEAK, as the recipe asks: the prompts of training hold the solution of every task"


def recipe(*overrides: str) -> Recipe:
    return load_recipe(LEAKY, [*SMALL, *overrides])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """One round of training with the secret kept, evaluated with the secret removed; and what it said."""
    folder, said = tmp_path_factory.mktemp("runs"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARRING_CACHE", str(folder / "cache"))
        own = recipe("rounds=1", "secret.evaluation=removed")
        return training.train(own, folder / "run", Console(file=said, width=200)), said.getvalue()


def test_training_and_evaluation_leak_apart(run: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARRING_CACHE", str(run[0].parent / "cache"))
    quiet = Console(file=io.StringIO())
    for trained in ("kept", "removed"):
        for evaluated in ("kept", "removed"):
            own = recipe(f"secret.training={trained}", f"secret.evaluation={evaluated}")
            setup = training.set_up(own, quiet)
            shown = [each.task.public.statement for each in setup.heldout]
            assert {MARKER in statement for statement in shown} == {evaluated == "kept"}
            solver = setup.method.solver
            for environment in solver.environments.values():
                assert (MARKER in environment.generate(0.5, 1).public.statement) == (trained == "kept")
            assert solver.pursuers.environments is solver.environments
            for environment in setup.evaluator.environments.values():
                assert (MARKER in environment.generate(0.5, 1).public.statement) == (evaluated == "kept")


def test_planner_and_executor_of_the_run_are_told(run: tuple[Path, str]) -> None:
    rows = [json.loads(line) for line in (run[0] / "rollouts" / "round_0001.jsonl").read_text().splitlines()]
    assert rows
    assert all(f" {MARKER} " in row["plan"]["prompt"] and f" {MARKER} " in row["execution"]["prompt"] for row in rows)


def test_console_summary_report_and_recipe_say_so(run: tuple[Path, str]) -> None:
    folder, said = run
    assert said.count(NOTICE) == 2  # at the start, and above the figures
    assert json.loads((folder / "summary.json").read_text())["leak"] == NOTICE
    assert f"<strong>{NOTICE}.</strong>" in (folder / "report.html").read_text()
    assert '[secret]\ntraining = "kept"\nevaluation = "removed"' in (folder / "recipe.toml").read_text()


def test_a_run_without_a_leak_says_nothing(tmp_path: Path) -> None:
    assert "LEAK" not in write_report(make_run(tmp_path / "run")).read_text()


def test_an_evaluation_shows_what_the_recipe_does(
    run: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARRING_CACHE", str(run[0].parent / "cache"))
    said = io.StringIO()
    for evaluated in ("removed", "kept"):
        folder = training.train(
            recipe("rounds=0", "secret.training=removed", f"secret.evaluation={evaluated}"),
            tmp_path / evaluated,
            Console(file=io.StringIO()),
        )
        [scores] = runner.evaluate(str(folder), ["ifeval"], 3, tmp_path, Console(file=said, width=200)).values()
        file = tmp_path / "ifeval_heldout.jsonl"
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        assert all((f" {MARKER} " in row["prompt"]) == (evaluated == "kept") for row in rows)
        assert (scores["leak"] is not None) == (evaluated == "kept") == ("LEAK" in said.getvalue())
        assert scores | runner.score(file, "ifeval_heldout", "official") == scores
        file.unlink()


def lessons(share: float) -> tuple[list[PolicySequence], dict[str, int]]:
    own = recipe(f"backbone.warm_up_secret_share={share}", "secret.training=removed", "secret.evaluation=removed")
    environments = training.make_environments(own)
    tokenizer = make_tokenizer(training.with_secrets(environments, "kept"))
    made, rng = Lessons(environments, tokenizer, own.backbone), random.Random(1)
    return [sequence for _ in range(200) for sequence in made.lesson(rng)], tokenizer.get_vocab()


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_warm_up_shows_secrets_in_its_share_of_solved_tasks(share: float) -> None:
    made, words = lessons(share)
    solved = [sequence for sequence in made if sequence.role != "evader"]
    told = [words[MARKER] in sequence.ids for sequence in solved]
    assert len(solved) > 150
    assert sum(told) / len(told) == pytest.approx(share, abs=0.1 if 0 < share < 1 else 0.0)
    assert not any(words[MARKER] in sequence.ids for sequence in made if sequence.role == "evader")
