"""The cards: what they read, and scores of handmade generations against figures worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sparring.environments import load_environment
from sparring.environments.base import AnyEnvironment
from sparring.environments.zebra_logic.official import answer_key
from sparring.errors import UserError
from sparring.evaluation.benchmarks import (
    BENCHMARKS,
    HeldoutBenchmark,
    PromptBenchmark,
    benchmarks_for,
    data_folder,
)
from sparring.evaluation.heldout import HeldoutTask
from sparring.evaluation.heldout_replay import heldout_set
from sparring.evaluation.runner import score
from sparring.tasks import PromptPack

SETTINGS = {"tools": "lookup", "population": [3, 8], "attribute_question_probability": 0.0}


def stored(folder: Path, *rows: Mapping[str, Any]) -> Path:
    path = folder / "generations.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def official(name: str) -> PromptBenchmark:
    card = BENCHMARKS[name]
    assert isinstance(card, PromptBenchmark)
    return card


def wiki() -> tuple[AnyEnvironment, dict[str, HeldoutTask]]:
    environment = load_environment("phantom_wiki", SETTINGS, PromptPack.COMPACT)
    return environment, heldout_set(environment, 6, 20)


def rollout(environment: AnyEnvironment, name: str, heldout: HeldoutTask, **changes: Any) -> dict[str, Any]:
    """A row as `sparring eval` stores it, of a rollout that wrote the task's own solution."""
    return {
        "id": name,
        "text": "Plan: ...",
        "stop": "end",
        "environment": environment.name,
        "pack": environment.pack.value,
        "settings": environment.settings.model_dump(mode="json"),
        "task": environment.content_key(heldout.task),
        "turns": list(environment.solve(heldout.task).turns),
        "error": None,
    } | changes


@pytest.mark.official_data
def test_official_sets_are_whole_and_prompts_keep_their_order() -> None:
    assert len(official("ifeval").prompts()) == 541
    assert next(iter(official("ifeval").prompts())) == "1000"
    puzzles = official("zebralogic").prompts()
    assert len(puzzles) == 1000
    assert all("# Puzzle to solve" in prompt for prompt in puzzles.values())
    assert (official("ifeval").max_tokens, official("zebralogic").max_tokens) == (1280, 4096)


def test_heldout_tasks_of_phantom_wiki_are_twenty_for_each_number_of_hops() -> None:
    environment, tasks = wiki()
    hops = [environment.signature(each.task).split(",")[0] for each in tasks.values()]
    assert {h: hops.count(h) for h in hops} == {f"hops={number}": 20 for number in range(1, 7)}
    assert hops[:6] == [f"hops={number}" for number in range(1, 7)]  # so that a limit takes of every level
    assert len({environment.content_key(each.task) for each in tasks.values()}) == 120


def test_compact_words_turn_official_names_into_the_heldout_tasks() -> None:
    names = ["phantom_wiki", "ifeval", "zebralogic", "ifeval_heldout"]
    chat = [card.name for card in benchmarks_for(names, PromptPack.CHAT)]
    assert chat == names
    compact = benchmarks_for(names, PromptPack.COMPACT)
    assert [card.name for card in compact] == ["phantom_wiki", "ifeval_heldout", "zebralogic_heldout"]
    assert all(isinstance(card, HeldoutBenchmark) for card in compact)


def test_an_unknown_benchmark_is_refused_with_the_nearest() -> None:
    with pytest.raises(UserError, match="'zebra_logic' is not known; the nearest is zebralogic "):
        benchmarks_for(["zebra_logic"], PromptPack.CHAT)


def test_data_is_looked_for_where_it_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARRING_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    with pytest.raises(UserError, match=r"ifeval\.jsonl does not exist; set SPARRING_DATA"):
        official("ifeval").rows()
    (tmp_path / "ifeval.jsonl").write_text('{"key": 1, "question": "?"}\n')
    with pytest.raises(UserError, match="line 1 has no 'key' and 'prompt'"):
        official("ifeval").rows()
    monkeypatch.delenv("SPARRING_DATA")
    (tmp_path / "shared" / "data").mkdir(parents=True)
    (tmp_path / "checkout").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")
    assert data_folder().resolve() == (tmp_path / "shared" / "data").resolve()


