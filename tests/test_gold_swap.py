"""Guarantee 5 at the seam: what the roles hear does not change, byte for byte, when a task's secret is another's.

`sparring.proving` does this for tasks without an engine; here rollouts and rounds are those of a run, with a
scripted engine, and the environments are real. PhantomWiki's swap keeps the world, so its tools answer alike
and all prompts must be the same at all turns, there too.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from tests.scripted import Floor, ScriptedEngine, Speaker, WordDialogue, by_copy
from tests.toy import Toy, ToyEpisode, make_lure, named, roll_out, toy

from sparring.environments import default_environment
from sparring.environments.base import AnyEnvironment, Solution, Verdict
from sparring.proving import scripts
from sparring.roles import Role
from sparring.tasks import PromptPack, Task

SETTINGS: dict[tuple[str, PromptPack], dict[str, Any]] = {
    ("phantom_wiki", PromptPack.COMPACT): {},
    ("phantom_wiki", PromptPack.CHAT): {"population": [10, 30]},
    ("ifeval", PromptPack.COMPACT): {},
    ("ifeval", PromptPack.CHAT): {},
    ("zebra_logic", PromptPack.COMPACT): {},
    ("zebra_logic", PromptPack.CHAT): {"ladder": [[2, 2, 0.0], [3, 3, 0.0], [4, 3, 0.0]]},
}
KINDS = pytest.mark.parametrize(("name", "pack"), SETTINGS)


def load(name: str, pack: PromptPack) -> AnyEnvironment:
    return default_environment(name, pack, SETTINGS[name, pack])


def scripts_for(environment: AnyEnvironment, task: Task[Any], other: Task[Any]) -> list[Solution]:
    """Those of the proof, whose first is the right solution, and one that has it all and never submits."""
    right = environment.solve(task)
    unfinished = [turn.replace("submit", "").replace('"": true', '"done": true') for turn in right.turns]
    dawdling = [turn for turn in [*unfinished, *unfinished[::-1]] if turn]
    mutated = environment.mutate(task, task.seed)
    return [*scripts(task, right, environment.solve(other), mutated), Solution(right.stages, tuple(dawdling))]


@KINDS
@pytest.mark.parametrize("difficulty", [0.0, 0.5, 1.0])
def test_planner_and_executor_hear_the_same_at_every_turn(name: str, pack: PromptPack, difficulty: float) -> None:
    environment = load(name, pack)
    task = environment.generate(difficulty, 4)
    other = environment.with_other_secret(task, 1)
    said, dialogue = scripts_for(environment, task, other), WordDialogue()
    group, engine = roll_out(environment, task, said, dialogue)
    swapped_group, swapped_engine = roll_out(environment, other, said, dialogue)
    # The swap is real: what is right under one secret is wrong under the other.
    assert group.trajectories[0].captured
    assert not swapped_group.trajectories[0].captured
    assert len(engine.heard) > 2 * len(said)
    assert swapped_engine.heard == engine.heard
    assert environment.signature(other) == environment.signature(task)
    for mine, theirs in zip(group.trajectories, swapped_group.trajectories, strict=True):
        assert mine.error is None
        assert (theirs.plan, theirs.execution) == (mine.plan, mine.execution)


def two_rounds(environment: AnyEnvironment, executor: Speaker, dialogue: WordDialogue) -> ScriptedEngine:
    emitted = by_copy(*(json.dumps({"difficulty": value}) for value in (0.0, 0.3, 0.6)))
    plan = "a , b" if environment.pack is PromptPack.COMPACT else '["a", "b"]'
    engine = ScriptedEngine(
        {Role.EVADER: emitted, Role.PLANNER: lambda floor: plan, Role.EXECUTOR: executor}, dialogue=dialogue
    )
    lure = make_lure(engine, named(environment), samples=3, pack=environment.pack)
    lure.round(1)
    lure.round(2)
    return engine


def with_other_secrets(environment: AnyEnvironment, patch: pytest.MonkeyPatch) -> AnyEnvironment:
    """An environment whose tasks have other secrets, from the first."""
    other = copy.copy(environment)

    def generate(difficulty: float, seed: int) -> Task[Any]:
        task = environment.generate(difficulty, seed)
        swapped = environment.with_other_secret(task, seed)
        assert swapped.secret != task.secret
        return swapped

    patch.setattr(other, "generate", generate)
    return other


@KINDS
def test_rounds_sound_the_same_to_all_roles(name: str, pack: PromptPack, monkeypatch: pytest.MonkeyPatch) -> None:
    """The executor says nothing readable, so that the evader's aggregates and all credit are alike too."""
    environment, dialogue = load(name, pack), WordDialogue()

    def executor(floor: Floor) -> str:
        return ["<think> nothing", "<draft> nothing"][floor.copy]

    engine = two_rounds(environment, executor, dialogue)
    swapped = two_rounds(with_other_secrets(environment, monkeypatch), executor, dialogue)
    assert {policy for policy, _ in engine.heard} == {"evader", "planner", "executor"}
    assert swapped.heard == engine.heard
    assert [update.sequences for update in swapped.updates] == [update.sequences for update in engine.updates]


class Leaky(Toy):
    """A tool that tells the secret."""

    def step(self, episode: ToyEpisode, action: str) -> Verdict:
        verdict = super().step(episode, action)
        return Verdict(verdict.progress, verdict.captured, f"of {episode.task.secret}", ended=verdict.ended)


@pytest.mark.parametrize(("kind", "leaks"), [(Toy, False), (Leaky, True)])
def test_a_leak_is_noticed(kind: type[Toy], leaks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    environment, dialogue = toy(kind), WordDialogue()
    engine = two_rounds(environment, lambda floor: "look", dialogue)
    swapped = two_rounds(with_other_secrets(environment, monkeypatch), lambda floor: "look", dialogue)
    assert (swapped.heard != engine.heard) == leaks
