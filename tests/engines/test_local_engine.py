"""The local engine against plain transformers, and its guarantees on splits, anchors and rows."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from sparring.engines.base import SamplingParameters
from sparring.engines.local import Held, LocalEngine
from sparring.errors import UserError
from sparring.objectives import KLEstimator, Objective
from sparring.trajectories import Generation, Owner, PolicySequence, Span, StopReason, TrainSequence, train_sequence

VOCABULARY = 40
OBJECTIVE = Objective(learning_rate=1e-2, kl_weight=0.1, optimiser_steps=3)


def tokenizer() -> PreTrainedTokenizerFast:
    words = ["<pad>", "<unk>", "<reply>", "<end>", *(f"w{i}" for i in range(VOCABULARY - 4))]
    raw = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    fast = PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="<unk>", pad_token="<pad>", eos_token="<end>")
    turn = "{% if m.role == 'user' %}<reply> {% else %}<end> {% endif %}"
    fast.chat_template = "{% for m in messages %}{{ m.content }} " + turn + "{% endfor %}"
    return fast


def model(seed: int = 0) -> LlamaForCausalLM:
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=48,
        max_position_embeddings=128,
        initializer_range=0.3,
        tie_word_embeddings=True,
        pad_token_id=0,
        eos_token_id=3,
        bos_token_id=None,
    )
    made: LlamaForCausalLM = LlamaForCausalLM(config).eval()
    return made


def engine(**options: object) -> LocalEngine:
    return LocalEngine(model(), tokenizer(), ["executor", "planner"], **options)  # type: ignore[arg-type]


def plain_log_probs(ids: tuple[int, ...], temperature: float = 1.0) -> torch.Tensor:
    """Log-probs of ids[1:] from one full forward pass of plain transformers."""
    with torch.no_grad():
        logits = model()(torch.tensor([ids])).logits[0, :-1] / temperature
    return torch.log_softmax(logits, -1).gather(1, torch.tensor(ids[1:])[:, None])[:, 0]


def sequences(count: int, seed: int = 0) -> list[TrainSequence]:
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        length = rng.randint(4, 20)
        prompt = rng.randint(1, length - 1)
        mask = (*(i >= prompt and rng.random() < 0.8 for i in range(length - 1)), True)
        made.append(
            TrainSequence(
                ids=tuple(rng.randrange(VOCABULARY) for _ in range(length)),
                loss_mask=mask,
                log_probs=tuple(-1.0 if keep else 0.0 for keep in mask),
                advantages=tuple(rng.gauss(0, 1) if keep else 0.0 for keep in mask),
            )
        )
    return made


def test_multi_turn_sampling_matches_plain_transformers() -> None:
    """Ragged prompts, shared prefills, cached turns, finished rows: log-probs as in one plain pass."""
    local = engine()
    prompts = [[5, 6, 7], [8], [9, 10, 11, 12, 13]]
    conversation = local.converse("executor", prompts, 3, seed=1)
    histories = [list(prompts[row // 3]) for row in range(9)]
    scored: list[list[tuple[int, float]]] = [[] for _ in range(9)]
    live = list(range(9))
    rng = random.Random(0)
    for _ in range(4):
        for row in live:
            heard = [rng.randrange(4, VOCABULARY) for _ in range(rng.randint(1, 6))]
            conversation.extend(row, heard)
            histories[row] += heard
        for row, generation in zip(live, conversation.sample(live, SamplingParameters(5, 0.8)), strict=True):
            for token, log_prob in zip(generation.ids, generation.log_probs, strict=True):
                scored[row].append((len(histories[row]), log_prob))
                histories[row].append(token)
            assert (generation.stop is StopReason.END) == (generation.ids[-1] == 3)
        conversation.finish(live[:2])
        live = live[2:]
    for history, pairs in zip(histories, scored, strict=True):
        expected = plain_log_probs(tuple(history), 0.8)
        for position, log_prob in pairs:
            assert log_prob == pytest.approx(float(expected[position - 1]), abs=1e-5)


def test_sampling_frequencies_follow_the_policy() -> None:
    """First tokens of many copies match the model's distribution (chi-square bound)."""
    local = engine()
    copies = 4000
    [generations] = local.sample("planner", [[5, 9]], copies, SamplingParameters(1), seed=7)
    with torch.no_grad():
        expected = torch.softmax(model()(torch.tensor([[5, 9]])).logits[0, -1], -1) * copies
    counts = torch.bincount(torch.tensor([g.ids[0] for g in generations]), minlength=VOCABULARY)
    statistic = float(((counts - expected) ** 2 / expected).sum())
    assert statistic < 90  # 39 degrees of freedom: exceeded with probability below 1e-5


def test_batch_size_does_not_change_greedy_turns() -> None:
    prompts = [[5], [6, 7, 8, 9], [10, 11]]
    greedy = SamplingParameters(6, 0.0)
    whole = engine().sample("executor", prompts, 2, greedy, seed=0)
    cut = engine(rows_per_batch=2).sample("executor", prompts, 2, greedy, seed=0)
    assert [[g.ids for g in row] for row in whole] == [[g.ids for g in row] for row in cut]


