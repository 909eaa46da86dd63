"""How much an emission repeats the others of its round: LURE's signatures, or R-Zero's BLEU clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

import numpy as np

CLUSTER_DISTANCE = 0.5
"""Below this mean distance R-Zero's code joins two clusters (SPEC 3)."""


class Repetition(StrEnum):
    """What counts as the same task: an equal signature (LURE), or a like question (R-Zero)."""

    SIGNATURE = "signature"
    BLEU_CLUSTER = "bleu_cluster"


def repeated_signatures(signatures: Sequence[str]) -> list[int]:
    """Repetition n_sig - 1: how many other emissions share the signature (LURE Eq. 3). Shape (n,) to (n,)."""
    counts = Counter(signatures)
    return [counts[each] - 1 for each in signatures]


def bleu_cluster_sizes(questions: Sequence[str]) -> list[int]:
    """Size of each question's BLEU cluster, itself included (R-Zero's repetition penalty, SPEC 3).

    The distance of two questions is 1 - sentence BLEU of the earlier against the later (words; smoothing
    method 1), clusters grow by average linkage while they are nearer than CLUSTER_DISTANCE. Shape (n,) to
    (n,). Equal questions have distance 0, which BLEU itself says from four words on alone: R-Zero's are
    never shorter, the terse ones here are.
    """
    # A second of imports, for R-Zero alone.
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    count = len(questions)
    if count < 2:
        return [1] * count
    words = [question.split() for question in questions]
    smoothing = SmoothingFunction().method1  # type: ignore[no-untyped-call]
    distances = np.zeros((count, count))
    for one in range(count):
        for other in range(one + 1, count):
            if words[one] == words[other]:
                continue
            bleu: float = sentence_bleu(  # type: ignore[no-untyped-call]
                [words[other]], words[one], smoothing_function=smoothing
            )
            distances[one, other] = distances[other, one] = max(0.0, 1.0 - bleu)
    # scipy joins at the distance itself too, R-Zero's scikit-learn below it only.
    nearest = np.nextafter(CLUSTER_DISTANCE, 0.0)
    clusters = fcluster(linkage(squareform(distances), "average"), nearest, criterion="distance").tolist()
    sizes = Counter(clusters)
    return [sizes[cluster] for cluster in clusters]
