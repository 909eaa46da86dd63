"""A small suite end to end: runs, table, page, resuming, and runs that fail."""

import fcntl
import json
import shutil
from pathlib import Path

import pytest

from sparring.cli import main
from sparring.lab.figures import common_curves, mean_course
from sparring.lab.queue import is_finished, last_line, run_queue
from sparring.lab.results import ALL, Line, Point, RunResult, lines_of, run_result
from sparring.lab.statistics import Mean, mean_interval
from sparring.lab.suite import Suite, jobs_of, load_suite
from sparring.lab.tables import interval

ROOT = Path(__file__).parents[2]
TINY = f"""
name = "tiny"
title = "A <tiny> suite"
recipe = "{ROOT / "recipes" / "lure-micro.toml"}"
seeds = [1, 2]
reference = "uniform"

[overrides]
rounds = 2
backbone.warm_up_steps = 2
placement.slots = 1
placement.samples = 2
method.group_size = 2
evaluation.levels = 2
evaluation.tasks_per_level = 1

[[arms]]
name = "base"
overrides = {{ rounds = 0 }}

[[arms]]
name = "uniform"
overrides = {{ placement.name = "uniform" }}
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a suite that was run, the suite beside it; tests that change it copy it first."""
    place = tmp_path_factory.mktemp("lab")
    (place / "tiny.toml").write_text(TINY, encoding="utf-8")
    assert main(["lab", str(place / "tiny.toml"), "--out", str(place / "out"), "--jobs", "2"]) == 0
    return place / "out"


@pytest.fixture(scope="module")
def suite_file(finished: Path) -> Path:
    return finished.parent / "tiny.toml"


def test_every_run_has_its_folder_and_the_suite_its_results(finished: Path) -> None:
    results = json.loads((finished / "results.json").read_text(encoding="utf-8"))
    base, uniform = results["lines"]
    assert (base["arm"], uniform["arm"]) == ("base", "uniform")
    assert [run["seed"] for run in uniform["runs"]] == [1, 2]
    assert [run["points"][-1]["rollouts"] for run in uniform["runs"]] == [24, 24]  # 3 environments, 2 tasks, G = 2
    assert [run["ledger"]["total_rollouts"] for run in base["runs"]] == [0, 0]
    assert (uniform["difference"], base["difference"]["mean"]["n"]) == (None, 2)
    assert results["failures"] == {}
    table = (finished / "table.md").read_text(encoding="utf-8")
    assert "| base | 2 |" in table
    assert "Failed" not in table
    page = (finished / "suite.html").read_text(encoding="utf-8")
    assert "A &lt;tiny&gt; suite" in page
    assert page.count("<svg") == 6
    assert "http" not in page.replace("http://www.w3.org", "").replace("http-equiv", "")


