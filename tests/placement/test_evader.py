"""The learned evader as a placement: what it is asked, what it emits, what it learns from."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import pytest
from tests.scripted import Floor, ScriptedEngine, Speaker, by_copy
from tests.toy import Tin, make_evader, named, specialist, toy, unified

from sparring.credit import standardise
from sparring.environments.base import AnyEnvironment
from sparring.placement.base import Competence, Emission, Outcome, task_seed
from sparring.placement.evader_reward import EvaderReward
from sparring.roles import Role
from sparring.tasks import PromptPack
from sparring.trajectories import Group, Owner, PolicySequence, StopReason, Trajectory

NO_DATA = Competence.no_data()


def engine_of(evader: Speaker) -> ScriptedEngine:
    return ScriptedEngine({Role.EVADER: evader})


def by_hint(floor: Floor) -> str:
    """Emits the compact prompt's hint and, by sample, a hundredth more."""
    hint = float(floor.heard.split(" hint ")[1].split()[0])
    return json.dumps({"difficulty": round(hint + floor.copy / 100, 2)})


def became(
    emission: Emission, captured: Sequence[bool], environment: AnyEnvironment, error: str | None = None
) -> Outcome:
    """An emission with rollouts of its task."""
    assert emission.difficulty is not None
    task = environment.generate(emission.difficulty, emission.task_seed)
    trajectories = [
        Trajectory("", (), True, PolicySequence("planner"), PolicySequence("executor"), captured=each, error=error)
        for each in captured
    ]
    return Outcome(emission, Group(task, environment.signature(task), trajectories))


def advantages_of(engine: ScriptedEngine, update: int) -> list[float]:
    """The advantage of each sequence of an update: one value on all that was sampled, 0 elsewhere."""
    found = []
    for sequence in engine.updates[update].sequences:
        pairs = list(zip(sequence.advantages, sequence.loss_mask, strict=True))
        (value,) = {advantage for advantage, sampled in pairs if sampled}
        assert all(advantage == 0.0 for advantage, sampled in pairs if not sampled)
        found.append(value)
    return found


def test_slots_times_samples_of_every_environment_in_order() -> None:
    engine = engine_of(by_hint)
    evader = make_evader(engine, hints=(0.1, 0.4, 0.7), samples=2)
    emissions = evader.propose(5, [toy(), toy(Tin)], NO_DATA)
    places = [(name, slot, sample) for name in ("toy", "tin") for slot in range(3) for sample in range(2)]
    assert [(each.environment, each.slot, each.sample) for each in emissions] == places
    assert [each.difficulty for each in emissions] == [0.1, 0.11, 0.4, 0.41, 0.7, 0.71] * 2
    assert [each.task_seed for each in emissions] == [task_seed(7, name, 5, slot, n) for name, slot, n in places]
    assert [each.reward for each in emissions] == [None] * 12
    for sample, name in zip(engine.samples, ("toy", "tin"), strict=True):
        assert (sample.policy, sample.copies, sample.parameters) == ("evader", 2, evader.parameters)
        assert [engine.dialogue.text(prompt) for prompt in sample.prompts] == [
            f"<user>evade {name} hint {hint} rate{' none' * 10}<policy>" for hint in ("0.10", "0.40", "0.70")
        ]


