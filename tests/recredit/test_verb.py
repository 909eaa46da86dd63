"""`sparring recredit` on the command line: tables, JSON, the page, and bad input in one line."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from tests.recredit.stored_run import row, train_toy, write_run

from sparring.cli import main, make_parser, split_overrides
from sparring.config import load_recipe
from sparring.credit import ExecutorCredit, PlannerCredit
from sparring.recredit.tables import number, percent


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "toy"
    train_toy(folder, executor_credit="reward_to_go")
    return folder


def test_tables_show_every_credit_within_eighty_columns(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["recredit", str(run)]) == 0
    shown = capsys.readouterr().out
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 80
    for name in ("eq5", "dense_on_failure", "eq5, c_red = 0", "eq5, lambda = 0", "progress_on_failure"):
        assert re.search(rf"^{re.escape(name)} ", shown, flags=re.MULTILINE)
    assert "note: " in shown  # of the rollouts that broke


def test_json_is_all_that_is_printed(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recredit", str(run), "--json", "--last", "1", "--out", str(tmp_path / "page.html")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["rounds"] == [2]
    assert printed["executor"]["own"] == "reward_to_go"
    assert printed["executor"]["options"]["reward_to_go"]["against_own"]["pearson_over_turns"] == pytest.approx(1.0)
    assert sum(printed["group_kinds"].values()) == printed["counts"]["groups"]


def test_page_is_offline_and_shows_the_figures(run: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["recredit", str(run), "--out", str(page), "--rounds", "1-2"]) == 0
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text
    assert not re.search(r'(?:src|href)="https?:', text)
    assert text.count('<svg role="img"') == 7
    assert "not measured" not in text
    assert "var(--environment-1)" in text


def test_page_of_a_run_with_next_to_nothing(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", [row([0.0])])
    assert main(["recredit", str(folder), "--out", str(tmp_path / "page.html")]) == 0
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "not measured" in text  # no early correct turn


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{}"], "holds no run (no recipe.toml in it)"),
        (["{}/run", "--rounds", "3-1"], "'3-1' is not a span of rounds such as 1-20"),
        (["{}/run", "--rounds", "4"], "'4' is not a span of rounds"),
        (["{}/run", "--last", "0"], "'0' is not a whole number from 1"),
        (["{}/run", "--last", "1", "--rounds", "1-2"], "not allowed with"),
        (["{}/run", "--rounds", "8-9"], "holds no complete round"),
        (["{}/run", "--out", "{}/none/page.html"], "its folder does not exist"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path / "run", [row([0.5])])
    assert main(["recredit", *(each.format(tmp_path) for each in arguments)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert said in printed.err


def test_page_on_credit_names_every_option_and_commands_that_exist() -> None:
    page = (Path(__file__).parents[2] / "docs" / "credit.md").read_text(encoding="utf-8")
    for credit in (*ExecutorCredit, *PlannerCredit):
        assert f"\n| `{credit}` |" in page
    lines = [line for block in re.findall(r"```sh\n(.*?)```", page, flags=re.DOTALL) for line in block.splitlines()]
    commands = [shlex.split(line, comments=True)[1:] for line in lines]
    verbs = [make_parser().parse_args(words).verb for words in commands if words[0] != "train"]
    assert verbs == ["recredit"] * 4
    [training] = [words for words in commands if words[0] == "train"]
    own, overrides = split_overrides(training[1:])
    assert load_recipe(Path(__file__).parents[2] / own[0], overrides).rounds == 10


def test_numbers_do_not_round_to_what_they_are_not() -> None:
    assert [percent(share) for share in (None, 0.0, 0.004, 0.5, 0.996, 1.0)] == ["-", "0", "<1", "50", ">99", "100"]
    assert [number(value, "+.2f") for value in (None, -0.004, -0.2)] == ["-", "+0.00", "-0.20"]