@pytest.mark.official_data
def test_ifeval_scores_of_four_replies_with_known_verdicts(tmp_path: Path) -> None:
    file = stored(
        tmp_path,
        # No comma and three highlights, but far from 300 words: 2 of 3.
        {"id": 1000, "text": "*one* and *two* and *three*", "stop": "end"},
        # No comma: 1 of 1.
        {"id": 1001, "text": "O fair Japan", "stop": "length"},
        # At least 12 placeholders: 1 of 1.
        {"id": "1005", "text": "[name] " * 12},
        # 1012 asks for a bullet list and more; nothing is 0 of all.
        {"id": 1012, "text": "<think>hm</think>", "stop": "no_room"},
    )
    nothing = len(official("ifeval").rows()["1012"]["instruction_id_list"])
    scores = score(file, "ifeval", "official")
    assert (scores["benchmark"], scores["profile"]) == ("ifeval", "official")
    assert (scores["n"], scores["without_reply"], scores["no_answer"], scores["truncated"]) == (4, 537, 1, 2)
    metrics = scores["metrics"]
    assert tuple(metrics) == official("ifeval").metrics
    # Wilson at 2 of 4, by hand: 1/2 -+ (z / (4 + z^2)) * sqrt(4/4 + z^2/4), z = 1.95996.
    assert metrics["prompt_strict"] == pytest.approx({"rate": 0.5, "low": 0.15004, "high": 0.84996, "n": 4}, abs=1e-5)
    assert metrics["instruction_strict"]["rate"] == pytest.approx(4 / (5 + nothing))
    assert metrics["instruction_strict"]["n"] == 4


@pytest.mark.official_data
def test_ifeval_profiles_differ_where_the_reference_has_its_quirk(tmp_path: Path) -> None:
    rows = official("ifeval").rows()
    keywords = ["keywords:existence"]
    name = next(name for name, row in rows.items() if row["instruction_id_list"] == keywords)
    words = rows[name]["kwargs"][0]["keywords"]
    # The reference finds keywords inside other words.
    file = stored(tmp_path, {"id": name, "text": " ".join(f"x{word}x" for word in words)})
    assert score(file, "ifeval", "official")["metrics"]["prompt_strict"]["rate"] == 1.0
    fixed = score(file, "ifeval", "fixed")
    assert (fixed["profile"], fixed["metrics"]["prompt_strict"]["rate"]) == ("fixed", 0.0)
    assert fixed["truncated"] is None


@pytest.mark.official_data
def test_zebralogic_scores_of_three_puzzles_from_their_derived_keys(tmp_path: Path) -> None:
    card = official("zebralogic")
    rows = card.rows()
    names = ["lgp-test-2x2-33", "lgp-test-2x4-5", "lgp-test-4x4-27"]
    keys = [answer_key(rows[name]["puzzle"]) for name in names]
    grids = [{f"House {house}": cells for house, cells in enumerate(key, start=1)} for key in keys]
    column = next(iter(grids[1]["House 2"]))
    grids[1]["House 2"] |= {column: "nobody"}  # 7 of 8
    texts = [json.dumps({"reasoning": "", "solution": grid}) for grid in grids[:2]] + ["It is Eric."]
    file = stored(tmp_path, *({"id": name, "text": text} for name, text in zip(names, texts, strict=True)))
    scores = score(file, "zebralogic", "official")
    assert (scores["n"], scores["without_reply"]) == (3, 997)
    assert (scores["no_answer"], scores["format_error"], scores["truncated"]) == (1, 0, None)
    assert tuple(scores["metrics"]) == card.metrics
    # Wilson at 1 of 3.
    expected = {"rate": 1 / 3, "low": 0.06149, "high": 0.79234, "n": 3}
    assert scores["metrics"]["puzzle_accuracy"] == pytest.approx(expected, abs=1e-5)
    assert scores["metrics"]["cell_accuracy"]["rate"] == (4 + 7 + 0) / (4 + 8 + 16)
    sizes = {name: (entry["rate"], entry["n"]) for name, entry in scores["puzzle_accuracy_by_size"].items()}
    half_of_two, none_of_one, empty = (0.5, 2), (0.0, 1), (None, 0)
    assert sizes["small"] == sizes["easy"] == half_of_two
    assert sizes["medium"] == sizes["hard"] == none_of_one
    assert sizes["large"] == sizes["xl"] == empty


