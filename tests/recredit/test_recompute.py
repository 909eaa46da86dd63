"""A stored run credited anew: the run's own option as training had it, labels, what is left out, bad folders."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.recredit.stored_run import make_recipe, row, train_toy, write_run

from sparring.config.sections import MethodSection
from sparring.credit import ExecutorCredit, PlannerCredit
from sparring.errors import UserError
from sparring.recredit.options import executor_options, planner_options
from sparring.recredit.recompute import RoundChoice, recredit
from sparring.recredit.stored import stored_groups
from sparring.trajectories import TrainSequence

PAIRS = [*zip(ExecutorCredit, [*PlannerCredit, *PlannerCredit], strict=False)]


def taught(sequences: list[TrainSequence]) -> list[float]:
    """The advantages of the sampled tokens, in order."""
    return [
        advantage
        for each in sequences
        for advantage, sampled in zip(each.advantages, each.loss_mask, strict=True)
        if sampled
    ]


def recomputed(folder: Path, rounds: int, method: MethodSection) -> tuple[list[float], list[float]]:
    """What the run's own options give each sampled token of executor and planner, from the stored rollouts."""
    executor, planner = list[float](), list[float]()
    acting = executor_options(method)[method.executor_credit]
    planning = planner_options()[method.planner_credit]
    for number in range(1, rounds + 1):
        for group in stored_groups(folder / "rollouts" / f"round_{number:04d}.jsonl", method):
            for rollout, turns, plan in zip(
                group.rollouts, acting(group.trajectories), planning(group.trajectories), strict=True
            ):
                executor += np.repeat(turns, rollout.turn_tokens.astype(int)).tolist()
                planner += np.repeat(plan, rollout.plan_tokens.astype(int)).tolist()
    return executor, planner


@pytest.mark.parametrize(("executor", "planner"), PAIRS)
def test_the_runs_own_option_is_what_the_update_got(
    executor: ExecutorCredit, planner: PlannerCredit, tmp_path: Path
) -> None:
    credits: dict[str, Any] = {"executor_credit": executor.value, "planner_credit": planner.value}
    engine = train_toy(tmp_path, **credits)
    acted = [token for update in engine.updates if update.policy == "executor" for token in taught(update.sequences)]
    planned = [token for update in engine.updates if update.policy == "planner" for token in taught(update.sequences)]
    assert recomputed(tmp_path, 2, make_recipe(**credits).method) == (acted, planned)
    assert any(acted)
    assert any(planned)

    done = recredit(tmp_path, RoundChoice())
    for tally in (done.executor[executor.value], done.planner[planner.value]):
        assert tally.over_tokens.value == pytest.approx(1.0)
        assert (tally.flipped, tally.silenced, tally.woken) == (0, 0, 0)
    assert done.counts.rollouts == sum(len(update.sequences) for update in engine.updates) / 2
    assert done.counts.broken_rollouts > 0
    assert all(done.groups.values())


@pytest.mark.parametrize("label", ["verifier", "majority"])
def test_r_zero_is_credited_by_the_label_that_trained_it_and_without_its_probes(label: str, tmp_path: Path) -> None:
    engine = train_toy(tmp_path, name="r_zero", label=label)
    acted = [token for update in engine.updates if update.policy == "executor" for token in taught(update.sequences)]
    assert any(acted)
    assert recomputed(tmp_path, 2, make_recipe(name="r_zero", label=label).method)[0] == acted
    done = recredit(tmp_path, RoundChoice())
    rows = [json.loads(line) for path in (tmp_path / "rollouts").iterdir() for line in path.open(encoding="utf-8")]
    kept = [each for each in rows if not each["probe"] and each["error"] is None]
    assert 0 < done.counts.rollouts == len(kept) < len(rows)
    assert any("majority" in note for note in done.notes) == (label == "majority")


def test_the_majority_of_the_probes_judges_not_the_verifier(tmp_path: Path) -> None:
    probes = [row([0.5], answer=answer, probe=True) for answer in ("two", "one", "one")]
    probes += [row([0.5], answer="two", probe=True, error="the checker is down") for _ in range(3)]
    rollouts = [row([1.0], captured=True, answer="two"), row([0.5], answer="one"), row([0.0], answer=None)]
    folder = write_run(tmp_path, [*probes, *rollouts, row([0.0], group=1)], name="r_zero", label="majority")
    section = make_recipe(name="r_zero", label="majority").method
    group, unlabelled = stored_groups(folder / "rollouts" / "round_0001.jsonl", section)
    assert [trajectory.captured for trajectory in group.trajectories] == [False, True, False]
    assert group.captures == [True, False, False]
    assert not unlabelled.labelled
    done = recredit(folder, RoundChoice())
    assert (done.counts.groups, done.counts.groups_without_label) == (1, 1)


