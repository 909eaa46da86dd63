"""`sparring theory`: what it prints and writes, and its exit codes."""

import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sparring.cli import main
from sparring.credit import executor_turn_rewards, standardise
from sparring.placement.evader_reward import DifficultyReward, capture_frontier_reward
from sparring.theory import capture_dominance, group_energy, plug_in_bias, signature_shares, stationary_shares
from sparring.theory.checks import Theory, check
from sparring.theory.page import page
from sparring.theory.statements import Origin, Relation, Statement


@pytest.fixture(scope="module")
def theory() -> Theory:
    return check(None)


@pytest.mark.parametrize(
    ("relation", "computed", "agrees"),
    [
        (Relation.EQUAL, 1.05, True),
        (Relation.EQUAL, 1.2, False),
        (Relation.EQUAL, float("nan"), False),
        (Relation.BELOW, 0.9, True),
        (Relation.BELOW, 1.0, False),
        (Relation.ABOVE, 1.1, True),
        (Relation.ABOVE, float("nan"), False),
    ],
)
def test_agreement(relation: Relation, computed: float, agrees: bool) -> None:
    assert Statement("here", Origin.DERIVED, "one", 1.0, computed, 0.1, relation).agrees == agrees


def test_every_source_is_checked_and_agrees(theory: Theory) -> None:
    sources = list(dict.fromkeys(statement.source for statement in theory.statements))
    assert sources == ["Theorem 1", "Plug-in bias", "Proposition 2", "Per-sample gradient", "Proposition 3"]
    assert [statement for statement in theory.statements if not statement.agrees] == []
    assert len({(statement.source, statement.words) for statement in theory.statements}) == len(theory.statements)


def test_verb_writes_page_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = tmp_path / "scores.csv"
    scores.write_text("size,score\n1,50\n4,75\n16,87.5\n", encoding="utf-8")
    out = tmp_path / "deep" / "out"
    assert main(["theory", "--scores", str(scores), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "statements agree" in printed
    assert "100 - score = 50 * size^-0.5000" in printed
    stored = json.loads((out / "theory.json").read_text(encoding="utf-8"))
    assert stored["agrees"] is True
    assert stored["power_law"]["exponent"] == pytest.approx(0.5)
    html = (out / "theory.html").read_text(encoding="utf-8")
    assert html.count("<svg ") == 8
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert not re.search(r"<script|https?://|@import|<link|<img", html)


def test_page_without_scores_says_what_to_give(theory: Theory) -> None:
    html = page(theory)
    assert html.count("<svg ") == 7
    assert "--scores FILE.csv" in html


def test_json_is_all_that_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["theory", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["power_law"] is None
    first = printed["statements"][0]
    assert (first["source"], first["claimed"], first["origin"], first["agrees"]) == ("Theorem 1", 1, "paper", True)


def test_a_statement_that_fails_is_told_and_exits_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(group_energy.PUBLISHED, 0.5, 6.95)
    assert main(["theory"]) == 1
    printed = capsys.readouterr().out
    assert " NO" in printed
    total = len(check(None).statements)
    assert f"{total - 1} of {total} statements agree" in printed


def population(rewards: Any, epsilon: float = 0.0) -> Any:
    """z with the population's deviation, which Theorem 1 does not have."""
    sample_over_population = (len(rewards) / (len(rewards) - 1)) ** 0.5
    return standardise(rewards, epsilon) * sample_over_population


def uncertainty(p: float, valid: bool, repetition: float) -> float:
    """R-Zero's reward in the place of Eq. 3's."""
    return capture_frontier_reward(p, valid, repetition, DifficultyReward.UNCERTAINTY)


def dear(gains: Any, captured: bool, lam: float, cost: float) -> Any:
    """Eq. 4 with twice the cost."""
    return executor_turn_rewards(gains, captured, lam, 2 * cost)


@pytest.mark.parametrize(
    ("part", "function", "wrong", "sources"),
    [
        (group_energy, "standardise", population, {"Theorem 1"}),
        (plug_in_bias, "capture_frontier_reward", uncertainty, {"Plug-in bias"}),
        (signature_shares, "capture_frontier_reward", uncertainty, {"Proposition 2"}),
        (stationary_shares, "capture_frontier_reward", uncertainty, {"Per-sample gradient"}),
        (capture_dominance, "executor_turn_rewards", dear, {"Proposition 3"}),
    ],
)
def test_a_mistake_in_what_trains_is_noticed(
    part: ModuleType, function: str, wrong: Any, sources: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, function, wrong)
    assert {statement.source for statement in check(None).statements if not statement.agrees} == sources


def test_a_bad_table_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = tmp_path / "scores.csv"
    scores.write_text("size,points\n1,50\n", encoding="utf-8")
    assert main(["theory", "--scores", str(scores)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "columns 'score'" in captured.err
