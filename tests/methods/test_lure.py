"""Algorithm 1, a round at a time, with a scripted engine in the model's place."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest
from tests.scripted import Floor, ScriptedEngine, Speaker, WordDialogue, by_copy
from tests.toy import OBJECTIVES, Tin, make_lure, named, specialist, toy

from sparring.credit import (
    ExecutorCredit,
    PlannerCredit,
    executor_advantages,
    planner_advantages,
    standardise,
)
from sparring.methods.base import Round
from sparring.placement.base import Outcome
from sparring.placement.fixed import Uniform
from sparring.roles import Role
from sparring.runs.tracking import emission_rows, metrics_row, rollout_rows, task_keys
from sparring.trajectories import Group, PolicySequence, TrainSequence


def emitting(*difficulties: float | None) -> Speaker:
    """An evader that emits these, one a sample; None is no emission."""
    return by_copy(*("hard" if each is None else json.dumps({"difficulty": each}) for each in difficulties))


def acting(table: Mapping[str, Sequence[str]]) -> Speaker:
    """An executor by the difficulty that the task names: one text a rollout, its turns set apart by "/"."""

    def speak(floor: Floor) -> str:
        (texts,) = (texts for difficulty, texts in table.items() if f" go {difficulty} seed " in floor.heard)
        return texts[floor.copy].split(" / ")[floor.turn]

    return speak


def scripted(evader: Speaker, executor: Speaker, dialogue: WordDialogue | None = None) -> ScriptedEngine:
    planner = by_copy("a", "b , c", "")
    return ScriptedEngine({Role.EVADER: evader, Role.PLANNER: planner, Role.EXECUTOR: executor}, dialogue=dialogue)


def trained(sequence: PolicySequence, advantages: Sequence[float], *, still: bool) -> TrainSequence:
    """What an update must get for a sequence: each turn's advantage on the tokens of that turn."""
    spread = [0.0 if turn < 0 else advantages[turn] for turn in sequence.turn]
    return TrainSequence(
        tuple(sequence.ids), tuple(sequence.loss_mask), tuple(sequence.log_probs), tuple(spread), zero_variance=still
    )


def emitted(outcomes: Sequence[Outcome]) -> list[PolicySequence]:
    return [outcome.emission.sequence for outcome in outcomes if outcome.emission.sequence is not None]


def groups_of(done: Round) -> list[Group]:
    return [outcome.group for outcome in done.outcomes if outcome.group is not None]


MIXED = acting({"0.20": ["gain gain submit", "gain / submit"], "0.40": ["gain gain submit", "gain gain submit"]})


def test_one_round_by_hand() -> None:
    engine = scripted(emitting(0.2, None, 0.95, 0.4), MIXED)
    done = make_lure(engine, named(toy())).round(1)

    # Everything is sampled from the snapshots, before any of them moves.
    assert engine.order == [
        *("sample evader", "sample planner", "converse executor"),
        *("update evader", "update planner", "update executor"),
    ]
    # 0.95 is refused by the generator: no group, like the one that cannot be read.
    assert [outcome.group is None for outcome in done.outcomes] == [False, True, True, False]
    assert [outcome.signature for outcome in done.outcomes] == ["level=0.2", "INVALID", "INVALID", "level=0.4"]
    assert [outcome.capture_rate for outcome in done.outcomes] == [0.5, None, None, 1.0]

    evader, planner, executor = engine.updates
    rewards = [0.5, -1.0 - 1 / 4, -1.0 - 1 / 4, 0.0]
    assert [outcome.emission.reward for outcome in done.outcomes] == rewards
    assert evader.sequences == [
        trained(sequence, [advantage], still=False)
        for sequence, advantage in zip(emitted(done.outcomes), standardise(rewards).tolist(), strict=True)
    ]

    mixed, alike = groups_of(done)
    up, down = standardise([1.0, 0.5]).tolist()
    assert planner.sequences == [
        trained(mixed.trajectories[0].plan, [up], still=False),
        trained(mixed.trajectories[1].plan, [down], still=False),
        *(trained(each.plan, [0.0], still=True) for each in alike.trajectories),
    ]
    # Eq. 4: the capture and lambda; lambda times a gain; the cost of a turn without one.
    turns = standardise([1.0 + 0.25, 0.25 * 0.5, -0.25 * 0.05]).tolist()
    assert executor.sequences == [
        trained(mixed.trajectories[0].execution, turns[:1], still=False),
        trained(mixed.trajectories[1].execution, turns[1:], still=False),
        *(trained(each.execution, [0.0], still=True) for each in alike.trajectories),
    ]
    assert [update.objective for update in engine.updates] == [OBJECTIVES[role] for role in Role]
    assert done.updates.keys() == set(Role)
    assert all(done.updates[role]["sequences"] == 4 for role in Role)


