"""The grid dialogue: its own solution is captured, a mutated one is not, and no text breaks it."""

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from sparring.environments.base import Verdict
from sparring.environments.zebra_logic.chat import ChatWording
from sparring.environments.zebra_logic.compact import CompactWording
from sparring.environments.zebra_logic.environment import (
    COMPACT_LADDER,
    OFFICIAL_LADDER,
    Rung,
    ZebraLogic,
    ZebraLogicSecret,
    ZebraLogicSettings,
)
from sparring.errors import UserError
from sparring.tasks import PromptPack, Task

ZEBRAS = {pack: ZebraLogic(ZebraLogicSettings(), pack) for pack in PromptPack}
PACKS = st.sampled_from(list(PromptPack))
TASKS = st.builds(lambda pack, d, seed: ZEBRAS[pack].generate(d, seed), PACKS, st.floats(0, 1), st.integers(0, 2**62))


def play(task: Task[ZebraLogicSecret], turns: list[str], *, last: bool = True) -> list[Verdict]:
    """The verdicts of some turns, the last one out of turns if `last`."""
    zebra = ZEBRAS[task.public.pack]
    episode = zebra.start(task)
    verdicts = []
    for number, turn in enumerate(turns, start=1):
        episode.last_turn = last and number == len(turns)
        verdicts.append(zebra.step(episode, turn))
    return verdicts


@settings(max_examples=60, deadline=None)
@given(TASKS)
def test_its_own_solution_is_captured_one_stage_a_turn(task: Task[ZebraLogicSecret]) -> None:
    zebra = ZEBRAS[task.public.pack]
    zebra.validate(task)
    solution = zebra.solve(task)
    verdicts = play(task, list(solution.turns), last=False)
    assert [verdict.stage_done for verdict in verdicts] == [True] * (len(verdicts) - 1) + [False]
    assert verdicts[-1].ended
    assert len(solution.turns) == len(solution.stages)
    assert len(solution.turns) <= task.public.turn_limit


@settings(max_examples=40, deadline=None)
@given(TASKS, st.integers(0, 100))
def test_the_solution_of_another_secret_is_not_captured(task: Task[ZebraLogicSecret], seed: int) -> None:
    zebra = ZEBRAS[task.public.pack]
    other = zebra.with_other_secret(task, seed)
    assert other.public == task.public
    assert other.secret.grid != task.secret.grid
    final = play(task, list(zebra.solve(other).turns))[-1]
    assert final.well_formed
    assert final.ended
    assert not final.captured
    assert final.progress < 1


@settings(max_examples=60, deadline=None)
@given(TASKS, st.integers(0, 2**62))
def test_two_exchanged_values_are_refused(task: Task[ZebraLogicSecret], seed: int) -> None:
    zebra = ZEBRAS[task.public.pack]
    right, wrong = zebra.solve(task), zebra.mutate(task, seed)
    assert wrong == zebra.mutate(task, seed)
    assert wrong.stages == right.stages
    assert len(wrong.turns) == len(right.turns)
    verdicts = play(task, list(wrong.turns))
    assert all(verdict.well_formed for verdict in verdicts)
    assert verdicts[-1].ended
    assert not any(verdict.captured for verdict in verdicts)
    cells = sum(map(len, task.secret.grid))
    assert verdicts[-1].progress == pytest.approx((cells - 2) / cells)


def test_one_wrong_cell_is_enough_to_fail() -> None:
    task = ZEBRAS[PromptPack.CHAT].generate(0.3, 5)
    turn = json.loads(ZEBRAS[PromptPack.CHAT].solve(task).turns[-1])
    column = task.secret.attributes[0].column
    for wrong in (None, "", "nobody", turn["grid"]["House 2"][column]):
        turn["grid"]["House 1"][column] = wrong
        verdict = play(task, [json.dumps(turn)])[-1]
        assert not verdict.captured
        assert verdict.progress == pytest.approx(7 / 8)


WORDS = st.lists(st.sampled_from(CompactWording().words()), max_size=6).map(" ".join)
CELLS = st.dictionaries(
    st.sampled_from(["House 1", "house 2", "House 9", "x"]),
    st.dictionaries(st.sampled_from(["Name", "Color", "color", ""]), st.none() | st.text(max_size=5) | st.integers())
    | st.none(),
)
TURNS = st.fixed_dictionaries({}, optional={"grid": CELLS | st.just(3), "done": st.booleans(), "submit": st.booleans()})