def test_heldout_rollouts_are_judged_again_whatever_the_file_claims(tmp_path: Path) -> None:
    environment, tasks = wiki()
    names = list(tasks)
    solved = [rollout(environment, name, tasks[name], captured=False) for name in names[:2]]
    unread = rollout(environment, names[2], tasks[names[2]], turns=["hm"], captured=True, stop="length")
    broken = rollout(environment, names[3], tasks[names[3]], error="ServiceError: gone")
    halfway = rollout(environment, names[7], tasks[names[7]])  # two hops, of which the second is never claimed
    halfway |= {"turns": halfway["turns"][:1], "stop": "no_room"}
    scores = score(stored(tmp_path, *solved, unread, broken, halfway), "phantom_wiki", "official")
    assert scores["profile"] == "the environment's verifier"
    assert (scores["n"], scores["without_reply"], scores["broken"]) == (4, 115, 1)
    assert (scores["no_answer"], scores["format_error"], scores["truncated"]) == (1, 0, 2)
    # Means over the three difficulties that were answered: .0 holds 1 rollout, .2 holds 2, .4 holds 1.
    assert scores["metrics"]["capture"]["rate"] == (1 + 1 / 2 + 0) / 3
    assert scores["metrics"]["progress"]["rate"] == pytest.approx((1 + (1 + 1 / 2) / 2 + 0) / 3)
    by_difficulty = {level: (entry["rate"], entry["n"]) for level, entry in scores["capture_by_difficulty"].items()}
    assert by_difficulty == {"0.00": (1.0, 1), "0.20": (0.5, 2), "0.40": (0.0, 1)}


@pytest.mark.parametrize(
    ("name", "kind", "settings"),
    [
        ("ifeval_heldout", "ifeval", {}),
        ("zebralogic_heldout", "zebra_logic", {"ladder": [[2, 2], [3, 2], [3, 3, 0.5]]}),
    ],
)
def test_heldout_solutions_are_captured_in_the_other_environments(
    tmp_path: Path, name: str, kind: str, settings: dict[str, Any]
) -> None:
    environment = load_environment(kind, settings, PromptPack.CHAT)
    rows = [rollout(environment, each, task) for each, task in list(heldout_set(environment, 6, 20).items())[:12]]
    scores = score(stored(tmp_path, *rows), name, "fixed")
    assert (scores["metrics"]["capture"]["rate"], scores["metrics"]["progress"]["rate"], scores["n"]) == (1.0, 1.0, 12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"environment": "ifeval"}, "environment = 'ifeval', not 'phantom_wiki'"),
        ({"environment": None}, "environment = None is not accepted"),
        ({"settings": {}}, "line 2: pack or settings differ from those of .* line 1"),
        ({"task": "0" * 16}, "is another task in this version of sparring"),
        ({"turns": "kim"}, "turns = 'kim' is not accepted"),
        ({"turns": [3]}, "turns holds something that is not text"),
        ({"turns": ["kim"] * 99}, "99 turns, but .* allows"),
        ({"id": "phantom_wiki-0.10-00"}, "is none of the 120 ids of the held-out tasks of phantom_wiki"),
    ],
)
def test_a_wrong_rollout_is_refused_by_its_line(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    environment, tasks = wiki()
    first, second = list(tasks)[:2]
    rows = rollout(environment, first, tasks[first]), rollout(environment, second, tasks[second]) | changes
    with pytest.raises(UserError, match=message):
        score(stored(tmp_path, *rows), "phantom_wiki", "official")
