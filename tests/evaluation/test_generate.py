"""Batches, limits and order of generation, with an engine that answers by rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from sparring.engines.base import Engine, SamplingParameters
from sparring.evaluation import generate
from sparring.evaluation.generate import answer_prompts, transcript
from sparring.trajectories import Generation, Owner, PolicySequence, Span, StopReason, Trajectory, Turn

LIMIT, CONTEXT = 8, 40


class Letters:
    """One id a letter."""

    def opening(self, text: str) -> list[Span]:
        return [Span(Owner.PROMPT, tuple(map(ord, text)))]

    def ready(self, text: str = "") -> list[Span]:
        return [Span(Owner.MARKER, (ord(">"),))]

    def decode(self, generation: Generation) -> str:
        return "".join(map(chr, generation.ids))


class Echo:
    """Repeats the prompt, as far as the limit goes; remembers every batch."""

    dialogue = Letters()
    context_length = CONTEXT

    def __init__(self) -> None:
        self.batches: list[tuple[list[int], int]] = []

    def sample(
        self, policy: str, prompts: Sequence[Sequence[int]], copies: int, parameters: SamplingParameters, seed: int
    ) -> list[list[Generation]]:
        assert (policy, copies, parameters.temperature) == ("executor", 1, 0.0)
        self.batches.append(([len(prompt) for prompt in prompts], parameters.max_tokens))
        replies = []
        for prompt in prompts:
            words = tuple(prompt[:-1])
            spoken = words[: parameters.max_tokens]
            stop = StopReason.END if spoken == words else StopReason.LENGTH
            replies.append([Generation(spoken, (0.0,) * len(spoken), stop)])
        return replies


@given(st.lists(st.text("ab", max_size=CONTEXT + 4), min_size=1, max_size=12))
def test_every_prompt_gets_its_own_reply_in_order(texts: list[str]) -> None:
    engine, advanced = Echo(), list[int]()
    prompts = {str(number): text for number, text in enumerate(texts)}
    rows = answer_prompts(cast(Engine, engine), "executor", prompts, LIMIT, advanced.append)
    assert [(row["id"], row["prompt"]) for row in rows] == list(prompts.items())
    assert sum(advanced) == len(texts)
    for row in rows:
        room = min(LIMIT, CONTEXT - len(row["prompt"]) - 1)
        if room < 1:
            assert (row["text"], row["stop"], row["tokens"]) == ("", "no_room", 0)
        else:
            assert row["text"] == row["prompt"][:room]
            assert row["stop"] == ("end" if len(row["prompt"]) <= room else "length")
            assert row["tokens"] == len(row["text"])
    assert all(max(lengths) + limit <= CONTEXT for lengths, limit in engine.batches)


def test_batches_keep_to_their_tokens_and_begin_with_the_longest() -> None:
    engine = Echo()
    prompts = {str(length): "a" * length for length in (3, 30, 10, 9, 20)}
    allowed = generate.TOKENS_AT_ONCE
    try:
        generate.TOKENS_AT_ONCE = 2 * (21 + LIMIT)
        answer_prompts(cast(Engine, engine), "executor", prompts, LIMIT, lambda done: None)
    finally:
        generate.TOKENS_AT_ONCE = allowed
    assert [lengths for lengths, _ in engine.batches] == [[31], [21, 11], [10, 4]]


def test_a_transcript_reads_turn_by_turn() -> None:
    turns = [
        Turn(0, "kim", "ann", 0.5, 0.5, True),
        Turn(1, "submit", "", 1.0, 0.5, True),
    ]
    trajectory = Trajectory("wife", ("wife",), True, PolicySequence("planner"), PolicySequence("executor"), turns)
    assert transcript(trajectory) == "Plan: wife\nStage 1: kim\nResult: ann\nStage 2: submit"
