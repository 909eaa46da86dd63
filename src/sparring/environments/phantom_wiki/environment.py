"""PhantomWiki: follow a chain of relations through a made-up world of people.

One implementation of generator, dialogue and verifier; the two prompt packs differ in wording only.
The gold of a chain is S_0 = {start}, S_j = everything that step j reaches from S_{j-1}. The executor
claims each hop in order, in words of its own or by a lookup, which claims what it returns; a claim is
final, and the first wrong one freezes progress.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import Field, field_validator

from sparring.environments.base import (
    Environment,
    EnvironmentSettings,
    Episode,
    Solution,
    Verdict,
    best_progress,
    environment,
)
from sparring.environments.phantom_wiki.actions import (
    DONE,
    NONE,
    SUBMIT,
    Action,
    Article,
    Lookup,
    answer,
    normal,
    read_chat,
    read_compact,
    write_chat,
    write_compact,
)
from sparring.environments.phantom_wiki.guides import UNREADABLE, guide_for
from sparring.environments.phantom_wiki.kinship import (
    ATTRIBUTES,
    RELATIONS,
    Chain,
    Hop,
    Universe,
    chains,
    draw_universe,
)
from sparring.environments.phantom_wiki.mistakes import other_values, wrong_claim, wrong_lookup
from sparring.environments.phantom_wiki.names import SHORT_NAMES, short_names
from sparring.errors import UserError
from sparring.tasks import GenerationRefusedError, Guide, PromptPack, Task

UNIVERSES_AT_MOST = 200
# Below the number of first names of a gender, so that a family never runs out of them.
TREE_SIZE_HIGH = 50
PRONOUNS = {"mother": "her", "sister": "her", "daughter": "her", "wife": "her", "friend": "their"}
# Two people besides the start, so that another gold exists for the gold-swap audit.
POPULATION_LOW = 3
POPULATION_UNIT, POPULATION_HIGH = 25, 500
POPULATION_LIMIT = 10_000


class PhantomWikiSettings(EnvironmentSettings):
    """Sizes and switches of PhantomWiki.

    maximum_hops: hops at difficulty 1; hops = 1 + round((maximum_hops - 1) * difficulty).
    population: "spec" (25 * round(20 ** difficulty), 25 to 500), or [low, high], of which a task draws a
        size that holds its hops; at most POPULATION_LIMIT.
    tree_size, maximum_branching: the most people in a family tree and children of a couple.
    mean_friends: each pair are friends with probability mean_friends / population.
    tools: "articles" (article, find) or "lookup" (one relation of one person).
    attribute_question_probability: how often the last hop asks for an attribute.
    unique: every hop reaches exactly one; else hops may be sets, and claims name the whole set.
    hops_per_stage: hops of one stage of the own solution's plan, more where the chain is longer than stage_limit
        such stages. Equal stages make a longer plan more of the same, which a small model can carry over.
    numbered_hops: the compact question numbers its hops, from a number drawn with the task so that short chains
        meet every number, a stage names the numbers of its hops, and a lookup's answer the number of the hop to
        come. A plan may have a stage for every hops_per_stage of them. Planning is then counting, and each hop is
        one more look into the question, so that what a small model learns on short chains bears on longer ones.
    """

    maximum_hops: int = Field(default=6, ge=1, le=20)
    population: Literal["spec"] | tuple[int, int] = "spec"
    tree_size: int = Field(default=25, ge=1, le=TREE_SIZE_HIGH)
    maximum_branching: int = Field(default=5, ge=1, le=TREE_SIZE_HIGH)
    mean_friends: float = Field(default=3.0, ge=0.0)
    tools: Literal["articles", "lookup"] = "articles"
    attribute_question_probability: float = Field(default=0.5, ge=0.0, le=1.0)
    unique: bool = True
    hops_per_stage: int = Field(default=2, ge=1, le=20)
    numbered_hops: bool = False

    @field_validator("population", mode="before")
    @classmethod
    def _spec_or_bounds(cls, value: object) -> object:
        if value == "spec":
            return value
        if isinstance(value, list | tuple) and len(value) == 2 and all(type(size) is int for size in value):
            low, high = value
            if POPULATION_LOW <= low <= high <= POPULATION_LIMIT:
                return value
        raise ValueError(f'give "spec" or [low, high] with {POPULATION_LOW} <= low <= high <= {POPULATION_LIMIT}')


@dataclass(frozen=True)
class KinshipSecret:
    """The world, the gold chain through it, and the number of its first hop where hops are numbered."""

    universe: Universe
    chain: Chain
    first: int = 1


@dataclass
class PhantomWikiEpisode(Episode[KinshipSecret]):
    """A rollout: how many hops are claimed, how many of them rightly from the first on, the last claim."""

    claimed: int = 0
    right: int = 0
    last_claim: frozenset[str] = frozenset()

    @property
    def gold_answer(self) -> frozenset[str]:
        """The last hop, in the form of a claim."""
        return _normal_set(self.task.secret.chain.hops[-1])


@environment("phantom_wiki")
class PhantomWiki(Environment[PhantomWikiSettings, KinshipSecret, PhantomWikiEpisode]):
    """Hop-chain questions over generated universes."""

    settings_type = PhantomWikiSettings

    def __init__(self, settings: PhantomWikiSettings, pack: PromptPack) -> None:
        """Refuse worlds too small for their hops, and those that the compact pack has no words for."""
        super().__init__(settings, pack)
        if settings.population != "spec" and settings.population[1] <= settings.maximum_hops:
            raise UserError(
                f"environments.phantom_wiki.population = {list(settings.population)} cannot hold "
                f"{settings.maximum_hops} hops without naming a person twice; raise its high to at least "
                f"{settings.maximum_hops + 1} or lower maximum_hops"
            )
        if pack is PromptPack.COMPACT:
            _refuse_wordless(settings)
        elif settings.numbered_hops:
            raise UserError(
                "environments.phantom_wiki.numbered_hops = true goes with prompts.pack = 'compact' alone: "
                "the chat pack's questions are sentences; give false"
            )
        self._guide = guide_for(pack, settings.tools, maximum_hops=settings.maximum_hops, unique=settings.unique)

    @property
    def stage_limit(self) -> int:
        """Enough for stages of hops_per_stage where hops are numbered, else as everywhere."""
        settings = self.settings
        enough = math.ceil(settings.maximum_hops / settings.hops_per_stage) if settings.numbered_hops else 0
        return max(super().stage_limit, enough)

    @property
    def guide(self) -> Guide:
        """What the roles are told."""
        return self._guide

    def generate(self, difficulty: float, seed: int) -> Task[KinshipSecret]:
        """Draw universes until one holds a chain of the right length."""
        rng = random.Random(seed)
        settings = self.settings
        hops = 1 + round((settings.maximum_hops - 1) * difficulty)
        population = self._population(difficulty, hops, rng)
        attribute = rng.choice(ATTRIBUTES) if rng.random() < settings.attribute_question_probability else None
        relations = hops - (attribute is not None)
        for _ in range(UNIVERSES_AT_MOST):
            universe = draw_universe(
                population,
                rng,
                tree_size=settings.tree_size,
                maximum_branching=settings.maximum_branching,
                mean_friends=settings.mean_friends,
                short_names=self._short_names,
            )
            chain = next(chains(universe, relations, attribute, rng, unique=settings.unique), None)
            if chain is not None:
                first = rng.randint(1, settings.maximum_hops - hops + 1) if settings.numbered_hops else 1
                public = self.public(self._statement(chain, first), turn_limit=2 * hops + 2)
                return Task(public, KinshipSecret(universe, chain, first), difficulty, seed)
        raise GenerationRefusedError(
            f"no chain of {hops} hops in {UNIVERSES_AT_MOST} universes of {population} people (seed {seed})"
        )

    def _population(self, difficulty: float, hops: int, rng: random.Random) -> int:
        bounds = self.settings.population
        if bounds == "spec":
            return min(POPULATION_UNIT * round(20**difficulty), POPULATION_HIGH)
        return rng.randint(max(bounds[0], hops + 1), bounds[1])

    def _statement(self, chain: Chain, first: int = 1) -> str:
        outermost_first = chain.steps[::-1]
        if self.pack is PromptPack.COMPACT:
            return " ".join(["who", *self._compact_steps(chain, first)[::-1], chain.start])
        asked = "What" if outermost_first[0] in ATTRIBUTES else "Who"
        question = f"{asked} is {' of '.join(f'the {step}' for step in outermost_first)} of {chain.start}?"
        return question if self.settings.unique else f"{question} Each step may reach several: name them all."

    def signature(self, task: Task[KinshipSecret]) -> str:
        """Hops and population."""
        return f"hops={len(task.secret.chain.steps)},population={len(task.secret.universe.people)}"

    def start(self, task: Task[KinshipSecret]) -> PhantomWikiEpisode:
        """Nothing claimed."""
        return PhantomWikiEpisode(task)

    def step(self, episode: PhantomWikiEpisode, action: str) -> Verdict:
        """Take the claim, answer the call, settle at submission."""
        episode.turns += 1
        reader = read_compact if self.pack is PromptPack.COMPACT else read_chat
        read = reader(action, unique=self.settings.unique)
        found: Hop = ()
        if read is not None and read.call is not None:
            found = answer(episode.task.secret.universe, read.call)
        if read is not None:
            _take_claim(episode, _normal_set(found if isinstance(read.call, Lookup) else read.claim))
        gold = episode.task.secret.chain.hops
        ended = episode.last_turn or (read is not None and read.submit)
        captured = ended and episode.right == len(gold) and episode.last_claim == episode.gold_answer
        episode.progress = best_progress(episode.progress, episode.right, len(gold), settled=captured)
        return Verdict(
            progress=episode.progress,
            captured=captured,
            observation=self._observation(episode, read, found),
            well_formed=read is not None,
            stage_done=read is not None and read.done,
            ended=ended,
        )

    def answer(self, episode: PhantomWikiEpisode) -> str | None:
        """The last claim of an episode that claimed every hop."""
        complete = episode.claimed == len(episode.task.secret.chain.hops)
        return ", ".join(sorted(episode.last_claim)) if complete else None

    def _observation(self, episode: PhantomWikiEpisode, read: Action | None, found: Hop) -> str:
        if read is None:
            return UNREADABLE[self.pack]
        if read.call is None:
            return ""
        if self.pack is PromptPack.COMPACT:
            secret = episode.task.secret
            more = self.settings.numbered_hops and bool(found) and episode.claimed < len(secret.chain.hops)
            return " ".join([*found, *([number_word(secret.first + episode.claimed)] if more else [])]) or NONE
        return ("\n" if isinstance(read.call, Article) else ", ").join(found) or NONE

    def solve(self, task: Task[KinshipSecret]) -> Solution:
        """Follow the chain. With articles: claim what was just read and open the next, submit the end."""
        chain = task.secret.chain
        ends = self._stage_ends(chain)
        first = task.secret.first
        stages = [self._stage_text(chain, first, begin, end) for begin, end in zip([0, *ends], ends, strict=False)]
        return Solution(tuple(stages), tuple(map(self._write, self._actions(chain))))

    def mutate(self, task: Task[KinshipSecret], seed: int) -> Solution:
        """The task's own solution with one hop claimed wrongly, all the rest as it was."""
        rng = random.Random(seed)
        chain, universe = task.secret.chain, task.secret.universe
        actions = self._actions(chain)
        wrong = rng.randrange(len(chain.hops))
        if self.settings.tools == "lookup":
            steps = RELATIONS if self.pack is PromptPack.COMPACT else (*RELATIONS, *ATTRIBUTES)
            actions[wrong] = replace(actions[wrong], call=wrong_lookup(universe, chain, wrong, steps, rng))
        else:
            actions[wrong + 1] = replace(actions[wrong + 1], claim=wrong_claim(universe, chain, wrong, rng))
        return replace(self.solve(task), turns=tuple(map(self._write, actions)))

    def _write(self, action: Action) -> str:
        return write_compact(action) if self.pack is PromptPack.COMPACT else write_chat(action)

    def _actions(self, chain: Chain) -> list[Action]:
        """The turns that follow the chain: a lookup claims hop by hop, an article is claimed by the turn after it."""
        ends, last = self._stage_ends(chain), len(chain.steps)
        reached: list[Hop] = [(chain.start,), *chain.hops]
        steps = enumerate(zip(reached, chain.steps, strict=False), start=1)
        if self.settings.tools == "lookup":
            return [
                Action(call=Lookup(names, step), done=number in ends[:-1], submit=number == last)
                for number, (names, step) in steps
            ]
        opened = [
            Action(claim=names if number > 1 else (), call=Article(names), done=number in ends[:-1])
            for number, (names, _) in steps
        ]
        return [*opened, Action(claim=reached[-1], submit=True)]

    def _stage_text(self, chain: Chain, first: int, begin: int, end: int) -> str:
        if self.settings.numbered_hops:
            return " ".join(number_word(first + number) for number in range(begin, end))
        if self.pack is PromptPack.COMPACT:
            return " ".join(chain.steps[begin:end])
        return _stage_in_words(chain, begin, end)

    def _stage_ends(self, chain: Chain) -> list[int]:
        """After how many hops each stage of the plan ends."""
        hops = len(chain.steps)
        per_stage = max(self.settings.hops_per_stage, math.ceil(hops / self.stage_limit))
        return [min(begin + per_stage, hops) for begin in range(0, hops, per_stage)]

    def _compact_steps(self, chain: Chain, first: int) -> list[str]:
        """The steps of a chain in walking order, numbered from `first` where hops are."""
        if not self.settings.numbered_hops:
            return list(chain.steps)
        return [f"{number_word(number)} {step}" for number, step in enumerate(chain.steps, start=first)]

    def with_other_secret(self, task: Task[KinshipSecret], seed: int) -> Task[KinshipSecret]:
        """The same world, so that tools answer alike, with a chain of other people claimed as gold.

        A lookup claims the truth about this world, so no lookup along the chain captures that gold.
        """
        rng = random.Random(seed)
        secret = task.secret
        others = [name for name in sorted(secret.universe.people) if name != secret.chain.start]
        rng.shuffle(others)
        # A cycle through all the others moves every person of the chain and keeps sets and distinctness.
        successor = dict(zip(others, others[1:] + others[:1], strict=True))
        hops = [
            other_values(step, hop, rng) if step in ATTRIBUTES else tuple(sorted(successor[name] for name in hop))
            for step, hop in zip(secret.chain.steps, secret.chain.hops, strict=True)
        ]
        return replace(task, secret=replace(secret, chain=replace(secret.chain, hops=tuple(hops))))

    @property
    def _short_names(self) -> tuple[str, ...]:
        """The names of the compact pack, none in the chat pack."""
        bounds = self.settings.population
        return short_names(bounds[1]) if self.pack is PromptPack.COMPACT and bounds != "spec" else ()

    def compact_words(self) -> tuple[str, ...]:
        """Question word, names, relations, flags."""
        last = self.settings.maximum_hops if self.settings.numbered_hops else 0
        numbers = map(number_word, range(1, last + 1))
        return (self.guide.tag, "who", *self._short_names, *RELATIONS, DONE, SUBMIT, NONE, *numbers)


