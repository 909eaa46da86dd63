"""The simulated engine: closed forms of what it says and of what an update does to it."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.scripted import WordDialogue

from sparring.engines.base import SamplingParameters
from sparring.engines.simulated import SimulatedEngine
from sparring.engines.simulated_policies import (
    ConstantPolicy,
    Frame,
    Layout,
    PreferencePolicy,
    SimulatedPolicy,
    SkillPolicy,
    attempt_log_odds,
)
from sparring.errors import UserError
from sparring.objectives import KLEstimator, KLReference, Objective
from sparring.trajectories import Generation, Owner, PolicySequence, Span, StopReason, TrainSequence, train_sequence

ASK, HIT, MISS, END, EASY, HARD = range(6)
PARAMETERS = SamplingParameters(max_tokens=8)
STEP = Objective(learning_rate=1.0, kl_weight=0.0, optimiser_steps=2, gradient_clip=100.0)


def sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


def skilled(skill: float = 0.4, noise: float = 0.0, growth: float = 1.0) -> SkillPolicy:
    frame = Frame((), (HIT, MISS), (END,))
    return SkillPolicy(frame, {EASY: 0.2, HARD: 0.8}, skill=skill, slope=10.0, noise=noise, growth=growth)


def preferring() -> PreferencePolicy:
    """Emits ASK, one of three numbers, END; prompts hold 10 hint 11.. and 20 with two ratings of 30.."""
    layout = Layout(
        hint_marker=10,
        values={11: 0.0, 12: 0.5, 13: 1.0},
        table_marker=20,
        ratings=(30, 31, 32),
        entries=2,
        places=(0, 0, 1),
        centres=(0.0, 0.5, 1.0),
    )
    return PreferencePolicy(Frame((ASK,), (11, 12, 13), (END,)), layout, hint_width=0.5, growth=1.0)


def engine(policy: SimulatedPolicy) -> SimulatedEngine:
    return SimulatedEngine(WordDialogue(), {"own": policy})


def trained(prompt: Sequence[int], said: Sequence[int], advantage: float, log_prob: float = 0.0) -> TrainSequence:
    sequence = PolicySequence("own")
    sequence.append([Span(Owner.PROMPT, tuple(prompt))])
    sequence.append_sampled(Generation(tuple(said), (log_prob,) * len(said), StopReason.END))
    return train_sequence(sequence, [advantage], zero_variance=False)


# What is said


@given(st.floats(-30.0, 30.0), st.floats(0.0, 1.0))
def test_probability_of_an_attempt(log_odds: float, noise: float) -> None:
    odds = attempt_log_odds(torch.tensor([log_odds], dtype=torch.float64), noise)
    p = noise / 2 + (1 - noise) * sigmoid(log_odds)
    assert torch.sigmoid(odds).item() == pytest.approx(p, abs=1e-12)


def test_noise_outside_its_range_is_refused() -> None:
    with pytest.raises(ValueError, match=r"noise 1.5 is outside"):
        attempt_log_odds(torch.zeros(1), 1.5)


def test_a_skill_hits_as_often_as_it_should_and_knows_the_log_prob() -> None:
    (said,) = engine(skilled()).sample("own", [[ASK, EASY]], 4000, PARAMETERS, seed=1)
    p = sigmoid(10 * (0.4 - 0.2))
    hits = [generation for generation in said if generation.ids == (HIT, END)]
    assert {generation.ids for generation in said} == {(HIT, END), (MISS, END)}
    assert len(hits) / 4000 == pytest.approx(p, abs=0.02)
    assert hits[0].log_probs == pytest.approx((math.log(p), 0.0))


def test_the_last_difficulty_before_a_turn_counts_and_greedy_takes_the_likelier() -> None:
    greedy = SamplingParameters(max_tokens=8, temperature=0.0)
    own = engine(skilled())
    said = own.sample("own", [[EASY], [HARD], [EASY, HARD], [HARD, EASY]], 1, greedy, seed=0)
    assert [each.ids[0] for (each,) in said] == [HIT, MISS, MISS, HIT]
    with pytest.raises(ValueError, match="no token before the turn names a difficulty"):
        own.sample("own", [[ASK]], 1, PARAMETERS, seed=0)


def test_a_conversation_is_a_sample_turn_by_turn() -> None:
    own = engine(skilled())
    conversation = own.converse("own", [[ASK], [ASK]], 2, seed=3)
    for row, difficulty in enumerate((EASY, HARD, EASY, HARD)):
        conversation.extend(row, [difficulty])
    first = conversation.sample([0, 1, 2, 3], PARAMETERS)
    conversation.finish([1])
    conversation.extend(0, [HARD])
    second = conversation.sample([0], PARAMETERS)
    hard = {HIT: math.log(sigmoid(-4)), MISS: math.log(sigmoid(4))}
    assert first[1].log_probs[0] == pytest.approx(hard[first[1].ids[0]])
    assert second[0].log_probs[0] == pytest.approx(hard[second[0].ids[0]])
    again = own.converse("own", [[ASK, EASY], [ASK, EASY]], 2, seed=3).sample([0], PARAMETERS)
    assert again == own.converse("own", [[ASK, EASY], [ASK, EASY]], 2, seed=3).sample([0], PARAMETERS)


def test_a_turn_is_cut_at_its_limit() -> None:
    ((whole,), (cut,)) = (
        engine(preferring()).sample("own", [[10, 12, 20, 30, 31]], 1, SamplingParameters(limit), seed=0)[0]
        for limit in (3, 1)
    )
    assert (len(whole.ids), whole.stop) == (3, StopReason.END)
    assert (cut.ids, cut.log_probs, cut.stop) == ((ASK,), (0.0,), StopReason.LENGTH)


def test_a_constant_says_one_thing_and_learns_nothing() -> None:
    own = engine(ConstantPolicy(Frame((), (HIT,), (END,))))
    ((said,),) = own.sample("own", [[ASK]], 1, PARAMETERS, seed=0)
    assert (said.ids, said.log_probs) == ((HIT, END), (0.0, 0.0))
    report = own.update("own", [trained([ASK], said.ids, advantage) for advantage in (2.0, -1.0)], STEP, seed=0)
    assert report["grad_norm"] == 0.0


def test_a_preference_reads_hint_and_table() -> None:
    policy = preferring()
    with torch.no_grad():
        policy.weights.copy_(torch.tensor([0.3, -0.2, 0.7], dtype=torch.float64))
    seen = torch.tensor([policy.read([10, 12, 20, 31, 32])], dtype=torch.float64)
    assert policy.logits(seen)[0].tolist() == pytest.approx([-0.2 - 0.5, -0.2, 0.7 - 0.5])
    for ids in ([20, 30, 31], [10, 12, 20, 30], [10, 12, 20, 30, 99], [10, 12]):
        with pytest.raises(ValueError, match=r"hold no hint or no table|holds 1 ratings"):
            policy.read(ids)


# What an update does


def test_at_the_round_start_the_ratio_is_1_and_the_kl_0() -> None:
    own = engine(skilled(noise=0.1))
    (said,) = own.sample("own", [[EASY]], 8, PARAMETERS, seed=2)
    sequences = [trained([EASY], each.ids, 1.0, each.log_probs[0]) for each in said]
    assert own.score("own", sequences) == [pytest.approx(each.log_probs) for each in said]
    still = Objective(learning_rate=0.0, kl_weight=0.1)
    report = own.update("own", sequences, still, seed=0)
    assert (report["kl"], report["clip_share"]) == (0.0, 0.0)
    assert report["skill"] == pytest.approx(0.4)
    assert (report["tokens"], report["sequences"], report["optimiser_steps"]) == (16.0, 8.0, 4.0)


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_two_steps_of_policy_gradient_in_closed_form(noise: float) -> None:
    """Two equal sequences, one a step; the fixed token halves the mean over tokens."""
    own = engine(skilled(skill=0.2, noise=noise, growth=0.5))
    advantage = 0.8
    own.update("own", [trained([EASY], [HIT, END], advantage)] * 2, STEP, seed=0)

    def p(x: float) -> float:
        return noise / 2 + (1 - noise) * sigmoid(x)

    def slope(x: float) -> float:
        return (1 - noise) * sigmoid(x) * (1 - sigmoid(x)) / p(x)

    first = 0.5 * advantage * slope(0.0) / 2
    second = first + 0.5 * (p(first) / p(0.0)) * advantage * slope(first) / 2
    assert own.policies["own"].weights.item() == pytest.approx(2.0 + second)


def test_the_clip_stops_what_has_gone_too_far() -> None:
    own = engine(skilled(skill=0.2, growth=10.0))
    report = own.update("own", [trained([EASY], [HIT, END], 1.0)] * 2, STEP, seed=0)
    assert own.policies["own"].weights.item() == pytest.approx(2.0 + 10.0 * 0.5 / 2)  # the second step did nothing
    assert report["clip_share"] == 0.5


def test_the_kl_is_that_of_the_attempt_and_holds_back() -> None:
    exact = Objective(1.0, kl_weight=0.0, kl_estimator=KLEstimator.EXACT, optimiser_steps=2, gradient_clip=100.0)
    own = engine(skilled(skill=0.2, growth=1.0))
    report = own.update("own", [trained([EASY], [HIT, END], 1.0)] * 2, exact, seed=0)
    moved, p = sigmoid(0.25), 0.5
    expected = moved * math.log(moved / p) + (1 - moved) * math.log((1 - moved) / p)
    assert report["kl"] == pytest.approx(expected / 2)
    free = own.policies["own"].weights.item()
    held = engine(skilled(skill=0.2, growth=1.0))
    strong = Objective(1.0, kl_weight=1.0, kl_estimator=KLEstimator.EXACT, optimiser_steps=2, gradient_clip=100.0)
    held.update("own", [trained([EASY], [HIT, END], 1.0)] * 2, strong, seed=0)
    assert 2.0 < held.policies["own"].weights.item() < free


def test_the_kl_may_be_to_the_beginning() -> None:
    own = engine(skilled(skill=0.2))
    sequences = [trained([EASY], [HIT, END], 1.0)] * 2
    own.update("own", sequences, STEP, seed=0)
    still = Objective(learning_rate=0.0, kl_weight=0.1)
    assert own.update("own", sequences, still, seed=0)["kl"] == 0.0
    assert own.update("own", sequences, replace(still, kl_reference=KLReference.INITIAL), seed=0)["kl"] > 0.0
    assert own.policies["own"].weights.item() > 2.0  # looking at the beginning has not gone back to it


def test_a_preference_moves_to_what_earned() -> None:
    own = engine(preferring())
    prompt = [10, 12, 20, 30, 31]
    sequences = [trained(prompt, [ASK, 13, END], 1.0), trained(prompt, [ASK, 11, END], -1.0)]
    own.update("own", sequences, STEP, seed=0)
    low, high, unseen = own.policies["own"].weights.tolist()
    assert low < 0.0 < high
    assert unseen == 0.0


def test_no_spread_and_no_tokens_move_nothing() -> None:
    own = engine(skilled())
    flat = [TrainSequence((EASY, HIT, END), (False, True, True), (0.0,) * 3, (0.0, 5.0, 5.0), zero_variance=True)] * 2
    assert own.update("own", flat, STEP, seed=0)["zero_variance"] == 1.0
    assert own.policies["own"].weights.item() == pytest.approx(4.0)
    silent = TrainSequence((EASY,), (False,), (0.0,), (0.0,))
    assert own.update("own", [silent], STEP, seed=0)["tokens"] == 0.0


def test_foreign_tokens_and_divergence_are_refused() -> None:
    own = engine(skilled())
    with pytest.raises(ValueError, match="no turn of this policy"):
        own.score("own", [trained([EASY], [HARD, END], 1.0)])
    with pytest.raises(UserError, match="the update of own diverged"):
        own.update("own", [trained([EASY], [HIT, END], math.inf)] * 2, STEP, seed=0)


def test_what_was_saved_goes_on_alike(tmp_path: Path) -> None:
    sequences = [trained([EASY], [HIT, END], 1.0), trained([EASY], [MISS, END], -1.0)]
    own, other = engine(skilled()), engine(skilled(skill=0.0))
    own.update("own", sequences, STEP, seed=0)
    own.save(tmp_path)
    other.load(tmp_path)
    assert own.update("own", sequences, STEP, seed=1) == other.update("own", sequences, STEP, seed=1)
