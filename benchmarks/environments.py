"""How fast the environments are beside the packages that do the same work: one table of ratios.

    python -m benchmarks.environments --phantom-wiki PYTHON [--only NAME ...] [--json FILE]

Everything is one process on one core and is counted in CPU seconds. Ours and theirs take turns, and the
quickest of a few tries of each is taken, since other work on the machine can only slow one down.

The peers are in the extra `benchmark`, but for phantom-wiki, which needs SWI-Prolog and an environment of
its own (docs/measurements.md): --phantom-wiki names the Python of that environment. Where a peer is not
installed its rows show our rate alone.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.peers import ifeval, phantom_wiki_rows, zebra
from benchmarks.peers.comparison import Comparison, PeerMissingError, Work
from rich.console import Console
from rich.progress import track
from rich.table import Table

from sparring.errors import UserError


@dataclass(frozen=True)
class Row:
    """Rates a CPU second; `theirs` and `ratio` are None where the peer is not installed, `target` where none is set."""

    name: str
    peer: str
    ours: float
    theirs: float | None
    ratio: float | None
    target: float | None


def compare(comparison: Comparison) -> Row:
    """Do the work of both in turn; the best rate of each."""
    ours: list[Work] = []
    theirs: list[Work] = []
    peer = comparison.peer
    for _ in range(comparison.repeats):
        ours.append(comparison.ours())
        try:
            theirs.append(comparison.theirs())
        except PeerMissingError as missing:
            peer = f"{comparison.peer}, not installed: {missing}"
            break
    best = max(work.rate for work in ours)
    if not theirs:
        return Row(comparison.name, peer, best, None, None, comparison.target)
    rival = max(work.rate for work in theirs)
    return Row(comparison.name, f"{peer} {theirs[0].version}", best, rival, best / rival, comparison.target)


def table(rows: Sequence[Row]) -> Table:
    """The rows for a terminal; a ratio below its target is marked."""
    shown = Table(title="a CPU second, one core", title_justify="left")
    for heading in ("what", "peer", "ours", "theirs", "ratio", "target"):
        shown.add_column(heading, justify="left" if heading in ("what", "peer") else "right")
    for row in rows:
        short = row.ratio is not None and row.target is not None and row.ratio < row.target
        shown.add_row(
            row.name,
            row.peer,
            _number(row.ours),
            "-" if row.theirs is None else _number(row.theirs),
            "-" if row.ratio is None else f"{_number(row.ratio)}{' (short)' if short else ''}",
            "-" if row.target is None else f">= {row.target:g}",
        )
    return shown


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparisons and print their table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--phantom-wiki", type=Path, metavar="PYTHON", help="the Python that has phantom-wiki")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="the rows whose name begins with one of these")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows here too")
    wanted = parser.parse_args(arguments)
    comparisons = [*phantom_wiki_rows.comparisons(wanted.phantom_wiki), *ifeval.comparisons(), *zebra.comparisons()]
    if wanted.only:
        comparisons = [each for each in comparisons if each.name.startswith(tuple(wanted.only))]
    if not comparisons:
        print(f"--only {' '.join(wanted.only)}: no row begins so", file=sys.stderr)
        return 2
    try:
        rows = [compare(each) for each in track(comparisons, "measuring", console=Console(stderr=True))]
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    Console().print(table(rows))
    if wanted.json is not None:
        wanted.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
