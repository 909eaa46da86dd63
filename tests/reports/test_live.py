"""The live table: a table in a terminal, one plain line a round elsewhere."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from sparring.reports.live import ROUNDS_SHOWN, RoundsTable


def row(number: int, **changes: Any) -> dict[str, Any]:
    trained: dict[str, Any] = {
        "environments": {"kin": {"capture": 0.5, "difficulty_mean": 0.25, "mixed": 0.4}},
        "roles": {"executor": {"kl": 0.0123}},
    }
    common = {"round": number, "heldout": None, "rollouts": 96 * number, "seconds": {"rollouts": 50.0, "update": 10.0}}
    return common | (trained if number else {"environments": {}, "roles": {}}) | changes


def shown(rows: list[dict[str, Any]], *, terminal: bool, rounds: int = 20, width: int = 110) -> str:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=width, color_system=None)
    with RoundsTable(console, rounds, ["kin"]) as table:
        for each in rows:
            table.status(each["round"], "updating")
            table.show(each)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_one_plain_line_a_round_when_not_a_terminal() -> None:
    text = shown([row(0, heldout={"capture": 0.54}), row(1), row(2, heldout={"capture": 0.6})], terminal=False)
    assert text.splitlines() == [
        "round 0/20  held-out 0.540  rollouts 0",
        "round 1/20  kin 0.50 at 0.25  mixed 0.40  KL 0.0123  rollouts 96",
        "round 2/20  kin 0.50 at 0.25  held-out 0.600  mixed 0.40  KL 0.0123  rollouts 192",
    ]


def test_a_plain_line_stays_one_line_on_a_narrow_console() -> None:
    assert len(shown([row(1)], terminal=False, width=20).splitlines()) == 1


def test_nulls_are_left_out_of_a_plain_line() -> None:
    nothing = row(1, environments={"kin": {"capture": None, "difficulty_mean": None, "mixed": None}}, roles={})
    assert shown([nothing], terminal=False).splitlines() == ["round 1/20  rollouts 96"]


def test_brackets_in_names_are_no_markup() -> None:
    console = Console(file=io.StringIO(), force_terminal=False, width=80)
    with RoundsTable(console, 1, ["[red]kin"]) as table:
        table.show(row(1, environments={"[red]kin": {"capture": 0.5, "difficulty_mean": 0.5, "mixed": 0.5}}))
    assert isinstance(console.file, io.StringIO)
    assert "[red]kin 0.50" in console.file.getvalue()


def test_a_terminal_sees_the_last_rounds_and_how_far_the_run_is() -> None:
    text = shown([row(number) for number in range(ROUNDS_SHOWN + 3)], terminal=True)
    last = text[text.rindex("held-out") :]
    numbers = [int(line.split()[0]) for line in last.splitlines() if " at " in line]
    assert numbers == list(range(3, ROUNDS_SHOWN + 3))
    assert "14/20 rounds" in last
    assert "0.0123" in last


def test_time_left_comes_from_the_seconds_of_the_rows() -> None:
    assert "0:15:00 left" in shown([row(4), row(5)], terminal=True)


def test_the_phase_in_hand_is_named_in_a_terminal_and_silent_elsewhere() -> None:
    assert "updating" in shown([row(1)], terminal=True)
    assert "updating" not in shown([row(1)], terminal=False)


def test_a_long_silence_outside_a_terminal_is_broken_once_a_minute() -> None:
    seconds = iter([0.0, 59.0, 61.0, 61.0, 90.0, 130.0, 130.0])
    console = Console(file=io.StringIO(), force_terminal=False, width=80)
    with RoundsTable(console, 3, ["kin"], now=lambda: next(seconds)) as table:
        for text in ("emission", "rollout", "9 of 24 rollouts under way", "update"):
            table.status(1, text)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines() == ["round 1/3: rollout", "round 1/3: update"]


def test_an_interrupt_leaves_the_table_stopped() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)
    table = RoundsTable(console, 5, ["kin"])
    table.__enter__()
    table.show(row(1))
    table.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert isinstance(console.file, io.StringIO)
    assert "stopped" in console.file.getvalue()


def last_screen(width: int, height: int = 24) -> list[str]:
    """The last thing that a terminal of this size shows of a run on three environments."""
    names = ["phantom_wiki", "ifeval", "zebra_logic"]
    console = Console(file=io.StringIO(), force_terminal=True, width=width, height=height, color_system=None)
    with RoundsTable(console, 120, names) as table:
        for number in range(1, 15):
            each = {name: {"capture": 0.5, "difficulty_mean": 0.25, "mixed": 0.4} for name in names}
            table.show(row(number, environments=each, heldout={"capture": 0.61}, rollouts=12_345 * number))
            table.status(number, "18 of 288 rollouts under way")
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().rpartition("\x1b[2K")[2].splitlines()


@pytest.mark.parametrize("width", range(34, 121))
def test_nothing_is_cut_at_any_width(width: int) -> None:
    screen = last_screen(width)
    words = " ".join(" ".join(screen).split())
    assert "…" not in words
    assert words.count("0.50 at 0.25") % 3 == 0
    assert "172,830" in words
    assert "0.610" in words
    assert "14/120 rounds" in words
    assert max(map(len, screen)) <= width
    assert len(screen) <= 24


def test_columns_go_one_after_the_other() -> None:
    def heads(width: int) -> list[bool]:
        words = " ".join(last_screen(width)[:2]).split()
        return [head in words for head in ("KL", "mixed", "phantom_wiki", "held-out")]

    assert heads(100) == [True, True, True, True]
    assert heads(72) == [False, True, True, True]
    assert heads(64) == [False, False, True, True]
    assert heads(60) == [False, True, False, True]  # environments below one another


def test_a_low_terminal_shows_the_last_rounds() -> None:
    screen = last_screen(100, height=10)
    assert len(screen) <= 10
    assert any(line.split()[0] == "14" for line in screen)
