"""The command line: overrides, bad input in one line with exit code 2, quick help."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sparring.cli import TRAIN_OPTIONS, main, make_parser, split_overrides
from sparring.commands import _lines, default_folder
from sparring.config import load_recipe
from sparring.errors import UserError
from sparring.runs.folder import RunFolder

RECIPE = 'name = "toy"\nrounds = 3\n[environments.kin]\nhops = 2\n'


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "toy.toml"
    path.write_text(RECIPE)
    return path


def complaint(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command line that must fail with exit code 2; its one line on stderr."""
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("sparring: ")
    assert captured.err.count("\n") == 1
    return captured.err


def test_overrides_are_parted_from_the_own_options() -> None:
    own, overrides = split_overrides(
        ["--rounds", "1", "r.toml", "--method.group_size=4", "--out=x", "--resume", "d", "--seed", "-1", "--dry-run"]
    )
    assert own == ["r.toml", "--out=x", "--resume", "d", "--dry-run"]
    assert overrides == ["rounds=1", "method.group_size=4", "seed=-1"]


def test_override_values_may_hold_equals_signs_and_be_empty() -> None:
    assert split_overrides(["--backbone.name", "a=b", "--name="])[1] == ["backbone.name=a=b", "name="]


def test_own_options_of_train_are_those_its_help_shows(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        make_parser().parse_args(["train", "--help"])
    shown = capsys.readouterr().out
    assert {word for word in shown.replace(",", " ").split() if word in TRAIN_OPTIONS} == TRAIN_OPTIONS
    assert "--section.key" in shown


def test_overrides_reach_the_recipe(recipe: Path) -> None:
    _, overrides = split_overrides(["--rounds", "7", "--environments.kin.hops=5", "--backbone.name", "smollm2"])
    loaded = load_recipe(recipe, overrides)
    assert loaded.rounds == 7
    assert loaded.environments == {"kin": {"hops": 5}}
    assert loaded.backbone.name == "smollm2"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "arguments are required: VERB"),
        (["trane"], "invalid choice: 'trane'"),
        (["train"], "train needs a recipe or --resume DIR"),
        (["train", "none.toml"], "recipe none.toml does not exist"),
        (["train", "toy.toml", "other.toml"], "unrecognized arguments: other.toml"),
        (["train", "toy.toml", "--rounds"], "--rounds needs a value"),
        (["train", "toy.toml", "--rounds", "--seed", "1"], "--rounds needs a value"),
        (["train", "toy.toml", "--dryrun"], "did you mean --dry-run?"),
        (["train", "toy.toml", "--out"], "argument --out: expected one argument"),
        (["train", "toy.toml", "--out", "a", "--resume", "b"], "exclude each other"),
        (["train", "toy.toml", "--json", "plan.json"], "goes with --dry-run"),
        (["train", "toy.toml", "--method.grup_size", "4"], "nearest key is method.group_size"),
        (["train", "toy.toml", "--methd.group_size", "4"], "nearest key is method"),
        (["train", "toy.toml", "--method.group_size", "1"], "method.group_size = 1 is not accepted"),
        (["train", "toy.toml", "--rounds", "many"], "rounds = 'many' is not accepted"),
        (["train", "toy.toml", "--rounds.more", "1"], "rounds is a value, not a section"),
        (["train", "toy.toml", "--seed", "-1"], "seed = -1 is not accepted"),
        (["train", "--resume", "nowhere"], "nowhere holds no run"),
        (["eval", "model"], "required: --benchmarks"),
        (["eval", "model", "--benchmarks", "ifeval,,zebralogic"], "is not a list of names"),
        (["eval", "model", "--benchmarks", "ifeval", "--limit", "0"], "'0' is not a whole number above 0"),
        (["score", "x.jsonl", "--benchmark", "ifeval", "--profile", "kind"], "invalid choice: 'kind'"),
        (["backbone", "huge"], "invalid choice: 'huge'"),
        (["backbone", "micro"], "recipe recipes/lure-micro.toml does not exist"),
        (["backbone", "micro", "--recipe", "none.toml"], "recipe none.toml does not exist"),
        (["backbone", "smollm2", "--out", "toy.toml"], "--out toy.toml exists"),
    ],
)
def test_bad_input_is_one_line(
    recipe: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(recipe.parent.iterdir())
    assert said in complaint(arguments, capsys)
    assert sorted(recipe.parent.iterdir()) == before


def test_broken_recipes_are_one_line(recipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe.write_text("name = ")
    assert "is not valid TOML" in complaint(["train", "toy.toml"], capsys)
    recipe.write_bytes(b"\xff\xfe\x00")
    assert "cannot be read" in complaint(["train", "toy.toml"], capsys)
    recipe.write_text('name = "toy"\n')
    assert "environments is missing" in complaint(["train", "toy.toml"], capsys)


def test_taken_folder_is_refused_before_anything_loads(recipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    RunFolder.create(Path("taken"), load_recipe(recipe)).close()
    assert "taken already holds a run" in complaint(["train", "toy.toml", "--out", "taken"], capsys)


def test_resume_shows_how_the_recipes_differ(recipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    RunFolder.create(Path("run"), load_recipe(recipe)).close()
    said = complaint(["train", "--resume", "run", "--method.group_size", "4", "--rounds", "9"], capsys)
    assert "method.group_size: 8 in the run, 4 given" in said
    assert "rounds: " not in said
    said = complaint(["train", "toy.toml", "--resume", "run", "--environments.kin.hops", "5"], capsys)
    assert "environments.kin.hops: 2 in the run, 5 given" in said


def test_default_folder_is_the_first_free_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert default_folder("toy") == Path("runs/toy")
    Path("runs/toy").mkdir(parents=True)
    Path("runs/toy-2").mkdir()
    assert default_folder("toy") == Path("runs/toy-3")
    with pytest.raises(UserError, match="cannot name a run folder"):
        default_folder("../toy")


def test_a_rate_is_shown_on_one_line() -> None:
    shown = {"rate": 0.5, "low": 0.4, "high": 0.6, "n": 100}
    unknown = {"rate": None, "low": None, "high": None, "n": 0}
    other = {"rate": 0.5, "n": 100}
    assert _lines({"prompts": shown, "by_size": {"2x2": unknown}, "other": other}) == [
        "prompts  0.500 (0.400-0.600, n = 100)",
        "by_size",
        "  2x2  not measured (n = 0)",
        "other",
        "  rate  0.5",
        "  n     100",
    ]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out.startswith("sparring 0.")


def test_help_loads_nothing_heavy() -> None:
    program = "import sys, json, sparring.cli; sparring.cli.make_parser(); print(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout)
    assert "sparring.cli" in loaded
    assert not {"torch", "transformers", "numpy", "pydantic", "rich", "matplotlib"} & set(loaded)
