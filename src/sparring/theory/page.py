"""What `sparring theory --out DIR` writes: theory.json, and theory.html with the figures."""

from __future__ import annotations

from pathlib import Path

from sparring.reports.pages import page_template
from sparring.runs.writing import write_atomically, write_json, writing
from sparring.theory import figures
from sparring.theory.checks import (
    Theory,
    agreement_words,
    by_source,
    claimed_words,
    number_words,
    power_law_words,
    verdict_words,
)


def write_theory(theory: Theory, folder: Path) -> Path:
    """Write theory.json and theory.html in a folder, made where it is missing; returns the page's path."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "theory.json", theory.plain())
    path = folder / "theory.html"
    write_atomically(path, page(theory).encode("utf-8"))
    return path


def page(theory: Theory) -> str:
    """The page, self-contained: every statement under its source, with the figures that go with it."""
    return page_template("theory.html.j2").render(
        verdict=verdict_words(theory),
        parts=by_source(theory),
        figures=figures.sections(theory),
        claimed=claimed_words,
        number=number_words,
        agreement=agreement_words,
        power_law=power_law_words(theory),
    )