def test_top_p_keeps_to_the_nucleus() -> None:
    [generations] = engine().sample("executor", [[5, 9]], 500, SamplingParameters(1, 1.0, top_p=0.3), seed=3)
    with torch.no_grad():
        weights = torch.softmax(model()(torch.tensor([[5, 9]])).logits[0, -1], -1)
    ordered, order = weights.sort(descending=True)
    nucleus = {int(token) for token, before in zip(order, ordered.cumsum(0) - ordered, strict=True) if before < 0.3}
    assert {g.ids[0] for g in generations} == nucleus


def test_score_matches_plain_transformers() -> None:
    made = sequences(7)
    for sequence, found in zip(made, engine(tokens_per_micro_batch=40).score("executor", made), strict=True):
        expected = plain_log_probs(sequence.ids)[torch.tensor(sequence.loss_mask[1:])]
        torch.testing.assert_close(torch.tensor(found), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("estimator", list(KLEstimator))
def test_first_step_has_ratio_one_and_no_kl(estimator: KLEstimator) -> None:
    """Guarantee 3: without movement (learning rate 0) every ratio stays 1 and every KL 0."""
    objective = dataclasses.replace(OBJECTIVE, learning_rate=0.0, kl_estimator=estimator)
    for weights in ("full", "lora"):
        metrics = engine(weights=weights).update("executor", sequences(9), objective, seed=0)
        assert metrics["kl"] == pytest.approx(0.0, abs=1e-7)
        assert metrics["clip_share"] == 0.0
        assert metrics["grad_norm"] > 0.0


def test_kl_and_clip_share_are_those_of_the_last_mini_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is always at the anchor; averaging it in would halve what a round of two steps did."""
    local = engine()
    objective = dataclasses.replace(OBJECTIVE, learning_rate=0.05, optimiser_steps=2)
    alone = []
    accumulate = local.accumulate

    def noted(*arguments: Any) -> dict[str, float]:
        alone.append(accumulate(*arguments))
        return alone[-1]

    monkeypatch.setattr(local, "accumulate", noted)
    report = local.update("executor", sequences(8), objective, seed=0)
    assert len(alone) == 2
    assert alone[0]["kl"] == pytest.approx(0.0, abs=1e-6)
    assert report["kl"] == alone[1]["kl"] / alone[1]["tokens"] > 0.0


@pytest.mark.parametrize("estimator", list(KLEstimator))
def test_update_does_not_depend_on_micro_batches(estimator: KLEstimator) -> None:
    """Guarantee 2 and case B42: any split of a step gives the same gradient, hence the same weights."""
    gradients = []
    for tokens in (1, 60, 10_000):
        # Double precision, so that the order of sums is no excuse.
        local = LocalEngine(model().double(), tokenizer(), ["executor"], tokens_per_micro_batch=tokens)
        own = local.policies["executor"]
        made = sequences(11)
        with torch.no_grad():
            anchors = local._anchors(own, made, 1.0, full=estimator is KLEstimator.EXACT)
            for parameter in own.trainable.values():  # away from the anchor, so that KL counts too
                parameter.mul_(1.05)
        local.accumulate(
            own, made, [Held(each, each) for each in anchors], dataclasses.replace(OBJECTIVE, kl_estimator=estimator)
        )
        gradients.append(torch.cat([p.grad.flatten() for p in own.trainable.values() if p.grad is not None]))
    for other in gradients[1:]:
        torch.testing.assert_close(other, gradients[0], atol=1e-6, rtol=0)


def test_roles_move_apart_and_only_when_updated() -> None:
    """Case B43: the planner's first ratio is 1 although the executor has already moved."""
    for weights in ("full", "lora"):
        local = engine(weights=weights)
        made = sequences(6)
        before = local.score("planner", made)
        local.update("executor", made, dataclasses.replace(OBJECTIVE, learning_rate=0.05), seed=0)
        assert local.score("planner", made) == before
        assert local.score("executor", made) != before
        still = local.update("planner", made, dataclasses.replace(OBJECTIVE, learning_rate=0.0), seed=0)
        assert still["kl"] == pytest.approx(0.0, abs=1e-7)


def test_groups_without_spread_count_in_the_denominator_whether_their_kl_is_kept_or_not() -> None:
    """Leaving the KL out must not make the other groups' step larger."""
    made = [
        dataclasses.replace(s, zero_variance=True, advantages=(0.0,) * len(s.ids)) if number % 2 else s
        for number, s in enumerate(sequences(6))
    ]
    norms = []
    for keep in (True, False):
        objective = dataclasses.replace(OBJECTIVE, kl_weight=0.0, keep_zero_variance_kl=keep)
        report = engine().update("executor", made, objective, seed=0)
        assert 0.0 < report["zero_variance"] < 1.0
        assert report["optimiser_steps"] == 3.0
        norms.append(report["grad_norm"])
    assert norms[0] == norms[1]


def test_tokens_outside_the_mask_do_not_teach() -> None:
    """Cases B47, B48: what tools and templates wrote has no gradient of its own."""
    made = sequences(5)
    loud = [
        dataclasses.replace(
            s, advantages=tuple(a if keep else 99.0 for a, keep in zip(s.advantages, s.loss_mask, strict=True))
        )
        for s in made
    ]
    first, second = engine(), engine()
    assert first.update("executor", made, OBJECTIVE, seed=0) == second.update("executor", loud, OBJECTIVE, seed=0)


def trained(turns: Sequence[tuple[int, ...]], tool: tuple[int, ...] = ()) -> TrainSequence:
    """Turns sampled after a prompt, each but the last followed by a tool's words."""
    sequence = PolicySequence("executor")
    sequence.append([Span(Owner.PROMPT, (1,))])
    for number, ids in enumerate(turns):
        if number:
            sequence.append([Span(Owner.TOOL, tool)])
        sequence.append_sampled(Generation(ids, (-1.0,) * len(ids), StopReason.END))
    return train_sequence(sequence, [1.0] * len(turns), zero_variance=False)


def test_b47_loss_is_divided_by_the_sampled_tokens() -> None:
    """Two turns of two with a tool's three tokens between: each of four has weight 1/4."""
    local = LocalEngine(model().double(), tokenizer(), ["executor"])
    own = local.policies["executor"]
    sequence = trained([(5, 6), (4, 2)], (7, 8, 9))
    with torch.no_grad():
        anchors = local._anchors(own, [sequence], 1.0, full=False)
    assert local.accumulate(own, [sequence], [Held(each, each) for each in anchors], OBJECTIVE)["tokens"] == 4
    plain = model().double()
    log_probs = torch.log_softmax(plain(torch.tensor([sequence.ids])).logits[0, :-1], -1)
    rows, taken = torch.tensor([0, 1, 5, 6]), torch.tensor([5, 6, 4, 2])
    (-log_probs[rows, taken].sum() / 4).backward()  # type: ignore[no-untyped-call]
    for name, parameter in plain.named_parameters():
        torch.testing.assert_close(own.trainable[name].grad, parameter.grad, atol=1e-9, rtol=0)


def test_b51_the_end_token_counts_even_when_it_is_the_padding() -> None:
    """Lengths decide, not ids: [9, 9, 0] beside a longer row is padded with the 0 it ends on."""
    padded, longer = trained([(9, 9, 0)]), trained([(9, 9, 8, 7, 0)])
    scores = engine().score("executor", [padded, longer])
    assert [len(row) for row in scores] == [3, 5]
    torch.testing.assert_close(torch.tensor(scores[0]), plain_log_probs(padded.ids), atol=1e-5, rtol=0)
    assert engine().update("executor", [padded, longer], OBJECTIVE, seed=0)["tokens"] == 8


def test_learning_follows_advantages() -> None:
    """Sampled tokens with positive advantage become likelier, those with negative less likely."""
    local = engine()
    good = TrainSequence((5, 6, 7), (False, True, True), (0.0, -1.0, -1.0), (0.0, 1.0, 1.0))
    bad = TrainSequence((5, 8, 9), (False, True, True), (0.0, -1.0, -1.0), (0.0, -1.0, -1.0))
    before = [sum(row) for row in local.score("executor", [good, bad])]
    for _ in range(3):
        local.update("executor", [good, bad], dataclasses.replace(OBJECTIVE, optimiser_steps=2), seed=0)
    after = [sum(row) for row in local.score("executor", [good, bad])]
    assert after[0] > before[0]
    assert after[1] < before[1]


def test_save_and_load_continue_exactly(tmp_path: Path) -> None:
    for weights in ("full", "lora"):
        first = engine(weights=weights)
        first.update("executor", sequences(8), OBJECTIVE, seed=0)
        folder = tmp_path / weights
        folder.mkdir()
        first.save(folder)
        second = engine(weights=weights)
        second.load(folder)
        acting = engine(weights=weights)
        for file in folder.glob("*/optimiser.pt"):
            file.unlink()
        acting.load(folder, optimisers=False)
        assert acting.score("executor", sequences(4)) == first.score("executor", sequences(4))
        for local in (first, second):
            local.update("executor", sequences(8, seed=1), OBJECTIVE, seed=5)
        probe = sequences(4, seed=2)
        assert first.score("executor", probe) == second.score("executor", probe)


def test_a_prompt_that_leaves_no_room_to_answer_is_refused() -> None:
    local = engine()
    room = local.context_length - 4
    assert len(local.sample("executor", [[1] * room], 1, SamplingParameters(4), seed=0)[0]) == 1
    with pytest.raises(UserError, match=f"a prompt of {room} tokens for executor and max_tokens = 5 exceed"):
        local.sample("executor", [[1] * room], 1, SamplingParameters(5), seed=0)


def test_an_update_that_diverges_names_the_learning_rate_to_lower() -> None:
    local = LocalEngine(model(), tokenizer(), ["executor/kin"])
    with torch.no_grad():
        next(iter(local.policies["executor/kin"].trainable.values())).fill_(float("inf"))
    with pytest.raises(UserError, match=r"update of executor/kin diverged.*lower roles\.executor\.learning_rate"):
        local.update("executor/kin", sequences(4), OBJECTIVE, seed=0)
