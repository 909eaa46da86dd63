"""What counts as the same task: signatures, and R-Zero's BLEU clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.placement.test_evader_reward import outcome

from sparring.placement.evader_reward import EvaderReward
from sparring.placement.repetition import CLUSTER_DISTANCE, Repetition, bleu_cluster_sizes, repeated_signatures

LONG = ["the", "mother", "of", "the", "friend", "of", "ann", "lives", "in", "a", "small", "house"]


def changed(*places: int) -> str:
    return " ".join("other" if place in places else word for place, word in enumerate(LONG))


def test_signatures_count_the_others() -> None:
    assert repeated_signatures(["a", "b", "a", "a"]) == [2, 0, 2, 2]
    assert repeated_signatures([]) == []


def test_clusters_by_hand() -> None:
    """Of twelve words one is changed at an end: n-grams 11/12, 10/11, 9/10, 8/9 are shared, BLEU (8/12)^(1/4) = .90."""
    # With the third, sixth and ninth changed, 9/12, 5/11, 1/10 and, smoothed, .1/9 are: BLEU .14, a distance of .86.
    questions = [" ".join(LONG), changed(11), changed(2, 5, 8), " ".join(LONG)]
    assert bleu_cluster_sizes(questions) == [3, 3, 1, 3]


def test_average_linkage_stands_between_single_and_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    """A and B at .4; C at .3 from B, at .8 from A: nearest neighbours B and C join, and A stays out at .6."""
    distances = {("a", "b"): 0.4, ("b", "c"): 0.3, ("a", "c"): 0.8}

    def bleu(references: Sequence[Sequence[str]], hypothesis: Sequence[str], **_: object) -> float:
        return 1.0 - distances[hypothesis[0], references[0][0]]

    monkeypatch.setattr("nltk.translate.bleu_score.sentence_bleu", bleu)
    assert bleu_cluster_sizes(["a", "b", "c"]) == [1, 2, 2]
    distances["a", "c"] = 0.5
    assert bleu_cluster_sizes(["a", "b", "c"]) == [3, 3, 3]
    # At the distance itself two stay apart, as with R-Zero's clusters; just below it they join.
    distances["a", "b"] = CLUSTER_DISTANCE
    assert bleu_cluster_sizes(["a", "b"]) == [1, 1]
    distances["a", "b"] = math.nextafter(CLUSTER_DISTANCE, 0.0) - 1e-12
    assert bleu_cluster_sizes(["a", "b"]) == [2, 2]


@pytest.mark.parametrize("text", ["", "hard", "two words", "now three words", "four words are enough"])
def test_equal_questions_are_one_however_short(text: str) -> None:
    assert bleu_cluster_sizes([text, "quite another thing to be asked", text]) == [2, 1, 2]


def test_one_question_and_none() -> None:
    assert bleu_cluster_sizes(["alone"]) == [1]
    assert bleu_cluster_sizes([]) == []


@settings(deadline=None, max_examples=30)
@given(st.lists(st.lists(st.sampled_from("abc"), max_size=6).map(" ".join), max_size=7))
def test_sizes_are_those_of_a_partition(questions: list[str]) -> None:
    sizes = bleu_cluster_sizes(questions)
    for size in set(sizes):
        assert sizes.count(size) % size == 0
    for question, size in zip(questions, sizes, strict=True):
        assert size >= questions.count(question)


def test_rho_of_a_cluster_is_its_share_itself_included(monkeypatch: pytest.MonkeyPatch) -> None:
    """R-Zero: cluster / N, without the 1 that LURE takes off; clusters do not reach over environments."""
    asked: list[list[str]] = []

    def sizes(questions: list[str]) -> list[int]:
        asked.append(questions)
        return [len(questions)] * len(questions)

    monkeypatch.setattr("sparring.placement.evader_reward.bleu_cluster_sizes", sizes)
    emitted = [outcome("grid", "2x2", [True, False]), outcome("words", "one", [True, False]), outcome("grid", None)]
    reward = EvaderReward(repetition=Repetition.BLEU_CLUSTER, scale=0.5)
    assert reward(emitted) == [0.5 - 0.5, 0.5 - 0.5, -1.0 - 0.5]
    assert [len(each) for each in asked] == [2, 1]
    over = EvaderReward(repetition=Repetition.BLEU_CLUSTER, over="round")
    assert over(emitted) == pytest.approx([0.5 - 2 / 3, 0.5 - 1 / 3, -1.0 - 2 / 3])
