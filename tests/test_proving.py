"""The proof of environments: the three of ours at a smaller count, and that each broken rule is noticed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.scripted import MARKERS, WordDialogue
from tests.toy import Toy, ToyEpisode, ToySettings, roll_out, toy

import sparring as sp
from sparring.environments import default_environment
from sparring.environments.base import registered
from sparring.proving import DIFFICULTIES, heard, prove_level, prove_task, scripts
from sparring.tasks import PromptPack, Task

OURS = ("ifeval", "phantom_wiki", "simulated", "zebra_logic")


@pytest.mark.parametrize("pack", list(PromptPack))
@pytest.mark.parametrize("name", OURS)
def test_our_environments_hold(name: str, pack: PromptPack) -> None:
    """`sparring doctor --environments` does the same for a thousand tasks a difficulty."""
    proofs = sp.prove(default_environment(name, pack), tasks=5)
    assert [(proof.difficulty, proof.tasks, proof.refused) for proof in proofs] == [(d, 5, 0) for d in DIFFICULTIES]
    if pack is PromptPack.CHAT:
        assert all(proof.distinct == 5 for proof in proofs)


def test_all_of_ours_are_proved() -> None:
    assert set(OURS) == set(registered())


@pytest.mark.parametrize("pack", list(PromptPack))
@pytest.mark.parametrize("name", OURS)
def test_what_is_heard_is_what_the_rollouts_of_a_run_say(name: str, pack: PromptPack) -> None:
    """The proof plays without an engine; a scripted one hears the same texts, in the same order."""
    environment, dialogue = default_environment(name, pack), WordDialogue()
    task = environment.generate(0.3, 5)
    other = environment.with_other_secret(task, 5)
    said = scripts(task, environment.solve(task), environment.solve(other), environment.mutate(task, 5))
    _, engine = roll_out(environment, task, said, dialogue)
    (conversation,) = engine.conversations
    for row, script in enumerate(said):
        texts, rollout = heard(environment, task, script)
        pieces, begin = [engine.samples[0].prompts[0]], 0
        for at, generation in conversation.said[row]:
            pieces.append(tuple(conversation.rows[row][begin:at]))
            begin = at + len(generation.ids)
        assert texts == [re.sub("|".join(MARKERS), "", dialogue.text(piece)) for piece in pieces]
        assert len(rollout.turns) == len(conversation.said[row])


class Steady(Toy):
    """Keeps every rule: a solution of a turn a part, and a mutated one without the last part."""

    def solve(self, task: Task[int]) -> sp.Solution:
        return sp.Solution(("fetch",), (*["gain"] * (task.secret - 1), "gain submit"))

    def mutate(self, task: Task[int], seed: int) -> sp.Solution:
        return sp.Solution(("fetch",), (*["gain"] * (task.secret - 1), "submit"))


def steady(**changes: Callable[..., Any]) -> Toy:
    """A steady toy with some of its methods replaced."""
    return toy(type("Changed", (Steady,), changes))


def test_a_level_counts_tasks_refusals_and_contents() -> None:
    assert sp.prove(steady(), tasks=3, difficulties=(0.0, 0.9))[1].distinct == 3
    with pytest.raises(
        sp.InvalidTaskError, match=r"^toy, compact pack, difficulty 1: the generator refused every seed"
    ):
        sp.prove(steady(), tasks=2, difficulties=(0.5, 1.0))
    alike = steady(generate=lambda self, difficulty, seed: replace(Steady.generate(self, difficulty, 7), seed=seed))
    proof = prove_level(alike, 0.5, 4)
    assert (proof.tasks, proof.refused, proof.distinct, proof.failed, proof.holds) == (4, 0, 1, 0, True)
    every_other = prove_level(steady(generate=_refuses_odd_seeds), 0.5, 5)
    assert (every_other.tasks, every_other.refused, every_other.holds) == (3, 2, True)


def _refuses_odd_seeds(self: Toy, difficulty: float, seed: int) -> Task[int]:
    if seed % 2:
        raise sp.GenerationRefusedError("odd")
    return Toy.generate(self, difficulty, seed)


def test_the_first_failure_is_named_with_its_seed_and_all_are_counted() -> None:
    broken = steady(
        mutate=lambda self, task, seed: Steady.solve(self, task) if seed > 2 else Steady.mutate(self, task, 0)
    )
    proof = prove_level(broken, 0.5, 6)
    assert (proof.tasks, proof.failed, proof.holds) == (6, 3, False)
    said = "toy, compact pack, difficulty 0.5, seed 3: the mutated solution is the own one"
    assert str(proof) == said
    with pytest.raises(sp.InvalidTaskError, match=f"^{said}$"):
        sp.prove(broken, tasks=6, difficulties=(0.5,))


def _verdict(**changes: Any) -> Callable[..., sp.Verdict]:
    """A step whose verdict has something else in it."""
    return lambda self, episode, action: replace(Steady.step(self, episode, action), **changes)


def _leaks_at_the_end_of_patience(self: Toy, episode: ToyEpisode, action: str) -> sp.Verdict:
    """Says at the third turn what is wanted: no solution has so many turns."""
    verdict = Steady.step(self, episode, action)
    return replace(verdict, observation=str(episode.task.secret)) if len(episode.taken) == 3 else verdict


def _stops_at_capture(self: Toy, episode: ToyEpisode, action: str) -> sp.Verdict:
    """Ends when all parts are there: an oracle, which a solution that submits with its last part does not meet."""
    episode.last_turn = episode.last_turn or episode.gained + action.split().count("gain") >= episode.task.secret
    return Steady.step(self, episode, action)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"solve": lambda self, task: sp.Solution((), ("gain",))}, "plan of the own solution has 0 stages"),
        ({"solve": lambda self, task: sp.Solution(("a",) * 5, ("gain",))}, "plan of the own solution has 5 stages"),
        ({"solve": lambda self, task: sp.Solution(("a",), ())}, "own solution has 0 turns, not 1 to 4"),
        ({"solve": lambda self, task: sp.Solution(("a",), ("gain",) * 5)}, "own solution has 5 turns, not 1 to 4"),
        ({"solve": lambda self, task: sp.Solution(("a",), ("gain", "submit"))}, "the own solution is not captured"),
        ({"solve": lambda self, task: sp.Solution(("a",), ("gain submit", "gain"))}, "the episode has ended at turn 1"),
        ({"solve": lambda self, task: sp.Solution(("a",), ("gain noise", "gain"))}, "it cannot be read at turn 1"),
        ({"solve": lambda self, task: sp.Solution(("a", "b", "c", "d"), ("look", "gain gain"))}, "stages have"),
        ({"mutate": lambda self, task, seed: self.solve(task)}, "the mutated solution is the own one"),
        ({"mutate": lambda self, task, seed: sp.Solution(("a",), ("gain gain",))}, "mutated solution is captured"),
        (
            {"mutate": lambda self, task, seed: sp.Solution(("a",), ("noise",))},
            "turn 1 of the mutated solution, 'noise'",
        ),
        ({"mutate": lambda self, task, seed: sp.Solution(("a",), ("look",) * 5)}, "mutated solution has 5 turns"),
        ({"step": _verdict(progress=1.0)}, "progress is 1.0 with captured=False"),
        ({"step": _verdict(progress=0.4)}, "progress is 0.4 with captured=True"),
        ({"step": _verdict(ended=False)}, "the episode has not ended at turn 2 of the own solution"),
        ({"step": lambda self, episode, action: _falling(self, episode, action)}, "progress falls from"),
        ({"step": lambda self, episode, action: 1 / 0}, "ZeroDivisionError"),
        ({"generate": lambda self, d, seed: Toy.generate(self, d, random.randrange(10**9))}, "the second time"),
        ({"with_other_secret": lambda self, task, seed: task}, "gives the same secret"),
        (
            {"with_other_secret": lambda self, task, seed: replace(self.generate(0.1, seed), secret=9)},
            "changes the public half",
        ),
        ({"step": _leaks_at_the_end_of_patience}, "the secret leaks: with another one '2' becomes '3'"),
        ({"step": _stops_at_capture}, "the secret leaks: with another one 'the end' becomes ''"),
    ],
)
def test_a_broken_rule_is_noticed(changes: dict[str, Callable[..., Any]], said: str) -> None:
    proof = prove_level(steady(**changes), 0.5, 1)
    assert proof.failed == 1
    assert proof.failure is not None
    assert said in proof.failure.reason


def _falling(self: Toy, episode: ToyEpisode, action: str) -> sp.Verdict:
    verdict = Steady.step(self, episode, action)
    return verdict if verdict.ended else replace(verdict, progress=-episode.gained / 9)


def test_a_guide_of_the_task_is_noticed() -> None:
    """The evader's prompt is made from the guide, which must not tell one task from another."""
    environment = steady()
    task = environment.generate(0.5, 1)
    prove_task(environment, task)
    odd = replace(environment.guide, difficulty="seed 1")
    named = replace(task, public=replace(task.public, guide=odd))
    environment.generate = lambda difficulty, seed: named  # type: ignore[method-assign]
    with pytest.raises(sp.InvalidTaskError, match="guide is not the environment's"):
        prove_task(environment, named)


def test_a_user_proves_an_environment_of_their_own() -> None:
    proofs = sp.prove(Steady(ToySettings(turn_limit=4, parts=3), PromptPack.CHAT), tasks=2, difficulties=(0.3,))
    assert [proof.plain()["holds"] for proof in proofs] == [True]