def test_a_finished_suite_starts_nothing(
    finished: Path, suite_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("subprocess.Popen", None)
    before = (finished / "results.json").read_bytes()
    assert main(["lab", str(suite_file), "--out", str(finished)]) == 0
    assert (finished / "results.json").read_bytes() == before
    assert "missing" not in capsys.readouterr().out


def test_a_run_that_was_broken_off_is_resumed_to_the_same_end(finished: Path, suite_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(finished, out)
    run = out / "runs" / "uniform" / "seed-1"
    rows = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    (run / "summary.json").unlink()
    shutil.rmtree(run / "checkpoints" / "round_0002", ignore_errors=True)
    (run / "metrics.jsonl").write_text("\n".join(rows[:2]) + "\n", encoding="utf-8")
    assert main(["lab", str(suite_file), "--out", str(out), "--only", "uniform", "--seeds", "1"]) == 0
    again = json.loads((run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    once = json.loads(rows[-1])
    for row in (again, once):
        del row["seconds"], row["cpu_seconds"]
    assert again == once


def test_a_folder_of_another_recipe_is_refused(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = finished.parent / "other.toml"
    other.write_text(TINY.replace("group_size = 2", "group_size = 4"), encoding="utf-8")
    assert main(["lab", str(other), "--out", str(finished)]) == 2
    said = capsys.readouterr().err
    assert "method.group_size: 2 in the run, 4 given); remove that folder or give another --out" in said
    assert said.count("\n") == 1


def test_a_run_that_fails_is_shown_and_the_others_go_on(finished: Path, suite_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(finished, out)
    broken = out / "runs" / "uniform" / "seed-2"
    shutil.rmtree(broken)
    broken.mkdir()
    (broken / "notes.txt").write_text("somebody's", encoding="utf-8")
    assert main(["lab", str(suite_file), "--out", str(out)]) == 1
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert list(results["failures"]) == ["uniform/seed-2"]
    assert "is not empty and holds no run" in results["failures"]["uniform/seed-2"]
    assert [len(line["runs"]) for line in results["lines"]] == [2, 1]
    assert results["lines"][0]["difference"]["mean"]["n"] == 1  # over the seed that both have


def test_a_run_held_by_another_process_is_waited_for_then_counted(finished: Path, suite_file: Path) -> None:
    suite, path = load_suite(suite_file)
    job = jobs_of(suite, path)[1]
    run = finished / "runs" / job.name
    (run / "summary.json").rename(run / "kept.json")
    try:
        with (run / "lock").open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            seen: list[int] = []
            failures = run_queue([job], finished / "runs", 1, 0.0, lambda running, _: seen.append(len(running)))
    finally:
        (run / "kept.json").rename(run / "summary.json")
    assert failures == {job.name: "another process held its folder for 0 minutes"}
    assert seen[0] == 0
    assert is_finished(run, job)


def test_two_labs_in_one_folder_are_refused(
    finished: Path, suite_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (finished / "lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert main(["lab", str(suite_file), "--out", str(finished)]) == 2
    assert "in use by another sparring process" in capsys.readouterr().err


def test_dry_run_writes_nothing(
    suite_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["lab", str(suite_file), "--dry-run", "--seeds", "2"]) == 0
    said = capsys.readouterr().out
    assert "tiny: 2 runs; seeds 2" in said
    assert "base: 0 rollouts; rounds = 0" in said
    assert "uniform: 24 rollouts; the reference" in said
    assert list(tmp_path.iterdir()) == []


def point(number: int, rollouts: int, heldout: float | None, mixed: float | None = None) -> Point:
    return Point(number, rollouts, rollouts / 10, heldout, mixed, None, None)


def result(arm: str, seed: int, after: float, *points: Point) -> RunResult:
    return RunResult(arm, "", seed, {ALL: 0.0}, {ALL: after}, points or [point(0, 8, after)], {})


def suite_of(*names: str) -> Suite:
    arms = [{"name": name} for name in names]
    fields = {"name": "s", "title": "S", "recipe": "r", "seeds": [1, 2, 3], "reference": names[0]}
    return Suite.model_validate(fields | {"arms": arms})


def test_differences_are_paired_by_seed_over_common_seeds() -> None:
    runs = [result("a", 1, 0.5), result("a", 2, 0.7), result("b", 2, 0.6), result("b", 3, 0.9), result("c", 3, 0.1)]
    a, b, c = lines_of(suite_of("a", "b", "c"), runs)
    assert (a.difference, c.difference) == (None, None)
    assert b.difference is not None
    assert b.difference.mean.n == 1
    assert b.difference.mean.mean == pytest.approx(-0.1)
    assert b.after[ALL].mean == pytest.approx(0.75)


def test_curves_are_brought_to_common_places() -> None:
    long = result("a", 1, 0.4, point(0, 0, 0.0), point(1, 10, None), point(2, 20, 0.2), point(4, 40, 0.4))
    short = result("a", 2, 0.3, point(0, 0, 0.1), point(3, 30, 0.4))
    line = Line(suite_of("a").arms[0], "", [long, short], {ALL: mean_interval([0.4, 0.3])}, None, None)
    xs, curves = common_curves(line, lambda each: float(each.rollouts))
    assert xs == [0.0, 20.0, 30.0]
    assert curves.tolist() == [pytest.approx([0.0, 0.2, 0.3]), pytest.approx([0.1, 0.3, 0.4])]


def test_a_course_leaves_out_rounds_that_some_run_lacks() -> None:
    runs = [
        result("a", 1, 0.4, point(1, 8, None, 0.2), point(2, 16, 0.4, 0.4)),
        result("a", 2, 0.4, point(1, 8, None, 0.4), point(2, 16, 0.4, None)),
    ]
    line = Line(suite_of("a").arms[0], "", runs, {ALL: mean_interval([0.4, 0.4])}, None, None)
    [(number, share)] = mean_course(line, "mixed")
    assert (number, round(share, 9)) == (1.0, 0.3)
    assert line.mean("mixed") == pytest.approx(0.35)


def test_words() -> None:
    assert interval(Mean(2, 0.5, 0.25, 0.75)) == "0.500 [0.250, 0.750]"
    assert interval(Mean(2, -0.5, -0.75, 0.0), signed=True) == "-0.500 [-0.750, +0.000]"
    assert interval(Mean(1, 0.5, None, None)) == "0.500"
    assert last_line(Path("no such file")) == ""


def test_a_run_without_evaluation_is_refused(finished: Path, suite_file: Path, tmp_path: Path) -> None:
    suite, path = load_suite(suite_file)
    job = jobs_of(suite, path)[0]
    run = tmp_path / "run"
    shutil.copytree(finished / "runs" / job.name, run)
    row = json.loads((run / "metrics.jsonl").read_text(encoding="utf-8"))
    (run / "metrics.jsonl").write_text(json.dumps(row | {"heldout": None}), encoding="utf-8")
    with pytest.raises(Exception, match="never evaluated on held-out tasks"):
        run_result(run, job)
