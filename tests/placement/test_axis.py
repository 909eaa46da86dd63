"""An axis in another order: where proposals land, what is seen of competence, what stays as it was."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.toy import toy

from sparring.placement.axis import ShuffledAxis, reordered
from sparring.placement.base import COMPETENCE_BINS, Competence, CompetenceBin, bin_of
from sparring.placement.fixed import FrozenPool, Thermostat, Uniform

ORDERS = st.permutations(range(COMPETENCE_BINS))
ENVIRONMENTS = [toy()]


@given(st.floats(0.0, 1.0), ORDERS)
def test_a_difficulty_lands_in_the_tenth_that_stands_there(difficulty: float, order: list[int]) -> None:
    landed = reordered(difficulty, order)
    assert 0.0 <= landed <= 1.0
    assert bin_of(landed) == order[bin_of(difficulty)]


@given(st.floats(0.0, 0.999))
def test_in_its_own_order_an_axis_is_as_it_was(difficulty: float) -> None:
    assert reordered(difficulty, range(COMPETENCE_BINS)) == pytest.approx(difficulty, abs=1e-8)


def test_by_hand() -> None:
    order = [4, 1, 7, 0, 3, 9, 2, 6, 5, 8]
    assert reordered(0.05, order) == pytest.approx(0.45)
    assert reordered(0.3, order) == pytest.approx(0.0)
    assert reordered(1.0, order) == pytest.approx(0.9)


def test_orders_differ_by_seed_and_environment_and_are_permutations() -> None:
    orders = {tuple(ShuffledAxis(Uniform(0, 1, 1), seed).order(name)) for seed in range(5) for name in ("a", "b")}
    assert len(orders) == 10
    assert all(sorted(order) == list(range(COMPETENCE_BINS)) for order in orders)


def test_uniform_stays_uniform() -> None:
    axis = ShuffledAxis(Uniform(3, 40, 50), 3)
    counts = Counter(bin_of(each.difficulty or 0.0) for each in axis.propose(1, ENVIRONMENTS[:1], Competence.no_data()))
    assert sum(counts.values()) == 2000
    assert all(140 < counts[number] < 260 for number in range(COMPETENCE_BINS))


def test_the_thermostat_is_moved_by_rates_and_lands_elsewhere() -> None:
    plain, axis = Thermostat(0, 2, 6), ShuffledAxis(Thermostat(0, 2, 6), 0)
    name = ENVIRONMENTS[0].name
    before = plain.propose(1, ENVIRONMENTS[:1], Competence.no_data())
    after = axis.propose(1, ENVIRONMENTS[:1], Competence.no_data())
    assert [each.difficulty for each in after] == [
        reordered(each.difficulty or 0.0, axis.order(name)) for each in before
    ]
    assert [each.task_seed for each in after] == [each.task_seed for each in before]


def test_competence_is_shown_in_the_same_order() -> None:
    """What was learned of a difficulty stands where proposing that difficulty would point."""
    seen: list[Competence] = []

    class Looking(Uniform):
        def propose(self, round_number, environments, competence):  # type: ignore[no-untyped-def]
            seen.append(competence)
            return super().propose(round_number, environments, competence)

    name = ENVIRONMENTS[0].name
    bins = tuple(CompetenceBin(10, number) for number in range(COMPETENCE_BINS))
    axis = ShuffledAxis(Looking(0, 1, 1), 0)
    axis.propose(2, ENVIRONMENTS[:1], Competence({name: bins}))
    assert [each.captures for each in seen[0].bins(name)] == axis.order(name)


def test_a_frozen_pool_stays_where_it_was_put() -> None:
    axis = ShuffledAxis(FrozenPool(Uniform(0, 2, 3)), 0)
    first = axis.propose(1, ENVIRONMENTS, Competence.no_data())
    restored = ShuffledAxis(FrozenPool(Uniform(9, 2, 3)), 0)
    restored.restore(axis.state())
    for later in (axis, restored):
        assert later.propose(2, ENVIRONMENTS, Competence.no_data()) == first
