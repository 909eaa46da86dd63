"""Lessons in reading a competence table: where they point, and that order does not matter to them."""

import random
from itertools import pairwise
from statistics import fmean

from sparring.micro import competence_lesson
from sparring.placement.base import COMPETENCE_BINS, bin_of


def test_lessons_point_near_one_half_and_now_and_then_into_the_unknown() -> None:
    rng = random.Random(0)
    near, far, unknown, rising = [], 0, 0, 0
    for _ in range(2000):
        bins, difficulty = competence_lesson(rng)
        assert len(bins) == COMPETENCE_BINS
        assert 0.0 <= difficulty <= 0.95
        assert round(20 * difficulty, 6).is_integer()
        rate = bins[bin_of(difficulty)][1]
        seen = [each for _, each in bins if each is not None]
        rising += any(later > earlier + 0.5 for earlier, later in pairwise(seen))
        if rate is None:
            unknown += 1
        elif any(0.3 < each < 0.7 for each in seen):
            near.append(abs(rate - 0.5))
            far += rate in (0.0, 1.0)
    assert fmean(near) < 0.2
    assert far < 0.05 * len(near)
    assert 200 < unknown < 1000
    assert 400 < rising < 1200
