"""What an ended episode answered: equal for equal answers, so that votes can be counted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from sparring.environments import IFEval, PhantomWiki, ZebraLogic
from sparring.environments.base import AnyEnvironment
from sparring.tasks import PromptPack, Task

SMALL_WORLD = {"tools": "lookup", "population": (6, 8), "attribute_question_probability": 0.0}
ENVIRONMENTS = (PhantomWiki, IFEval, ZebraLogic)


def make(kind: type[AnyEnvironment], pack: PromptPack) -> AnyEnvironment:
    small = SMALL_WORLD if kind is PhantomWiki and pack is PromptPack.COMPACT else {}
    return kind(kind.settings_type(**small), pack)


def answer(environment: AnyEnvironment, task: Task[Any], turns: Sequence[str]) -> str | None:
    episode = environment.start(task)
    for number, turn in enumerate(turns, start=1):
        episode.last_turn = number == len(turns)
        environment.step(episode, turn)
    found: str | None = environment.answer(episode)
    return found


@pytest.mark.parametrize("pack", PromptPack)
@pytest.mark.parametrize("kind", ENVIRONMENTS)
def test_solutions_agree_with_themselves_and_with_no_mutant(kind: type[AnyEnvironment], pack: PromptPack) -> None:
    environment = make(kind, pack)
    for seed in range(6):
        task = environment.generate(seed / 5, seed)
        right = answer(environment, task, environment.solve(task).turns)
        assert right is not None
        assert answer(environment, task, environment.solve(task).turns) == right
        # A chain may go wrong on its way to the right end, and its answer is the end.
        wrong = answer(environment, task, environment.mutate(task, seed).turns)
        assert wrong != right or (kind is PhantomWiki and task.public.turn_limit > 4)
        assert answer(environment, task, ["<draft>"] * task.public.turn_limit) is None


def test_a_blank_grid_is_no_answer_and_blank_rows_make_no_difference() -> None:
    environment = make(ZebraLogic, PromptPack.CHAT)
    task = environment.generate(0.3, 1)
    attribute = task.secret.attributes[0]
    cell = {attribute.column: attribute.values[0]}

    def submitted(grid: dict[str, dict[str, str]]) -> str:
        return json.dumps({"grid": grid, "submit": True})

    assert answer(environment, task, [submitted({})]) is None
    one = answer(environment, task, [submitted({"House 1": cell})])
    assert one is not None
    first = json.dumps({"grid": {"House 2": cell}})
    assert answer(environment, task, [first, submitted({"House 1": cell})]) == one
    assert answer(environment, task, [submitted({"House 2": cell})]) not in (None, one)


def test_a_chain_that_is_not_claimed_to_its_end_has_no_answer() -> None:
    environment = make(PhantomWiki, PromptPack.COMPACT)
    task = environment.generate(1.0, 3)
    turns = environment.solve(task).turns
    assert answer(environment, task, turns) is not None
    assert answer(environment, task, turns[:-2]) is None


def test_spaces_make_no_other_text() -> None:
    environment = make(IFEval, PromptPack.CHAT)
    task = environment.generate(0.0, 1)
    texts = ("A day at the sea.", "A  day at\nthe sea. ")
    answers = [answer(environment, task, [f"<draft>{text}</draft><submit/>"]) for text in texts]
    assert answers[0] == answers[1] == texts[0]