def test_tokens_of_an_emission_are_those_that_were_heard_and_said() -> None:
    engine = engine_of(by_copy('{"difficulty": 0.3}', "no " * 200))
    emissions = make_evader(engine, hints=(0.2, 0.8), samples=2).propose(1, [toy()], NO_DATA)
    (sample,) = engine.samples
    for number, emission in enumerate(emissions):
        sequence, said = emission.sequence, sample.said[number // 2][number % 2]
        assert sequence is not None
        prompt = sample.prompts[number // 2]
        assert sequence.ids == [*prompt, *said.ids]
        assert sequence.loss_mask == [False] * len(prompt) + [True] * len(said.ids)
        assert sequence.log_probs == [0.0] * len(prompt) + list(said.log_probs)
        assert set(sequence.owners[: len(prompt)]) == {Owner.PROMPT, Owner.MARKER}
        assert sequence.stops == [(StopReason.END, StopReason.LENGTH)[number % 2]]
    assert [emission.difficulty for emission in emissions] == [0.3, None] * 2


def test_another_environment_moves_neither_seeds_nor_prompts() -> None:
    alone, together = engine_of(by_hint), engine_of(by_hint)
    few = make_evader(alone).propose(2, [toy()], NO_DATA)
    more = make_evader(together).propose(2, [toy(Tin), toy()], NO_DATA)
    assert [each.task_seed for each in more if each.environment == "toy"] == [each.task_seed for each in few]
    assert together.samples[1].seed == alone.samples[0].seed
    assert together.heard[4:] == alone.heard
    assert len({sample.seed for sample in together.samples}) == 2


def test_the_prompt_shows_each_environments_own_aggregates() -> None:
    engine = engine_of(by_hint)
    counts = [[0, 0], [4, 3], *[[0, 0]] * 7, [8, 0]]
    make_evader(engine, samples=1).propose(2, [toy(), toy(Tin)], Competence.restore({"toy": counts}))
    assert [heard for _, heard in engine.heard] == [
        "<user>evade toy hint 0.50 rate none 8 none none none none none none none 0<policy>",
        f"<user>evade tin hint 0.50 rate{' none' * 10}<policy>",
    ]


def test_the_prompt_in_natural_language() -> None:
    engine = engine_of(lambda floor: '{"difficulty": 0.5}')
    evader = make_evader(engine, hints=(0.25,), samples=1, pack=PromptPack.CHAT, examples=2)
    counts = [[0, 0], [4, 3], *[[0, 0]] * 7, [8, 0]]
    evader.propose(2, [toy(pack=PromptPack.CHAT)], Competence.restore({"toy": counts}))
    ((_, heard),) = engine.heard
    first, second, asked = heard.split("<end>")
    for text, hint in ((first, "0.33"), (second, "0.67"), (asked, "0.25")):
        assert f"Starting hint: {hint}" in text
        assert "how far" in text
        assert "difficulty 0.1 to 0.2: 4 attempts, 75 % solved" in text
        assert "difficulty 0.9 to 1.0: 8 attempts, 0 % solved" in text
        assert text.count("no data") == 8
    assert first.endswith('<policy>{"difficulty": 0.33}')
    assert second.endswith('<policy>{"difficulty": 0.67}')
    assert asked.endswith("<policy>")


def test_advantages_are_standardised_within_a_slot() -> None:
    """Slot 0 wins over slot 1 in every sample, and still both have their better and worse ones."""
    engine, environment = engine_of(by_hint), toy()
    evader = make_evader(engine, hints=(0.1, 0.5), samples=2, reward=EvaderReward(scale=0.0))
    emissions = evader.propose(1, [environment], NO_DATA)
    rates = [[True, False], [True, True, True, False], [True] * 7 + [False], [True, True]]
    report = evader.learn([became(each, rate, environment) for each, rate in zip(emissions, rates, strict=True)])
    assert [each.reward for each in emissions] == [0.5, 0.25, 0.125, 0.0]
    expected = [*standardise([0.5, 0.25]).tolist(), *standardise([0.125, 0.0]).tolist()]
    assert advantages_of(engine, 0) == expected
    assert [sequence.ids for sequence in engine.updates[0].sequences] == [
        tuple(each.sequence.ids) for each in emissions if each.sequence is not None
    ]
    assert not any(sequence.zero_variance for sequence in engine.updates[0].sequences)
    assert engine.updates[0].objective == evader.objective
    assert report["sequences"] == 4


def test_a_slot_without_spread_is_marked() -> None:
    engine, environment = engine_of(by_hint), toy()
    evader = make_evader(engine, hints=(0.1, 0.5), samples=2, reward=EvaderReward(scale=0.0))
    emissions = evader.propose(1, [environment], NO_DATA)
    rates = [[True, False], [False, True], [True, False], [True]]
    evader.learn([became(each, rate, environment) for each, rate in zip(emissions, rates, strict=True)])
    assert [sequence.zero_variance for sequence in engine.updates[0].sequences] == [True, True, False, False]
    assert advantages_of(engine, 0)[:2] == [0.0, 0.0]


@pytest.mark.parametrize(("over", "emitted"), [("environment", 4), ("round", 8)])
@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_malformed_refused_and_broken_emissions(
    over: Literal["environment", "round"], emitted: int, scale: float
) -> None:
    texts = ('{"difficulty": 0.3}', "hard", '{"difficulty": 0.95}', '{"difficulty": 0.34}')
    engine, environments = engine_of(by_copy(*texts)), named(toy(), toy(Tin))
    evader = make_evader(engine, reward=EvaderReward(scale=scale, over=over))
    emissions = evader.propose(1, list(environments.values()), NO_DATA)
    outcomes = []
    for emission in emissions:
        error = "down" if emission.sample == 3 else None
        valid = emission.sample in (0, 3)
        environment = environments[emission.environment]
        outcomes.append(became(emission, [True, False], environment, error) if valid else Outcome(emission, None))
    evader.learn(outcomes)
    # n_sig is 2 both for the valid pair, broken one included, and for the invalid pair.
    repetition = scale * 1 / emitted
    assert [each.reward for each in emissions] == [0.5 - repetition, -1 - repetition, -1 - repetition, None] * 2
    expected = standardise([0.5 - repetition, -1 - repetition, -1 - repetition]).tolist()
    assert advantages_of(engine, 0) == pytest.approx(expected * 2)


def test_a_slot_in_which_all_broke_does_not_reach_the_update() -> None:
    engine, environment = engine_of(by_hint), toy()
    evader = make_evader(engine, hints=(0.1, 0.5), samples=2)
    emissions = evader.propose(1, [environment], NO_DATA)
    errors = ["down", "down", None, None]
    outcomes = [became(each, [False], environment, error) for each, error in zip(emissions, errors, strict=True)]
    evader.learn(outcomes)
    assert [sequence.ids for sequence in engine.updates[0].sequences] == [
        tuple(each.sequence.ids) for each in emissions[2:] if each.sequence is not None
    ]
    assert evader.learn([replace(outcome, group=outcomes[0].group) for outcome in outcomes]) == {}
    assert len(engine.updates) == 1


@pytest.mark.parametrize("policy", [unified, specialist])
def test_whose_weights_learn_from_what(policy: Callable[[Role, str], str]) -> None:
    engine = engine_of(by_hint)
    environments = [toy(), toy(Tin)]
    evader = make_evader(engine, policy, samples=2)
    emissions = evader.propose(1, environments, NO_DATA)
    by_name = named(*environments)
    captured = [[True], [True, False], [False], [True, False]]
    evader.learn([became(e, c, by_name[e.environment]) for e, c in zip(emissions, captured, strict=True)])
    names = {
        update.policy: [engine.dialogue.text(each.ids).split()[1] for each in update.sequences]
        for update in engine.updates
    }
    if policy is unified:
        assert names == {"evader": ["toy", "toy", "tin", "tin"]}
    else:
        assert names == {"evader/tin": ["tin", "tin"], "evader/toy": ["toy", "toy"]}
        assert engine.updates[0].seed != engine.updates[1].seed


def test_every_update_has_a_seed_of_its_own_and_a_resumed_evader_goes_on_with_the_next() -> None:
    engine, environment = engine_of(by_hint), toy()
    evader = make_evader(engine, samples=2)

    def round_of(number: int) -> None:
        emissions = evader.propose(number, [environment], NO_DATA)
        evader.learn([became(each, [True, False], environment) for each in emissions])

    round_of(1)
    state = json.loads(json.dumps(evader.state()))
    round_of(2)
    evader = make_evader(engine, samples=2)
    evader.restore(state)
    assert evader.state() == state
    round_of(2)
    first, second, again = engine.updates
    assert first.seed != second.seed
    assert again == second
    assert engine.samples[2] == engine.samples[1]
    assert engine.samples[1].seed != engine.samples[0].seed
