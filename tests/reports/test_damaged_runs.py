"""Run folders that a report cannot be made of: one line that names file, line and field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.made_up_run import make_run, write_lines

from sparring.errors import UserError
from sparring.reports.report import write_report


def test_a_folder_without_metrics_is_refused_in_one_line(tmp_path: Path) -> None:
    folder = make_run(tmp_path, environments={"ifeval": {}})
    (folder / "metrics.jsonl").unlink()
    with pytest.raises(UserError, match=r"holds no metrics yet") as refusal:
        write_report(folder)
    assert "\n" not in str(refusal.value)
    assert not (folder / "report.html").exists()


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no run"):
        write_report(tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"round": True}, "has round = True, which is not accepted: give a whole number"),
        ({"environments": []}, r"has environments = \[\], which is not accepted: give named values"),
        ({"environments": {"ifeval": {}}}, "has no environments.ifeval.capture"),
        ({"roles": {"evader": 3}}, "has roles.evader = 3"),
        ({"heldout": {"capture": 1.5, "n": 1, "environments": {}}}, "has heldout.capture = 1.5"),
        ({"heldout": {"capture": 0.5, "n": 0, "environments": {}}}, "has heldout = .*: n = 0 has no capture"),
        ({"seconds": {"update": float("nan")}}, "has seconds.update = nan"),
        ({"seconds": None}, "has seconds = None"),
    ],
)
def test_a_wrong_metrics_row_is_named_with_file_line_and_field(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    folder = make_run(tmp_path, 1, environments={"ifeval": {}})
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    write_lines(folder / "metrics.jsonl", [rows[0], rows[1] | change])
    with pytest.raises(UserError, match=rf"metrics\.jsonl line 2 {said}") as refusal:
        write_report(folder)
    assert "\n" not in str(refusal.value)
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize("line", ['{"round":1}', "[1]", "3", "null"])
def test_a_metrics_line_that_is_no_row_is_refused(line: str, tmp_path: Path) -> None:
    folder = make_run(tmp_path, 1, environments={"ifeval": {}})
    (folder / "metrics.jsonl").write_text(f"{line}\n")
    with pytest.raises(UserError, match=r"metrics\.jsonl line 1 (has no|is) "):
        write_report(folder)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"x":1}', "has no environment"),
        ("[]", r"is \[\], which is not accepted"),
        ("[" * 100_000, "is not JSON"),
        ('{"environment":"ifeval","captured":true,"error":null}', "has no difficulty"),
        ('{"environment":"ifeval","captured":1,"error":null}', "has captured = 1, which is not accepted"),
    ],
)
def test_a_wrong_rollout_is_named_with_file_and_line(line: str, said: str, tmp_path: Path) -> None:
    folder = make_run(tmp_path, 1, environments={"ifeval": {}})
    (folder / "rollouts" / "round_0001.jsonl").write_text(f"{line}\n")
    with pytest.raises(UserError, match=rf"round_0001\.jsonl line 1 {said}") as refusal:
        write_report(folder)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("content", ["[]", "3", "{", "[" * 100_000])
def test_a_wrong_versions_file_is_named(content: str, tmp_path: Path) -> None:
    folder = make_run(tmp_path, 1, environments={"ifeval": {}})
    (folder / "versions.json").write_text(content)
    with pytest.raises(UserError, match=r"versions\.json is .*; restore or remove it"):
        write_report(folder)


def test_a_torn_rollout_file_is_named_with_its_line(tmp_path: Path) -> None:
    folder = make_run(tmp_path, 1)
    path = folder / "rollouts" / "round_0001.jsonl"
    path.write_text(path.read_text()[:-40], encoding="utf-8")
    rows = path.read_text().splitlines()
    path.write_text("\n".join(rows[-1:] + rows[:-1]), encoding="utf-8")
    with pytest.raises(UserError, match=r"round_0001\.jsonl line 1 is not JSON"):
        write_report(folder)
