"""The driver of rollouts, with a scripted engine in the model's place."""

from __future__ import annotations

import pytest
from tests.scripted import END, POLICY, Floor, ScriptedEngine, by_copy, saying
from tests.toy import Tin, heard_by_the_executor, make_pursuers, named, pursue, specialist, stages_of, toy

from sparring.credit import stage_potentials
from sparring.environments import load_environment
from sparring.roles import Role, render_planner
from sparring.rollouts import NO_ADVICE, demonstration, worked_example
from sparring.tasks import PromptPack
from sparring.trajectories import Generation, Owner, PolicySequence, StopReason

SMALL = {
    "phantom_wiki": {"tools": "lookup", "population": [3, 8], "attribute_question_probability": 0.0},
    "ifeval": {},
    "zebra_logic": {},
}


# A checker that breaks


def test_a_broken_checker_is_an_error_and_no_outcome() -> None:
    speaker = by_copy(saying("gain", "break"), saying("look", "gain", "gain submit"), "noise")
    group, environment, engine = pursue(speaker, copies=3)
    broken, captured, failed = group.trajectories
    assert broken.error == "RuntimeError: the checker is down"
    assert [turn.text for turn in broken.turns] == ["gain"]
    assert not broken.captured
    assert group.finished == [captured, failed]
    assert group.outcomes == [True, False]
    # The others go on, and the broken one never speaks again.
    (conversation,) = engine.conversations
    assert conversation.batches == [[0, 1, 2], [0, 1, 2], [1, 2], [2]]
    assert [len(episode.taken) for episode in environment.episodes] == [2, 3, 4]
    # What it said stands in its sequence, the turn that broke too.
    assert broken.execution.ids == conversation.rows[0]
    assert len(broken.execution.stops) == 2


def test_every_rollout_may_break() -> None:
    group, _, engine = pursue(saying("break"), copies=2)
    assert group.finished == []
    assert group.outcomes == []
    assert engine.conversations[0].batches == [[0, 1]]


# A context that is full


def length_before(turn: int) -> int:
    """Tokens of the dialogue below when its turn `turn` (from 0) is due."""
    _, _, engine = pursue(saying("gain", "look", "look", "gain submit"))
    return engine.conversations[0].said[0][turn][0]


@pytest.mark.parametrize("turn", [0, 1, 2, 3])
def test_a_full_context_ends_a_rollout_without_capture(turn: int) -> None:
    """The edge is exact: with room for one more turn it is taken, with a token less the rollout ends.

    Without room for a first turn nobody tried, so it is no outcome.
    """
    speaker = by_copy(saying("gain", "look", "look", "gain submit"), saying("gain gain submit"))
    for missing, taken in ((0, turn + 1), (1, turn)):
        group, environment, engine = pursue(speaker, copies=2, context_length=length_before(turn) + 1000 - missing)
        short, whole = group.trajectories
        assert len(short.turns) == len(environment.episodes[0].taken) == taken
        assert whole.captured == (taken > 0)
        assert short.captured == (taken == 4)
        assert (short.error is None) == (taken > 0)
        assert short.progress == [0.0, 0.5, 0.5, 0.5, 1.0][taken]
        assert short.stage_ends == [short.progress]
        assert group.finished == ([short, whole] if taken else [])
        assert sorted(engine.conversations[0].finished) == [0, 1]
        assert all(not last for _, last in environment.episodes[0].taken) or taken == 4


def test_a_full_context_closes_the_stage_that_was_begun() -> None:
    turns = ["gain done", "gain", "look", "look", "look"]
    _, _, engine = pursue(saying(*turns), "a , b", environment=toy(turn_limit=8, parts=3))
    full = engine.conversations[0].said[0][2][0] + 999
    group, _, _ = pursue(saying(*turns), "a , b", environment=toy(turn_limit=8, parts=3), context_length=full)
    (trajectory,) = group.trajectories
    assert stages_of(trajectory) == [0, 1]
    assert trajectory.stage_ends == pytest.approx([1 / 3, 2 / 3])
    assert stage_potentials(trajectory.stage_ends).sum() == pytest.approx(trajectory.progress)


# Plans


