"""The two steps on a run of the micro recipe that was never trained, and bad input."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from sparring import backbones, training
from sparring.config import Recipe, load_recipe
from sparring.environments import load_environment
from sparring.errors import UserError
from sparring.evaluation import runner, subject
from sparring.evaluation.benchmarks import BENCHMARKS
from sparring.evaluation.heldout_replay import heldout_set
from sparring.evaluation.stored import Stop
from sparring.runs.folder import RunFolder
from sparring.tasks import PromptPack

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the micro recipe with no round and a backbone that was warmed up for two steps."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARRING_CACHE", str(folder / "cache"))
        overrides = ["rounds=0", "backbone.warm_up_steps=2", "evaluation.levels=1", "evaluation.tasks_per_level=1"]
        recipe = load_recipe(ROOT / "recipes" / "lure-micro.toml", overrides)
        return training.train(recipe, folder / "run", Console(file=io.StringIO()))


@pytest.fixture
def cache(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run's own backbone, kept from making."""
    monkeypatch.setenv("SPARRING_CACHE", str(run.parent / "cache"))


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.usefixtures("cache")
def test_a_micro_run_is_measured_on_heldout_tasks_and_says_so(run: Path, tmp_path: Path) -> None:
    said = io.StringIO()
    results = runner.evaluate(str(run), ["phantom_wiki", "zebralogic"], 7, tmp_path, Console(file=said, width=200))
    assert list(results) == ["phantom_wiki", "zebralogic_heldout"]
    assert "so zebralogic_heldout is measured instead" in said.getvalue()
    assert "not the official puzzles" in said.getvalue()
    for name, scores in results.items():
        rows = read(tmp_path / f"{name}.jsonl")
        assert len(rows) == scores["n"] == 7
        # The compact pack has only four grids of the smallest size.
        assert scores["without_reply"] == (113 if name == "phantom_wiki" else 97)
        assert scores["round"] == 0
        assert {row["id"].split("-")[1] for row in rows} == {"0.00", "0.20", "0.40", "0.60", "0.80", "1.00"}
        assert all(row["text"].startswith("Plan: ") and row["tokens"] > 0 for row in rows)
        assert {row["stop"] for row in rows} <= set(Stop)
        assert json.loads((tmp_path / f"{name}.json").read_text()) == scores
        assert scores | runner.score(tmp_path / f"{name}.jsonl", name, "official") == scores


@pytest.mark.usefixtures("cache")
def test_scores_come_from_the_stored_turns_alone(run: Path, tmp_path: Path) -> None:
    """What the untrained policy wrote fails; its file with the solutions written in is captured."""
    runner.evaluate(str(run), ["ifeval"], 6, tmp_path, Console(file=io.StringIO()))
    file = tmp_path / "ifeval_heldout.jsonl"
    rows = read(file)
    environment = load_environment("ifeval", rows[0]["settings"], PromptPack.COMPACT)
    tasks = heldout_set(environment, 6, 20)
    for row in rows[:2]:
        row |= {"turns": environment.solve(tasks[row["id"]].task).turns, "stop": "end"}
    for row in rows[2:]:
        row |= {"turns": []}
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    scores = runner.score(file, "ifeval_heldout", "official")
    assert scores["metrics"]["capture"]["rate"] == 2 / 6
    assert scores["no_answer"] == 4


@pytest.mark.usefixtures("cache")
def test_the_verifier_says_the_same_at_the_rollout_and_at_its_replay(run: Path) -> None:
    card = BENCHMARKS["ifeval_heldout"]
    loaded = subject.load_subject(str(run), subject.recipe_of(str(run)), [card], Console(file=io.StringIO()))
    assert set(loaded.engine.policies) == {"planner", "executor"}  # type: ignore[attr-defined]
    environment = loaded.environments["ifeval"]
    tasks = dict(list(heldout_set(environment, 6, 20).items())[:60])
    groups = loaded.pursuers.pursue([each.task for each in tasks.values()], 1, 0)
    for each, group in zip(tasks.values(), groups, strict=True):
        (trajectory,) = group.trajectories
        episode = environment.start(each.task)
        for number, turn in enumerate(trajectory.turns, start=1):
            episode.last_turn = number == len(trajectory.turns)
            verdict = environment.step(episode, turn.text)
        assert (verdict.progress, verdict.captured) == (trajectory.progress, trajectory.captured)


def test_generations_are_never_overwritten(run: Path, tmp_path: Path) -> None:
    (tmp_path / "phantom_wiki.jsonl").write_text("dear\n")
    with pytest.raises(UserError, match=r"phantom_wiki\.jsonl exists; remove it, or give another --out"):
        runner.evaluate(str(run), ["phantom_wiki"], 1, tmp_path, Console(file=io.StringIO()))
    assert (tmp_path / "phantom_wiki.jsonl").read_text() == "dear\n"


