"""`sparring play`: a person as the executor, typed turns on standard input."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable

import pytest

from sparring.cli import main
from sparring.environments import default_environment
from sparring.environments.base import Solution
from sparring.tasks import PromptPack

Play = Callable[..., str]


def solution_of(name: str, pack: PromptPack, difficulty: float, seed: int) -> Solution:
    environment = default_environment(name, pack)
    return environment.solve(environment.generate(difficulty, seed))


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Play:
    """What is shown when these words are typed at `sparring play`."""

    def play(text: str, *words: str) -> str:
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        assert main(["play", *words]) == 0
        return capsys.readouterr().out

    return play


@pytest.mark.parametrize("name", ["phantom_wiki", "ifeval", "zebra_logic"])
def test_typing_the_solution_captures_in_both_packs(name: str, typed: Play) -> None:
    for pack in PromptPack:
        turns = solution_of(name, pack, 0.4, 3).turns
        end = "\n.\n" if pack is PromptPack.CHAT else "\n"
        shown = typed("".join(turn + end for turn in turns), name, "--difficulty", "0.4", "--seed", "3", "--pack", pack)
        assert f"{name}, {pack} pack, difficulty 0.4, seed 3" in shown
        assert shown.count("turn read") == len(turns)
        assert "progress [####################] 1.00" in shown
        assert "\nCaptured.\n" in shown
        assert turns[-1] in shown.split("and turn by turn:")[1]


def test_a_draft_of_many_lines_is_one_turn_and_the_limit_holds(typed: Play) -> None:
    said = "one\n\ntwo\n.\n" * 9
    shown = typed(said, "ifeval", "--difficulty", "0", "--seed", "1", "--set", "turn_limit=2")
    assert "2 turns at most" in shown
    assert shown.count("progress [") == 2
    assert "turn 2 of 2" in shown
    assert "aptured.\nA solution, stage by stage:" in shown


def test_what_stands_at_the_last_turn_is_settled(typed: Play) -> None:
    turns = solution_of("zebra_logic", PromptPack.COMPACT, 0.3, 1).turns
    (unsubmitted := list(turns))[-1] = turns[-1].replace(" submit", "")
    words = ("zebra_logic", "--difficulty", "0.3", "--seed", "1", "--pack", "compact")
    assert "Captured." in typed("\n".join(unsubmitted) + "\nnoise" * 20, *words)


def test_bad_turns_count_and_are_said_to_be_unreadable(typed: Play) -> None:
    shown = typed("hm\n" * 20, "phantom_wiki", "--difficulty", "0", "--seed", "2", "--pack", "compact")
    assert shown.count("0.00, turn not read") == 4
    assert "Not captured.\nA solution" in shown


@pytest.mark.parametrize(("last", "solved"), [("", False), (":quit\n", False), (":solution\n", True)])
def test_one_may_leave_at_any_time(last: str, solved: bool, typed: Play) -> None:
    shown = typed(f"noise\n.\n{last}", "zebra_logic", "--difficulty", "0.1", "--seed", "2")
    assert "Left after 1 turn, not captured." in shown
    assert ("A solution, stage by stage:" in shown) == solved


def test_the_end_of_input_ends_a_turn_too(typed: Play) -> None:
    (*turns, last) = solution_of("zebra_logic", PromptPack.CHAT, 0.0, 2).turns
    said = "".join(f"{turn}\n.\n" for turn in turns) + last
    assert "\nCaptured.\n" in typed(said, "zebra_logic", "--difficulty", "0", "--seed", "2")


@pytest.mark.parametrize("name", ["phantom_wiki", "ifeval", "zebra_logic"])
def test_all_that_is_read_fits_eighty_columns(name: str, typed: Play) -> None:
    """The turns of a solution are shown as they are typed, whatever their length."""
    shown = typed("noise\n.\n:solution\n", name, "--difficulty", "0.5", "--seed", "3").split("and turn by turn:")[0]
    assert max(map(len, shown.splitlines())) <= 80


def test_a_seed_is_drawn_and_named(typed: Play) -> None:
    seeds = {typed("", "zebra_logic", "--difficulty", "0").splitlines()[0].split("seed ")[1] for _ in range(4)}
    assert len(seeds) > 1
    assert all(seed.isdecimal() for seed in seeds)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["zebra", "--difficulty", "0"], "environments.zebra is not registered; the nearest is zebra_logic"),
        (["zebra_logic"], "required: --difficulty"),
        (["zebra_logic", "--difficulty", "1.5"], "'1.5' is not a number from 0 to 1"),
        (["zebra_logic", "--difficulty", "nan"], "'nan' is not a number from 0 to 1"),
        (["zebra_logic", "--difficulty", "hard"], "'hard' is not a number from 0 to 1"),
        (["zebra_logic", "--difficulty", "0", "--seed", "-1"], "argument --seed"),
        (["zebra_logic", "--difficulty", "0", "--pack", "long"], "invalid choice: 'long'"),
        (["ifeval", "--difficulty", "0", "--set", "turn_limit"], "is not of the form section.key=value"),
        (["ifeval", "--difficulty", "0", "--set", "turn_limt=3"], "the nearest key is turn_limit"),
        (["ifeval", "--difficulty", "0", "--set", "turn_limit='3'"], "turn_limit = '3' is not accepted"),
        (
            [
                *("phantom_wiki", "--difficulty", "0", "--set", "tree_size=1", "--set", "mean_friends=0"),
                *("--set", "attribute_question_probability=0"),
            ],
            "phantom_wiki makes no task at --difficulty 0 --seed ",
        ),
    ],
)
def test_bad_input_is_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert said in shown.err
    assert shown.err.count("\n") == 1


def test_a_closed_standard_input_is_one_line() -> None:
    program = "import sys; from sparring.cli import main; sys.exit(main(['play', 'zebra_logic', '--difficulty', '0']))"
    closed = subprocess.run(["bash", "-c", f'"{sys.executable}" -c "{program}" 0<&-'], capture_output=True, text=True)
    assert closed.returncode == 2
    assert closed.stderr == "sparring: standard input is closed, and the turns come from there; open it\n"


def test_an_interrupt_ends_the_game_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(prompt: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    assert main(["play", "zebra_logic", "--difficulty", "0"]) == 130
    shown = capsys.readouterr()
    assert shown.out.endswith("turn 1 of 6\n\n")
    assert shown.err == "sparring: interrupted\n"


def test_the_compact_pack_shows_its_words(typed: Play) -> None:
    shown = typed("", "phantom_wiki", "--difficulty", "0", "--pack", "compact")
    assert "Words: kin who" in shown
    assert " submit" in shown
