"""The measures as tables of words, for the terminal and for the page alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """All tables: for both roles what each credit teaches and how it differs, then positions and lengths of turns."""
    kinds = ", ".join(f"{kind.value.replace('_', ' ')} {count:,}" for kind, count in done.groups.items())
    teach = f"% of the groups ({kinds}) with an advantage that is not 0; means of |A| and of its sign over"
    beside = (
        "Correlation over tokens and over turns. flipped, silenced: % of those to which the run's own gives a sign, "
        "which get the other sign, or 0. woken: % of those to which it gives 0."
    )
    executor, planner = (done.executor, done.own_executor), (done.planner, done.own_planner)
    return [
        _lessons(
            "executor: what each credit teaches",
            f"{teach} turns. early: turns that made progress before the last turn of a captured rollout, their mean A "
            "and % below 0.",
            "early",
            *executor,
        ),
        _differences("executor: beside the run's own credit", beside, *executor),
        _by_position(
            "executor: mean A by turn position", f"The first {POSITIONS_SHOWN} turns.", *executor, share=False
        ),
        _by_position(
            "executor: weight by turn position",
            "% of the sum of |A| x tokens: where the gradient comes from.",
            *executor,
            share=True,
        ),
        _by_length("executor: weight by turn length", *executor),
        _lessons(
            "planner: what each credit teaches",
            f"{teach} plans. captures: plans of captured rollouts, their mean A and % below 0.",
            "captures",
            *planner,
        ),
        _differences("planner: beside the run's own credit", beside, *planner),
        _by_length("planner: weight by plan length", *planner),
    ]


def show(done: Recredit, console: Console) -> None:
    """Print all tables and notes; the run's own credit is in bold."""
    rounds = done.rounds
    console.print(
        f"{done.recipe.name}: rounds {rounds[0]}-{rounds[-1]} ({len(rounds):,}), {done.counts.groups:,} groups, "
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


def _lessons(title: str, caption: str, marked: str, tallies: Mapping[str, Tally], own: str) -> WordTable:
    kinds = [kind.value.replace("_", " ") for kind in GroupKind]
    rows = []
    for name, tally in tallies.items():
        plain = tally.plain()
        rows.append(
            (
                name,
                *(percent(tally.teaching_share(kind)) for kind in GroupKind),
                number(plain["mean_absolute_advantage"], ".2f"),
                number(plain["mean_sign"], "+.2f"),
                number(plain["marked"]["mean_advantage"], "+.2f"),
                percent(plain["marked"]["negative"]),
            )
        )
    return WordTable(title, caption, ("credit", *kinds, "|A|", "sign", f"{marked} A", f"{marked} <0"), rows, own)


def _differences(title: str, caption: str, tallies: Mapping[str, Tally], own: str) -> WordTable:
    rows = []
    for name, tally in tallies.items():
        against = tally.plain()["against_own"]
        correlations = [number(against[f"pearson_over_{unit}"], ".2f") for unit in ("tokens", "turns")]
        shares = [percent(against[key]) for key in ("flipped", "silenced", "woken")]
        rows.append((name, *correlations, *shares))
    return WordTable(title, caption, ("credit", "r, tokens", "r, turns", "flipped", "silenced", "woken"), rows, own)


def _by_position(title: str, caption: str, tallies: Mapping[str, Tally], own: str, *, share: bool) -> WordTable:
    rows = []
    for name, tally in tallies.items():
        found = {
            index: percent(weight) if share else number(mean, "+.2f")
            for index, _, mean, weight in tally.positions.rows()
        }
        rows.append((name, *(found.get(index, NOTHING) for index in range(POSITIONS_SHOWN))))
    return WordTable(title, caption, ("credit", *map(str, range(1, POSITIONS_SHOWN + 1))), rows, own)


def _by_length(title: str, tallies: Mapping[str, Tally], own: str) -> WordTable:
    bins = sorted({index for tally in tallies.values() for index, *_ in tally.lengths.rows()})
    rows = []
    for name, tally in tallies.items():
        found = {index: percent(weight) for index, _, _, weight in tally.lengths.rows()}
        rows.append((name, *(found.get(index, NOTHING) for index in bins)))
    spans = ["-".join(map(str, dict.fromkeys(bin_range(index)))) for index in bins]
    return WordTable(title, "% of the sum of |A| x tokens, by length in tokens.", ("credit", *spans), rows, own)


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
