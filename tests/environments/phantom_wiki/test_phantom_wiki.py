import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparring.environments.base import stage_budget
from sparring.environments.phantom_wiki.actions import Action, Article, Lookup, write_chat, write_compact
from sparring.environments.phantom_wiki.environment import KinshipSecret, PhantomWiki, PhantomWikiSettings
from sparring.environments.phantom_wiki.kinship import ATTRIBUTES, RELATIONS, Chain
from sparring.tasks import PromptPack, Task

SMALL = PhantomWikiSettings(population=(3, 8), tools="lookup", attribute_question_probability=0.0)
COMPACT = PhantomWiki(SMALL, PromptPack.COMPACT)
COMPACT_SETS = PhantomWiki(SMALL.model_copy(update={"unique": False}), PromptPack.COMPACT)
CHAT = PhantomWiki(PhantomWikiSettings(), PromptPack.CHAT)
CHAT_LOOKUP = PhantomWiki(PhantomWikiSettings(population=(3, 8), tools="lookup"), PromptPack.CHAT)
CHAT_LOOKUP_SETS = PhantomWiki(PhantomWikiSettings(tools="lookup", unique=False), PromptPack.CHAT)
CHAT_SMALL = PhantomWiki(PhantomWikiSettings(population=(3, 8)), PromptPack.CHAT)
ALL = {
    "compact": COMPACT,
    "compact sets": COMPACT_SETS,
    "chat": CHAT,
    "chat lookup": CHAT_LOOKUP,
    "chat lookup sets": CHAT_LOOKUP_SETS,
    "chat small": CHAT_SMALL,
}
ENVIRONMENTS = pytest.mark.parametrize("kind", ALL.values(), ids=list(ALL))
LOOKUPS = {name: kind for name, kind in ALL.items() if kind.settings.tools == "lookup"}
LOOKUP_ENVIRONMENTS = pytest.mark.parametrize("kind", LOOKUPS.values(), ids=list(LOOKUPS))
ARTICLE_ENVIRONMENTS = pytest.mark.parametrize("kind", [CHAT, CHAT_SMALL], ids=["chat", "chat small"])
DIFFICULTIES = [level / 20 for level in range(21)]


def task_of(kind: PhantomWiki, *, hops: int, seed: int = 0) -> Task[KinshipSecret]:
    return kind.generate((hops - 1) / 5, seed)


def lookup(kind: PhantomWiki, names: str | tuple[str, ...], step: str, *, submit: bool = False) -> str:
    write = write_compact if kind.pack is PromptPack.COMPACT else write_chat
    return write(Action(call=Lookup((names,) if isinstance(names, str) else names, step), submit=submit))


