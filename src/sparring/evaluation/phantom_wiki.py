"""PhantomWiki's official questions: the prompt, and scores of stored replies by sets of answers (SPEC 4).

An answer is a set, and so is what a reply names: exact match, precision, recall and F1 of the one
against the other, as the reference scores them. OUR CHOICE is the wording of the prompt, which shows
every article and asks for a last line "Answer: ...", after which the reply is read.

Two profiles. `official` splits what stands after the last "Answer:" (or, without one, the whole reply)
at commas, as the reference splits a reply, then strips and lower-cases: an empty part between two commas
and a full stop count as they stand, and "Ann and Bob" is one name. `fixed` reads the first paragraph after
the last "Answer:", however it is capitalised or emphasised; commas, semicolons, line ends and "and" part
names ("and" inside a right answer does not); bullets and numbers of a list, quotes, emphasis and a full
stop at the end are no part of a name, nor are empty parts; white space is as good as one blank.
Both leave out thinking, and both count a reply without "Answer:" as a format error, which is no penalty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from sparring.errors import UserError
from sparring.parsing import remove_thinking
from sparring.profiles import Profile

DIFFICULTY_BAND = 5
_MARK = "Answer:"
_MARKS = {
    Profile.OFFICIAL: re.compile(_MARK),
    Profile.FIXED: re.compile(r"\banswers?[*_ ]*:[*_]*", re.IGNORECASE),
}
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_PARTING = re.compile(r"[,;]")


@dataclass(frozen=True)
class SetScore:
    """One set of answers against the right one; F1 is 0 where nothing is right."""

    exact_match: bool
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.precision * self.recall / (self.precision + self.recall) if self.precision else 0.0


@dataclass(frozen=True)
class QuestionScore:
    """One reply: its score in the profile, and in each."""

    id: str
    difficulty: int
    score: SetScore
    by_profile: Mapping[Profile, SetScore]
    answered: bool
    marked: bool


@dataclass(frozen=True)
class PhantomWikiScores:
    """The scores of a file of replies. Means are None where n is 0; the mean of exact matches is their share.

    no_answer counts replies that say nothing, format_error those that say something without "Answer:".
    """

    profile: Profile
    n: int
    without_reply: int
    no_answer: int
    format_error: int
    exact_match: float | None
    precision: float | None
    recall: float | None
    f1: float | None
    exact_match_by_profile: dict[Profile, float | None]
    by_difficulty: dict[str, tuple[QuestionScore, ...]]
    questions: tuple[QuestionScore, ...]


def phantom_wiki_prompt(row: Mapping[str, Any], articles: Sequence[Mapping[str, Any]]) -> str:
    """Every article of the world, the question, and how to answer."""
    world = "\n".join(str(article["article"]).strip() + "\n" for article in articles)
    return (
        f"These are all the articles on a made-up world of people.\n\n{world}\n"
        "Answer the question below from the articles. Relatives that no article states follow from those that are "
        "stated. A question may have several answers: give all of them. Where it asks how many and the count differs "
        "between the people it may mean, give every count, in digits.\n\n"
        f"Question: {row['question']}\n\n"
        f'Reason as long as you need, then end with one line that begins with "{_MARK}" and holds the answers, '
        "separated by commas, and nothing else.\n"
    )


def set_score(given: AbstractSet[str], right: AbstractSet[str]) -> SetScore:
    """Score a set of answers; naming nothing has no precision, so that is 0."""
    common = len(given & right)
    return SetScore(given == right, common / len(given) if given else 0.0, common / len(right))


def score_phantom_wiki(
    replies: Mapping[str, str], questions: Iterable[Mapping[str, Any]], profile: Profile
) -> PhantomWikiScores:
    """Score replies by id to questions {"id", "answers", "difficulty"}."""
    official = {str(question["id"]): question for question in questions}
    scores = [_score(name, reply, official[name], profile) for name, reply in replies.items()]
    bands: dict[str, list[QuestionScore]] = {}
    for score in sorted(scores, key=lambda each: each.difficulty):
        low = (score.difficulty - 1) // DIFFICULTY_BAND * DIFFICULTY_BAND + 1
        bands.setdefault(f"{low}-{low + DIFFICULTY_BAND - 1}", []).append(score)
    return PhantomWikiScores(
        profile=profile,
        n=len(scores),
        without_reply=len(official) - len(scores),
        no_answer=sum(not score.answered for score in scores),
        format_error=sum(score.answered and not score.marked for score in scores),
        exact_match=mean(score.score.exact_match for score in scores),
        precision=mean(score.score.precision for score in scores),
        recall=mean(score.score.recall for score in scores),
        f1=mean(score.score.f1 for score in scores),
        exact_match_by_profile={each: mean(score.by_profile[each].exact_match for score in scores) for each in Profile},
        by_difficulty={name: tuple(band) for name, band in bands.items()},
        questions=tuple(scores),
    )


def mean(values: Iterable[float]) -> float | None:
    """The mean, or None of nothing."""
    known = list(values)
    return fmean(known) if known else None


def _score(name: str, reply: str, question: Mapping[str, Any], profile: Profile) -> QuestionScore:
    right = _right_answers(question)
    said = remove_thinking(reply) or ""
    given = {each: _after_mark(said, each) for each in Profile}
    by_profile = {
        Profile.OFFICIAL: set_score(_official_set(given[Profile.OFFICIAL]), _official_set(",".join(right))),
        Profile.FIXED: set_score(_fixed_set(given[Profile.FIXED], right), {_spelling(answer) for answer in right}),
    }
    return QuestionScore(
        id=name,
        difficulty=int(question["difficulty"]),
        score=by_profile[profile],
        by_profile=by_profile,
        answered=any(map(str.isalnum, given[profile])),
        marked=given[profile] != said,
    )


def _after_mark(said: str, profile: Profile) -> str:
    """What stands after the last mark, or everything without one."""
    marks = list(_MARKS[profile].finditer(said))
    return said[marks[-1].end() :] if marks else said


def _right_answers(question: Mapping[str, Any]) -> list[str]:
    answers = question.get("answers")
    if not isinstance(answers, list) or not answers:
        raise UserError(f"question {question['id']} has answers = {answers!r}; restore the file of questions")
    return [str(answer) for answer in answers]


def _official_set(text: str) -> frozenset[str]:
    return frozenset(part.strip().lower() for part in text.split(","))


def _fixed_set(given: str, right: Sequence[str]) -> frozenset[str]:
    """The names in the first paragraph."""
    paragraph = re.split(r"\n\s*\n", given.strip(), maxsplit=1)[0]
    known = {_spelling(answer) for answer in right}
    names = [
        name
        for line in paragraph.split("\n")
        for part in _PARTING.split(_LIST_MARK.sub("", line))
        for name in _parted_at_and(_spelling(part), known)
    ]
    return frozenset(filter(None, names))


def _parted_at_and(part: str, known: AbstractSet[str]) -> list[str]:
    """A part cut at every "and" that is not inside a right answer."""
    words = part.removeprefix("and ").split(" and ")
    found = []
    while words:
        ends = (end for end in range(len(words), 1, -1) if " and ".join(words[:end]) in known)
        end = next(ends, 1)
        found.append(_spelling(" and ".join(words[:end])))
        words = words[end:]
    return found


def _spelling(text: str) -> str:
    """A name without case, marks around it and a full stop behind it."""
    return " ".join(text.split()).strip("*_`\"'“”. ").casefold()
