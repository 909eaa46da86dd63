"""Competence and the placements without weights."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparring.environments.base import AnyEnvironment
from sparring.placement.base import Competence, Emission, Outcome, Placement, bin_of
from sparring.placement.fixed import FrozenPool, Thermostat, Uniform
from sparring.tasks import Guide, PromptPack, PublicTask, Task
from sparring.trajectories import Group, PolicySequence, Trajectory

NO_DATA = Competence.no_data()


def environments(*names: str) -> list[AnyEnvironment]:
    """These placements read only an environment's name."""
    return [cast(AnyEnvironment, SimpleNamespace(name=name)) for name in names]


def rolled_out(emission: Emission, captured: list[bool], error: str | None = None) -> Outcome:
    if emission.difficulty is None:
        return Outcome(emission, None)
    public = PublicTask(emission.environment, PromptPack.COMPACT, Guide("", "", "", ""), "", 1)
    trajectories = [
        Trajectory("", (), True, PolicySequence("planner"), PolicySequence("executor"), captured=each, error=error)
        for each in captured
    ]
    return Outcome(emission, Group(Task(public, None, emission.difficulty, 0), "any", trajectories))


def at(difficulty: float | None, environment: str = "grid") -> Emission:
    return Emission(environment, 0, 0, difficulty, 0)


@given(st.floats(0, 1))
def test_bins_are_tenths_closed_below(difficulty: float) -> None:
    number = bin_of(difficulty)
    assert 0 <= number <= 9
    assert number / 10 <= difficulty
    assert difficulty < (number + 1) / 10 or number == 9


def test_competence_counts_finished_rollouts() -> None:
    competence = Competence.of(
        [
            rolled_out(at(0.3), [True, True, False, False]),
            rolled_out(at(0.39), [True]),
            rolled_out(at(1.0), [False]),
            rolled_out(at(0.0), [True], error="service down"),
            rolled_out(at(None), []),
            rolled_out(at(0.3, "words"), [False]),
        ]
    )
    bins = competence.bins("grid")
    assert (bins[3].attempts, bins[3].captures, bins[3].capture_rate) == (5, 3, 0.6)
    assert (bins[9].attempts, bins[9].capture_rate) == (1, 0.0)
    assert (bins[0].attempts, bins[0].capture_rate) == (0, None)
    assert competence.bins("words")[3].attempts == 1
    assert Competence.restore(json.loads(json.dumps(competence.state()))) == competence


def test_no_data_is_ten_empty_bins() -> None:
    assert [each.capture_rate for each in NO_DATA.bins("grid")] == [None] * 10


PLACEMENTS: list[Callable[[], Placement]] = [
    lambda: Uniform(7, 2, 3),
    lambda: Thermostat(7, 2, 3),
    lambda: FrozenPool(Uniform(7, 2, 3)),
    lambda: FrozenPool(Thermostat(7, 2, 3)),
]


def play(placement: Placement, rounds: range, captured: list[bool]) -> list[list[Emission]]:
    proposals = []
    for number in rounds:
        proposals.append(placement.propose(number, environments("grid", "words"), NO_DATA))
        placement.learn([rolled_out(emission, captured) for emission in proposals[-1]])
    return proposals


@pytest.mark.parametrize("make", PLACEMENTS)
def test_kept_state_continues_the_run(make: Callable[[], Placement]) -> None:
    straight = play(make(), range(1, 6), [True, True, False])
    first, second = make(), make()
    begun = play(first, range(1, 3), [True, True, False])
    second.restore(json.loads(json.dumps(first.state())))
    assert begun + play(second, range(3, 6), [True, True, False]) == straight


@pytest.mark.parametrize("make", PLACEMENTS)
def test_state_before_the_first_round(make: Callable[[], Placement]) -> None:
    placement = make()
    placement.restore(json.loads(json.dumps(make().state())))
    assert play(placement, range(1, 3), [True]) == play(make(), range(1, 3), [True])


@pytest.mark.parametrize("make", PLACEMENTS)
def test_another_environment_moves_no_task(make: Callable[[], Placement]) -> None:
    alone = make().propose(1, environments("grid"), NO_DATA)
    both = make().propose(1, environments("words", "grid"), NO_DATA)
    assert [emission for emission in both if emission.environment == "grid"] == alone
    others = [emission for emission in both if emission.environment == "words"]
    assert not {emission.difficulty for emission in alone} & {emission.difficulty for emission in others}
    assert not {emission.task_seed for emission in alone} & {emission.task_seed for emission in others}
    assert [(emission.slot, emission.sample) for emission in alone] == [(i, j) for i in range(2) for j in range(3)]