@pytest.mark.parametrize("executor_credit", ExecutorCredit)
@pytest.mark.parametrize("planner_credit", PlannerCredit)
def test_buffers_hold_the_credit_that_was_asked_for(
    executor_credit: ExecutorCredit, planner_credit: PlannerCredit
) -> None:
    table = {
        "0.20": ["gain / look / gain submit", "gain / submit", "noise / gain / look / look"],
        "0.40": ["gain gain submit", "look / gain gain submit", "submit"],
    }
    engine = scripted(emitting(0.2, 0.4), acting(table))
    lure = make_lure(
        engine,
        named(toy()),
        samples=2,
        group_size=3,
        executor_credit=executor_credit,
        planner_credit=planner_credit,
    )
    done = lure.round(1)
    plans, executions = [], []
    for group in groups_of(done):
        advantages = planner_advantages(group.trajectories, planner_credit)
        plans += [trained(t.plan, [a], still=False) for t, a in zip(group.trajectories, advantages, strict=True)]
        by_turn = executor_advantages(group.trajectories, executor_credit, 0.25, 0.05)
        executions += [trained(t.execution, a, still=False) for t, a in zip(group.trajectories, by_turn, strict=True)]
    assert engine.updates[1].sequences == plans
    assert engine.updates[2].sequences == executions
    assert any(not trajectory.plan_well_formed for group in groups_of(done) for trajectory in group.trajectories)


def test_broken_rollouts_are_in_no_buffer_and_no_rate() -> None:
    table = {
        "0.20": ["break", "gain / break"],
        "0.40": ["gain gain submit", "break"],
        "0.60": ["gain gain submit", "submit"],
    }
    engine = scripted(emitting(0.2, 0.4, 0.6, 0.2), acting(table))
    lure = make_lure(engine, named(toy()))
    done = lure.round(1)
    assert [outcome.capture_rate for outcome in done.outcomes] == [None, 1.0, 0.5, None]
    # A group that broke as a whole is not paid as one that was never captured: it is not paid at all.
    rewards = [None, 0.0, 0.5, None]
    assert [outcome.emission.reward for outcome in done.outcomes] == rewards
    evader, planner, executor = engine.updates
    down, up = standardise([0.0, 0.5]).tolist()
    sequences = emitted(done.outcomes)
    assert evader.sequences == [trained(sequences[1], [down], still=False), trained(sequences[2], [up], still=False)]
    _, half, whole, _ = groups_of(done)
    kept = [half.trajectories[0], *whole.trajectories]
    assert [sequence.ids for sequence in planner.sequences] == [tuple(each.plan.ids) for each in kept]
    assert [sequence.ids for sequence in executor.sequences] == [tuple(each.execution.ids) for each in kept]
    assert [sequence.zero_variance for sequence in executor.sequences] == [True, False, False]

    shown = [(each.attempts, each.captures) for each in lure.competence.bins("toy")]
    assert shown == [(0, 0)] * 4 + [(1, 1), (0, 0), (2, 1)] + [(0, 0)] * 3
    metrics = metrics_row(1, done, lure.solver, 8)["environments"]["toy"]
    assert metrics["errored"] == 5
    assert metrics["capture"] == pytest.approx(0.75)
    assert metrics["all_fail"] == 0.0
    keys = task_keys(done.outcomes, lure.solver)
    rows = rollout_rows(done, keys, lure.solver)
    assert [row["error"] is None for row in rows] == [
        *(False, False, True, False),
        *(True, True, False, False),
    ]
    # What was said before the checker broke is kept, unpaid.
    assert [(turn["text"], turn["reward"], turn["stop"]) for turn in rows[1]["turns"]] == [("gain", None, "end")]
    assert [turn["reward"] for turn in rows[2]["turns"]] == pytest.approx([1.25])
    emissions = emission_rows(done.outcomes, keys, {str(keys[1])})
    assert [row["reward"] for row in emissions] == rewards
    # Toy tasks of different seeds differ; the one whose key is held out is marked.
    assert [row["task"] for row in emissions] == keys
    assert len({*keys}) == 4
    assert [row["held_out"] for row in emissions] == [False, True, False, False]
    # The run goes on.
    lure.round(2)
    assert [update.policy for update in engine.updates] == ["evader", "planner", "executor"] * 2


