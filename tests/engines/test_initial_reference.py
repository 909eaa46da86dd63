"""The KL to the weights that a policy began with, and several passes over a round's data."""

from __future__ import annotations

import dataclasses
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import pytest
import torch
from tests.engines.test_local_engine import engine, sequences

from sparring.engines.local import LocalEngine
from sparring.objectives import KLEstimator, KLReference, Objective, exact_kl, k3

INITIAL = Objective(learning_rate=1e-2, kl_weight=0.1, kl_reference=KLReference.INITIAL, optimiser_steps=2)
FREE = dataclasses.replace(INITIAL, kl_weight=0.0, kl_reference=KLReference.ROUND_START)
Weights = Literal["full", "lora"]
WEIGHTS = pytest.mark.parametrize("weights", ["full", "lora"])


def moved(weights: Weights) -> LocalEngine:
    """An executor that has learned something, and so is away from its beginning."""
    local = engine(weights=weights, keep_initial=True)
    for seed in range(3):
        local.update("executor", sequences(8, seed), dataclasses.replace(FREE, learning_rate=5e-2), seed)
    return local


def log_probs(local: LocalEngine, probe: list[Any]) -> torch.Tensor:
    return torch.tensor([value for row in local.score("executor", probe) for value in row])


@WEIGHTS
def test_the_beginning_is_the_backbone_and_looking_at_it_changes_nothing(weights: Weights) -> None:
    local, probe = moved(weights), sequences(5, seed=9)
    own = local.policies["executor"]
    now = log_probs(local, probe)
    with own.initial():
        began = log_probs(local, probe)
    torch.testing.assert_close(began, log_probs(engine(weights=weights), probe), rtol=0, atol=1e-6)
    assert (now - began).abs().max() > 0.05
    assert torch.equal(log_probs(local, probe), now)
    assert all(parameter.requires_grad for parameter in own.trainable.values())
    before = {key: value.detach().clone() for key, value in own.trainable.items()}
    local.update("executor", sequences(8, seed=4), INITIAL, seed=4)
    assert any(not torch.equal(before[key], value) for key, value in own.trainable.items())


@WEIGHTS
def test_an_error_while_looking_leaves_the_weights_in_place(weights: Weights) -> None:
    local, probe = moved(weights), sequences(5, seed=9)
    now = log_probs(local, probe)
    with pytest.raises(RuntimeError, match="stop"), local.policies["executor"].initial():
        raise RuntimeError("stop")
    assert torch.equal(log_probs(local, probe), now)


@WEIGHTS
@pytest.mark.parametrize("estimator", KLEstimator)
def test_the_kl_is_to_the_beginning(weights: Weights, estimator: KLEstimator) -> None:
    """Nothing moves at learning rate 0, so what is reported is the divergence that the round began with."""
    local, made = moved(weights), sequences(6, seed=9)
    objective = dataclasses.replace(INITIAL, learning_rate=0.0, kl_estimator=estimator)
    began = engine(weights=weights)
    full = [each._anchors(each.policies["executor"], made, 1.0, full=True) for each in (local, began)]
    order = torch.randperm(6, generator=torch.Generator().manual_seed(0)).tolist()[3:]
    pairs = [(full[0][index], full[1][index]) for index in order]
    if estimator is KLEstimator.EXACT:
        terms = [exact_kl(now.full, then.full) for now, then in pairs if now.full is not None and then.full is not None]
    else:
        terms = [k3(now.taken, then.taken) for now, then in pairs]
    expected = torch.cat(terms).mean().item()
    found = local.update("executor", made, objective, seed=0)
    assert found["kl"] == pytest.approx(expected, rel=1e-4)
    assert found["kl"] > 1e-3
    assert found["clip_share"] == 0.0
    at_the_round = dataclasses.replace(objective, kl_reference=KLReference.ROUND_START)
    assert local.update("executor", made, at_the_round, seed=0)["kl"] == pytest.approx(0.0, abs=1e-6)


@WEIGHTS
def test_the_kl_pulls_back_to_the_beginning_and_not_to_the_round(weights: Weights) -> None:
    made = [dataclasses.replace(each, zero_variance=True) for each in sequences(8, seed=9)]
    apart = {}
    for reference in KLReference:
        local = moved(weights)
        objective = dataclasses.replace(
            INITIAL, kl_weight=5.0, kl_reference=reference, kl_estimator=KLEstimator.EXACT, learning_rate=2e-3
        )
        for seed in range(4):
            local.update("executor", made, objective, seed)
        stays = dataclasses.replace(objective, learning_rate=0.0, kl_reference=KLReference.INITIAL)
        apart[reference] = local.update("executor", made, stays, seed=0)["kl"]
    assert apart[KLReference.INITIAL] < 0.8 * apart[KLReference.ROUND_START]


@WEIGHTS
def test_a_resumed_engine_has_the_same_beginning(weights: Weights, tmp_path: Path) -> None:
    """The backbone is the beginning, so that no checkpoint holds it."""
    straight = moved(weights)
    straight.save(tmp_path)
    resumed = engine(weights=weights, keep_initial=True)
    resumed.load(tmp_path)
    reports = [each.update("executor", sequences(8, seed=5), INITIAL, seed=5) for each in (straight, resumed)]
    assert reports[0] == reports[1]
    assert torch.equal(log_probs(straight, sequences(4, seed=6)), log_probs(resumed, sequences(4, seed=6)))


@pytest.mark.parametrize("epochs", [1, 4])
def test_each_epoch_is_a_pass_over_all_of_the_data(epochs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    local, made, seen = engine(), sequences(7), list[list[int]]()
    anchors: list[Any] = []
    accumulate = local.accumulate

    def noted(own: Any, part: Any, held: Any, objective: Any) -> dict[str, float]:
        seen.append([next(index for index, each in enumerate(made) if each is one) for one in part])
        anchors.extend(each.snapshot for each in held)
        return accumulate(own, part, held, objective)

    monkeypatch.setattr(local, "accumulate", noted)
    report = local.update("executor", made, dataclasses.replace(FREE, optimiser_steps=3, epochs=epochs), seed=0)
    assert report["optimiser_steps"] == len(seen) == 3 * epochs
    passes = [sorted(chain(*seen[3 * number : 3 * number + 3])) for number in range(epochs)]
    assert passes == [list(range(7))] * epochs
    assert len({tuple(map(tuple, seen[3 * number : 3 * number + 3])) for number in range(epochs)}) == epochs
    # The centre of the clip is the round's snapshot in every epoch.
    assert len({id(anchor) for anchor in anchors}) == 7
    assert 0.0 < report["entropy"] < 4.0


def test_a_reference_without_weight_changes_no_step() -> None:
    reports = []
    for objective in (FREE, dataclasses.replace(FREE, kl_reference=KLReference.INITIAL)):
        local = engine(keep_initial=True)
        local.update("executor", sequences(8), objective, seed=0)
        reports.append(log_probs(local, sequences(3, seed=1)))
    assert torch.equal(*reports)