def test_uniform_covers_the_axis_and_repeats_nothing() -> None:
    emissions = [
        each for number in range(1, 6) for each in Uniform(0, 8, 25).propose(number, environments("e"), NO_DATA)
    ]
    difficulties = [emission.difficulty for emission in emissions if emission.difficulty is not None]
    counts = [sum(bin_of(difficulty) == number for difficulty in difficulties) for number in range(10)]
    assert sum(counts) == 1000
    assert min(counts) > 60
    assert max(counts) < 140
    assert len({emission.task_seed for emission in emissions}) == len(set(difficulties)) == 1000


@given(st.integers(0, 2**31), st.integers(0, 100))
def test_uniform_depends_on_seed_and_round(run_seed: int, number: int) -> None:
    here = Uniform(run_seed, 1, 2).propose(number, environments("e"), NO_DATA)
    assert here == Uniform(run_seed, 1, 2).propose(number, environments("e"), NO_DATA)
    assert here != Uniform(run_seed + 1, 1, 2).propose(number, environments("e"), NO_DATA)
    assert here != Uniform(run_seed, 1, 2).propose(number + 1, environments("e"), NO_DATA)


def test_thermostat_moves_by_step_times_distance_to_one_half() -> None:
    thermostat = Thermostat(0, 1, 2, step=0.2)
    thermostat.learn(
        [
            rolled_out(at(0.5), [True] * 4),
            rolled_out(at(0.5), [True, True, False, False]),
            rolled_out(at(None), []),
            rolled_out(at(0.5), [False], error="service down"),
            rolled_out(at(0.5, "words"), [False]),
        ]
    )
    assert thermostat.difficulty == pytest.approx({"grid": 0.5 + 0.2 * 0.25, "words": 0.4})


def test_thermostat_scatters_around_its_difficulty() -> None:
    thermostat = Thermostat(0, 8, 50)
    thermostat.restore({"difficulty": {"grid": 0.4}})
    difficulties = [e.difficulty or 0.0 for e in thermostat.propose(1, environments("grid"), NO_DATA)]
    mean = sum(difficulties) / len(difficulties)
    spread = (sum((each - mean) ** 2 for each in difficulties) / len(difficulties)) ** 0.5
    assert mean == pytest.approx(0.4, abs=0.015)
    assert spread == pytest.approx(0.07, abs=0.01)


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=4), max_size=30), st.floats(0, 5))
def test_thermostat_stays_on_the_axis(history: list[list[bool]], step: float) -> None:
    thermostat = Thermostat(0, 1, 3, step=step, spread=0.5)
    for number, captured in enumerate(history):
        emissions = thermostat.propose(number, environments("grid"), NO_DATA)
        assert all(e.difficulty is not None and 0 <= e.difficulty <= 1 for e in emissions)
        thermostat.learn([rolled_out(emission, captured) for emission in emissions])
        assert 0 <= thermostat.difficulty["grid"] <= 1


def test_thermostat_settles_where_half_are_captured() -> None:
    thermostat = Thermostat(0, 2, 6)
    for number in range(100):
        emissions = thermostat.propose(number, environments("grid"), NO_DATA)
        # a pursuer that captures below difficulty .8
        thermostat.learn([rolled_out(e, [e.difficulty is not None and e.difficulty < 0.8]) for e in emissions])
    assert thermostat.difficulty["grid"] == pytest.approx(0.8, abs=0.1)


class Stubborn:
    """A placement with a malformed emission, which must not be asked twice nor taught."""

    def __init__(self) -> None:
        self.asked = 0

    def propose(self, round_number: int, envs: object, competence: Competence) -> list[Emission]:
        self.asked += 1
        sequence = PolicySequence("evader", ids=[1])
        return [Emission("grid", 0, n, d, 10 + n, sequence) for n, d in enumerate((0.25, None, 0.75))]

    def learn(self, outcomes: object) -> dict[str, float]:
        raise AssertionError("the frozen pool teaches nobody")

    def state(self) -> dict[str, object]:
        return {}

    def restore(self, state: object) -> None: ...


def test_frozen_pool_is_the_first_rounds_well_formed_tasks() -> None:
    first = Stubborn()
    rounds = play(FrozenPool(first), range(1, 5), [True])
    assert first.asked == 1
    assert [emission.difficulty for emission in rounds[0]] == [0.25, None, 0.75]
    assert rounds[0][0].sequence is not None
    for later in rounds[1:]:
        assert later == [Emission("grid", 0, 0, 0.25, 10), Emission("grid", 0, 2, 0.75, 12)]


def test_frozen_pool_is_not_changed_through_an_emission() -> None:
    pool = FrozenPool(Uniform(0, 1, 1))
    original = pool.propose(1, environments("e"), NO_DATA)[0].difficulty
    pool.propose(2, environments("e"), NO_DATA)[0].difficulty = 2.0
    assert pool.propose(3, environments("e"), NO_DATA)[0].difficulty == original