@settings(max_examples=80, deadline=None)
@given(TASKS, st.lists(WORDS | TURNS.map(json.dumps) | st.text(max_size=30), min_size=1, max_size=5))
def test_no_turn_raises_and_progress_never_falls(task: Task[ZebraLogicSecret], turns: list[str]) -> None:
    verdicts = play(task, turns)
    assert all(one.progress <= other.progress for one, other in pairwise(verdicts))
    assert all((verdict.progress == 1) == verdict.captured for verdict in verdicts)
    assert all(verdict.ended for verdict in verdicts if verdict.captured)
    assert verdicts[-1].ended


def test_a_complete_grid_counts_as_captured_only_when_the_episode_ends() -> None:
    task = ZEBRAS[PromptPack.COMPACT].generate(0.0, 1)
    row = ZEBRAS[PromptPack.COMPACT].solve(task).turns[0].removesuffix(" submit")
    early, late = play(task, [row, "submit"], last=False)
    assert (early.progress, early.captured, early.ended) == (0.75, False, False)
    assert (late.progress, late.captured, late.ended) == (1.0, True, True)


def test_a_later_grid_replaces_an_earlier_one_but_progress_keeps_the_best() -> None:
    task = ZEBRAS[PromptPack.CHAT].generate(0.0, 1)
    right = json.dumps({"grid": json.loads(ZEBRAS[PromptPack.CHAT].solve(task).turns[-1])["grid"]})
    partial = json.dumps({"grid": {"House 1": json.loads(right)["grid"]["House 1"]}})
    best, worse = play(task, [right, partial])
    assert best.progress == worse.progress == 3.5 / 4
    assert not worse.captured
    assert play(task, [partial, right])[-1].captured


def test_compact_rows_add_up_and_the_later_row_of_an_attribute_stands() -> None:
    zebra = ZebraLogic(ZebraLogicSettings(ladder=(Rung(3, 2, 1.0),)), PromptPack.COMPACT)
    task = zebra.generate(0.0, 11)
    first, second = (turn.rsplit(" ", 1)[0].split() for turn in zebra.solve(task).turns)
    hidden = " ".join([*first[:3], "-", *first[4:]])
    verdicts = play(task, [" ".join(second), hidden, " ".join(first), "submit"], last=False)
    assert [verdict.progress for verdict in verdicts] == pytest.approx([3 / 6, 5 / 6, 5.5 / 6, 1])
    assert verdicts[-1].captured


@pytest.mark.parametrize(
    ("pack", "turn"),
    [
        (PromptPack.COMPACT, ""),
        (PromptPack.COMPACT, "a1 red"),
        (PromptPack.COMPACT, "red blue"),
        (PromptPack.COMPACT, "a2 red a1 blue"),
        (PromptPack.COMPACT, "a1 red a2 red"),
        (PromptPack.COMPACT, "a1 red b2 tea"),
        (PromptPack.COMPACT, "a1 red a2 green"),
        (PromptPack.COMPACT, "a1 - a2 -"),
        (PromptPack.COMPACT, "a1 red submit a2 blue"),
        (PromptPack.CHAT, "House 1 is Eric's"),
        (PromptPack.CHAT, '{"solution": {}}'),
        (PromptPack.CHAT, '{"done": false}'),
        (PromptPack.CHAT, '{"grid": ["Eric"], "submit": true}'),
        (PromptPack.CHAT, '{"grid": {"House 1": "Eric"}, "submit": true}'),
        (PromptPack.CHAT, '<think>{"submit": true}'),
    ],
)
def test_a_malformed_turn_changes_nothing_and_ends_nothing(pack: PromptPack, turn: str) -> None:
    task = ZEBRAS[pack].generate(0.0, 1)
    verdict = play(task, [turn], last=False)[0]
    assert not (verdict.well_formed)
    assert not (verdict.ended)
    assert not verdict.stage_done
    assert verdict.progress == 0


def test_chat_cells_are_read_by_content() -> None:
    zebra = ZEBRAS[PromptPack.CHAT]
    task = zebra.generate(0.0, 1)
    houses = json.loads(zebra.solve(task).turns[-1])["grid"].items()
    loose = {
        house.lower(): {column.lower(): [f" {cell.upper()} "] for column, cell in cells.items()}
        for house, cells in houses
    }
    reply = "<think>hm</think>So: " + json.dumps({"grid": loose, "submit": True})
    assert play(task, [reply], last=False)[0].captured


