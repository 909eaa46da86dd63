"""What README and docs say is so: links, commands, names, and the whole page on environments."""

from __future__ import annotations

import importlib
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sparring as sp
from sparring.cli import main, make_parser, split_overrides
from sparring.environments import base, load_environment
from sparring.evaluation.benchmarks import benchmark

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
README = PAGES[0].read_text(encoding="utf-8")
PAPER_MAP = (ROOT / "docs" / "paper_map.md").read_text(encoding="utf-8")
ENVIRONMENTS = (ROOT / "docs" / "environments.md").read_text(encoding="utf-8")
CHEAP = (
    "rounds=1",
    "backbone.warm_up_steps=2",
    "placement.slots=1",
    "placement.samples=2",
    "method.group_size=2",
    "evaluation.levels=2",
    "evaluation.tasks_per_level=1",
)


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)


def commands(page: str) -> list[list[str]]:
    lines = (line for block in blocks(page, "sh") for line in block.splitlines())
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def resolve(name: str) -> Any:
    """The object of a dotted name, whose first parts are modules."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            found = getattr(found, part)
        return found
    raise AttributeError(name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        assert target.startswith("https://") or (page.parent / target.partition("#")[0]).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_named_in_prose_exist(page: Path) -> None:
    for name in re.findall(r"`((?:recipes|tests|docs|src|benchmarks)/[\w./-]*\w)`", page.read_text(encoding="utf-8")):
        assert (ROOT / name).exists(), name


def test_readme_names_every_recipe() -> None:
    named = set(re.findall(r"^\| `(recipes/[^`]+)` \|", README, flags=re.MULTILINE))
    files = {f"recipes/{path.name}" for path in (ROOT / "recipes").glob("*.toml")}
    assert named == files | {f"recipes/{path.parent.name}/" for path in (ROOT / "recipes").glob("*/*.toml")}


def test_make_targets_exist() -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    named = [words[1] for words in commands(README) if words[0] == "make"]
    assert named == ["demo", "test"]
    assert set(named) <= set(targets)


@pytest.mark.parametrize("words", [words for words in commands(README) if words[0] == "sparring"], ids=" ".join)
def test_commands_of_the_readme_are_understood(words: list[str]) -> None:
    arguments, overrides = words[1:], list[str]()
    if arguments[0] == "train":
        own, overrides = split_overrides(arguments[1:])
        arguments = ["train", *own]
    given = make_parser().parse_args(arguments)
    if given.verb == "train":
        recipe = sp.load(ROOT / (given.recipe or "recipes/lure-micro.toml"), overrides)
        for name, settings in recipe.environments.items():
            load_environment(name, settings, recipe.prompts.pack)
    for name in getattr(given, "benchmarks", []) + ([given.benchmark] if given.verb == "score" else []):
        assert benchmark(name).name == name


def test_readme_shows_every_verb() -> None:
    shown = {words[1] for words in commands(README) if words[0] == "sparring"}
    assert shown == {"train", "lab", "eval", "score", "report", "recredit", "play", "theory", "doctor"}


def test_python_of_the_readme_uses_names_and_keys_that_exist() -> None:
    [block] = blocks(README, "python")
    assert set(re.findall(r"\bsp\.(\w+)", block)) <= set(sp.__all__)
    [overrides] = re.findall(r"overrides=(\[.*?\])", block)
    assert sp.load(ROOT / "recipes" / "lure-micro.toml", json.loads(overrides)).rounds == 20
    compile(block, "README.md", "exec")


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(sparring(?:\.\w+)+)`", PAPER_MAP))))
def test_names_of_the_paper_map_exist(name: str) -> None:
    assert resolve(name) is not None


def test_paper_map_is_whole() -> None:
    for number in (1, 2, 3, 4, 5, 6, 7):
        assert f"| Eq. {number} |" in PAPER_MAP
    for line in (1, 2, 3, 4, 5):
        assert f"\n| {line} | " in PAPER_MAP
    with pytest.raises(AttributeError):
        resolve("sparring.credit.no_such_function")


def test_public_names_exist_and_load_nothing_before_use() -> None:
    assert all(getattr(sp, name) is not None for name in sp.__all__)
    assert set(sp.__all__) <= set(dir(sp))
    with pytest.raises(AttributeError, match="no attribute 'trane'"):
        _ = sp.trane
    program = "import sys, json, sparring; print(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout)
    assert not {"torch", "transformers", "numpy", "pydantic", "rich"} & set(loaded)


@pytest.fixture(scope="module")
def countdown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The first two blocks of docs/environments.md as a module; the second proves it."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "countdown.py").write_text("\n".join(blocks(ENVIRONMENTS, "python")[:2]), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setattr(base, "_registry", dict(base._registry))  # no other test shall see this environment
        yield importlib.import_module("countdown")
        del sys.modules["countdown"]


def play(environment: Any, task: sp.Task[Any], turns: Sequence[str]) -> sp.Verdict:
    """The verdict on the last of these turns."""
    episode = environment.start(task)
    for number, turn in enumerate(turns, start=1):
        episode.last_turn = number == len(turns)
        verdict: sp.Verdict = environment.step(episode, turn)
    return verdict


@pytest.mark.parametrize("pack", list(sp.PromptPack))
def test_countdown_is_proved(countdown: Any, pack: sp.PromptPack) -> None:
    """As the page has it, with more tasks; and the proof sees what the page says that it sees."""
    settings = countdown.CountdownSettings()
    assert len(sp.prove(countdown.Countdown(settings, pack), tasks=50)) == 6

    class Flawed(countdown.Countdown):  # type: ignore[misc]
        def step(self, episode: Any, action: str) -> sp.Verdict:
            verdict: sp.Verdict = super().step(episode, action)
            return replace(verdict, observation="right" if episode.right == episode.turns else "wrong")

    with pytest.raises(sp.InvalidTaskError, match=f"countdown, {pack} pack, difficulty .*: the secret leaks"):
        sp.prove(Flawed(settings, pack), tasks=20)


@pytest.mark.parametrize("pack", list(sp.PromptPack))
def test_countdown_keeps_the_rules(countdown: Any, pack: sp.PromptPack) -> None:
    environment = countdown.Countdown(countdown.CountdownSettings(), pack)
    signatures, words = set(), set(environment.compact_words())
    for seed in range(60):
        task = environment.generate(seed / 59, seed)
        signatures.add(environment.signature(task))
        turns = environment.solve(task).turns
        assert not play(environment, task, [*turns[:-1], "1000"]).captured
        other = environment.with_other_secret(task, seed)
        assert other.public == task.public
        assert play(environment, other, turns).progress == 0.0
        if pack is sp.PromptPack.COMPACT:
            assert words >= {*task.public.statement.split(), *turns, *environment.solve(task).stages}
    assert len(signatures) >= 4


def test_countdown_trains_from_python(
    countdown: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPARRING_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    [recipe] = blocks(ENVIRONMENTS, "toml")
    Path("countdown.toml").write_text(recipe, encoding="utf-8")
    result = sp.train(sp.load("countdown.toml", CHEAP))
    assert result.folder == Path("runs/countdown")
    assert result.summary["rollouts"] <= 4
    assert result.summary["heldout_after"]["countdown"]["n"] == 2
    assert "countdown" in (result.folder / "report.html").read_text(encoding="utf-8")
    with pytest.raises(sp.UserError, match="already holds a run"):
        sp.train(sp.load("countdown.toml", CHEAP), result.folder)
    assert sp.resume(result.folder, rounds=2).summary["rollouts"] >= result.summary["rollouts"]
    rows = (result.folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(row)["round"] for row in rows] == [0, 1, 2]


def test_environments_page_runs_as_printed() -> None:
    last = blocks(ENVIRONMENTS, "python")[-1]
    assert 'sp.train(sp.load("countdown.toml"))' in last
    assert set(re.findall(r"\bsp\.(\w+)", ENVIRONMENTS)) <= set(sp.__all__)


def test_dry_run_of_the_readme(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    [words] = [words for words in commands(README) if words[1] == "train" and "--dry-run" in words]
    assert main(words[1:]) == 0
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if len(line.split()) == 2]
    plan = dict(reversed(lines))  # the round's counts come before those of the run
    recipe = sp.load("recipes/lure-micro.toml")
    tasks = recipe.placement.slots * recipe.placement.samples * len(recipe.environments)
    assert plan["emitted"] == str(tasks)
    assert plan["total_rollouts"] == str(tasks * recipe.method.group_size)
