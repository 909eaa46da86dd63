"""The verb `sparring recredit`: its arguments and what it does. Heavy imports wait until it runs."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

LONGEST_ROUND = 9
"""Digits of a round's number, at most."""


def register(verbs: Any, positive: Callable[[str], int]) -> None:
    """Add the verb to the command line; `positive` reads a whole number from 1."""
    parser = verbs.add_parser(
        "recredit", help="credit a run's stored rollouts anew, under every option", allow_abbrev=False
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="a run folder; it may be unfinished")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--rounds", type=_span, metavar="A-B", help="only these rounds (default: all complete ones)")
    which.add_argument("--last", type=positive, metavar="N", help="only the newest N complete rounds")
    parser.add_argument("--json", action="store_true", help="print JSON in place of the tables")
    parser.add_argument("--out", type=Path, metavar="FILE.html", help="write a page with figures here")


def run(given: argparse.Namespace) -> None:
    """Recompute, then print the tables, or JSON, and write the page where one is asked for."""
    import json

    from rich.console import Console

    from sparring.recredit.page import write_page
    from sparring.recredit.recompute import RoundChoice, recredit
    from sparring.recredit.tables import show
    from sparring.runs.writing import refuse_unwritable

    if given.out:
        refuse_unwritable(given.out)  # told now, not after a long run was read
    first, final = given.rounds or (None, None)
    done = recredit(given.run, RoundChoice(first, final, given.last))
    if given.json:
        print(json.dumps(done.plain(), indent=2, allow_nan=False))
    else:
        show(done, Console())
    if given.out:
        write_page(done, given.out)


def _span(text: str) -> tuple[int, int]:
    found = re.fullmatch(rf"(\d{{1,{LONGEST_ROUND}}})-(\d{{1,{LONGEST_ROUND}}})", text, flags=re.ASCII)
    if not found or int(found[1]) > int(found[2]):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a span of rounds such as 1-20")
    return int(found[1]), int(found[2])
