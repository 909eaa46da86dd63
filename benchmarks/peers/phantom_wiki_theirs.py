"""Runs phantom-wiki once and prints what it made and the CPU seconds that it took, as one JSON object.

Run by the Python of an environment that has phantom-wiki, which is not the one that has sparring: it
pins other versions and needs SWI-Prolog. Imports nothing of sparring.

    python phantom_wiki_theirs.py --people 50 --depth 6 --per-template 10 --seed 1
"""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import tempfile
import time
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

# Their own default.
TREE = 25


def main() -> None:
    """Make one data set; their own phases are timed by the CPU clock in place of the wall's."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--people", "--depth", "--per-template", "--seed"):
        parser.add_argument(name, type=int, required=True)
    parser.add_argument("--without-traces", action="store_true", help="leave their solution traces out")
    wanted = parser.parse_args()
    # The package has a function of the same name, which hides the module from an import statement.
    theirs = importlib.import_module("phantom_wiki.generate_dataset")
    theirs.__dict__["time"] = SimpleNamespace(time=time.process_time)
    with tempfile.TemporaryDirectory() as folder:
        theirs.generate_dataset(
            max_family_tree_size=TREE,
            num_family_trees=max(1, wanted.people // TREE),
            question_depth=wanted.depth,
            num_questions_per_type=wanted.per_template,
            skip_solution_traces=wanted.without_traces,
            seed=wanted.seed,
            quiet=True,
            output_dir=folder,
            article_format="json",
            question_format="json",
        )
        [seconds] = csv.DictReader((Path(folder) / "timings.csv").open(encoding="utf-8"))
        articles = json.loads((Path(folder) / "articles.json").read_text(encoding="utf-8"))
        questions = json.loads((Path(folder) / "questions.json").read_text(encoding="utf-8"))
    print(
        json.dumps(
            {
                "version": metadata.version("phantom-wiki"),
                "universe_seconds": float(seconds["facts_generate"]),
                "articles": len(articles),
                "article_seconds": float(seconds["articles_generate"]),
                "questions": len(questions),
                "question_seconds": float(seconds["questions_generate"]),
            }
        )
    )


if __name__ == "__main__":
    main()