def test_labels_that_training_did_not_use_are_noticed(tmp_path: Path) -> None:
    train_toy(tmp_path, name="r_zero", label="majority")
    path = tmp_path / "metrics.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert 0.0 < rows[2]["notes"]["label_agreement"] < 1.0
    rows[2]["notes"]["label_agreement"] /= 2
    path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    with pytest.raises(UserError, match=r"majority's label agrees .* restore both files"):
        recredit(tmp_path, RoundChoice())


def test_what_broke_is_left_out_and_counted(tmp_path: Path) -> None:
    broken = row([0.5], error="the checker is down", turns=[])
    rows = [row([1.0], captured=True), broken, row([0.0]), broken | {"group": 1}]
    done = recredit(write_run(tmp_path, rows), RoundChoice())
    counts = done.counts
    assert (counts.groups, counts.rollouts, counts.broken_rollouts, counts.groups_without_outcome) == (1, 2, 2, 1)
    assert counts.turn_rewards == 2
    assert [note.split()[0] for note in done.notes] == ["2", "1"]


def test_rewards_that_the_recipe_does_not_give_are_refused(tmp_path: Path) -> None:
    other = write_run(tmp_path, [row([0.5]), row([0.25, 0.0])], progress_weight=0.5)
    with pytest.raises(
        UserError, match=r"round_0001\.jsonl line 1 has turns\.0\.reward = 0\.125, where Eq\. 4 .* 0\.25"
    ):
        recredit(other, RoundChoice())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"group": "x"}, "has group = 'x'"),
        ({"turns": []}, r"has turns = \[\]"),
        ({"plan": {"turn": [0]}}, r"has no plan\.stage_ends"),
        ({"execution": {"turn": [0, 1]}}, r"execution\.turn names turn 1 of 1"),
    ],
)
def test_a_wrong_row_is_named_with_file_and_line(changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    folder = write_run(tmp_path, [row([0.5]), row([0.5], **changes)])
    with pytest.raises(UserError, match=rf"round_0001\.jsonl line 2 {said}") as refusal:
        recredit(folder, RoundChoice())
    assert "\n" not in str(refusal.value)


def test_groups_come_one_at_a_time(tmp_path: Path) -> None:
    path = write_run(tmp_path, [row([0.5]), row([0.5], group=1)]) / "rollouts" / "round_0001.jsonl"
    path.write_text(path.read_text(encoding="utf-8") + "torn", encoding="utf-8")
    groups = stored_groups(path, make_recipe().method)
    assert [len(group.rollouts) for group in islice(groups, 1)] == [1]
    with pytest.raises(UserError, match="line 3 is not JSON"):
        next(groups)


@pytest.mark.parametrize(
    ("choice", "rounds"),
    [
        (RoundChoice(), [1, 2, 4]),
        (RoundChoice(last=2), [2, 4]),
        (RoundChoice(last=9), [1, 2, 4]),
        (RoundChoice(first=2, final=4), [2, 4]),
        (RoundChoice(first=0, final=1), [1]),
    ],
)
def test_complete_rounds_of_an_unfinished_run(choice: RoundChoice, rounds: list[int], tmp_path: Path) -> None:
    folder = write_run(tmp_path, *[[row([0.5]), row([0.0])]] * 5)
    (folder / "rollouts" / "round_0003.jsonl").unlink()  # lost
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "metrics.jsonl").write_text("".join(lines[:5]), encoding="utf-8")  # round 5 was not finished
    done = recredit(folder, choice)
    assert done.rounds == rounds
    assert done.counts.groups == len(rounds)
    assert done.notes == (["rounds without stored rollouts are left out: 1"] if {2, 4} <= {*rounds} else [])


def test_no_rounds_to_read(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "begun")
    with pytest.raises(UserError, match="holds no complete round"):
        recredit(folder, RoundChoice())
    (folder / "metrics.jsonl").unlink()
    with pytest.raises(UserError, match="holds no complete round"):
        recredit(folder, RoundChoice())
    with pytest.raises(UserError, match=r"--rounds 7-9 holds no complete round of .*, which has 1-1"):
        recredit(write_run(tmp_path / "one", [row([0.5])]), RoundChoice(7, 9))
    with pytest.raises(UserError, match="holds no run"):
        recredit(tmp_path, RoundChoice())


def test_options_are_all_credits_and_the_variants_that_differ() -> None:
    names = [credit.value for credit in ExecutorCredit]
    assert list(executor_options(MethodSection())) == [*names, "eq5, c_red = 0", "eq5, lambda = 0"]
    assert list(executor_options(MethodSection(zero_progress_cost=0.0))) == [*names, "eq5, lambda = 0"]
    assert list(executor_options(MethodSection(progress_weight=0.0))) == [*names, "eq5, c_red = 0"]
    assert list(planner_options()) == [credit.value for credit in PlannerCredit]
