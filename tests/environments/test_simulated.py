"""Simulated tasks: what their statement says, and what captures them."""

from statistics import fmean, stdev
from typing import Any

import pytest

from sparring.environments import load_environment
from sparring.environments.base import AnyEnvironment, Verdict
from sparring.errors import UserError
from sparring.tasks import PromptPack


def simulated(**settings: Any) -> AnyEnvironment:
    return load_environment("simulated", settings, PromptPack.COMPACT)


def play(environment: AnyEnvironment, *turns: str) -> list[Verdict]:
    episode = environment.start(environment.generate(0.5, 1))
    verdicts = []
    for number, turn in enumerate(turns, start=1):
        episode.last_turn = number == len(turns)
        verdicts.append(environment.step(episode, turn))
    return verdicts


def test_the_statement_says_how_hard_and_names_the_task() -> None:
    environment = simulated()
    task = environment.generate(0.35, 7)
    difficulty, *name = task.public.statement.split()
    assert (difficulty, len(name)) == ("0.35", 3)
    assert environment.generate(0.35, 7) == task
    statements = {environment.generate(0.35, seed).public.statement for seed in range(200)}
    assert len(statements) > 195
    assert {word for statement in statements for word in statement.split()} <= set(environment.compact_words())


def test_noise_spreads_the_true_difficulty_and_stays_on_the_axis() -> None:
    environment = simulated(difficulty_noise=0.1)

    def true(difficulty: float) -> list[float]:
        return [float(environment.generate(difficulty, seed).public.statement.split()[0]) for seed in range(2000)]

    middle = true(0.5)
    assert fmean(middle) == pytest.approx(0.5, abs=0.01)
    assert stdev(middle) == pytest.approx(0.1, abs=0.01)
    assert min(true(0.0)) == 0.0
    assert max(true(1.0)) == 1.0
    assert environment.generate(0.5, 3).difficulty == 0.5  # what was asked for is what the evader is told of


def test_signatures_are_steps_of_what_was_asked() -> None:
    environment = simulated(signatures=4, difficulty_noise=0.3)
    found = {environment.signature(environment.generate(step / 100, step)) for step in range(101)}
    assert found == {f"step {step} of 4" for step in range(5)}


def test_one_attempt() -> None:
    ((hit,), (miss,), (noise,)) = (play(simulated(), word) for word in ("hit", "miss", "hit hit"))
    assert (hit.captured, hit.progress, hit.ended, hit.observation) == (True, 1.0, True, "")
    assert (miss.captured, miss.progress, miss.well_formed) == (False, 0.0, True)
    assert (noise.captured, noise.progress, noise.well_formed) == (False, 0.0, False)


def test_several_attempts_are_counted_and_never_commented() -> None:
    environment = simulated(turn_limit=4, hits=2)
    verdicts = play(environment, "hit", "miss", "hit", "miss")
    assert [verdict.progress for verdict in verdicts] == [0.5, 0.5, 0.75, 1.0]
    assert [verdict.captured for verdict in verdicts] == [False, False, False, True]
    assert {verdict.observation for verdict in verdicts} == {""}
    assert not play(environment, "hit", "miss", "miss", "miss")[-1].captured


def test_answers_are_what_was_said() -> None:
    environment = simulated(turn_limit=2)
    episode = environment.start(environment.generate(0.5, 1))
    environment.step(episode, "hit")
    environment.step(episode, " miss ")
    assert environment.answer(episode) == "hit miss"
    environment.step(episode, "what")
    assert environment.answer(episode) is None


def test_more_hits_than_turns_are_refused() -> None:
    with pytest.raises(UserError, match="hits = 3 are more than turn_limit = 2 allows; lower it"):
        simulated(hits=3, turn_limit=2)


@pytest.mark.parametrize("settings", [{}, {"turn_limit": 5, "hits": 3, "difficulty_noise": 0.2}])
def test_tasks_hold(settings: dict[str, Any]) -> None:
    environment = simulated(**settings)
    for seed in range(20):
        environment.validate(environment.generate(seed / 19, seed))
