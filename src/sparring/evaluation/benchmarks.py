"""The benchmarks, one card each: what is asked, how long an answer may be, how it is scored (SPEC 4).

Two kinds. A `PromptBenchmark` is a published set of prompts, each answered at once and without
roles, and needs a chat model. A `HeldoutBenchmark` is a set of generated tasks over the difficulty
axis of one environment, of seeds that training never uses, solved by planner and executor.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparring.errors import UserError, nearest
from sparring.evaluation.heldout_replay import heldout_metrics, heldout_scores
from sparring.evaluation.phantom_wiki import phantom_wiki_prompt
from sparring.evaluation.scores import ifeval_scores, phantom_wiki_scores, zebralogic_scores
from sparring.evaluation.stored import Stored, read_json_lines, refuse_unknown
from sparring.evaluation.zebralogic import zebralogic_prompt
from sparring.profiles import Profile
from sparring.tasks import PromptPack


@dataclass(frozen=True)
class PromptBenchmark:
    """A published set of prompts.

    environment: the one that trains for it, whose executor answers in a run with a set per environment.
    file: its rows under the data folder; id_field and prompt_field name what is read of each.
    context_file: rows that every prompt shows beside its own, such as the articles of a world.
    render: the prompt as the model sees it, of a row and the context's rows. max_tokens: the longest answer.
    metrics: what scores hold.
    """

    name: str
    what: str
    environment: str
    metrics: tuple[str, ...]
    file: str
    id_field: str
    prompt_field: str
    render: Callable[[Mapping[str, Any], Sequence[Mapping[str, Any]]], str]
    max_tokens: int
    scorer: Callable[[Sequence[Stored], Mapping[str, Mapping[str, Any]], Profile], dict[str, Any]]
    context_file: str | None = None

    def rows(self) -> dict[str, dict[str, Any]]:
        """The benchmark's rows by id; UserError when a file is missing or holds something else."""
        path = _data_file(self.file)
        if self.context_file is not None:
            _data_file(self.context_file)
        found = {}
        for number, row in read_json_lines(path, f"prompts of {self.name}"):
            if self.id_field not in row or not isinstance(row.get(self.prompt_field), str):
                raise UserError(
                    f"{path} line {number} has no {self.id_field!r} and {self.prompt_field!r}; "
                    f"restore the file of {self.name}"
                )
            found[str(row[self.id_field])] = row
        return found

    def prompts(self) -> dict[str, str]:
        """What the model is asked, by id, in the order of the file."""
        context = []
        if self.context_file is not None:
            path = _data_file(self.context_file)
            context = [row for _, row in read_json_lines(path, f"articles of {self.name}")]
        return {name: self.render(row, context) for name, row in self.rows().items()}

    def score(self, rows: Sequence[Stored], profile: Profile) -> dict[str, Any]:
        """Score the generations of a file."""
        official = self.rows()
        refuse_unknown(rows, official, self.name)
        return {"profile": profile.value, **self.scorer(rows, official, profile)}


@dataclass(frozen=True)
class HeldoutBenchmark:
    """Generated tasks of one environment, `tasks_per_level` at each of `levels` difficulties."""

    name: str
    what: str
    environment: str
    levels: int = 6
    tasks_per_level: int = 20

    @property
    def metrics(self) -> tuple[str, ...]:
        """What scores hold."""
        return heldout_metrics(self.environment)

    def score(self, rows: Sequence[Stored], _profile: Profile) -> dict[str, Any]:
        """Score the rollouts of a file; the environment's verifier is the only profile there is."""
        scores = heldout_scores(rows, self.environment, self.levels, self.tasks_per_level)
        return {"profile": "the environment's verifier", **scores}


Benchmark = PromptBenchmark | HeldoutBenchmark


def _phantom_wiki_questions(name: str, what: str, world: str) -> PromptBenchmark:
    """A card for published questions over a published world, which is small enough to be shown whole."""
    return PromptBenchmark(
        name=name,
        what=f"{what}, all articles in the prompt, one reply each, no roles",
        environment="phantom_wiki",
        metrics=("exact_match", "precision", "recall", "f1"),
        file=f"{name}.jsonl",
        id_field="id",
        prompt_field="question",
        render=phantom_wiki_prompt,
        max_tokens=4096,
        scorer=phantom_wiki_scores,
        context_file=f"{world}_articles.jsonl",
    )


