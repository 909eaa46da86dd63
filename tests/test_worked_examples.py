"""Worked examples are whole episodes: what a small model is shown is what it will be asked for."""

from __future__ import annotations

import json

import pytest

from sparring.environments import load_environment
from sparring.environments.base import AnyEnvironment
from sparring.roles import render_executor, render_planner, shown_episodes, shown_plans
from sparring.rollouts import worked_example
from sparring.tasks import PromptPack

ENVIRONMENTS = ("phantom_wiki", "ifeval", "zebra_logic")


def chat(name: str) -> AnyEnvironment:
    return load_environment(name, {}, PromptPack.CHAT)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_turns_shown_capture_their_task_and_are_answered_as_in_an_episode(name: str) -> None:
    environment = chat(name)
    for seed in range(5):
        task = environment.generate(0.2, seed)
        exchanges = shown_episodes([worked_example(environment, task)])
        episode = environment.start(task)
        verdict = None
        for number, (heard, said) in enumerate(exchanges, start=1):
            assert verdict is None or heard.startswith(verdict.observation)
            episode.last_turn = number == len(exchanges)
            verdict = environment.step(episode, said)
        assert verdict is not None
        assert verdict.captured


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_stage_is_announced_once_and_the_rules_stand_in_the_first_message_alone(name: str) -> None:
    environment = chat(name)
    examples = [worked_example(environment, environment.generate(level, 3)) for level in (0.4, 0.6)]
    heard = [said for said, _ in shown_episodes(examples)]
    announced = [line for text in heard for line in text.splitlines() if line.startswith("Stage ")]
    expected = [stage for each in examples for stage in each.stages]
    assert [line.split(": ", 1)[1] for line in announced] == expected
    rules = examples[0].task.guide.acting
    assert [rules in text for text in heard] == [True] + [False] * (len(heard) - 1)
    assert rules not in render_executor(examples[0].task, instructed=True)
    assert rules in render_executor(examples[0].task)


def test_plans_are_shown_under_the_prompt_that_asks_for_them() -> None:
    environment = chat("phantom_wiki")
    example = worked_example(environment, environment.generate(0.6, 1))
    [(asked, answered)] = shown_plans([example])
    assert asked == render_planner(example.task)
    assert tuple(json.loads(answered)) == example.stages
