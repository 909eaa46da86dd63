"""The page of a suite: one offline HTML file with its table and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sparring.lab.figures import figures
from sparring.lab.results import ALL, Line
from sparring.lab.suite import Suite
from sparring.lab.tables import cells, header, reading
from sparring.reports.pages import page_template
from sparring.runs.writing import write_atomically


def write_page(path: Path, suite: Suite, lines: Sequence[Line], failures: Mapping[str, str], missing: int) -> Path:
    """Write the page of the runs that are finished; `missing` of the suite are not."""
    page = page_template("suite.html.j2").render(
        suite=suite,
        header=header(suite, lines),
        rows=cells(lines),
        reading=reading(suite),
        figures=figures(lines),
        failures=failures,
        missing=missing,
        runs=[
            (line.title, run.seed, run.before.get(ALL), run.after[ALL], run.mixed, ledger_words(run.ledger))
            for line in lines
            for run in line.runs
        ],
    )
    write_atomically(path, page.encode("utf-8", errors="replace"))
    return path


def ledger_words(ledger: Mapping[str, Any]) -> str:
    """The counts of a run's ledger, tokens last, on one line."""
    counts = {name: count for name, count in ledger.items() if isinstance(count, int) and count}
    tokens = {f"{role} tokens": count for role, count in ledger["sampled_tokens"].items() if count}
    return ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in (counts | tokens).items())
