"""Scores IFEval from stored generations: strict and loose, by prompt and by instruction, under a named profile.

Nothing is read or generated here, so a stored file can be scored again at any time, under either profile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sparring.environments.ifeval.constraints import Constraint, Judgement, judge_both
from sparring.errors import UserError
from sparring.parsing import remove_thinking
from sparring.profiles import Profile


@dataclass(frozen=True)
class PromptScore:
    """The verdicts on one reply, one for each instruction in the order of the benchmark.

    answered: text was left once the thinking was taken off.
    """

    id: str
    instructions: tuple[str, ...]
    answered: bool
    strict: tuple[Judgement, ...]
    loose: tuple[Judgement, ...]

    @property
    def strict_followed(self) -> bool:
        """Every instruction is followed."""
        return all(judgement.followed for judgement in self.strict)

    @property
    def loose_followed(self) -> bool:
        """Every instruction is followed by some view of the reply."""
        return all(judgement.followed for judgement in self.loose)


@dataclass(frozen=True)
class IFEvalScores:
    """Accuracies in [0, 1]; `prompt_strict` is the one to report. n counts prompts, no_answer those without a reply."""

    profile: Profile
    n: int
    instructions: int
    no_answer: int
    prompt_strict: float
    prompt_loose: float
    instruction_strict: float
    instruction_loose: float
    prompts: tuple[PromptScore, ...]


def score_ifeval(
    rows: Sequence[Mapping[str, Any]], official_rows: Sequence[Mapping[str, Any]], profile: Profile
) -> IFEvalScores:
    """Score generations ({"id", "text"}, id being the key of the prompt) against rows of the benchmark.

    Exactly the prompts of `official_rows` are scored, so pass a part of them to score a part. Raises UserError when a
    generation is missing, given twice or of no such prompt, and when a row of the benchmark cannot be read.
    """
    texts = _texts_by_id(rows, [str(row["key"]) for row in official_rows])
    prompts = tuple(_score_prompt(row, texts[str(row["key"])], profile) for row in official_rows)
    strict = [judgement.followed for prompt in prompts for judgement in prompt.strict]
    loose = [judgement.followed for prompt in prompts for judgement in prompt.loose]
    return IFEvalScores(
        profile=profile,
        n=len(prompts),
        instructions=len(strict),
        no_answer=sum(not prompt.answered for prompt in prompts),
        prompt_strict=sum(prompt.strict_followed for prompt in prompts) / len(prompts),
        prompt_loose=sum(prompt.loose_followed for prompt in prompts) / len(prompts),
        instruction_strict=sum(strict) / len(strict),
        instruction_loose=sum(loose) / len(loose),
        prompts=prompts,
    )


def _texts_by_id(rows: Sequence[Mapping[str, Any]], expected: Sequence[str]) -> dict[str, str]:
    if not expected:
        raise UserError("ifeval: no prompts to score; give at least one row of the benchmark")
    texts: dict[str, str] = {}
    for number, row in enumerate(rows, start=1):
        if "id" not in row or not isinstance(row.get("text"), str):
            raise UserError(f"ifeval: generation {number} has the keys {sorted(row)}; give an id and a text")
        name = str(row["id"])
        if name in texts:
            raise UserError(f"ifeval: id {name!r} is given twice; keep one generation a prompt")
        texts[name] = row["text"]
    unknown = [name for name in texts if name not in set(expected)]
    if unknown:
        raise UserError(f"ifeval: id {unknown[0]!r} is not a key of the benchmark ({len(unknown)} such); remove it")
    missing = [name for name in expected if name not in texts]
    if missing:
        raise UserError(
            f"ifeval: no generation with id {missing[0]!r} ({len(missing)} missing); add one for each prompt"
        )
    return texts


def _score_prompt(row: Mapping[str, Any], text: str, profile: Profile) -> PromptScore:
    ids, kwargs = row["instruction_id_list"], row["kwargs"]
    if len(ids) != len(kwargs):
        raise UserError(f"ifeval: key {row['key']} has {len(ids)} instructions and {len(kwargs)} kwargs; give as many")
    constraints = [Constraint.read(name, values) for name, values in zip(ids, kwargs, strict=True)]
    answer = remove_thinking(text) or ""
    both = [judge_both(constraint, answer, profile) for constraint in constraints]
    return PromptScore(
        id=str(row["key"]),
        instructions=tuple(ids),
        answered=bool(answer.strip()),
        strict=tuple(each.strict for each in both),
        loose=tuple(each.loose for each in both),
    )