@settings(max_examples=30, deadline=None)
@given(TASKS, st.integers(0, 99))
def test_what_the_executor_hears_does_not_depend_on_the_secret(task: Task[ZebraLogicSecret], seed: int) -> None:
    zebra = ZEBRAS[task.public.pack]
    turns = [*zebra.solve(task).turns, "nonsense"]
    heard = [
        [verdict.observation for verdict in play(each, turns)] for each in (task, zebra.with_other_secret(task, seed))
    ]
    assert heard[0] == heard[1]


def test_c22_no_value_belongs_to_two_attributes() -> None:
    for wording in (ChatWording(), CompactWording()):
        values = [value.casefold() for pool in wording.pools for value in pool.values]
        assert len(values) == len(set(values))


@settings(max_examples=30, deadline=None)
@given(st.floats(0, 1), st.integers(0, 2**62))
def test_compact_text_keeps_to_its_vocabulary(difficulty: float, seed: int) -> None:
    zebra = ZEBRAS[PromptPack.COMPACT]
    task = zebra.generate(difficulty, seed)
    solution = zebra.solve(task)
    guide = task.public.guide
    written = " ".join(
        [
            task.public.statement,
            *solution.stages,
            *solution.turns,
            guide.tag,
            guide.planning,
            guide.acting,
            guide.difficulty,
        ]
    )
    assert set(written.split()) <= set(zebra.compact_words())
    houses, attributes = task.public.statement.split()[:2]
    assert zebra.signature(task).startswith(f"houses={houses},attributes={attributes},given=")


def test_difficulty_climbs_the_official_sizes_in_order() -> None:
    sizes = "2x2 2x3 2x4 2x5 3x2 2x6 3x3 4x2 3x4 3x5 4x3 5x2 3x6 4x4 6x2 5x3 4x5 4x6 5x4 6x3 5x5 6x4 5x6 6x5 6x6"
    assert " ".join(map(str, OFFICIAL_LADDER)) == sizes
    zebra = ZEBRAS[PromptPack.CHAT]
    for index in (0, 7, 13):
        task = zebra.generate(index / 24, 2)
        rung = OFFICIAL_LADDER[index]
        assert zebra.signature(task) == f"houses={rung.houses},attributes={rung.attributes}"
        assert task.public.turn_limit == rung.attributes + 4


def test_the_compact_ladder_starts_with_every_cell_given_and_ends_with_none() -> None:
    assert COMPACT_LADDER[0].given == 1.0
    assert COMPACT_LADDER[-1].given == 0.0
    zebra = ZEBRAS[PromptPack.COMPACT]
    seen = {zebra.signature(zebra.generate(index / 11, 0)) for index in range(12)}
    assert len(seen) == len(COMPACT_LADDER) == 12


def test_tasks_depend_on_difficulty_and_seed_alone() -> None:
    for zebra in ZEBRAS.values():
        assert zebra.generate(0.4, 9) == zebra.generate(0.4, 9)
        assert zebra.generate(0.4, 9).public.content_key != zebra.generate(0.4, 10).public.content_key


@pytest.mark.parametrize("ladder", [[], [[1, 1, 0.0]], [[2, 7, 0.0]], [[2, 2, 1.5]], [["two", 2]]])
def test_a_ladder_out_of_range_is_refused(ladder: list[list[object]]) -> None:
    with pytest.raises(ValidationError):
        ZebraLogicSettings.model_validate({"ladder": ladder})


def test_a_rung_that_the_pack_has_no_words_for_is_refused_by_name() -> None:
    settings_ = ZebraLogicSettings.model_validate({"ladder": [[2, 2], [5, 3, 0.5]]})
    with pytest.raises(UserError, match=r"rung 5x3.*up to 4x3"):
        ZebraLogic(settings_, PromptPack.COMPACT)
    task = ZebraLogic(settings_, PromptPack.CHAT).generate(1.0, 0)
    assert ZebraLogic(settings_, PromptPack.CHAT).signature(task) == "houses=5,attributes=3,given=0.5"
    assert replace(task, difficulty=0.0).public == task.public
