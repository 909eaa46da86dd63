"""The command line: overrides, bad input in one line with exit code 2, quick help."""

from __future__ import annotations

import errno
import json
import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sparring import commands
from sparring.cli import TRAIN_OPTIONS, main, make_parser, split_overrides
from sparring.commands import _lines, default_folder
from sparring.config import load_recipe
from sparring.runs.folder import RunFolder
from sparring.runs.writing import interrupts_deferred

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
        (["play", "ifeval", "--seed", "9" * 5000], "'9999999999999999999999999999999999999999' is not a whole number"),
        (["train", "toy.toml", "--method.grup_size", "4"], "nearest key is method.group_size"),
        (["train", "toy.toml", "--methd.group_size", "4"], "nearest key is method"),
        (["train", "toy.toml", "--method.group_size", "1"], "method.group_size = 1 is not accepted"),
        (["train", "toy.toml", "--rounds", "many"], "rounds = 'many' is not accepted"),
        (["train", "toy.toml", "--rounds.more", "1"], "rounds is a value, not a section"),
        (["train", "toy.toml", "--seed", "-1"], "seed = -1 is not accepted"),
        (["train", "--resume", "nowhere"], "nowhere holds no run"),
        (["eval", "model"], "required: --benchmarks"),
        (["eval", "model", "--benchmarks", "ifeval,,zebralogic"], "is not a list of names"),
        (["eval", "model", "--benchmarks", "ifeval", "--limit", "0"], "'0' is not a whole number from 1 to"),
        (["score", "x.jsonl", "--benchmark", "ifeval", "--profile", "kind"], "invalid choice: 'kind'"),
        (["backbone", "huge"], "invalid choice: 'huge'"),
        (["doctor", "--tasks", "5"], "--tasks goes with --environments"),
        (["doctor", "--pack", "chat"], "--pack goes with --environments"),
        (["doctor", "--environments", "--tasks", "0"], "'0' is not a whole number from 1 to"),
        (["doctor", "--environments", "zebra"], "environments.zebra is not registered; the nearest is zebra_logic"),
        (["doctor", "--environments", "--pack", "all"], "invalid choice: 'all'"),
        (["backbone", "micro"], "recipes/lure-micro.toml is not in this folder; name one with --recipe FILE"),
        (["train", "toy.toml", "--rounds", "[[[["], "rounds = '[[[[' is not accepted"),
        (["train", "toy.toml", "--name", "o_\udcff"], "is not valid UTF-8"),
        (["train", "toy.toml", "--name", ""], "name = '' is not accepted"),
        (["train", "x" * 3000], "cannot be read (File name too long)"),
        (["train", "toy.toml", "--out", "x" * 300], "File name too long; check the path"),
        (["report", "x" * 300], "File name too long; check the path"),
        (["eval", "runn", "--benchmarks", "ifeval"], "'runn' is neither a run folder"),
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


@pytest.fixture
def signals() -> Iterator[None]:
    """What Python does on Ctrl-C, and after the test what was done before."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def reporting(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> int:
    """The exit code when `sparring report` does this."""
    monkeypatch.setattr(commands, "report", lambda run: act())
    return main(["report", "run"])


def fail(error: BaseException) -> Callable[[], object]:
    def act() -> object:
        raise error

    return act


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "runs/x"), "runs/x: No space left on device; check"),
        (OSError(errno.EFBIG, "File too large"), "File too large; check the path"),
        (PermissionError(errno.EACCES, "Permission denied", b"runs/\xff"), "Permission denied; check the path"),
        (RecursionError("deep"), "the input nests too deeply"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), "text that is not valid UTF-8"),
        (MemoryError(), "out of memory; lower engine.tokens_per_micro_batch"),
        (RuntimeError("CUDA out of memory.\nTried to allocate"), "out of memory; lower"),
    ],
)
def test_what_the_machine_refuses_is_one_line(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reporting(monkeypatch, fail(error)) == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert shown.count("\n") == 1


@pytest.mark.parametrize("error", [KeyError("x"), ValueError("x"), RuntimeError("shapes differ"), AssertionError()])
def test_mistakes_of_the_program_keep_their_traceback(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(type(error)):
        reporting(monkeypatch, fail(error))


def test_a_closed_pipe_ends_it_quietly(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert reporting(monkeypatch, fail(BrokenPipeError())) == 141
    assert capsys.readouterr().err == ""


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "sparring", "sing"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("sparring: argument VERB: invalid choice: 'sing'")


def test_output_that_nobody_takes_leaves_no_traceback(tmp_path: Path) -> None:
    program = "import sys; from sparring import cli, commands; commands.report = print; sys.exit(cli.main())"
    command = f'"{sys.executable}" -c "{program}" report run'
    closed = subprocess.run(["bash", "-c", f"set -o pipefail; {command} | exec 0<&- true"], capture_output=True)
    full = subprocess.run(["bash", "-c", f"{command} > /dev/full"], capture_output=True, text=True)
    assert closed.stderr == b""
    assert full.returncode == 2
    assert full.stderr == "sparring: No space left on device; check the path, its permissions and the space left\n"


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_termination_is_an_interrupt_and_one_more_is_silent(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reporting(monkeypatch, lambda: signal.raise_signal(number)) == 130
    signal.raise_signal(signal.SIGINT)
    assert capsys.readouterr().err == "sparring: interrupted\n"


@pytest.mark.usefixtures("signals")
def test_one_more_interrupt_disturbs_no_cleanup_unless_the_first_was_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    done = []

    def interrupted() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGTERM)
            done.append("torn down")

    def lost() -> None:
        with suppress(KeyboardInterrupt):
            interrupted()
        monkeypatch.setattr(time, "monotonic", lambda: math.inf)
        signal.raise_signal(signal.SIGINT)

    assert reporting(monkeypatch, interrupted) == 130
    signal.signal(signal.SIGINT, signal.default_int_handler)
    assert reporting(monkeypatch, lost) == 130
    assert done == ["torn down"] * 2


@pytest.mark.usefixtures("signals")
def test_termination_waits_for_a_write(monkeypatch: pytest.MonkeyPatch) -> None:
    done = []

    def write() -> None:
        with interrupts_deferred():
            signal.raise_signal(signal.SIGTERM)
            done.append("written")
        done.append("not reached")

    assert reporting(monkeypatch, write) == 130
    assert done == ["written"]


@pytest.mark.usefixtures("signals")
def test_in_the_background_only_termination_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell starts a background process
    assert reporting(monkeypatch, lambda: signal.raise_signal(signal.SIGINT)) == 0
    assert reporting(monkeypatch, lambda: signal.raise_signal(signal.SIGTERM)) == 130


@pytest.mark.usefixtures("signals")
def test_signals_are_left_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    assert reporting(monkeypatch, lambda: None) == 0
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_a_rate_is_shown_on_one_line() -> None:
    shown = {"rate": 0.5, "low": 0.4, "high": 0.6, "n": 100}
    unknown = {"rate": None, "low": None, "high": None, "n": 0}
    bare = {"rate": 0.5, "low": None, "high": None, "n": 7}
    other = {"rate": 0.5, "n": 100}
    assert _lines({"prompts": shown, "by_size": {"2x2": unknown, "3x3": bare}, "other": other}) == [
        "prompts  0.500 (0.400-0.600, n = 100)",
        "by_size",
        "  2x2  not measured (n = 0)",
        "  3x3  0.500 (n = 7)",
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