def number_word(number: int) -> str:
    """The compact word that numbers a hop."""
    return f"hop{number}"


def _refuse_wordless(settings: PhantomWikiSettings) -> None:
    """Raise UserError for what the compact pack cannot say."""
    if settings.population == "spec" or settings.population[1] > len(SHORT_NAMES):
        bounds = settings.population if settings.population == "spec" else list(settings.population)
        raise UserError(
            f"environments.phantom_wiki.population = {bounds!r}: the compact pack has {len(SHORT_NAMES)} names; "
            f"give bounds such as [3, 8]"
        )
    if settings.tools != "lookup":
        raise UserError(
            f'environments.phantom_wiki.tools = "{settings.tools}": the compact pack has no words for articles; '
            f'give "lookup"'
        )
    if settings.attribute_question_probability > 0:
        raise UserError(
            f"environments.phantom_wiki.attribute_question_probability = {settings.attribute_question_probability}: "
            f"the compact pack has no words for attributes; give 0"
        )


def _normal_set(hop: Hop) -> frozenset[str]:
    return frozenset(map(normal, hop))


def _take_claim(episode: PhantomWikiEpisode, claim: frozenset[str]) -> None:
    """Count a claim for the next hop; once all hops are claimed it only changes the answer."""
    chain = episode.task.secret.chain
    if not claim or (episode.claimed == 0 and claim == _normal_set((chain.start,))):
        return
    episode.last_claim = claim
    if episode.claimed == len(chain.hops):
        return
    if episode.right == episode.claimed and claim == _normal_set(chain.hops[episode.claimed]):
        episode.right += 1
    episode.claimed += 1


def _stage_in_words(chain: Chain, begin: int, end: int) -> str:
    """The hops of one stage in words: "find the mother of Ann Smith, then her friend"."""
    phrases = []
    for number in range(begin, end):
        step = chain.steps[number]
        if number == 0:
            phrases.append(f"the {step} of {chain.start}")
        else:
            one = len(chain.hops[number - 1]) == 1
            phrases.append(f"{PRONOUNS.get(chain.steps[number - 1], 'his') if one else 'their'} {step}")
    return f"find {', then '.join(phrases)}"
