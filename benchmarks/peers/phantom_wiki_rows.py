"""PhantomWiki's universes, articles and questions against the package phantom-wiki, run in its own environment."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.peers.comparison import Comparison, PeerMissingError, Work, timed

from sparring.environments.phantom_wiki.articles import article, facts
from sparring.environments.phantom_wiki.grammar import templates
from sparring.environments.phantom_wiki.kinship import Universe, draw_universe
from sparring.environments.phantom_wiki.questions import draw_questions
from sparring.errors import UserError

PEER = "phantom-wiki"
SCRIPT = Path(__file__).with_name("phantom_wiki_theirs.py")
# Their own defaults: trees of 25, up to 5 children, 3 friends each.
TREE_SIZE, MAXIMUM_BRANCHING, MEAN_FRIENDS = 25, 5, 3.0
# Over some universes they take minutes at depth 20. A run that is not done then counts as done then.
SECONDS_AT_MOST = 150
SEEDS = (1, 2, 3)
LARGE = 5000
# Depth and questions a template of the large data set, whose universe and articles are measured too.
LARGE_DEPTH, LARGE_PER_TEMPLATE = 10, 5


def comparisons(python: Path | None) -> list[Comparison]:
    """The rows. python: of the environment that has the package."""

    def large(what: str) -> Work:
        return _theirs(python, LARGE, LARGE_DEPTH, LARGE_PER_TEMPLATE, what, SEEDS[:1])

    def questions(people: int, depth: int, per_template: int, seeds: Sequence[int], target: float | None) -> Comparison:
        return Comparison(
            f"phantom_wiki questions, depth {depth}, {people:,} people",
            PEER,
            lambda: _questions(people, depth, per_template, seeds),
            lambda: _theirs(python, people, depth, per_template, "question", seeds),
            target=target,
            repeats=1,
        )

    return [
        Comparison(
            f"phantom_wiki people, a universe of {LARGE:,}", PEER, _people, lambda: large("universe"), repeats=1
        ),
        Comparison(
            f"phantom_wiki articles, {LARGE:,} people", PEER, _articles, lambda: large("article"), target=20, repeats=1
        ),
        questions(50, 6, 10, SEEDS, target=10),
        questions(LARGE, LARGE_DEPTH, LARGE_PER_TEMPLATE, SEEDS[:1], target=None),
        questions(50, 20, 10, SEEDS, target=1000),
    ]


def _universe(people: int, seed: int) -> Universe:
    return draw_universe(
        people,
        random.Random(seed),
        tree_size=TREE_SIZE,
        maximum_branching=MAXIMUM_BRANCHING,
        mean_friends=MEAN_FRIENDS,
    )


def _people() -> Work:
    return timed(lambda: len(_universe(LARGE, 1).people))


def _articles() -> Work:
    """The text and the list of its facts, which theirs makes too."""
    universe = _universe(LARGE, 1)
    return timed(lambda: len([(article(universe, name), list(facts(universe, name))) for name in universe.people]))


def _questions(people: int, depth: int, per_template: int, seeds: Sequence[int]) -> Work:
    universes = [_universe(people, seed) for seed in seeds]

    def draw() -> int:
        return sum(
            len(draw_questions(universe, depth=depth, per_template=per_template, seed=seed))
            for seed, universe in zip(seeds, universes, strict=True)
        )

    return timed(draw)


@cache
def _run(python: Path, people: int, depth: int, per_template: int, seed: int) -> dict[str, Any]:
    """Their universe, articles and questions, in one process; no solution traces, since we write none."""
    numbers = {"--people": people, "--depth": depth, "--per-template": per_template, "--seed": seed}
    options = [str(part) for pair in numbers.items() for part in pair]
    command = [str(python), str(SCRIPT), *options, "--without-traces"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS_AT_MOST)
    except subprocess.TimeoutExpired:
        return {
            "version": "(cut off)",
            "questions": per_template * len(templates(depth)),
            "question_seconds": SECONDS_AT_MOST,
        }
    except (OSError, subprocess.CalledProcessError) as error:
        words = getattr(error, "stderr", None) or str(error)
        raise UserError(
            f"--phantom-wiki {python}: {str(words).strip().splitlines()[-1]}; give the Python of an environment "
            f"in which `python -m phantom_wiki --help` works"
        ) from None
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _theirs(python: Path | None, people: int, depth: int, per_template: int, what: str, seeds: Sequence[int]) -> Work:
    if python is None:
        raise PeerMissingError("give --phantom-wiki PYTHON")
    runs = [_run(python, people, depth, per_template, seed) for seed in seeds]
    counted = "articles" if what == "universe" else f"{what}s"
    versions = sorted({run["version"] for run in runs}, reverse=True)
    return Work(sum(run[counted] for run in runs), sum(run[f"{what}_seconds"] for run in runs), " ".join(versions))
