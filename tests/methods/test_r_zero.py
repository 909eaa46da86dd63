"""R-Zero, a round at a time, with a scripted engine in the model's place."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.test_lure import emitting, trained
from tests.scripted import Floor, ScriptedEngine, Speaker, WordDialogue, by_copy
from tests.toy import Tin, Toy, ToyEpisode, make_evader, make_solver, named, specialist, toy, unified

from sparring.credit import Label, standardise
from sparring.environments.base import AnyEnvironment
from sparring.methods.base import Round
from sparring.methods.r_zero import RZero, majority, relabelled
from sparring.placement.evader_reward import DifficultyReward, EvaderReward
from sparring.placement.repetition import Repetition
from sparring.roles import Role
from sparring.runs.ledger import round_ledger
from sparring.runs.tracking import metrics_row, rollout_rows, task_keys
from sparring.trajectories import Group, PolicySequence, Trajectory

R_ZERO = EvaderReward(repetition=Repetition.BLEU_CLUSTER)
WON, LOST = "gain gain submit", "submit"


class Voting(Toy):
    """A toy whose answer is the word after "says"."""

    def answer(self, episode: ToyEpisode) -> str | None:
        words = episode.taken[-1][0].split()
        return words[words.index("says") + 1] if "says" in words else None


def r_zero(
    engine: ScriptedEngine,
    environments: Mapping[str, AnyEnvironment] | None = None,
    label: Label = Label.VERIFIER,
    policy: Callable[[Role, str], str] = unified,
    samples: int = 5,
    reward: EvaderReward = R_ZERO,
) -> RZero:
    solver = make_solver(engine, environments or named(toy()), policy, group_size=4)
    return RZero(solver, make_evader(engine, policy, samples=samples, reward=reward), label, 0.25, 0.75)


def phased(evader: Speaker, *phases: Mapping[str, str], dialogue: WordDialogue | None = None) -> ScriptedEngine:
    """An executor that says other things in each of its conversations: one text a rollout, set apart by "/"."""
    engine: ScriptedEngine

    def executor(floor: Floor) -> str:
        table = phases[(len(engine.conversations) - 1) % len(phases)]
        (texts,) = (texts for difficulty, texts in table.items() if f" go {difficulty} seed " in floor.heard)
        return texts.split(" / ")[floor.copy]

    speakers: Mapping[Role, Speaker] = {Role.EVADER: evader, Role.PLANNER: by_copy(*"abcd"), Role.EXECUTOR: executor}
    engine = ScriptedEngine(speakers, dialogue=dialogue)
    return engine


def won(count: int) -> str:
    return " / ".join([WON] * count + [LOST] * (4 - count))


PROBES = {"0.10": won(4), "0.30": won(2), "0.50": won(1), "0.70": won(0)}
FRESH = {"0.30": won(3), "0.50": won(4)}
CANDIDATES = emitting(0.1, 0.3, None, 0.5, 0.7)


def test_one_round_by_hand() -> None:
    engine = phased(CANDIDATES, PROBES, FRESH)
    done = r_zero(engine).round(1)
    # Probed with the snapshots, trained on fresh rollouts of the same snapshots.
    rollouts = ["sample planner", "converse executor"]
    updates = ["update evader", "update planner", "update executor"]
    assert engine.order == ["sample evader", *rollouts, *rollouts, *updates]
    assert engine.conversations[0].seed != engine.conversations[1].seed

    assert [None if group is None else sum(group.outcomes) for group in done.probes] == [4, 2, None, 1, 0]
    kept = [outcome.group for outcome, probe in zip(done.outcomes, done.probes, strict=True) if outcome.group != probe]
    assert [group.task.difficulty for group in kept if group] == [0.3, 0.5]
    assert kept == done.trained
    assert [sum(group.outcomes) for group in done.trained] == [3, 4]

    evader, planner, executor = engine.updates
    # The challenger is paid for the probes: min(s, 1 - s) less its cluster's share; of four words toy questions
    # share two, so every cluster is of one.
    rewards = [0.0 - 1 / 5, 0.5 - 1 / 5, -1.0 - 1 / 5, 0.25 - 1 / 5, 0.0 - 1 / 5]
    assert [outcome.emission.reward for outcome in done.outcomes] == pytest.approx(rewards)
    assert len(evader.sequences) == 5

    up, down = standardise([1.0, 1.0, 1.0, 0.0])[[0, 3]].tolist()
    mixed, alike = done.trained
    for update, part in ((planner, "plan"), (executor, "execution")):
        assert update.sequences == [
            *(
                trained(getattr(each, part), [value], still=False)
                for each, value in zip(mixed.trajectories, [up, up, up, down], strict=True)
            ),
            *(trained(getattr(each, part), [0.0], still=True) for each in alike.trajectories),
        ]
    assert dict(done.notes) == {"label_agreement": 1.0}
    assert round_ledger(done) == {
        "emitted": 5,
        "malformed": 1,
        "probe_rollouts": 16,
        "dropped_tasks": 2,
        "trained_tasks": 2,
        "train_rollouts": 8,
    }
    assert done.rollouts == 24


def test_both_ends_of_the_band_are_in_it() -> None:
    table = {"0.10": won(0), "0.20": won(1), "0.30": won(2), "0.40": won(3), "0.50": won(4)}
    engine = phased(emitting(0.1, 0.2, 0.3, 0.4, 0.5), table, table)
    done = r_zero(engine).round(1)
    assert [group.task.difficulty for group in done.trained] == [0.2, 0.3, 0.4]


def test_a_round_without_a_task_in_the_band_teaches_the_challenger_alone() -> None:
    engine = phased(emitting(0.1, 0.7, 0.1, 0.7, None), PROBES)
    done = r_zero(engine).round(1)
    assert [update.policy for update in engine.updates] == ["evader"]
    assert done.trained == []
    assert done.notes == {}
    assert done.updates[Role.PLANNER] == done.updates[Role.EXECUTOR] == {}
    assert round_ledger(done)["dropped_tasks"] == 4


def test_the_rewards_of_the_paper_and_of_the_code() -> None:
    found = {}
    for difficulty in (DifficultyReward.UNCERTAINTY, DifficultyReward.FRONTIER):
        reward = replace(R_ZERO, difficulty=difficulty)
        done = r_zero(phased(CANDIDATES, PROBES, FRESH), reward=reward).round(1)
        found[difficulty] = [outcome.emission.reward for outcome in done.outcomes]
    paper, code = found.values()
    assert paper == pytest.approx([0.0 - 0.2, 1.0 - 0.2, -1.2, 0.5 - 0.2, 0.0 - 0.2])
    assert code == pytest.approx([0.0 - 0.2, 0.5 - 0.2, -1.2, 0.25 - 0.2, 0.0 - 0.2])


def test_equal_questions_share_a_cluster() -> None:
    """Malformed emissions of one text are as alike as two tasks of one statement."""
    engine = phased(by_copy("hard", "hard", "soft words", '{"difficulty": 0.3}', '{"difficulty": 0.5}'), PROBES, FRESH)
    done = r_zero(engine).round(1)
    rewards = [outcome.emission.reward for outcome in done.outcomes]
    assert rewards == pytest.approx([-1.4, -1.4, -1.2, 0.5 - 0.2, 0.25 - 0.2])


def test_majority_labels_judge_probes_and_training_alike() -> None:
    """The probes vote "x", which is wrong; who says "x" afresh is right, whatever the verifier says."""
    probes = {"0.30": "submit says x / submit says x / gain gain submit says y / submit"}
    fresh = {"0.30": "submit says x / gain gain submit says y / submit says y / submit"}
    engine = phased(emitting(0.3), probes, fresh)
    done = r_zero(engine, named(Voting(toy().settings, toy().pack)), Label.MAJORITY, samples=1).round(1)
    (outcome,) = done.outcomes
    # s = 2/4, the unanswered rollout counted: R-Zero's code would have it 2/3.
    assert outcome.emission.reward == pytest.approx(0.5 - 1.0)
    (group,) = done.trained
    right = standardise([1.0, 0.0, 0.0, 0.0]).tolist()
    assert engine.updates[1].sequences == [
        trained(each.plan, [value], still=False) for each, value in zip(group.trajectories, right, strict=True)
    ]
    # What is recorded is the verifier's word.
    assert group.outcomes == [False, True, False, False]
    assert dict(done.notes) == {"label_agreement": 0.5}


def test_under_the_verifier_the_same_answers_are_judged_by_it() -> None:
    probes = {"0.30": "submit says x / submit says x / gain gain submit says y / submit"}
    engine = phased(emitting(0.3), probes, probes)
    done = r_zero(engine, named(Voting(toy().settings, toy().pack)), samples=1).round(1)
    assert done.outcomes[0].emission.reward == pytest.approx(0.25 - 1.0)
    assert dict(done.notes) == {"label_agreement": 1.0}


def rollout(answer: str | None, captured: bool = False, error: str | None = None) -> Trajectory:
    plan, execution = PolicySequence("planner"), PolicySequence("executor")
    return Trajectory("", (), True, plan, execution, captured=captured, answer=answer, error=error)


def test_majority() -> None:
    assert majority(["a", "b", "b", None, None, None]) == "b"
    assert majority(["a", "b", "b", "a"]) == "a"
    assert majority([None, None]) is None
    assert majority([]) is None


@given(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=9))
def test_no_label_would_have_made_more_rollouts_succeed(answers: Sequence[str | None]) -> None:
    task = toy().generate(0.3, 1)
    group = Group(task, "", [rollout(answer, captured=True) for answer in answers])
    judged = relabelled(group, majority(answers))
    assert all(each.captured for each in group.trajectories)
    assert sum(judged.outcomes) == max(sum(relabelled(group, label).outcomes) for label in "abc")
    assert judged.task is task


def test_broken_probes_have_no_vote_and_are_counted() -> None:
    probes = {"0.30": "break / gain gain submit / submit / submit", "0.50": "break / break / break / break"}
    fresh = {"0.30": "gain gain submit / break / submit / submit"}
    engine = phased(emitting(0.3, 0.5), probes, fresh)
    method = r_zero(engine, samples=2)
    done = method.round(1)
    # One of three finished; a task whose probes all broke has no s, so it is neither paid nor trained on.
    assert [outcome.emission.reward for outcome in done.outcomes] == [pytest.approx(1 / 3 - 1 / 2), None]
    assert len(done.trained) == 1
    row = metrics_row(1, done, method.solver, done.rollouts)
    assert row["environments"]["toy"]["errored"] == 1 + 4 + 1
    assert row["ledger"]["probe_rollouts"] == 8
    # Tokens are what all twelve rollouts cost: a plan is a word and its end.
    assert row["roles"]["planner"]["tokens"] == 2 * 12
    rows = rollout_rows(done, task_keys(done.outcomes, method.solver), method.solver)
    assert [each["probe"] for each in rows] == [True] * 4 + [False] * 4 + [True] * 4
    assert [each["group"] for each in rows] == [0] * 8 + [1] * 4


def test_competence_is_that_of_the_probes() -> None:
    method = r_zero(phased(CANDIDATES, PROBES, FRESH))
    method.round(1)
    shown = [(each.attempts, each.captures) for each in method.competence.bins("toy")]
    assert [shown[index] for index in (1, 3, 5, 7)] == [(4, 4), (4, 2), (4, 1), (4, 0)]


def test_state_and_restore_go_on_as_if_nothing_had_happened() -> None:
    dialogue, environments = WordDialogue(), named(toy(), toy(Tin))
    straight = phased(CANDIDATES, PROBES, PROBES, FRESH, FRESH, dialogue=dialogue)
    method = r_zero(straight, environments, policy=specialist)
    method.round(1)
    state = json.loads(json.dumps(method.state()))
    heard, updates = len(straight.heard), len(straight.updates)
    method.round(2)
    resumed = phased(CANDIDATES, PROBES, PROBES, FRESH, FRESH, dialogue=dialogue)
    again = r_zero(resumed, environments, policy=specialist)
    again.restore(state)
    assert again.state() == state
    again.round(2)
    assert resumed.heard == straight.heard[heard:]
    assert resumed.updates == straight.updates[updates:]
    assert again.state() == method.state() != state


def trained_of(done: Round) -> list[tuple[str, float]]:
    return [(group.task.public.environment, group.task.difficulty) for group in done.trained]


@pytest.mark.parametrize(
    ("budget", "probed", "kept"),
    [
        (None, 6, [("toy", 0.3), ("toy", 0.5), ("tin", 0.3), ("tin", 0.5)]),
        (4 * 8, 6, [("toy", 0.3), ("tin", 0.3)]),
        (4 * 7, 6, [("toy", 0.3)]),
        (4 * 3, 3, []),
        (4, 1, []),
    ],
)
def test_a_budget_ends_in_probes_and_training_of_all_environments_alike(
    budget: int | None, probed: int, kept: list[tuple[str, float]]
) -> None:
    table = {"0.30": won(2), "0.50": won(1), "0.70": won(0)}
    engine = phased(emitting(0.3, 0.5, 0.7), table)
    done = r_zero(engine, named(toy(), toy(Tin)), samples=3).round(1, budget)
    assert len(done.probed) == probed
    assert trained_of(done) == kept
    assert budget is None or done.rollouts == budget