@pytest.mark.parametrize("plan", ["", "a , , b", "a , b , c , d , e", "<think> a , b"])
def test_a_plan_that_cannot_be_read_leaves_one_stage_without_advice(plan: str) -> None:
    group, _, engine = pursue(saying("look", "look", "look", "look"), plan)
    (trajectory,) = group.trajectories
    assert trajectory.stages == NO_ADVICE
    assert not trajectory.plan_well_formed
    assert trajectory.plan_text == plan
    assert stages_of(trajectory) == [0, 0, 0, 0]
    assert heard_by_the_executor(engine)[0].endswith("\n\nfinal<policy>")
    # What the planner said stands in its sequence all the same.
    said = engine.samples[0].said[0][0]
    assert trajectory.plan.ids[-len(said.ids) :] == list(said.ids)
    assert sum(trajectory.plan.loss_mask) == len(said.ids)


def test_each_rollout_has_a_plan_of_its_own() -> None:
    environment = toy()
    planner = by_copy("a", "b , c", " , ")
    engine = ScriptedEngine({Role.PLANNER: planner, Role.EXECUTOR: lambda floor: floor.heard.rpartition("e ")[2][0]})
    tasks = [environment.generate(0.1, 1), environment.generate(0.2, 2)]
    groups = make_pursuers(engine, named(environment)).pursue(tasks, 3, seed=0)
    for group in groups:
        assert [each.stages for each in group.trajectories] == [("a",), ("b", "c"), NO_ADVICE]
        assert [each.plan_well_formed for each in group.trajectories] == [True, True, False]
    (sample,) = engine.samples
    assert [engine.dialogue.text(prompt) for prompt in sample.prompts] == [
        f"<user>{render_planner(task.public)}<policy>" for task in tasks
    ]


# Tokens


def said_and_heard(sequence: PolicySequence) -> list[tuple[list[int], list[float]]]:
    """The sampled turns of a sequence: ids and log-probs."""
    turns: list[tuple[list[int], list[float]]] = [([], []) for _ in sequence.stops]
    for token, owner, log_prob, turn in zip(
        sequence.ids, sequence.owners, sequence.log_probs, sequence.turn, strict=True
    ):
        assert (owner is Owner.SAMPLED) == (turn >= 0)
        if turn >= 0:
            turns[turn][0].append(token)
            turns[turn][1].append(log_prob)
        else:
            assert log_prob == 0.0
    return turns


