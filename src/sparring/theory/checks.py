"""All statements of the theory at once, and the fit of Fig. 5 where scores are given."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Any

from rich.table import Table

from sparring.theory import capture_dominance, group_energy, plug_in_bias, signature_shares, stationary_shares
from sparring.theory.power_law import PowerLaw, Scores, fit_power_law
from sparring.theory.statements import Statement

NO_SCORES = "no scores were given, and the paper's are not part of this program; give a table with --scores FILE.csv"
"""Of Fig. 5, whose points SPEC does not hold."""


@dataclass(frozen=True)
class Theory:
    """What was checked; scores and their fit are None together, where no table was given."""

    statements: tuple[Statement, ...]
    scores: Scores | None
    power_law: PowerLaw | None

    @property
    def agrees(self) -> bool:
        """Whether every statement came out as claimed."""
        return all(statement.agrees for statement in self.statements)

    def plain(self) -> dict[str, Any]:
        """Everything, ready for JSON; power_law is null where no scores were given."""
        return {
            "agrees": self.agrees,
            "statements": [statement.plain() for statement in self.statements],
            "power_law": None if self.power_law is None else self.power_law.plain(),
        }


def check(scores: Scores | None) -> Theory:
    """Compute what every statement is about, and fit the power law to the scores, if any."""
    parts = (group_energy, plug_in_bias, signature_shares, stationary_shares, capture_dominance)
    statements = tuple(statement for part in parts for statement in part.statements())
    return Theory(statements, scores, None if scores is None else fit_power_law(scores))


def table(theory: Theory) -> Table:
    """The statements under their sources, for the terminal; those that disagree stand out."""
    shown = Table(box=None, pad_edge=False, header_style="dim")
    shown.add_column("statement")
    shown.add_column("whose")
    for heading in ("claimed", "computed"):
        shown.add_column(heading, justify="right", no_wrap=True)
    shown.add_column("agrees")
    for source, statements in by_source(theory):
        shown.add_row(source, style="bold")
        for statement in statements:
            shown.add_row(
                f"  {statement.words}",
                statement.origin,
                claimed_words(statement),
                number_words(statement.computed),
                agreement_words(statement),
                style=None if statement.agrees else "bold red",
            )
    return shown


def by_source(theory: Theory) -> list[tuple[str, list[Statement]]]:
    """The statements under the source that they have in common, in order."""
    return [(source, list(part)) for source, part in groupby(theory.statements, lambda each: each.source)]


def verdict_words(theory: Theory) -> str:
    """How many statements agree, in one line."""
    agreeing = sum(statement.agrees for statement in theory.statements)
    return f"{agreeing} of {len(theory.statements)} statements agree"


def power_law_words(theory: Theory) -> str:
    """The fit of Fig. 5 in one line, or what to give for one. A measurement, with no claim to agree with."""
    law = theory.power_law
    if law is None:
        return f"Fig. 5: {NO_SCORES}"
    return (
        f"Fig. 5: 100 - score = {law.scale:.4g} * size^-{law.exponent:.4f}, b from {law.low:.4f} to {law.high:.4f} "
        f"(95 % interval, {law.models} models, {law.explained:.1%} of the variance on the log scale)"
    )


def claimed_words(statement: Statement) -> str:
    """The claimed number with its relation, such as `= 6.945`."""
    return f"{statement.relation} {number_words(statement.claimed)}"


def number_words(value: float) -> str:
    """A number with six digits, or fewer where they say nothing."""
    return f"{value:.6g}"


def agreement_words(statement: Statement) -> str:
    """Yes or no."""
    return "yes" if statement.agrees else "NO"
