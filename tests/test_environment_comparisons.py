"""The table of speeds beside the peers: its arithmetic, peers that are not there, and our side of every row."""

import json
from pathlib import Path

import pytest
from benchmarks import environments
from benchmarks.environments import Row, compare
from benchmarks.peers import ifeval, phantom_wiki_rows, zebra
from benchmarks.peers.comparison import Comparison, PeerMissingError, Work
from rich.console import Console


def test_the_best_try_of_each_side_makes_the_ratio() -> None:
    ours = iter([Work(100, 2.0), Work(100, 1.0)])
    theirs = iter([Work(10, 1.0, "1.2"), Work(10, 2.0, "1.2")])
    row = compare(Comparison("grids", "peer", lambda: next(ours), lambda: next(theirs), target=20, repeats=2))
    assert row == Row("grids", "peer 1.2", 100.0, 10.0, 10.0, 20)


def test_a_peer_that_is_not_there_leaves_our_rate_alone() -> None:
    def missing() -> Work:
        raise PeerMissingError("pip install peer")

    row = compare(Comparison("grids", "peer", lambda: Work(6, 2.0), missing))
    assert (row.ours, row.theirs, row.ratio) == (3.0, None, None)
    assert "pip install peer" in row.peer


def test_a_ratio_below_its_target_is_marked() -> None:
    console = Console(width=120)
    with console.capture() as captured:
        console.print(environments.table([Row("a", "p", 10, 5, 2.0, 3), Row("b", "p", 10, 5, 2.0, 2)]))
    [first, second] = [line for line in captured.get().splitlines() if " p " in line]
    assert "short" in first
    assert "short" not in second


def test_rows_without_the_peer_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phantom_wiki_rows, "LARGE", 100)
    assert environments.main(["--only", "phantom_wiki articles", "--json", str(tmp_path / "rows.json")]) == 0
    [row] = json.loads((tmp_path / "rows.json").read_text(encoding="utf-8"))
    assert set(row) == {"name", "peer", "ours", "theirs", "ratio", "target"}
    assert row["ours"] > 0
    assert row["theirs"] is None


def test_odd_arguments_are_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert environments.main(["--only", "chess"]) == 2
    assert environments.main(["--only", "phantom_wiki q", "--phantom-wiki", str(tmp_path / "python")]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("--")]
    assert len(lines) == 2
    assert lines[0].startswith("--only chess")
    assert lines[1].startswith("--phantom-wiki ")


def test_every_row_has_a_name_of_its_own_and_the_issue_s_targets() -> None:
    rows = [*phantom_wiki_rows.comparisons(None), *ifeval.comparisons(), *zebra.comparisons()]
    assert len({row.name for row in rows}) == len(rows)
    targets = {row.name: row.target for row in rows if row.target is not None}
    assert sorted(targets.values()) == [3, 10, 10, 20, 100, 500, 1000]
