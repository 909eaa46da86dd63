"""IFEval-style tasks: write a text that follows c constraints at once, judged by the checkers alone (SPEC 1.4).

Difficulty sets c. The executor writes drafts; no draft is ever commented on. Progress is the best share of constraints
that a draft followed; capture is a last draft that follows all of them. Chat drafts are prose, compact drafts are a few
words out of a dozen; generator, checkers and dialogue are the same.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pydantic import Field, model_validator

from sparring.environments.base import (
    Environment,
    EnvironmentSettings,
    Episode,
    Solution,
    Verdict,
    best_progress,
    environment,
)
from sparring.environments.ifeval import compact
from sparring.environments.ifeval.breaking import break_one
from sparring.environments.ifeval.constraints import Constraint, judge
from sparring.environments.ifeval.drawing import (
    DRAWS,
    TRAINING_FAMILIES,
    draw_constraints,
    draw_families,
    draw_request,
)
from sparring.environments.ifeval.writer import write
from sparring.errors import UserError
from sparring.parsing import remove_thinking
from sparring.profiles import Profile
from sparring.tasks import GenerationRefusedError, Guide, PromptPack, Task, derive_seed

_ATTEMPTS = 200

_GUIDES = {
    PromptPack.CHAT: Guide(
        tag="ifc",
        difficulty="the number of constraints that one text must follow at once, from one to many",
        planning="A stage says in a few words what to write or revise, and which constraints to mind while doing so.",
        acting="Write the whole text between <draft> and </draft>; each draft replaces the one before. Add <done/> "
        "after it when your stage is done. Add <submit/> when the text follows every constraint: the last draft is "
        "then judged, and the episode ends. You get no comments on a draft.",
    ),
    PromptPack.COMPACT: Guide(
        tag="ifc",
        difficulty="number of constraints",
        planning="constraints in the order of the draft",
        acting="words of the draft, then done or submit",
    ),
}


class IFEvalSettings(EnvironmentSettings):
    """Sizes of the task.

    families: the constraint families to draw from, any of those that the prompt pack can word. None means all of them
    but the fragile ones (drawing.FRAGILE_FAMILIES).
    shortest_draft, longest_draft: words of the hidden draft of a compact task.
    """

    maximum_constraints: int = Field(default=6, ge=1)
    turn_limit: int = Field(default=4, ge=1)
    families: tuple[str, ...] | None = None
    shortest_draft: int = Field(default=2, ge=1, le=5)
    longest_draft: int = Field(default=5, ge=1, le=5)

    @model_validator(mode="after")
    def _consistent(self) -> IFEvalSettings:
        if self.shortest_draft > self.longest_draft:
            raise ValueError(f"shortest_draft {self.shortest_draft} is above longest_draft {self.longest_draft}")
        return self


@dataclass(frozen=True)
class IFEvalSecret:
    """The constraints as the checkers read them, and a text known to follow all of them."""

    constraints: tuple[Constraint, ...]
    witness: str


@dataclass
class IFEvalEpisode(Episode[IFEvalSecret]):
    """Keeps the draft that stands; "" before the first."""

    draft: str = ""


@dataclass(frozen=True)
class _Action:
    draft: str
    done: bool
    submit: bool


@environment("ifeval")
class IFEval(Environment[IFEvalSettings, IFEvalSecret, IFEvalEpisode]):
    """Write one text under several constraints."""

    settings_type = IFEvalSettings

    def __init__(self, settings: IFEvalSettings, pack: PromptPack) -> None:
        """Fix the families to draw from; raises UserError when they are unknown to the pack or too few."""
        super().__init__(settings, pack)
        known = tuple(DRAWS if pack is PromptPack.CHAT else compact.FAMILIES)
        by_default = TRAINING_FAMILIES if pack is PromptPack.CHAT else known
        self.families = by_default if settings.families is None else settings.families
        unknown = sorted(set(self.families) - set(known))
        if unknown:
            raise UserError(
                f"families: {unknown[0]!r} cannot be drawn in pack {pack}; take some of: {', '.join(known)}"
            )
        if len(set(self.families)) < max(settings.maximum_constraints, len(self.families)):
            raise UserError(
                f"families: {len(set(self.families))} different ones of {len(self.families)}; name each once, and at "
                f"least maximum_constraints = {settings.maximum_constraints} of them"
            )

    @property
    def guide(self) -> Guide:
        """What the roles are told."""
        return _GUIDES[self.pack]

    def generate(self, difficulty: float, seed: int) -> Task[IFEvalSecret]:
        """A request and 1 + round((maximum - 1) * difficulty) constraints that a text is known to follow."""
        count = 1 + round((self.settings.maximum_constraints - 1) * difficulty)
        rng = random.Random(derive_seed(self.name, "task", seed))
        request = draw_request(rng) if self.pack is PromptPack.CHAT else ""
        secret = self._draw(count, request, rng)
        return Task(self.public(self._statement(request, secret), self.settings.turn_limit), secret, difficulty, seed)

    def _draw(self, count: int, request: str, rng: random.Random) -> IFEvalSecret:
        lengths = range(self.settings.shortest_draft, self.settings.longest_draft + 1)
        for _ in range(_ATTEMPTS):
            families = draw_families(self.families, count, rng)
            if families is None:
                continue
            if self.pack is PromptPack.COMPACT:
                return IFEvalSecret(*compact.draw(families, lengths, rng))
            constraints = draw_constraints(families, request, rng)
            witness = write(constraints, rng)
            if witness is not None:
                return IFEvalSecret(constraints, witness)
        raise GenerationRefusedError(f"no {count} constraints that go together in {_ATTEMPTS} draws")

    def _statement(self, request: str, secret: IFEvalSecret) -> str:
        if self.pack is PromptPack.COMPACT:
            return " ".join(compact.wording(constraint) for constraint in secret.constraints)
        return "\n".join([request, *(constraint.wording for constraint in secret.constraints)])

    def signature(self, task: Task[IFEvalSecret]) -> str:
        """The number of constraints (LURE)."""
        return f"constraints={len(task.secret.constraints)}"

    def start(self, task: Task[IFEvalSecret]) -> IFEvalEpisode:
        """An episode without a draft."""
        return IFEvalEpisode(task)

    def step(self, episode: IFEvalEpisode, action: str) -> Verdict:
        """Take a draft, or flags for the draft that stands. What cannot be read leaves that draft standing."""
        read = self._read(action)
        well_formed = read is not None and bool(read.draft or (episode.draft and (read.done or read.submit)))
        taken = read if read is not None and well_formed else _Action("", done=False, submit=False)
        episode.draft = taken.draft or episode.draft
        episode.turns += 1
        ended = taken.submit or episode.last_turn
        constraints = episode.task.secret.constraints
        right = sum(judge(constraint, episode.draft, Profile.FIXED).followed for constraint in constraints)
        episode.progress = best_progress(episode.progress, right, len(constraints), settled=ended)
        return Verdict(
            progress=episode.progress,
            captured=ended and right == len(constraints),
            well_formed=well_formed,
            stage_done=taken.done,
            ended=ended,
        )

    def answer(self, episode: IFEvalEpisode) -> str | None:
        """The draft that stands, spaces evened: texts seldom agree, so votes seldom say anything here."""
        return " ".join(episode.draft.split()) or None

    def _read(self, action: str) -> _Action | None:
        """The action in a text; None when it is none."""
        if self.pack is PromptPack.COMPACT:
            words = compact.read_draft(action)
            return None if words is None else _Action(words[0], "done" in words[1], "submit" in words[1])
        answer = remove_thinking(action)
        return None if answer is None else _read_chat(answer)

    def solve(self, task: Task[IFEvalSecret]) -> Solution:
        """The text that generation found, written and submitted."""
        return self._submitting(task, task.secret.witness)

    def mutate(self, task: Task[IFEvalSecret], seed: int) -> Solution:
        """The solution with one constraint broken, drawn by the seed; with more where breaking one breaks another."""
        rng = random.Random(derive_seed(self.name, "mutate", seed))
        constraints, witness = task.secret.constraints, task.secret.witness
        if self.pack is PromptPack.CHAT:
            broken = break_one(constraints, witness, rng)
        else:
            broken = _fewest_broken(constraints, compact.near_misses(witness, rng))
        if broken is None:
            raise GenerationRefusedError(f"no text near {witness!r} breaks any of {constraints}")
        return self._submitting(task, broken)

    def _submitting(self, task: Task[IFEvalSecret], text: str) -> Solution:
        """The plan and the turns that write this text and submit it."""
        constraints = task.secret.constraints
        if self.pack is PromptPack.COMPACT:
            stage = " ".join(compact.wording(constraint) for constraint in compact.in_plan_order(constraints))
            return Solution((stage,), (f"{text} submit",))
        write_stage = "Write a draft that follows every constraint: " + " ".join(
            " ".join(constraint.wording.split()) for constraint in constraints
        )
        draft = f"<draft>{text}</draft>"
        if task.public.turn_limit == 1:
            return Solution((write_stage,), (f"{draft}<submit/>",))
        stages = (write_stage, "Check each constraint against the draft, mend what fails, and submit.")
        return Solution(stages, (f"{draft}<done/>", "<submit/>"))

    def with_other_secret(self, task: Task[IFEvalSecret], seed: int) -> Task[IFEvalSecret]:
        """The same public half with as many other constraints."""
        rng = random.Random(derive_seed(self.name, "other", seed))
        for _ in range(_ATTEMPTS):
            other = self._draw(len(task.secret.constraints), self._request(task), rng)
            if other.constraints != task.secret.constraints:
                return replace(task, secret=other)
        raise GenerationRefusedError(f"no other constraints than {task.secret.constraints}")

    def _request(self, task: Task[IFEvalSecret]) -> str:
        """The writing request, the first line of a chat statement."""
        return task.public.statement.split("\n")[0] if self.pack is PromptPack.CHAT else ""

    def compact_words(self) -> Sequence[str]:
        """The dozen words, letters, numbers, constraint words and flags."""
        return compact.VOCABULARY


def _fewest_broken(constraints: Sequence[Constraint], drafts: Iterable[str]) -> str | None:
    """The first draft that breaks one constraint alone, else the first that breaks any; None when none does."""
    spare: str | None = None
    for draft in drafts:
        broken = sum(not judge(constraint, draft, Profile.FIXED).followed for constraint in constraints)
        if broken == 1:
            return draft
        if broken:
            spare = spare or draft
    return spare


def _read_chat(text: str) -> _Action | None:
    """The last complete draft, or the whole text when no draft tag stands in it; None for a draft left open."""
    flags = re.sub(r"<draft>[\s\S]*</draft>", "", text)
    done, submit = "<done/>" in flags, "<submit/>" in flags
    if "<draft>" not in text:
        return _Action(re.sub(r"<(?:done|submit)/>", "", text).strip(), done, submit)
    before, closed, _ = text.rpartition("</draft>")
    if not closed or "<draft>" not in before:
        return None
    draft = before.rpartition("<draft>")[2].strip()
    return _Action(draft, done, submit) if draft else None