def test_what_plans_earned_is_counted_group_by_group() -> None:
    """A task that was captured does not change what the plans of another earned."""
    engine = scripted(
        emitting(0.2, 0.4), acting({"0.20": ["gain gain submit", "gain submit"], "0.40": ["gain submit"] * 2})
    )
    lure = make_lure(engine, named(toy()), samples=2, planner_credit=PlannerCredit.PROGRESS_ON_FAILURE)
    row = metrics_row(1, lure.round(1), lure.solver, 4)
    assert row["roles"]["planner"]["reward"] == pytest.approx((1.0 + 0.0 + 0.5 + 0.5) / 4)


def test_broken_rollouts_cost_tokens_all_the_same() -> None:
    engine = scripted(emitting(0.2, 0.4), lambda floor: "break")
    lure = make_lure(engine, named(toy()), samples=2)
    row = metrics_row(1, lure.round(1), lure.solver, 4)
    assert row["roles"]["executor"]["tokens"] == 4 * len(("break", "<end>"))
    assert row["roles"]["executor"]["reward"] is None


def test_broken_emissions_count_for_the_repetition_of_others() -> None:
    table = {"0.21": ["break", "break"], "0.22": ["gain gain submit", "submit"]}
    engine = scripted(emitting(0.21, 0.22, None, None), acting(table))
    done = make_lure(engine, named(toy())).round(1)
    assert [outcome.emission.reward for outcome in done.outcomes] == [None, 0.5 - 1 / 4, -1.25, -1.25]


def test_a_round_in_which_every_rollout_broke_updates_nothing() -> None:
    engine = scripted(emitting(0.2, 0.4), lambda floor: "break")
    done = make_lure(engine, named(toy()), samples=2).round(1)
    assert engine.updates == []
    assert done.updates == {role: {} for role in Role}
    assert all(not group.finished for group in groups_of(done))


def test_a_round_without_a_task_updates_the_evader_alone() -> None:
    engine = scripted(emitting(None, 0.95, None, 1.5), MIXED)
    lure = make_lure(engine, named(toy()))
    done = lure.round(1)
    assert engine.order == ["sample evader", "update evader"]
    assert [outcome.emission.reward for outcome in done.outcomes] == [-1.75] * 4
    assert [outcome.emission.difficulty for outcome in done.outcomes] == [None, 0.95, None, None]
    assert all(sequence.zero_variance for sequence in engine.updates[0].sequences)
    assert done.updates[Role.PLANNER] == done.updates[Role.EXECUTOR] == {}
    assert metrics_row(1, done, lure.solver, 0)["environments"]["toy"]["invalid"] == 1.0


def test_a_placement_that_does_not_learn_leaves_the_evader_as_it_is() -> None:
    engine = scripted(emitting(), lambda floor: "gain submit")
    lure = make_lure(engine, named(toy()))
    lure.placement = Uniform(run_seed=3, slots=2, samples=2)
    done = lure.round(1)
    assert [update.policy for update in engine.updates] == ["planner", "executor"]
    assert done.updates[Role.EVADER] == {}
    assert len(done.outcomes) == 4


