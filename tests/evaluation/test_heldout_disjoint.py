"""Held-out tasks in natural language: what they are, and that training tasks and official prompts are none of them."""

from __future__ import annotations

from collections import Counter

import pytest

from sparring.environments import default_environment
from sparring.environments.base import AnyEnvironment
from sparring.evaluation.benchmarks import BENCHMARKS, HeldoutBenchmark, PromptBenchmark
from sparring.evaluation.heldout import heldout_tasks
from sparring.placement.base import task_seed
from sparring.tasks import PromptPack, Task

LEVELS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def chat(name: str) -> AnyEnvironment:
    return default_environment(name, PromptPack.CHAT)


def training_tasks(environment: AnyEnvironment, count: int) -> list[Task[object]]:
    """`count` tasks at each level, with the seeds of a run's slots."""
    return [
        environment.generate(level, task_seed(0, environment.name, 1, slot, sample))
        for slot, level in enumerate(LEVELS)
        for sample in range(count)
    ]


def test_the_benchmark_of_phantom_wiki_has_twenty_questions_of_each_hop_count() -> None:
    card = BENCHMARKS["phantom_wiki"]
    assert isinstance(card, HeldoutBenchmark)
    environment = chat("phantom_wiki")
    tasks = heldout_tasks({environment.name: environment}, card.levels, card.tasks_per_level)
    hops = Counter(int(environment.signature(each.task).split(",")[0].removeprefix("hops=")) for each in tasks)
    assert hops == dict.fromkeys(range(1, 7), 20)
    assert len({each.key for each in tasks}) == 120


@pytest.mark.parametrize(("name", "count"), [("phantom_wiki", 40), ("ifeval", 40), ("zebra_logic", 15)])
def test_no_training_task_is_held_out(name: str, count: int) -> None:
    environment = chat(name)
    held_out = heldout_tasks({name: environment}, 6, 5)
    trained = training_tasks(environment, count)
    assert {each.task.seed for each in held_out}.isdisjoint(task.seed for task in trained)
    keys = {environment.content_key(task) for task in trained}
    assert len(keys) == 6 * count
    assert keys.isdisjoint(each.key for each in held_out)
    # The key is of the content: the same task under another seed would be found.
    assert environment.content_key(held_out[0].task) in {each.key for each in held_out}


def official(name: str) -> set[str]:
    card = BENCHMARKS[name]
    assert isinstance(card, PromptBenchmark)
    return {" ".join(row[card.prompt_field].split()) for row in card.rows().values()}


@pytest.mark.official_data
@pytest.mark.parametrize(
    ("name", "benchmark", "count", "prompts"), [("ifeval", "ifeval", 60, 541), ("zebra_logic", "zebralogic", 15, 1000)]
)
def test_no_generated_task_is_an_official_one(name: str, benchmark: str, count: int, prompts: int) -> None:
    known = official(benchmark)
    assert len(known) == prompts
    for task in training_tasks(chat(name), count):
        whole, request = (
            " ".join(text.split()) for text in (task.public.statement, task.public.statement.split("\n")[0])
        )
        assert whole not in known
        if name == "ifeval":  # the request without its constraints is none either, nor does one begin with it
            assert not any(prompt.startswith(request) for prompt in known)
