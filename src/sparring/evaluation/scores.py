"""Scores of the benchmarks whose tasks are official prompts: every rate with its 95 % interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sparring.evaluation.ifeval import score_ifeval
from sparring.evaluation.phantom_wiki import mean, score_phantom_wiki
from sparring.evaluation.stored import Stored, truncated
from sparring.evaluation.zebralogic import score_zebralogic
from sparring.intervals import wilson_interval
from sparring.profiles import Profile


def rate(value: float | None, n: int) -> dict[str, float | int | None]:
    """A rate with Wilson's 95 % interval; n counts what is independent of one another.

    Cells of one puzzle and instructions of one prompt stand or fall together. Their rates are taken
    over all of them and their intervals over puzzles and prompts, which is never too narrow. Nor is it
    for a mean of shares (precision, F1): numbers in [0, 1] vary at most as much as right or wrong.
    """
    low, high = (None, None) if value is None else wilson_interval(value, n)
    return {"rate": value, "low": low, "high": high, "n": n}


def ifeval_scores(rows: Sequence[Stored], prompts: Mapping[str, Mapping[str, Any]], profile: Profile) -> dict[str, Any]:
    """IFEval's four accuracies over the prompts that the file answers."""
    answered = {row.id for row in rows}
    scores = score_ifeval(
        [{"id": row.id, "text": row.text} for row in rows],
        [prompt for name, prompt in prompts.items() if name in answered],
        profile,
    )
    return {
        "n": scores.n,
        "without_reply": len(prompts) - scores.n,
        "instructions": scores.instructions,
        "no_answer": scores.no_answer,
        "format_error": None,  # a reply to IFEval has no form of its own
        "truncated": truncated(rows),
        "metrics": {
            "prompt_strict": rate(scores.prompt_strict, scores.n),
            "prompt_loose": rate(scores.prompt_loose, scores.n),
            "instruction_strict": rate(scores.instruction_strict, scores.n),
            "instruction_loose": rate(scores.instruction_loose, scores.n),
        },
    }


def zebralogic_scores(
    rows: Sequence[Stored], puzzles: Mapping[str, Mapping[str, Any]], profile: Profile
) -> dict[str, Any]:
    """ZebraLogic's puzzle and cell accuracy over the puzzles that the file answers, and by size."""
    scores = score_zebralogic([{"id": row.id, "text": row.text} for row in rows], list(puzzles.values()), profile)
    return {
        "n": scores.n,
        "without_reply": scores.without_reply,
        "no_answer": scores.no_answer,
        "format_error": scores.format_error,
        "truncated": truncated(rows),
        "metrics": {
            "puzzle_accuracy": rate(scores.puzzle_accuracy, scores.n),
            "cell_accuracy": rate(scores.cell_accuracy, scores.n),
        },
        "puzzle_accuracy_by_profile": {
            each.value: accuracy for each, accuracy in scores.puzzle_accuracy_by_profile.items()
        },
        "outcome_shares_by_profile": {
            each.value: {
                outcome.value: rate(count / scores.n if scores.n else None, scores.n)
                for outcome, count in counts.items()
            }
            for each, counts in scores.outcomes_by_profile.items()
        },
        "puzzle_accuracy_by_size": {
            name: rate(bucket.puzzle_accuracy, bucket.n) for name, bucket in scores.buckets.items()
        },
        "cell_accuracy_by_size": {
            name: rate(bucket.cell_accuracy, bucket.n) for name, bucket in scores.buckets.items()
        },
    }


def phantom_wiki_scores(
    rows: Sequence[Stored], questions: Mapping[str, Mapping[str, Any]], profile: Profile
) -> dict[str, Any]:
    """PhantomWiki's scores of answer sets over the questions that the file answers, and by difficulty."""
    scores = score_phantom_wiki({row.id: row.text for row in rows}, questions.values(), profile)
    return {
        "n": scores.n,
        "without_reply": scores.without_reply,
        "no_answer": scores.no_answer,
        "format_error": scores.format_error,
        "truncated": truncated(rows),
        "metrics": {
            "exact_match": rate(scores.exact_match, scores.n),
            "precision": rate(scores.precision, scores.n),
            "recall": rate(scores.recall, scores.n),
            "f1": rate(scores.f1, scores.n),
        },
        "exact_match_by_profile": {each.value: share for each, share in scores.exact_match_by_profile.items()},
        "exact_match_by_difficulty": {
            name: rate(mean(each.score.exact_match for each in band), len(band))
            for name, band in scores.by_difficulty.items()
        },
    }