def test_tokens_are_those_that_the_policies_heard_and_said() -> None:
    """Two tasks of three rollouts, turns that are cut short among them."""
    environment = toy()
    long = "gain look and a great deal more than may be said in one turn"

    def act(floor: Floor) -> str:
        return [["gain", "look", "gain submit"], [long] * 4, ["gain gain submit"]][floor.copy][floor.turn]

    engine = ScriptedEngine({Role.PLANNER: by_copy("a", "b , c", long), Role.EXECUTOR: act})
    tasks = [environment.generate(0.1, 1), environment.generate(0.2, 2)]
    groups = make_pursuers(engine, named(environment), max_tokens=7).pursue(tasks, 3, seed=0)
    (conversation,) = engine.conversations
    rows = [trajectory for group in groups for trajectory in group.trajectories]
    stops = set()
    for row, trajectory in enumerate(rows):
        execution = trajectory.execution
        assert execution.ids == conversation.rows[row]
        expected = [generation for _, generation in conversation.said[row]]
        assert said_and_heard(execution) == [(list(each.ids), list(each.log_probs)) for each in expected]
        assert [turn >= 0 for turn in execution.turn] == execution.loss_mask
        begins = [at for at, _ in conversation.said[row]]
        assert [execution.turn.index(number) for number in range(len(begins))] == begins
        assert [turn.text for turn in trajectory.turns] == [engine.dialogue.decode(each) for each in expected]
        assert execution.stops == [each.stop for each in expected]
        stops |= set(execution.stops)
        sample = engine.samples[0]
        plan = sample.said[row // 3][row % 3]
        assert trajectory.plan.ids == [*sample.prompts[row // 3], *plan.ids]
        assert said_and_heard(trajectory.plan) == [(list(plan.ids), list(plan.log_probs))]
    assert stops == {StopReason.END, StopReason.LENGTH}
    # An end that was cut off is put in by the dialogue, and nobody is trained on it.
    cut = rows[1].execution
    assert cut.ids.count(END) == 3
    assert not any(keep for token, keep in zip(cut.ids, cut.loss_mask, strict=True) if token == END)


def test_all_pending_turns_go_in_one_batch_on_one_prefill_a_task() -> None:
    environment = toy()
    engine = ScriptedEngine({Role.PLANNER: by_copy("a", "b"), Role.EXECUTOR: by_copy("look", "submit")})
    tasks = [environment.generate(0.1, 1), environment.generate(0.2, 2)]
    make_pursuers(engine, named(environment)).pursue(tasks, 2, seed=0)
    assert engine.order == ["sample planner", "converse executor"]
    (conversation,) = engine.conversations
    assert conversation.copies == 2
    assert [engine.dialogue.text(prompt) for prompt in conversation.prompts] == [
        "<user>exec toy go 0.10 seed 1",
        "<user>exec toy go 0.20 seed 2",
    ]
    assert conversation.batches == [[0, 1, 2, 3], [0, 2], [0, 2], [0, 2]]
    assert engine.samples[0].parameters.temperature == 0.5
    assert engine.samples[0].seed != conversation.seed


def test_specialists_are_batched_apart_and_groups_keep_the_order_of_tasks() -> None:
    environments = named(toy(), toy(Tin))
    engine = ScriptedEngine({Role.PLANNER: lambda floor: "a", Role.EXECUTOR: saying("gain gain submit")})
    order = ["toy", "tin", "tin", "toy", "tin"]
    tasks = [environments[name].generate(0.1, number) for number, name in enumerate(order)]
    groups = make_pursuers(engine, environments, specialist).pursue(tasks, 2, seed=0)
    assert [group.task for group in groups] == tasks
    for group in groups:
        name, seed = group.task.public.environment, group.task.seed
        for trajectory in group.trajectories:
            for sequence in (trajectory.plan, trajectory.execution):
                assert f"{name} go 0.10 seed {seed}" in engine.dialogue.text(sequence.ids)
    assert engine.order == [f"{verb}/{n}" for n in ("tin", "toy") for verb in ("sample planner", "converse executor")]
    for policy, heard in engine.heard:
        assert f" {policy.split('/')[1]} go " in heard
    assert len({conversation.seed for conversation in engine.conversations}) == 2


# Solutions as dialogues


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("difficulty", [0.0, 0.6])
def test_a_demonstration_is_what_a_perfect_rollout_leaves(name: str, difficulty: float) -> None:
    environment = load_environment(name, SMALL[name], PromptPack.COMPACT)
    task = environment.generate(difficulty, 5)
    solution = environment.solve(task)
    plan = " , ".join(solution.stages)
    engine = ScriptedEngine({Role.PLANNER: lambda floor: plan, Role.EXECUTOR: saying(*solution.turns)})
    (group,) = make_pursuers(engine, named(environment)).pursue([task], 1, seed=0)
    (rolled_out,) = group.trajectories

    def speak(text: str) -> Generation:
        ids = (*engine.dialogue.encode(text), END)
        return Generation(ids, (0.0,) * len(ids), StopReason.END)

    shown = demonstration(environment, task, engine.dialogue, speak)
    assert rolled_out.captured
    for role in ("plan", "execution"):
        expected, found = getattr(rolled_out, role), getattr(shown, role)
        assert (found.ids, found.owners, found.stops) == (expected.ids, expected.owners, expected.stops)
    assert (shown.turns, shown.stage_ends, shown.captured) == (rolled_out.turns, rolled_out.stage_ends, True)


def test_worked_examples_come_before_both_prompts_as_exchanges() -> None:
    environment = toy(pack=PromptPack.CHAT)
    example = worked_example(environment, environment.generate(0.2, 9))
    plan = '["fetch"]'
    engine = ScriptedEngine({Role.PLANNER: lambda floor: plan, Role.EXECUTOR: saying("gain gain submit")})
    pursuers = make_pursuers(engine, named(environment), examples={"toy": [example]})
    (group,) = pursuers.pursue([environment.generate(0.5, 3)], 1, seed=0)
    (_, planned), (_, acted) = engine.heard
    assert planned.startswith(f"<user>{render_planner(example.task)}<policy>{plan}<end><user>")
    assert planned.endswith(f"{render_planner(group.task.public)}<policy>")
    assert acted.count("act so") == 1
    assert acted.endswith(
        "go 0.20 seed 9\n\nStage 1 of 1 (the last): fetch<policy>gain gain submit<end>"
        "<user>Task, to be solved in at most 4 turns:\ngo 0.50 seed 3\n\nStage 1 of 1 (the last): fetch<policy>"
    )
    (trajectory,) = group.trajectories
    assert trajectory.captured
    assert sum(trajectory.execution.loss_mask) == len(engine.conversations[0].said[0][0][1].ids)
    assert trajectory.execution.ids.count(POLICY) == 2