def test_specialists_learn_from_their_own_environment_alone() -> None:
    executor = acting({"0.20": ["gain gain submit", "gain / submit"], "0.30": ["submit", "gain gain submit"]})
    engine = scripted(emitting(0.2, 0.3), executor)
    done = make_lure(engine, named(toy(), toy(Tin)), specialist, hints=(0.1, 0.9), samples=2).round(1)
    assert [update.policy for update in engine.updates] == [
        f"{role}/{name}" for role in Role for name in ("tin", "toy")
    ]
    for update in engine.updates:
        role, name = update.policy.split("/")
        assert update.objective == OBJECTIVES[Role(role)]
        assert len(update.sequences) == (4 if role == "evader" else 8)
        for sequence in update.sequences:
            heard = engine.dialogue.text(sequence.ids)
            assert (f" {name} go " if role != "evader" else f" {name} hint ") in heard
    # Groups stand with their own emissions, whichever specialists rolled them out first.
    assert [outcome.emission.environment for outcome in done.outcomes] == ["toy"] * 4 + ["tin"] * 4
    for outcome in done.outcomes:
        assert outcome.group is not None
        assert outcome.group.task.public.environment == outcome.emission.environment
        assert outcome.group.task.seed == outcome.emission.task_seed
        assert outcome.group.task.difficulty == outcome.emission.difficulty
        for trajectory in outcome.group.trajectories:
            assert f"seed {outcome.emission.task_seed}" in engine.dialogue.text(trajectory.execution.ids)
    assert done.updates[Role.PLANNER]["sequences"] == 16
    assert done.updates[Role.PLANNER]["optimiser_steps"] == 4


def evader_prompts(engine: ScriptedEngine) -> list[str]:
    return [heard for policy, heard in engine.heard if policy.startswith("evader")]


def test_competence_of_one_round_is_what_the_evader_reads_in_the_next() -> None:
    emissions = [emitting(0.2, None, 0.95, 0.4), emitting(0.61, 0.65, 0.9, 0.2), emitting(0.1, 0.1, 0.1, 0.1)]
    table = {
        **{level: ["gain gain submit", "submit"] for level in ("0.20", "0.61", "0.65")},
        "0.40": ["gain gain submit", "gain gain submit"],
        "0.90": ["submit", "break"],
        "0.10": ["break", "submit"],
    }
    rounds = iter(emissions)
    now: list[Speaker] = []

    def evader(floor: Floor) -> str:
        return now[-1](floor)

    engine = scripted(evader, acting(table))
    lure = make_lure(engine, named(toy()))
    for number in (1, 2, 3):
        now.append(next(rounds))
        lure.round(number)
    prompts = evader_prompts(engine)
    assert [prompts[index] for index in (0, 4, 8)] == [
        "<user>evade toy hint 0.50 rate none none none none none none none none none none<policy>",
        "<user>evade toy hint 0.50 rate none none 5 none 10 none none none none none<policy>",
        "<user>evade toy hint 0.50 rate none none 5 none none none 5 none none 0<policy>",
    ]
    assert all(prompts[index] == prompts[index - index % 4] for index in range(12))


def test_state_and_restore_go_on_as_if_nothing_had_happened() -> None:
    dialogue = WordDialogue()
    environments = named(toy(), toy(Tin))
    evader = emitting(0.2, None, 0.4)

    def engine() -> ScriptedEngine:
        return scripted(evader, MIXED, dialogue)

    straight = engine()
    lure = make_lure(straight, environments, specialist, samples=3)
    lure.round(1)
    state = json.loads(json.dumps(lure.state()))
    heard, updates, samples = len(straight.heard), len(straight.updates), len(straight.samples)
    conversations = len(straight.conversations)
    lure.round(2)

    resumed = engine()
    again = make_lure(resumed, environments, specialist, samples=3)
    again.restore(state)
    assert again.state() == state
    assert again.competence.bins("toy")[2].attempts == 2
    again.round(2)
    assert resumed.heard == straight.heard[heard:]
    assert resumed.updates == straight.updates[updates:]
    assert resumed.samples == straight.samples[samples:]
    assert [each.seed for each in resumed.conversations] == [
        each.seed for each in straight.conversations[conversations:]
    ]
    assert again.state() == lure.state()
    assert again.state() != state


def test_every_call_of_a_run_has_a_seed_of_its_own() -> None:
    engine = scripted(emitting(0.2, 0.4), MIXED)
    lure = make_lure(engine, named(toy(), toy(Tin)), specialist, samples=2)
    for number in (1, 2, 3):
        lure.round(number)
    seeds = [sample.seed for sample in engine.samples]
    seeds += [conversation.seed for conversation in engine.conversations]
    seeds += [update.seed for update in engine.updates]
    assert len(seeds) == 3 * 2 * (2 + 1 + 3)
    assert len(set(seeds)) == len(seeds)
