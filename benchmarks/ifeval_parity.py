"""Are our IFEval checkers those of the reference? Profile `official` must say the same, `fixed` differ as listed.

    python -m benchmarks.ifeval_parity [--every N] [--speed]

Over the 541 official prompts and at least 46 replies to each (benchmarks/ifeval_replies.py), both sides judge every
instruction, strict and loose, with langdetect seeded alike. `official` may differ at one place: where the prompt asks
for a letter that is no letter, the reference counts a random one. `fixed` may differ in the kinds that
docs/ifeval_profiles.md lists (benchmarks/ifeval_differences.py says how each is told); every view of a reply that
the loose verdict reads is held against them. Exit code 1 when anything else differs.

It needs the extra `benchmark` and the official data, and takes a few minutes. --every N takes each N-th prompt.
--speed measures both sides as benchmarks/environments.py does.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.ifeval_differences import is_listed
from benchmarks.ifeval_replies import constraints_of, replies
from benchmarks.peers import ifeval
from benchmarks.peers.comparison import PeerMissingError
from benchmarks.peers.ifeval import Row, official_rows, reference_verdicts
from rich.console import Console
from rich.progress import track
from rich.table import Table

from sparring.environments.ifeval.constraints import Constraint, further_views, judge, judge_both
from sparring.errors import UserError
from sparring.profiles import Profile

LETTER = "keywords:letter_frequency"


@dataclass
class Tally:
    """What was compared, by family: pairs of an instruction and a reply, and where verdicts differ.

    random_letters: differences of `official` where the reference draws its letter, by key.
    unexplained: one line for each fault.
    """

    replies: int = 0
    pairs: Counter[str] = field(default_factory=Counter)
    followed: Counter[str] = field(default_factory=Counter)
    random_letters: Counter[int] = field(default_factory=Counter)
    fixed: Counter[str] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)


def compare(rows: Sequence[Row]) -> Tally:
    """Hold both profiles against the reference on every reply to these prompts."""
    tally = Tally()
    for row in track(rows, "comparing", console=Console(stderr=True)):
        constraints = constraints_of(row)
        for reply in replies(row):
            tally.replies += 1
            reference = reference_verdicts(row, reply.text)
            for constraint, strict, loose in zip(constraints, reference.strict, reference.loose, strict=True):
                where = f"key {row['key']}, {constraint.id}, reply of kind {reply.kind!r} {reply.text[:60]!r}"
                _official(tally, constraint, reply.text, (strict, loose), row["key"], where)
                _fixed(tally, constraint, reply.text, (strict, loose), where)
    return tally


def _official(
    tally: Tally, constraint: Constraint, text: str, reference: tuple[bool, bool], key: int, where: str
) -> None:
    both = judge_both(constraint, text, Profile.OFFICIAL)
    tally.pairs[constraint.id] += 1
    tally.followed[constraint.id] += reference[0]
    if (both.strict.followed, both.loose.followed) == reference:
        return
    if _draws_letter(constraint):
        tally.random_letters[key] += 1
    else:
        tally.unexplained.append(f"official: {where}: the reference says {reference}")


def _draws_letter(constraint: Constraint) -> bool:
    """Whether the reference puts a random letter in place of the one asked for."""
    return constraint.id == LETTER and not "a" <= str(constraint.parameters["letter"]).lower() <= "z"


def _fixed(tally: Tally, constraint: Constraint, text: str, reference: tuple[bool, bool], where: str) -> None:
    if _draws_letter(constraint):
        return
    both = judge_both(constraint, text, Profile.FIXED)
    if (both.strict.followed, both.loose.followed) != reference:
        tally.fixed[constraint.id] += 1
    # `official` stands for the reference in each view: the loose verdicts agree, and they are made of nothing else.
    for view in (text, *further_views(text)):
        official = judge(constraint, view, Profile.OFFICIAL).followed
        if judge(constraint, view, Profile.FIXED).followed == official:
            continue
        if not is_listed(constraint.id, constraint.parameters, view, official):
            tally.unexplained.append(f"fixed: {where}: on the view {view[:60]!r} the reference says {official}")


def table(tally: Tally) -> Table:
    """The counts by family."""
    shown = Table(title=f"{tally.replies} replies, {tally.pairs.total()} pairs", title_justify="left")
    for heading in ("family", "pairs", "followed", "official differs", "fixed differs"):
        shown.add_column(heading, justify="left" if heading == "family" else "right")
    for family, count in sorted(tally.pairs.items()):
        official = sum(tally.random_letters.values()) if family == LETTER else 0
        shown.add_row(family, *map(str, (count, tally.followed[family], official, tally.fixed[family])))
    return shown


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, print the counts, and say what is not explained."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take each N-th prompt")
    parser.add_argument("--speed", action="store_true", help="measure the speed of both sides instead")
    wanted: Any = parser.parse_args(arguments)
    if wanted.every < 1:
        parser.error(f"--every: {wanted.every} is not a number from 1")
    console = Console()
    try:
        if wanted.speed:
            return _speed(console)
        tally = compare(official_rows()[:: wanted.every])
    except (UserError, PeerMissingError) as error:
        print(error, file=sys.stderr)
        return 2
    console.print(table(tally))
    keys = ", ".join(f"{key} ({count})" for key, count in sorted(tally.random_letters.items()))
    console.print(f"official differs from the reference on keys: {keys or 'none'} (it draws a random letter there)")
    console.print(f"not explained: {len(tally.unexplained)}")
    for line in tally.unexplained[:20]:
        console.print(line, markup=False)
    return 1 if tally.unexplained else 0


def _speed(console: Console) -> int:
    for comparison in ifeval.comparisons():
        ours, theirs = comparison.ours(), comparison.theirs()
        console.print(
            f"{comparison.name}: {ours.rate:.0f} a CPU second, {comparison.peer} {theirs.version} {theirs.rate:.0f}, "
            f"ratio {ours.rate / theirs.rate:.1f} (aim {comparison.target:g})"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