def every_lookup(kind: PhantomWiki, task: Task[KinshipSecret]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Each person, each step that the pack has a word for, and what it reaches."""
    steps = RELATIONS if kind.pack is PromptPack.COMPACT else (*RELATIONS, *ATTRIBUTES)
    universe = task.secret.universe
    return [(name, step, universe.follow((name,), step)) for name in sorted(universe.people) for step in steps]


def claims_of(chain: Chain) -> list[str]:
    """The hops claimed in words, the last one submitted."""
    last = len(chain.hops)
    return [write_chat(Action(hop, submit=number == last)) for number, hop in enumerate(chain.hops, start=1)]


def play(kind: PhantomWiki, task: Task[KinshipSecret], turns: list[str]) -> tuple[list[float], bool]:
    """Progress after each turn up to the end of the episode, and whether it was captured."""
    episode = kind.start(task)
    progress = []
    for number, turn in enumerate(turns, start=1):
        episode.last_turn = number == task.public.turn_limit
        verdict = kind.step(episode, turn)
        progress.append(verdict.progress)
        assert verdict.captured == (verdict.progress == 1.0)
        if verdict.ended:
            return progress, verdict.captured
        assert not verdict.captured
    return progress, False


@ENVIRONMENTS
def test_every_task_is_valid_and_its_turns_fit_the_stage_budgets(kind: PhantomWiki) -> None:
    for seed, difficulty in enumerate(DIFFICULTIES * (1 if kind in (CHAT, CHAT_LOOKUP_SETS) else 4)):
        task = kind.generate(difficulty, seed)
        kind.validate(task)
        solution = kind.solve(task)
        hops = 1 + round(5 * difficulty)
        assert task.public.turn_limit == 2 * hops + 2
        assert len(task.secret.chain.hops) == hops
        assert len(solution.stages) == (hops + 1) // 2
        assert len(solution.turns) == (hops if kind in LOOKUPS.values() else hops + 1)
        episode, in_stage, ends = kind.start(task), 0, 0
        for turn in solution.turns:
            in_stage += 1
            assert in_stage <= stage_budget(task.public.turn_limit, len(solution.stages))
            if kind.step(episode, turn).stage_done:
                in_stage, ends = 0, ends + 1
        assert ends == len(solution.stages) - 1


@ARTICLE_ENVIRONMENTS
def test_a_solution_with_one_wrong_claim_is_not_captured(kind: PhantomWiki) -> None:
    for seed in range(6):
        task = task_of(kind, hops=3, seed=seed)
        turns = list(kind.solve(task).turns)
        for position in range(1, len(turns)):
            mutated = turns.copy()
            mutated[position] = json.dumps(json.loads(turns[position]) | {"claim": "Nobody"})
            progress, captured = play(kind, task, mutated)
            assert not captured
            # Frozen at what was right before, although all later claims are right again.
            assert progress[-1] == pytest.approx((position - 1) / 3)


@LOOKUP_ENVIRONMENTS
def test_the_gain_falls_on_the_lookup_that_chose_the_right_person_and_relation(kind: PhantomWiki) -> None:
    for seed in range(6):
        task = task_of(kind, hops=3, seed=seed)
        progress, captured = play(kind, task, list(kind.solve(task).turns))
        assert progress == pytest.approx([1 / 3, 2 / 3, 1])
        assert captured


@LOOKUP_ENVIRONMENTS
def test_a_solution_with_one_other_lookup_is_captured_only_when_that_reaches_the_hop(kind: PhantomWiki) -> None:
    other_ways = wrong_people = wrong_relations = 0
    for seed in range(6):
        task = task_of(kind, hops=3, seed=seed)
        chain = task.secret.chain
        turns = list(kind.solve(task).turns)
        people = [(chain.start,), *chain.hops]
        ways = every_lookup(kind, task)
        for position in range(3):
            for name, step, reached in random.Random(seed).sample(ways, min(len(ways), 100)):
                mutated = turns.copy()
                mutated[position] = lookup(kind, name, step, submit=position == 2)
                right = reached == chain.hops[position]
                progress, captured = play(kind, task, mutated)
                assert captured == right
                # Frozen at what was right before, although all later lookups are right again.
                assert right or progress[-1] == pytest.approx(position / 3)
                other_ways += right and (name, step) != (people[position][0], chain.steps[position])
                wrong_people += not right and step == chain.steps[position]
                wrong_relations += not right and (name,) == people[position]
    assert min(wrong_people, wrong_relations) > 10
    assert other_ways > 0


@LOOKUP_ENVIRONMENTS
def test_a_lookup_that_returns_nothing_is_no_claim(kind: PhantomWiki) -> None:
    task = task_of(kind, hops=2)
    turns = list(kind.solve(task).turns)
    empty = next(lookup(kind, name, step) for name, step, reached in every_lookup(kind, task) if not reached)
    assert kind.step(kind.start(task), empty).observation == "none"
    assert play(kind, task, [empty, *turns]) == ([0.0, 0.5, 1.0], True)
    assert play(kind, task, [turns[0], empty, turns[1]]) == ([0.5, 0.5, 1.0], True)


@LOOKUP_ENVIRONMENTS
def test_a_lookup_is_final_even_when_it_is_repeated(kind: PhantomWiki) -> None:
    task = task_of(kind, hops=2)
    first, last = kind.solve(task).turns
    assert play(kind, task, [first, first, last]) == ([0.5, 0.5, 0.5], False)


@LOOKUP_ENVIRONMENTS
def test_a_chain_looked_up_is_submitted_by_its_last_lookup_again_and_by_no_other(kind: PhantomWiki) -> None:
    task = task_of(kind, hops=2)
    chain = task.secret.chain
    first, submitted = kind.solve(task).turns
    unsubmitted = lookup(kind, chain.hops[0], chain.steps[1])
    assert play(kind, task, [first, unsubmitted]) == ([0.5, 0.75], False)
    assert play(kind, task, [first, unsubmitted, submitted]) == ([0.5, 0.75, 1.0], True)
    again_first = lookup(kind, chain.start, chain.steps[0], submit=True)
    assert play(kind, task, [first, unsubmitted, again_first]) == ([0.5, 0.75, 0.75], False)
    assert play(kind, task, [again_first]) == ([0.5], False)


# A small alphabet: loading all of Unicode takes hypothesis seconds.
TEXT = st.text('ab{}"[]:,\\ \n<think>/é', max_size=12)


def chunks(kind: PhantomWiki) -> st.SearchStrategy[str]:
    if kind.pack is PromptPack.COMPACT:
        word = st.sampled_from([*kind.compact_words(), "?"])
        return st.lists(word, max_size=4).map(" ".join) | TEXT
    value = st.sampled_from(["Ann Smith", "article", "lookup", "find", "sister", "hobby"]) | TEXT
    leaf = st.none() | st.booleans() | st.integers() | value | st.lists(value, max_size=2)
    key = st.sampled_from(["claim", "tool", "name", "person", "relation", "attribute", "value", "done", "submit"])
    objects = st.dictionaries(key, leaf | st.dictionaries(key, leaf, max_size=2), max_size=5).map(json.dumps)
    return objects | TEXT | st.tuples(TEXT, objects).map("".join)


@ENVIRONMENTS
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_text_is_a_turn_and_progress_never_falls(kind: PhantomWiki, data: st.DataObject) -> None:
    hops = data.draw(st.integers(1, 2 if kind in (CHAT, CHAT_LOOKUP_SETS) else 6))
    task = task_of(kind, hops=hops, seed=data.draw(st.integers(0, 5)))
    own = st.sampled_from(kind.solve(task).turns)
    turns = data.draw(st.lists(chunks(kind) | own, min_size=1, max_size=8))
    progress, _ = play(kind, task, turns)
    assert progress == sorted(progress)
    assert all(0.0 <= value <= 1.0 for value in progress)


def test_malformed_text_is_a_neutral_turn_without_progress() -> None:
    unread = "Not read: write one JSON object and nothing else."
    for kind, text, observation in ((CHAT, "I think it is Eve.", unread), (COMPACT, "?", "none")):
        episode = kind.start(task_of(kind, hops=2))
        verdict = kind.step(episode, text)
        assert (verdict.progress, verdict.well_formed, verdict.ended) == (0.0, False, False)
        assert verdict.observation == observation
        episode.last_turn = True
        assert kind.step(episode, text).ended


def test_out_of_turns_the_last_claim_is_the_answer() -> None:
    task = task_of(CHAT, hops=2)
    episode = CHAT.start(task)
    for hop in task.secret.chain.hops:
        episode.last_turn = hop == task.secret.chain.hops[-1]
        verdict = CHAT.step(episode, json.dumps({"claim": hop[0]}))
    assert (verdict.ended, verdict.captured, verdict.progress) == (True, True, 1.0)


def test_an_early_submission_ends_without_capture() -> None:
    task = task_of(CHAT, hops=2)
    first, answer = (hop[0] for hop in task.secret.chain.hops)
    assert play(CHAT, task, [json.dumps({"claim": first, "submit": True})]) == ([0.5], False)
    assert play(CHAT, task, [json.dumps({"claim": answer, "submit": True})]) == ([0.0], False)


def test_a_complete_chain_may_be_submitted_alone_or_repeated_but_not_with_another_answer() -> None:
    task = task_of(CHAT, hops=2)
    claims = [json.dumps({"claim": hop[0]}) for hop in task.secret.chain.hops]
    answer = task.secret.chain.hops[-1][0]
    assert play(CHAT, task, [*claims, '{"submit": true}']) == ([0.5, 0.75, 1.0], True)
    assert play(CHAT, task, [*claims, json.dumps({"claim": answer.upper(), "submit": True})])[1]
    assert play(CHAT, task, [*claims, json.dumps({"claim": "Nobody", "submit": True})]) == ([0.5, 0.75, 0.75], False)


def test_naming_the_start_person_first_is_no_claim_and_later_is_a_wrong_one() -> None:
    task = task_of(CHAT, hops=2)
    start = json.dumps({"claim": task.secret.chain.start})
    first, last = claims_of(task.secret.chain)
    assert play(CHAT, task, [start, start, first, last]) == ([0.0, 0.0, 0.5, 1.0], True)
    assert play(CHAT, task, [first, start, last]) == ([0.5, 0.5, 0.5], False)


@pytest.mark.parametrize("kind", [COMPACT, CHAT_LOOKUP], ids=["compact", "chat lookup"])
def test_looking_the_start_person_up_first_is_no_claim_and_later_is_a_wrong_one(kind: PhantomWiki) -> None:
    ways_back = 0
    for seed in range(6):
        task = task_of(kind, hops=2, seed=seed)
        first, last = kind.solve(task).turns
        for name, step, reached in every_lookup(kind, task):
            if reached == (task.secret.chain.start,):
                ways_back += 1
                back = lookup(kind, name, step)
                assert play(kind, task, [back, first, last]) == ([0.0, 0.5, 1.0], True)
                assert play(kind, task, [first, back, last]) == ([0.5, 0.5, 0.5], False)
    assert ways_back > 0


@pytest.mark.parametrize("kind", [COMPACT, CHAT_LOOKUP, CHAT_SMALL], ids=["compact", "chat lookup", "chat"])
def test_tools_answer_truthfully_and_never_say_whether_a_claim_is_right(kind: PhantomWiki) -> None:
    for seed in range(10):
        task = task_of(kind, hops=2, seed=seed)
        other = kind.with_other_secret(task, seed)
        for name, step, reached in every_lookup(kind, task):
            if kind is CHAT_SMALL:
                turn, right = write_chat(Action((name,), Article((name,)))), f"# {name}\n"
            else:
                separator = " " if kind.pack is PromptPack.COMPACT else ", "
                turn, right = lookup(kind, name, step), separator.join(reached) or "none"
            verdicts = [kind.step(kind.start(one), turn) for one in (task, other)]
            assert verdicts[0].observation == verdicts[1].observation
            assert verdicts[0].observation.startswith(right)
            assert not verdicts[0].ended


@pytest.mark.parametrize("kind", [COMPACT, CHAT_LOOKUP], ids=["compact", "chat lookup"])
def test_naming_everybody_captures_nothing(kind: PhantomWiki) -> None:
    for seed in range(40):
        task = task_of(kind, hops=1 + seed % 3, seed=seed)
        everybody, steps = tuple(task.secret.universe.people), task.secret.chain.steps
        write = write_compact if kind.pack is PromptPack.COMPACT else write_chat
        turns = [
            write(Action(call=Lookup(everybody, step), submit=number == len(steps)))
            for number, step in enumerate(steps, start=1)
        ]
        assert play(kind, task, turns) == ([0.0] * len(steps), False)


def test_find_names_everyone_with_the_value() -> None:
    task = task_of(CHAT, hops=1)
    people = task.secret.universe.people.values()
    job = next(iter(people)).job
    call = {"tool": "find", "attribute": "occupation", "value": job.upper()}
    expected = ", ".join(sorted(person.name for person in people if person.job == job))
    assert CHAT.step(CHAT.start(task), json.dumps(call)).observation == expected
    assert CHAT.step(CHAT.start(task), json.dumps(call | {"attribute": "age"})).observation == "none"
    unknown = {"tool": "article", "name": "Nobody At All"}
    assert CHAT.step(CHAT.start(task), json.dumps(unknown)).observation == "none"


@ENVIRONMENTS
def test_c19_the_answer_is_never_named_in_the_question(kind: PhantomWiki) -> None:
    for seed in range(20):
        task = task_of(kind, hops=1 + seed % 3, seed=seed)
        assert all(value not in task.public.statement for value in task.secret.chain.hops[-1])


def test_the_longest_plan_has_equal_stages() -> None:
    solution = COMPACT.solve(task_of(COMPACT, hops=6))
    assert [len(stage.split()) for stage in solution.stages] == [2, 2, 2]
    assert [turn.endswith("done") for turn in solution.turns] == [False, True, False, True, False, False]
    assert solution.turns[-1].endswith("submit")
    chat = CHAT_SMALL.solve(task_of(CHAT_SMALL, hops=6)).stages
    assert chat[0].startswith("find the ")
    assert ", then " in chat[1]


def test_compact_words_cover_everything_written() -> None:
    words = set(COMPACT.compact_words())
    assert len(words) == len(COMPACT.compact_words())
    for kind in (COMPACT, COMPACT_SETS):
        for seed, difficulty in enumerate(DIFFICULTIES):
            task = kind.generate(difficulty, seed)
            solution = kind.solve(task)
            episode = kind.start(task)
            observations = [kind.step(episode, turn).observation for turn in solution.turns]
            for text in (
                task.public.statement,
                task.public.guide.tag,
                *solution.stages,
                *solution.turns,
                *observations,
            ):
                assert set(text.split()) <= words


@ENVIRONMENTS
def test_the_gold_swap_keeps_the_public_half_the_shape_and_what_the_tools_say(kind: PhantomWiki) -> None:
    for seed in range(12):
        task = task_of(kind, hops=1 + seed % 3, seed=seed)
        other = kind.with_other_secret(task, seed)
        assert other.public == task.public
        assert kind.signature(other) == kind.signature(task)
        for mine, theirs in zip(task.secret.chain.hops, other.secret.chain.hops, strict=True):
            assert mine != theirs
            assert len(mine) == len(theirs)
        turns = list(kind.solve(task).turns)
        episodes = kind.start(task), kind.start(other)
        for turn in turns:
            verdicts = [kind.step(episode, turn) for episode in episodes]
            assert verdicts[0].observation == verdicts[1].observation
        assert play(kind, other, turns) == ([0.0] * len(turns), False)


@ENVIRONMENTS
def test_a_swapped_gold_is_captured_by_claims_in_words_and_by_no_lookup(kind: PhantomWiki) -> None:
    for seed in range(12):
        other = kind.with_other_secret(task_of(kind, hops=1 + seed % 3, seed=seed), seed)
        if kind.pack is PromptPack.CHAT:
            assert play(kind, other, claims_of(other.secret.chain))[1]
        if kind in LOOKUPS.values():
            # The world is as it was: from the start person a lookup still returns what is true.
            assert not play(kind, other, list(kind.solve(other).turns))[1]
        else:
            kind.validate(other)
