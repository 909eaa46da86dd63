"""The comparisons' own arithmetic: equal rollouts, resuming, tables, and the two ways of decoding."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from benchmarks import placements, speed
from hypothesis import given
from hypothesis import strategies as st

from sparring.config import load_recipe
from sparring.engines.base import SamplingParameters
from sparring.engines.local import LocalEngine
from sparring.errors import UserError
from sparring.micro import make_model, make_tokenizer
from sparring.roles import Role
from sparring.training import make_environments

RECIPE = Path(__file__).parents[1] / "recipes" / "lure-micro.toml"
ENVIRONMENT = {"capture": 0.5, "mixed": 0.25, "invalid": 0.0}


def row(number: int, rollouts: int, seconds: dict[str, float] | None = None) -> dict[str, Any]:
    roles = {"executor": {"tokens": 300, "trained_tokens": 200.0}, "evader": {"tokens": 0, "trained_tokens": None}}
    environments = {"zebra_logic": ENVIRONMENT} if number else {}
    return {
        "round": number,
        "rollouts": rollouts,
        "environments": environments,
        "roles": roles if number else {},
        "seconds": seconds or {},
    }


class SmallRounds:
    """Stands in for `sparring train`: 288 rollouts in the first round, 192 in the others."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def __call__(self, job: placements.Job, rounds: int) -> None:
        self.asked.append(rounds)
        (job.folder / "emissions").mkdir(parents=True, exist_ok=True)
        rows = [row(0, 0), *(row(number, 96 + 192 * number) for number in range(1, rounds + 1))]
        (job.folder / "metrics.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        recipe = job.recipe().model_copy(update={"rounds": rounds})
        (job.folder / "recipe.toml").write_text(recipe.toml(), encoding="utf-8")
        for number in range(1, rounds + 1):
            emissions = [{"capture": 0.25}, {"capture": None}, {"capture": 1.0}]
            (job.folder / "emissions" / f"round_{number:04d}.jsonl").write_text(
                "\n".join(map(json.dumps, emissions)), encoding="utf-8"
            )
        summary = {
            "heldout_before": {"all": {"capture": 0.4}},
            "heldout_after": {"all": {"capture": 0.6}},
            "rollouts": rows[-1]["rollouts"],
            "minutes": 1.5,
        }
        (job.folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch) -> SmallRounds:
    stand_in = SmallRounds()
    monkeypatch.setattr(placements, "train", stand_in)
    return stand_in


def test_smaller_rounds_go_on_to_the_same_rollouts(tmp_path: Path, training: SmallRounds) -> None:
    job = placements.Job("frozen_pool", 3, tmp_path / "run", RECIPE, 10)
    assert placements.target_rollouts(job.recipe()) == 2880
    assert placements.carry_out(job)
    assert training.asked == [10, 14]  # 2,016 after ten rounds, 2,784 after fourteen, 2,976 after fifteen
    result = placements.run_result(job.folder)
    assert (result["rollouts"], result["rounds"]) == (2784, 14)
    assert result["frontier"] == pytest.approx(0.125)
    assert (result["before"], result["after"]) == ({"all": 0.4}, {"all": 0.6})


def test_a_finished_run_is_not_done_again(tmp_path: Path, training: SmallRounds) -> None:
    job = placements.Job("evader", 0, tmp_path / "run", RECIPE, 4)
    assert placements.carry_out(job)
    training.asked.clear()
    assert not placements.carry_out(job)
    assert training.asked == []


def test_a_folder_of_another_recipe_is_refused(tmp_path: Path, training: SmallRounds) -> None:
    placements.carry_out(placements.Job("evader", 0, tmp_path / "run", RECIPE, 4))
    with pytest.raises(UserError, match="seed: 0 in the run, 1 given"):
        placements.carry_out(placements.Job("evader", 1, tmp_path / "run", RECIPE, 4))


@given(st.integers(0, 10_000), st.integers(1, 500), st.integers(1, 10_000))
def test_no_other_number_of_rounds_comes_nearer(spent: int, last_round: int, target: int) -> None:
    more = placements.rounds_missing(spent, last_round, target)
    distance = abs(target - spent - more * last_round)
    assert distance <= abs(target - spent - (more + 1) * last_round)
    assert more == 0 or distance <= abs(target - spent - (more - 1) * last_round)


def test_rounds_without_rollouts_are_an_error() -> None:
    with pytest.raises(UserError, match="out of reach"):
        placements.rounds_missing(100, 0, 200)


@pytest.mark.parametrize(
    ("values", "words"),
    [([0.5, 0.7], "0.600 ± 0.141"), ([0.5], "0.500"), ([2880, 2880], "2,880"), ([10, 12, 14], "12 ± 2")],
)
def test_spread(values: Sequence[float], words: str) -> None:
    assert placements.spread(values) == words


def test_table_has_a_row_a_placement(tmp_path: Path, training: SmallRounds) -> None:
    job = placements.Job("evader", 0, tmp_path / "run", RECIPE, 4)
    placements.carry_out(job)
    lines = placements.table({"evader": {"0": placements.run_result(job.folder)}}).splitlines()
    assert len(lines) == 3
    assert lines[2].startswith("| LURE (evader) | 1 | 0.400 | 0.600 | 0.250 | 0.500 | 0.125 |")
    assert {line.count("|") for line in lines} == {lines[0].count("|")}


def test_rates_leave_evaluation_out() -> None:
    seconds = {"rollout": 2.0, "emission": 1.0, "update": 4.0, "verification": 1.0, "evaluation": 100.0}
    found = speed.rates([row(0, 0, {"evaluation": 50.0}), row(1, 80, seconds), row(2, 160, seconds)])
    assert found["rollouts per second of a round"] == pytest.approx(160 / 16)
    assert found["sampled tokens per second of generation"] == pytest.approx(600 / 6)
    assert found["trained tokens per second of update"] == pytest.approx(400 / 8)
    assert found["trained tokens per second of a round"] == pytest.approx(400 / 16)


def test_reading_anew_says_the_same_words() -> None:
    recipe = load_recipe(RECIPE)
    environments = make_environments(recipe)
    tokenizer = make_tokenizer(environments)
    torch.manual_seed(0)
    engine = LocalEngine(make_model(len(tokenizer), tokenizer.eos_token_id, 0), tokenizer, [Role.EXECUTOR.value])
    prompts, greedy = [[5, 6, 7], [8, 9]], SamplingParameters(6, 0.0)
    said = []
    for opener in (engine, speed.RefillingEngine(engine)):
        conversation = opener.converse(Role.EXECUTOR, prompts, 2, 0)
        words = []
        for turn in range(3):
            for index in range(4):
                conversation.extend(index, [10 + turn + index])
            words.append([generation.ids for generation in conversation.sample([0, 1, 2, 3], greedy)])
        said.append(words)
    assert said[0] == said[1]
    assert len(set(map(tuple, said[0]))) == 3  # turns differ, so a lost history would show
