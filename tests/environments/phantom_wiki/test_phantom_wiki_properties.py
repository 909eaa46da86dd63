"""What holds of every PhantomWiki task: the gold follows from the facts, only the right chain is captured."""

from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparring.environments.base import Verdict
from sparring.environments.phantom_wiki.environment import KinshipSecret, PhantomWiki, PhantomWikiSettings
from sparring.environments.phantom_wiki.kinship import Person, Universe
from sparring.tasks import PromptPack, Task

Tools = Literal["articles", "lookup"]


def chat(tools: Tools, *, unique: bool, population: tuple[int, int] | Literal["spec"] = (7, 60)) -> PhantomWiki:
    return PhantomWiki(PhantomWikiSettings(tools=tools, unique=unique, population=population), PromptPack.CHAT)


def compact(*, unique: bool) -> PhantomWiki:
    settings = PhantomWikiSettings(tools="lookup", unique=unique, population=(3, 8), attribute_question_probability=0.0)
    return PhantomWiki(settings, PromptPack.COMPACT)


KINDS = {
    "articles": chat("articles", unique=True),
    "articles, sets": chat("articles", unique=False),
    "lookup": chat("lookup", unique=True),
    "lookup, sets": chat("lookup", unique=False),
    "compact": compact(unique=True),
    "compact, sets": compact(unique=False),
}
EVERY_KIND = pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
DIFFICULTIES = st.integers(0, 20).map(lambda level: level / 20)
SEEDS = st.integers(0, 10**6)


def run(kind: PhantomWiki, task: Task[KinshipSecret], turns: tuple[str, ...]) -> list[Verdict]:
    episode = kind.start(task)
    verdicts = []
    for number, turn in enumerate(turns, start=1):
        episode.last_turn = number == len(turns)
        verdicts.append(kind.step(episode, turn))
    return verdicts


def reached_from(universe: Universe, person: Person, step: str) -> set[str]:
    """What a step reaches from one person, read off the base facts in the plainest way."""
    people, name = universe.people, person.name
    match step:
        case "date of birth":
            return {person.date_of_birth}
        case "occupation":
            return {person.job}
        case "hobby":
            return {person.hobby}
        case "friend":
            pairs, gender = universe.friendships, None
        case "wife" | "husband":
            pairs, gender = universe.marriages, "female" if step == "wife" else "male"
        case "mother" | "father":
            pairs = tuple((name, parent) for parent in universe.parents.get(name, ()))
            gender = "female" if step == "mother" else "male"
        case "daughter" | "son":
            pairs = tuple((name, child) for child, parents in universe.parents.items() if name in parents)
            gender = "female" if step == "daughter" else "male"
        case "sister" | "brother":
            mine = set(universe.parents.get(name, ()))
            pairs = tuple((name, other) for other, theirs in universe.parents.items() if mine & set(theirs))
            gender = "female" if step == "sister" else "male"
        case other:
            raise AssertionError(other)
    others = {other for pair in pairs if name in pair for other in pair} - {name}
    return {other for other in others if gender is None or people[other].gender == gender}


@EVERY_KIND
@settings(max_examples=25, deadline=None)
@given(difficulty=DIFFICULTIES, seed=SEEDS)
def test_the_hops_follow_from_the_base_facts(kind: PhantomWiki, difficulty: float, seed: int) -> None:
    task = kind.generate(difficulty, seed)
    universe, chain = task.secret.universe, task.secret.chain
    before: tuple[str, ...] = (chain.start,)
    named = {chain.start}
    for step, hop in zip(chain.steps, chain.hops, strict=True):
        assert set(hop) == {other for name in before for other in reached_from(universe, universe.people[name], step)}
        assert list(hop) == sorted(set(hop))
        assert len(hop) == 1 if kind.settings.unique else 1 <= len(hop) <= 8
        assert named.isdisjoint(hop)
        named.update(hop)
        before = hop
    assert not any(mark in task.public.statement for mark in "<>{}_")


@EVERY_KIND
@settings(max_examples=25, deadline=None)
@given(difficulty=DIFFICULTIES, seed=SEEDS, mistake=SEEDS)
def test_the_own_solution_is_captured_and_one_wrong_hop_is_not(
    kind: PhantomWiki, difficulty: float, seed: int, mistake: int
) -> None:
    task = kind.generate(difficulty, seed)
    hops = len(task.secret.chain.hops)
    own, mutated = kind.solve(task), kind.mutate(task, mistake)
    for solution in (own, mutated):
        verdicts = run(kind, task, solution.turns)
        progress = [verdict.progress for verdict in verdicts]
        assert progress == sorted(progress)
        assert all(verdict.well_formed for verdict in verdicts)
        assert [verdict.ended for verdict in verdicts] == [False] * (len(verdicts) - 1) + [True]
        assert [verdict.captured for verdict in verdicts] == [each == 1.0 for each in progress]
        assert verdicts[-1].captured == (solution is own)
    assert mutated.stages == own.stages
    wrong = [number for number, pair in enumerate(zip(own.turns, mutated.turns, strict=True)) if pair[0] != pair[1]]
    assert len(wrong) == 1
    # Frozen at what was right before the one wrong hop, although all later hops are right again.
    hop = wrong[0] - (kind.settings.tools == "articles")
    assert run(kind, task, mutated.turns)[-1].progress == hop / hops
    assert kind.mutate(task, mistake) == mutated


@EVERY_KIND
def test_every_hop_is_mistaken_by_some_seed(kind: PhantomWiki) -> None:
    task = kind.generate(0.4, 1)
    own = kind.solve(task)
    wrong = {
        number
        for seed in range(40)
        for number, turn in enumerate(kind.mutate(task, seed).turns)
        if turn != own.turns[number]
    }
    assert len(wrong) == len(task.secret.chain.hops) == 3