@pytest.mark.usefixtures("cache")
def test_default_folder_is_beside_the_run_and_the_first_free(run: Path) -> None:
    for folder in ("eval", "eval-2"):
        runner.evaluate(str(run), ["phantom_wiki"], 1, None, Console(file=io.StringIO()))
        assert (run / folder / "phantom_wiki.jsonl").is_file()


def test_what_cannot_be_evaluated_is_refused_before_anything_loads(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARRING_CACHE", str(tmp_path / "cache"))
    console = Console(file=io.StringIO())
    with pytest.raises(UserError, match="the nearest is ifeval"):
        runner.evaluate(str(run), ["ifevl"], None, None, console)
    with pytest.raises(UserError, match="micro is the micro backbone, which reads no natural language"):
        runner.evaluate("micro", ["ifeval"], None, None, console)
    with pytest.raises(UserError, match="'nosuch' is neither a run folder"):
        runner.evaluate("nosuch", ["phantom_wiki"], None, tmp_path / "out", console)
    kin = Recipe(name="kin", environments={"phantom_wiki": {}})
    RunFolder.create(tmp_path / "begun", kin).close()
    with pytest.raises(UserError, match="begun has no complete checkpoint yet"):
        runner.evaluate(str(tmp_path / "begun"), ["phantom_wiki"], None, None, console)
    with pytest.raises(UserError, match=r"'zebralogic_heldout' needs the environment zebra_logic, and the recipe of"):
        runner.evaluate(str(tmp_path / "begun"), ["zebralogic_heldout"], None, None, console)
    monkeypatch.setenv("SPARRING_DATA", str(tmp_path))
    with pytest.raises(UserError, match=r"zebralogic\.jsonl does not exist; set SPARRING_DATA"):
        runner.evaluate(str(tmp_path / "begun"), ["zebralogic"], None, None, console)
    assert not (tmp_path / "cache").exists()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("target", ["demoo", "runs/demoo", "runs/", "runs/dem\udcff", "toy.toml", "x" * 80, ""])
def test_a_mistyped_run_is_told_the_nearest_without_the_hub(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(backbones, "snapshot_download", lambda *_, **__: pytest.fail("asked the hub"))
    with pytest.raises(UserError, match=r"is neither a run folder .* give a run, a model folder, smollm2 or a hub id"):
        subject.recipe_of(target)
    kin = Recipe(name="kin", environments={"phantom_wiki": {}})
    for name in ("demo", "other"):
        RunFolder.create(tmp_path / "runs" / name, kin).close()
    with pytest.raises(UserError, match=r"is neither a run folder .* the nearest run is runs/(demo|other)"):
        subject.recipe_of(target)


def test_hub_ids_and_model_folders_go_to_the_loader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    for target in ("org/name", "smollm2", "model", "./model", str(tmp_path / "model")):
        assert subject.recipe_of(target).backbone.name == target


def test_a_line_that_nests_without_end_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "deep.jsonl"
    file.write_text("[" * 200_000)
    with pytest.raises(UserError, match="line 1 nests too deeply"):
        runner.score(file, "phantom_wiki", "official")


@pytest.mark.official_data
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no generations"),
        ("\n\n", "holds no generations"),
        ('{"id": 1000, "text": ""}\n\n{"id"', "line 3 is not JSON"),
        ("[1]\n", "line 1 is a list"),
        ('{"id": 1000}\n', r"line 1 has no 'text', only \['id'\]"),
        ('{"text": "a"}\n', "line 1 has no 'id'"),
        ('{"id": 1.5, "text": "a"}\n', "line 1: id = 1.5 is not accepted"),
        ('{"id": true, "text": "a"}\n', "line 1: id = True is not accepted"),
        ('{"id": 1000, "text": null}\n', "line 1: text = None is not accepted"),
        ('{"id": 1000, "text": "", "stop": "eos"}\n', "line 1: stop = 'eos' is not accepted"),
        ('{"id": 1000, "text": ""}\n{"id": "1000", "text": ""}\n', "line 2: id '1000' is given twice"),
        ('{"id": 7, "text": ""}\n', "line 1: id '7' is none of the 541 ids of ifeval, such as '1000'"),
    ],
)
def test_a_bad_file_is_refused_by_its_line(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(content)
    with pytest.raises(UserError, match=message) as refused:
        runner.score(file, "ifeval", "official")
    assert "\n" not in str(refused.value)


def test_a_missing_or_unreadable_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.jsonl does not exist"):
        runner.score(tmp_path / "none.jsonl", "ifeval", "official")
    with pytest.raises(UserError, match="cannot be read"):
        runner.score(tmp_path, "ifeval", "official")


@pytest.mark.official_data
def test_line_separators_inside_a_text_end_no_line(tmp_path: Path) -> None:
    file = tmp_path / "odd.jsonl"
    file.write_text(json.dumps({"id": 1001, "text": "a\u2028b\x85c"}, ensure_ascii=False) + "\n", encoding="utf-8")
    assert runner.score(file, "ifeval", "official")["n"] == 1
