"""The measures as tables of words, for the terminal and for the page alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from sparring.recredit.measures import Tally, bin_range
from sparring.recredit.recompute import Recredit
from sparring.recredit.stored import GroupKind

POSITIONS_SHOWN = 6
"""Turn positions with a column of their own; later ones are in the JSON."""

NOTHING = "-"
"""Shown where there was nothing to measure."""


@dataclass(frozen=True)
class WordTable:
    """One table: a title, how to read it, headings, and rows whose first cell is the credit; own is the run's."""

    title: str
    caption: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    own: str


def tables(done: Recredit) -> list[WordTable]:
    """All tables: the measures of both roles, then the executor by turn position, and by length."""
    kinds = ", ".join(f"{kind.value.replace('_', ' ')} {count:,}" for kind, count in done.groups.items())
    reading = (
        f"Groups: {kinds}. teach: % of the groups with an advantage that is not 0. |A|, sign: means over turns. r: "
        "correlation with the run's own credit, over tokens. flipped, silenced: % of the turns to which the run's own "
        "gives a sign. woken: % of those to which it gives 0."
    )
    executor = _measures(
        "executor",
        f"{reading} early: turns that made progress before the last turn of a captured rollout, their mean A and % "
        "below 0.",
        "early",
        done.executor,
        done.own_executor,
    )
    planner = _measures(
        "planner",
        "The same over plans. captured: plans of captured rollouts, their mean A and % below 0.",
        "captured",
        done.planner,
        done.own_planner,
    )
    own = done.own_executor
    return [
        executor,
        planner,
        WordTable(
            "executor, mean A by turn position",
            f"The first {POSITIONS_SHOWN} turns.",
            ("credit", *map(str, range(1, POSITIONS_SHOWN + 1))),
            list(_by_position(done.executor, share=False)),
            own,
        ),
        WordTable(
            "executor, weight by turn position",
            "% of the sum of |A| x tokens: where the gradient comes from.",
            ("credit", *map(str, range(1, POSITIONS_SHOWN + 1))),
            list(_by_position(done.executor, share=True)),
            own,
        ),
        _weight_by_length("executor", done.executor, own),
        _weight_by_length("planner", done.planner, done.own_planner),
    ]


def show(done: Recredit, console: Console) -> None:
    """Print all tables and notes; the run's own credit is in bold."""
    rounds = done.rounds
    console.print(
        f"{done.recipe.name}: {len(rounds):,} rounds ({rounds[0]}-{rounds[-1]}), {done.counts.groups:,} groups, "
        f"{done.counts.rollouts:,} rollouts; all {done.counts.turn_rewards:,} stored turn rewards recomputed and equal",
        highlight=False,
    )
    for table in tables(done):
        shown = Table(title=table.title, title_justify="left", box=None, pad_edge=False, header_style="dim")
        for number, heading in enumerate(table.headings):
            shown.add_column(heading.replace(" ", "\n"), justify="right" if number else "left", no_wrap=True)
        for row in table.rows:
            shown.add_row(*row, style="bold" if row[0] == table.own else None)
        console.print()
        console.print(shown)
        console.print(table.caption, style="dim", highlight=False)
    for note in done.notes:
        console.print(f"note: {note}", highlight=False)


def _measures(role: str, caption: str, marked: str, tallies: Mapping[str, Tally], own: str) -> WordTable:
    kinds = [f"teach, {kind.value.replace('_', ' ')}" for kind in GroupKind]
    headings = ("credit", *kinds, "|A|", "sign", f"{marked} A", f"{marked} < 0", "r", "flipped", "silenced", "woken")
    rows = []
    for name, tally in tallies.items():
        plain = tally.plain()
        special, against = plain["marked"], plain["against_own"]
        rows.append(
            (
                name,
                *(percent(tally.teaching_share(kind)) for kind in GroupKind),
                number(plain["mean_absolute_advantage"], ".2f"),
                number(plain["mean_sign"], "+.2f"),
                number(special["mean_advantage"], "+.2f"),
                percent(special["negative"]),
                number(against["pearson_over_tokens"], ".2f"),
                *(percent(against[key]) for key in ("flipped", "silenced", "woken")),
            )
        )
    return WordTable(role, caption, headings, rows, own)


def _by_position(tallies: Mapping[str, Tally], *, share: bool) -> Iterator[Sequence[str]]:
    for name, tally in tallies.items():
        found = {
            index: percent(weight) if share else number(mean, "+.2f")
            for index, _, mean, weight in tally.positions.rows()
        }
        yield (name, *(found.get(index, NOTHING) for index in range(POSITIONS_SHOWN)))


def _weight_by_length(role: str, tallies: Mapping[str, Tally], own: str) -> WordTable:
    bins = sorted({index for tally in tallies.values() for index, *_ in tally.lengths.rows()})
    rows = []
    for name, tally in tallies.items():
        found = {index: percent(weight) for index, _, _, weight in tally.lengths.rows()}
        rows.append((name, *(found.get(index, NOTHING) for index in bins)))
    said = "a turn" if role == "executor" else "a plan"
    return WordTable(
        f"{role}, weight by length",
        f"% of the sum of |A| x tokens, by the tokens of {said}.",
        ("credit", *("-".join(map(str, dict.fromkeys(bin_range(index)))) for index in bins)),
        rows,
        own,
    )


def percent(share: float | None) -> str:
    """A share in whole %, without the sign; one that is not quite none or all says so."""
    if share is None:
        return NOTHING
    shown = f"{100 * share:.0f}"
    if share > 0.0 and shown == "0":
        return "<1"
    return ">99" if share < 1.0 and shown == "100" else shown


def number(value: float | None, form: str) -> str:
    """A number in a format, without the sign of a rounded zero."""
    if value is None:
        return NOTHING
    return format(0.0 if abs(value) < 0.005 else value, form)
