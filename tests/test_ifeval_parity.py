"""The IFEval checkers against lm-eval's, on a small sample; `python -m benchmarks.ifeval_parity` does it in full."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from benchmarks import ifeval_parity
from benchmarks.ifeval_differences import FEATURES, is_listed
from benchmarks.ifeval_replies import COMMON, FEWEST, constraints_of, replies
from benchmarks.peers import ifeval
from benchmarks.peers.comparison import PeerMissingError
from tests.environments.ifeval.test_constraints import CASES

from sparring.environments.ifeval.constraints import FAMILIES, Constraint, judge
from sparring.profiles import Profile

DOCS = Path(__file__).parents[1] / "docs" / "ifeval_profiles.md"
PROMPT: dict[str, Any] = {
    "key": 7,
    "prompt": "Write about a boat. Use at least 3 bullet points and no commas.",
    "instruction_id_list": ["detectable_format:number_bullet_lists", "punctuation:no_comma"],
    "kwargs": [{"num_bullets": 3, "num_words": None}, {}],
}


def needs_lm_eval() -> None:
    try:
        ifeval.reference_verdicts(PROMPT, "")
    except PeerMissingError as missing:
        pytest.skip(f"lm-eval is not installed: {missing}")


def family_of(short: str) -> str:
    return next(family for family in FAMILIES if family.endswith(f":{short}"))


def directions() -> set[tuple[str, bool]]:
    """Of each row of the documented table, its family and whether the reference says followed."""
    found = set()
    for first, _, official, fixed, _ in re.findall(
        r"^\| (.+?) \| (.+) \| (\w+) \| (\w+) \| (.+) \|$", DOCS.read_text(), re.M
    ):
        if {official, fixed} == {"followed", "not"}:
            found.add((family_of(first.split(",")[0]), official == "followed"))
    return found


def test_each_kind_of_difference_is_documented_told_and_tested() -> None:
    tested = {(family, official) for _, family, _, _, official, fixed in CASES if official != fixed}
    assert directions() == set(FEATURES) == tested


def test_each_tested_difference_shows_the_feature_of_its_kind() -> None:
    for _, family, kwargs, reply, official, fixed in CASES:
        if official != fixed:
            constraint = Constraint.read(family, kwargs)
            assert is_listed(family, constraint.parameters, reply, official), (family, reply)


def test_a_difference_without_its_feature_is_not_listed() -> None:
    assert not is_listed("punctuation:no_comma", {}, "no comma here", True)
    assert not is_listed("detectable_format:title", {}, "<<a title>>", False)


def test_replies_are_many_different_and_the_same_each_time() -> None:
    made = replies(PROMPT)
    assert len({reply.text for reply in made}) == len(made) >= FEWEST >= 40
    assert made == replies(PROMPT)
    kinds = {reply.kind for reply in made}
    assert {"solved", "near miss", "alone", "prompt"} < kinds
    assert any(kind.startswith("mutated") for kind in kinds)
    of_all_thirds = {reply.kind for key in range(3) for reply in replies({**PROMPT, "key": key})}
    assert set(COMMON) <= of_all_thirds


@pytest.mark.official_data
def test_replies_fall_on_both_sides_of_every_family() -> None:
    seen: set[tuple[str, bool]] = set()
    for row in ifeval.official_rows():
        wanted = [one for one in constraints_of(row) if {(one.id, True), (one.id, False)} - seen]
        for reply in replies(row) if wanted else ():
            seen |= {(one.id, judge(one, reply.text, Profile.OFFICIAL).followed) for one in wanted}
    assert seen == {(family, verdict) for family in FAMILIES for verdict in (True, False)}


def test_the_reference_says_what_the_cases_say_of_it() -> None:
    needs_lm_eval()
    for _, family, kwargs, reply, official, _ in CASES:
        if len(reply) > 10_000 or kwargs.get("language") == "sv" or kwargs.get("letter") == "#":
            continue  # crash the reference, or are random there
        row: Mapping[str, Any] = {**PROMPT, "instruction_id_list": [family], "kwargs": [kwargs]}
        assert ifeval.reference_verdicts(row, reply).strict == (official,), (family, kwargs, reply)


@pytest.mark.official_data
def test_official_is_the_reference_and_fixed_differs_as_listed_on_a_sample() -> None:
    needs_lm_eval()
    tally = ifeval_parity.compare(ifeval.official_rows()[3::90])
    assert tally.unexplained == []
    assert tally.pairs.total() > 300
    assert tally.fixed.total() > 0


@pytest.mark.official_data
def test_a_wrong_verdict_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    needs_lm_eval()
    right = FAMILIES["punctuation:no_comma"]
    wrong = type(right)(right.parameters, right.wording, lambda text: True, right.fixed)
    monkeypatch.setitem(FAMILIES, "punctuation:no_comma", wrong)
    rows = [row for row in ifeval.official_rows() if row["instruction_id_list"] == ["punctuation:no_comma"]][:1]
    monkeypatch.setattr(ifeval_parity, "official_rows", lambda: rows)
    assert ifeval_parity.main([]) == 1
    assert "official: key" in capsys.readouterr().out


def test_without_the_peer_both_the_script_and_the_table_say_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "ifeval.jsonl").write_text(json.dumps(PROMPT), encoding="utf-8")
    monkeypatch.setenv("SPARRING_DATA", str(tmp_path))

    def missing(*_: Any) -> Any:
        raise PeerMissingError("pip install 'sparring[benchmark]'")

    monkeypatch.setattr(ifeval, "_reference", missing)
    assert ifeval_parity.main([]) == 2
    assert "sparring[benchmark]" in capsys.readouterr().err


def test_both_profiles_are_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "ifeval.jsonl").write_text(json.dumps(PROMPT), encoding="utf-8")
    monkeypatch.setenv("SPARRING_DATA", str(tmp_path))
    official, fixed = ifeval.comparisons()
    assert (official.target, fixed.target) == (3, 10)
    assert official.ours().count == fixed.ours().count == 16
