"""The run folder: taken folders, locks, other recipes, resume after any kill (cases B56, B58)."""

from __future__ import annotations

import errno
import json
import logging
import os
import random
import shutil
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import pytest
from rich.console import Console

from sparring.config import Recipe, recipe_from
from sparring.errors import UserError
from sparring.runs.checkpoint import newest_checkpoint
from sparring.runs.folder import RunFolder, read_metrics
from sparring.runs.origin import read_recipe
from sparring.training import resume

ROUNDS = 4
KILLS = [(1, moment) for moment in range(1, 124, 17)] + [(2, moment) for moment in (20, 58, 90)]
"""Rounds between checkpoints, and the write at which to die; the runs make 123 and 93 writes."""
INPUTS = {"compact/evader.j2": "rate {{ hint }}"}


def recipe(**changes: Any) -> Recipe:
    return recipe_from({"name": "toy", "rounds": ROUNDS, "environments": {"kin": {"hops": 2}}} | changes)


class ToyRun:
    """A driver with the order of writes of a real run and a state that depends on every round."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.weight = 1.0
        self.rng = random.Random(folder.recipe.seed)
        if folder.latest:
            self.weight = json.loads((folder.latest.weights / "policy.json").read_text())
            version, internal, gauss = folder.latest.state["rng"]
            self.rng.setstate((version, tuple(internal), gauss))

    def save(self, weights: Path) -> None:
        (weights / "policy.json").write_text(json.dumps(self.weight))

    def run(self, rounds: int) -> None:
        for number in range(len(self.folder.rows), rounds + 1):
            task = self.rng.randrange(10**9)
            self.weight = self.weight * 0.7 + task / 10**9
            row = {"round": number, "weight": self.weight, "rollouts": number}
            if number:
                self.folder.write_rollouts(number, [{"task": task, "text": "a\u2028b\ud800"}])
                self.folder.write_emissions(number, [{"task": task}])
            if number % self.folder.recipe.checkpoint.every == 0:
                self.folder.checkpoint(number, row, {"rng": self.rng.getstate()}, self.save)
            self.folder.append_metrics(row)


def outcome(path: Path) -> dict[str, bytes]:
    """Everything a run leaves, by name: rows, tasks, checkpoints with weights and hashes."""
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


def straight(path: Path, given: Recipe) -> dict[str, bytes]:
    with RunFolder.create(path, given, INPUTS) as folder:
        ToyRun(folder).run(given.rounds)
    return outcome(path)


def test_new_folder_records_recipe_versions_and_hashes(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "a" / "run", recipe(seed=5), INPUTS) as folder:
        assert read_recipe(folder.path) == recipe(seed=5)
        versions = json.loads((folder.path / "versions.json").read_text())
        assert set(versions) == {"python", "platform", "packages"}
        assert {"torch", "transformers", "numpy", "sparring"} <= set(versions["packages"])
        hashes = json.loads((folder.path / "hashes.json").read_text())
        assert list(hashes) == ["compact/evader.j2"]
        assert len(hashes["compact/evader.j2"]) == 64


def test_taken_folders_are_refused_and_left_alone(tmp_path: Path) -> None:
    run, other = tmp_path / "run", tmp_path / "other"
    before = straight(run, recipe())
    with pytest.raises(UserError, match=r"--resume .*run or give another --out"):
        RunFolder.create(run, recipe())
    assert outcome(run) == before
    other.mkdir()
    (other / "letter.txt").write_text("dear")
    with pytest.raises(UserError, match="other is not empty"):
        RunFolder.create(other, recipe())
    assert list(other.iterdir()) == [other / "letter.txt"]
    with pytest.raises(UserError, match="cannot be written"):
        RunFolder.create(other / "letter.txt" / "run", recipe())


def test_missing_input_makes_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"words\.txt cannot be read"):
        RunFolder.create(tmp_path / "run", recipe(), {"words": tmp_path / "words.txt"})
    assert not (tmp_path / "run").exists()


def test_second_process_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run"
    folder = RunFolder.create(path, recipe())
    with pytest.raises(UserError, match="in use by another sparring process"):
        RunFolder.resume(path)
    folder.close()
    RunFolder.resume(path).close()


def test_resume_continues_like_the_straight_run(tmp_path: Path) -> None:
    """B56: stopped after 3 rounds, resumed for the rest: same hashes, tasks, rows and weights."""
    whole = straight(tmp_path / "whole", recipe(rounds=8))
    with RunFolder.create(tmp_path / "parts", recipe(rounds=8), INPUTS) as folder:
        ToyRun(folder).run(3)
    with RunFolder.resume(tmp_path / "parts") as folder:
        assert folder.latest is not None
        assert folder.latest.round == 3
        ToyRun(folder).run(8)
    assert outcome(tmp_path / "parts") == whole


@pytest.mark.parametrize(("every", "moment"), KILLS)
def test_killed_at_any_moment_then_resumed_equals_the_straight_run(tmp_path: Path, every: int, moment: int) -> None:
    """SIGKILL at one write to the disk or another, as `kill -9` would come."""
    given = recipe(checkpoint={"every": every})
    whole = straight(tmp_path / "whole", given)
    path = tmp_path / "killed"
    child = os.fork()
    if child == 0:
        die_at_write(moment)
        straight(path, given)
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    if (path / "recipe.toml").exists():
        with RunFolder.resume(path) as folder:
            ToyRun(folder).run(ROUNDS)
    else:
        straight(path, given)  # killed before it was a run: the same folder can be used again
    assert outcome(path) == whole


def die_at_write(moment: int) -> None:
    """From now on the process kills itself at its `moment`-th fsync or rename."""
    left = moment

    def counted(real: Any) -> Any:
        def call(*arguments: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments)

        return call

    os.fsync, os.replace = counted(os.fsync), counted(os.replace)


def test_torn_checkpoint_is_passed_over_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """B58: round_0004 without its marker: resume from round_0003, say so, and end up the same."""
    path = tmp_path / "run"
    before = straight(path, recipe())
    (path / "checkpoints" / "round_0004" / "COMPLETE").unlink()
    with caplog.at_level(logging.WARNING), RunFolder.resume(path) as folder:
        assert folder.latest is not None
        assert folder.latest.round == 3
        assert [row["round"] for row in read_metrics(path)] == [0, 1, 2, 3]
        assert not (path / "rollouts" / "round_0004.jsonl").exists()
        ToyRun(folder).run(ROUNDS)
    assert "round_0004 is torn (no COMPLETE marker)" in caplog.text
    assert outcome(path) == before


@pytest.mark.parametrize(
    ("damage", "flaw"),
    [
        (lambda weights: weights.write_text("1.5"), "another size"),
        (lambda weights: weights.write_bytes(weights.read_bytes()[::-1]), "other content"),
        (lambda weights: weights.unlink(), "is missing"),
    ],
)
def test_damaged_weights_are_never_read(
    tmp_path: Path, damage: Any, flaw: str, caplog: pytest.LogCaptureFixture
) -> None:
    straight(tmp_path, recipe())
    damage(tmp_path / "checkpoints" / "round_0004" / "weights" / "policy.json")
    latest = newest_checkpoint(tmp_path / "checkpoints")
    assert latest is not None
    assert latest.round == 3
    assert flaw in caplog.text


def test_only_the_newest_checkpoints_are_kept(tmp_path: Path) -> None:
    straight(tmp_path, recipe(checkpoint={"keep": 3}))
    assert sorted(path.name for path in (tmp_path / "checkpoints").iterdir()) == [
        "round_0002",
        "round_0003",
        "round_0004",
    ]


def test_other_recipe_is_refused_with_the_differences(tmp_path: Path) -> None:
    before = straight(tmp_path, recipe())
    other = recipe(seed=9, environments={"kin": {"hops": 3}, "grid": {}})
    with pytest.raises(UserError) as refusal:
        RunFolder.resume(tmp_path, other)
    for difference in ("seed: 0 in the run, 9 given", "environments.kin.hops: 2 in the run, 3 given", "grid: absent"):
        assert difference in str(refusal.value)
    assert "rounds:" not in str(refusal.value)
    assert outcome(tmp_path) == before


def test_rounds_may_grow_but_not_fall_behind(tmp_path: Path) -> None:
    whole = straight(tmp_path / "whole", recipe(rounds=6))
    straight(tmp_path / "run", recipe(rounds=4))
    with RunFolder.resume(tmp_path / "run", recipe(rounds=6)) as folder:
        ToyRun(folder).run(6)
    assert outcome(tmp_path / "run") == whole
    with pytest.raises(UserError, match=r"rounds = 5, but .* has done 6"):
        RunFolder.resume(tmp_path / "run", recipe(rounds=5))


def test_a_run_that_ends_at_a_budget_is_resumed_whatever_its_rounds_say(tmp_path: Path) -> None:
    """`rounds` is not read there, and its default is soon behind."""
    given = recipe(rounds=1, budget={"rollouts": 80})
    with RunFolder.create(tmp_path / "run", given, INPUTS) as folder:
        ToyRun(folder).run(3)
    with RunFolder.resume(tmp_path / "run") as folder:
        assert folder.latest is not None
        assert folder.latest.round == 3
    with pytest.raises(UserError, match=r"rounds = 9 is not read: .*run ends at budget.rollouts = 80; leave it out"):
        resume(tmp_path / "run", 9, Console(quiet=True))


def test_run_without_checkpoint_starts_again(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, recipe()) as folder:
        folder.write_rollouts(1, [{"task": 1}])
    with RunFolder.resume(tmp_path) as folder:
        assert folder.latest is None
        assert folder.rows == []
        assert read_metrics(tmp_path) == []
        assert list((tmp_path / "rollouts").iterdir()) == []


def test_finished_rounds_whose_checkpoints_are_lost_are_not_thrown_away(tmp_path: Path) -> None:
    straight(tmp_path, recipe())
    shutil.rmtree(tmp_path / "checkpoints")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(UserError, match="rows of metrics but no complete checkpoint"):
        RunFolder.resume(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_resume_says_what_changed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    straight(tmp_path, recipe())
    with RunFolder.resume(tmp_path) as folder:
        folder.check_inputs(INPUTS)
        assert caplog.text == ""
        folder.check_inputs({**INPUTS, "compact/evader.j2": "other"})
    assert "compact/evader.j2 has changed since this run began" in caplog.text


@pytest.mark.parametrize("now", [{"backbone/model.safetensors": "other"}, {}, {"backbone/added.py": "code"}])
def test_another_backbone_is_refused(tmp_path: Path, now: dict[str, str | Path]) -> None:
    began: dict[str, str | Path] = {**INPUTS, "backbone/model.safetensors": "weights"}
    with RunFolder.create(tmp_path, recipe(), began) as folder:
        folder.check_inputs(began)
        with pytest.raises(UserError, match=r"begun with another backbone: sha256 of backbone/"):
            folder.check_inputs({**INPUTS, **now})
        folder.check_inputs({**began, "backbone/config.json": "of another version", "backbone/notes.txt": "mine"})
        (tmp_path / "hashes.json").unlink()
        folder.check_inputs({**INPUTS, **now})


def test_resume_needs_a_run_and_all_its_rows(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no run"):
        RunFolder.resume(tmp_path / "nothing")
    straight(tmp_path / "run", recipe())
    metrics = tmp_path / "run" / "metrics.jsonl"
    lines = metrics.read_text().splitlines(keepends=True)
    metrics.write_text("".join(lines[:1] + lines[2:]))
    with pytest.raises(UserError, match="no row of round 1"):
        RunFolder.resume(tmp_path / "run")
    metrics.write_text("{broken\n")
    with pytest.raises(UserError, match="line 1 is no row of a round; restore the file"):
        RunFolder.resume(tmp_path / "run")


def full(*_: Any) -> NoReturn:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_full_disk_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(UserError, match="disk full"):
            RunFolder.create(path, recipe())
    assert not path.exists()

    before = straight(path, recipe())
    with RunFolder.resume(path) as folder, monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(UserError, match="disk full"):
            folder.write_rollouts(5, [{"task": 1}])
        with pytest.raises(UserError, match="disk full"):
            folder.append_metrics({"round": 5, "rollouts": 5})
        with pytest.raises(UserError, match="disk full"):
            folder.checkpoint(5, {}, {}, lambda weights: None)
    assert outcome(path) == before


def test_full_disk_is_found_behind_a_library_s_own_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def opaque(weights: Path) -> None:
        (weights / "half").write_text("half")
        monkeypatch.setattr(os, "fsync", full)
        raise RuntimeError("file write failed")

    with RunFolder.create(tmp_path, recipe()) as folder, pytest.raises(UserError, match="disk full"):
        folder.checkpoint(1, {}, {}, opaque)
    assert list((tmp_path / "checkpoints").iterdir()) == []


def test_failing_save_that_is_no_full_disk_stays_itself(tmp_path: Path) -> None:
    def broken(weights: Path) -> None:
        raise RuntimeError("tensor has no storage")

    with RunFolder.create(tmp_path, recipe()) as folder, pytest.raises(RuntimeError, match="no storage"):
        folder.checkpoint(1, {}, {}, broken)
    assert list((tmp_path / "checkpoints").iterdir()) == []


def test_interrupt_waits_for_the_checkpoint_in_hand(tmp_path: Path) -> None:
    def interrupted(weights: Path) -> None:
        signal.raise_signal(signal.SIGINT)
        (weights / "policy.json").write_text("2.0")

    row: Mapping[str, Any] = {"round": 0, "rollouts": 0}
    with RunFolder.create(tmp_path, recipe()) as folder, pytest.raises(KeyboardInterrupt):
        folder.checkpoint(0, row, {"step": 1}, interrupted)
    with RunFolder.resume(tmp_path) as folder:
        assert folder.latest is not None
        assert folder.latest.state == {"step": 1}
        assert (folder.latest.weights / "policy.json").read_text() == "2.0"
        assert folder.rows == [row]