_CARDS: tuple[Benchmark, ...] = (
    HeldoutBenchmark(
        name="phantom_wiki",
        what="held-out generated questions, 20 at each of six difficulties, every hop verified",
        environment="phantom_wiki",
    ),
    _phantom_wiki_questions(
        "phantomwiki_size25", "177 official PhantomWiki questions of up to 20 hops over 25 people", "phantomwiki_size25"
    ),
    _phantom_wiki_questions(
        "phantomwiki_size25_easy", "98 easy official PhantomWiki questions over 25 people", "phantomwiki_size25"
    ),
    _phantom_wiki_questions(
        "phantomwiki_size50", "175 official PhantomWiki questions of up to 20 hops over 50 people", "phantomwiki_size50"
    ),
    PromptBenchmark(
        name="ifeval",
        what="the 541 official IFEval prompts, one reply each, no roles",
        environment="ifeval",
        metrics=("prompt_strict", "prompt_loose", "instruction_strict", "instruction_loose"),
        file="ifeval.jsonl",
        id_field="key",
        prompt_field="prompt",
        render=lambda row, _: str(row["prompt"]),
        max_tokens=1280,
        scorer=ifeval_scores,
    ),
    PromptBenchmark(
        name="zebralogic",
        what="the 1,000 official ZebraLogic puzzles, one-shot prompt, one reply each, no roles",
        environment="zebra_logic",
        metrics=("puzzle_accuracy", "cell_accuracy"),
        file="zebralogic.jsonl",
        id_field="id",
        prompt_field="puzzle",
        render=lambda row, _: zebralogic_prompt(row["puzzle"]),
        max_tokens=4096,
        scorer=zebralogic_scores,
    ),
    HeldoutBenchmark(
        name="ifeval_heldout",
        what="held-out generated writing tasks by number of constraints, not the official prompts",
        environment="ifeval",
    ),
    HeldoutBenchmark(
        name="zebralogic_heldout",
        what="held-out generated logic grids by size, not the official puzzles",
        environment="zebra_logic",
    ),
)
BENCHMARKS: Mapping[str, Benchmark] = {card.name: card for card in _CARDS}

IN_COMPACT_WORDS: Mapping[str, str] = {
    "ifeval": "ifeval_heldout",
    "zebralogic": "zebralogic_heldout",
    "phantomwiki_size25": "phantom_wiki",
    "phantomwiki_size25_easy": "phantom_wiki",
    "phantomwiki_size50": "phantom_wiki",
}
"""What an official benchmark's name means for a model that knows a few hundred words and reads no prose."""


def benchmark(name: str) -> Benchmark:
    """The card of that name; UserError, naming the nearest, when there is none."""
    if name not in BENCHMARKS:
        raise UserError(
            f"benchmark {name!r} is not known; the nearest is {nearest(name, BENCHMARKS)} "
            f"(known: {', '.join(BENCHMARKS)})"
        )
    return BENCHMARKS[name]


def benchmarks_for(names: Sequence[str], pack: PromptPack) -> list[Benchmark]:
    """The cards to measure, each once, in the order of their names.

    Compact words cannot hold the official prompts, so there their names mean the held-out tasks.
    """
    cards = [benchmark(name) for name in names]
    if pack is PromptPack.COMPACT:
        cards = [BENCHMARKS[IN_COMPACT_WORDS.get(card.name, card.name)] for card in cards]
    return list(dict.fromkeys(cards))


def _data_file(name: str) -> Path:
    path = data_folder() / name
    if not path.is_file():
        raise UserError(f"{path} does not exist; set SPARRING_DATA to the folder that holds {name}")
    return path


def data_folder() -> Path:
    """SPARRING_DATA, else shared/data beside the current directory, else beside the repository."""
    own = os.environ.get("SPARRING_DATA")
    if own:
        return Path(own).expanduser()
    beside = Path("..") / "shared" / "data"
    repository = Path(__file__).resolve().parents[3]
    return beside if beside.is_dir() else repository.parent / "shared" / "data"
