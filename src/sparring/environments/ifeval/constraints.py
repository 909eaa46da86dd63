"""The 25 constraint families of IFEval: parameters, wording, and how a reply is judged.

Two profiles. `official` gives the verdict of the google-research reference, its quirks included, for scores that
compare with published ones. `fixed` judges what the instruction says, and is the verifier that trains.
docs/ifeval_profiles.md lists every difference. An unknown id or a missing parameter is a UserError, never a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from sparring.environments.ifeval import fixed, official
from sparring.environments.ifeval.language import known_languages
from sparring.environments.ifeval.text import UndecidableError
from sparring.errors import UserError
from sparring.profiles import Profile

Value = int | str | tuple[str, ...]


def _count(value: Any) -> Value:
    """A whole number from 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError
    return value


def _relation(value: Any) -> Value:
    """`at least` or `less than`."""
    if value not in ("at least", "less than"):
        raise ValueError
    return str(value)


def _text(value: Any) -> Value:
    """Text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value.strip()


def _character(value: Any) -> Value:
    """One character."""
    if not isinstance(value, str) or len(value.strip()) != 1:
        raise ValueError
    return value.strip()


def _texts(value: Any) -> Value:
    """A list of one or more texts."""
    if isinstance(value, str) or not value or not all(isinstance(text, str) and text.strip() for text in value):
        raise ValueError
    return tuple(value)


def _language(value: Any) -> Value:
    """The code of a language that the detector knows, such as de."""
    if value not in known_languages():
        raise ValueError
    return str(value)


Reader = Callable[[Any], Value]
Checker = Callable[..., bool]


@dataclass(frozen=True)
class Family:
    """One kind of constraint: its parameters, the instruction in words, and a checker for each profile."""

    parameters: Mapping[str, Reader]
    wording: str
    official: Checker
    fixed: Checker


FAMILIES: Mapping[str, Family] = {
    "keywords:existence": Family(
        {"keywords": _texts}, "Include keywords {keywords} in the response.", official.existence, fixed.existence
    ),
    "keywords:frequency": Family(
        {"keyword": _text, "frequency": _count, "relation": _relation},
        "In your response, the word {keyword} should appear {relation} {frequency} times.",
        official.frequency,
        fixed.frequency,
    ),
    "keywords:forbidden_words": Family(
        {"forbidden_words": _texts},
        "Do not include keywords {forbidden_words} in the response.",
        official.forbidden_words,
        fixed.forbidden_words,
    ),
    "keywords:letter_frequency": Family(
        {"letter": _character, "let_frequency": _count, "let_relation": _relation},
        "In your response, the letter {letter} should appear {let_relation} {let_frequency} times.",
        official.letter_frequency,
        official.letter_frequency,
    ),
    "language:response_language": Family(
        {"language": _language},
        "Write your entire response in the language with the code {language}, and in no other.",
        official.response_language,
        fixed.response_language,
    ),
    "length_constraints:number_sentences": Family(
        {"num_sentences": _count, "relation": _relation},
        "Your response should contain {relation} {num_sentences} sentences.",
        official.number_sentences,
        fixed.number_sentences,
    ),
    "length_constraints:number_paragraphs": Family(
        {"num_paragraphs": _count},
        "There should be {num_paragraphs} paragraphs, separated with the markdown divider: ***",
        official.number_paragraphs,
        fixed.number_paragraphs,
    ),
    "length_constraints:number_words": Family(
        {"num_words": _count, "relation": _relation},
        "Answer with {relation} {num_words} words.",
        official.number_words,
        fixed.number_words,
    ),
    "length_constraints:nth_paragraph_first_word": Family(
        {"num_paragraphs": _count, "nth_paragraph": _count, "first_word": _text},
        "There should be {num_paragraphs} paragraphs, separated by a blank line and by nothing else. "
        "Paragraph {nth_paragraph} must start with the word {first_word}.",
        official.nth_paragraph_first_word,
        fixed.nth_paragraph_first_word,
    ),
    "detectable_content:number_placeholders": Family(
        {"num_placeholders": _count},
        "The response must contain at least {num_placeholders} placeholders in square brackets, such as [address].",
        official.number_placeholders,
        fixed.number_placeholders,
    ),
    "detectable_content:postscript": Family(
        {"postscript_marker": _text},
        "At the end of your response, add a postscript starting with {postscript_marker}",
        official.postscript,
        fixed.postscript,
    ),
    "detectable_format:number_bullet_lists": Family(
        {"num_bullets": _count},
        "Your answer must contain exactly {num_bullets} bullet points in markdown, such as:\n* This is a point.",
        official.number_bullet_lists,
        fixed.number_bullet_lists,
    ),
    "detectable_format:constrained_response": Family(
        {},
        f"Answer with one of the following options: {' / '.join(official.CONSTRAINED_RESPONSES)}",
        official.constrained_response,
        fixed.constrained_response,
    ),
    "detectable_format:number_highlighted_sections": Family(
        {"num_highlights": _count},
        "Highlight at least {num_highlights} sections in your answer with markdown, i.e. *highlighted section*.",
        official.number_highlighted_sections,
        fixed.number_highlighted_sections,
    ),
    "detectable_format:multiple_sections": Family(
        {"section_spliter": _text, "num_sections": _count},
        "Your response must have {num_sections} sections. Mark the beginning of each section with "
        "{section_spliter} X, such as:\n{section_spliter} 1",
        official.multiple_sections,
        fixed.multiple_sections,
    ),
    "detectable_format:json_format": Family(
        {},
        "Wrap the entire output in JSON format. Markdown ticks are allowed.",
        official.json_format,
        fixed.json_format,
    ),
    "detectable_format:title": Family(
        {},
        "Your answer must contain a title, wrapped in double angular brackets, such as <<poem of joy>>.",
        official.title,
        fixed.title,
    ),
    "combination:two_responses": Family(
        {},
        "Give two different responses, separated by 6 asterisk symbols and by nothing else: ******",
        official.two_responses,
        fixed.two_responses,
    ),
    "combination:repeat_prompt": Family(
        {"prompt_to_repeat": _text},
        "First repeat the request without change, then give your answer. The request: {prompt_to_repeat}",
        official.repeat_prompt,
        fixed.repeat_prompt,
    ),
    "startend:end_checker": Family(
        {"end_phrase": _text},
        "Finish your response with this exact phrase: {end_phrase} No other words should follow this phrase.",
        official.end_checker,
        fixed.end_checker,
    ),
    "startend:quotation": Family(
        {}, "Wrap your entire response with double quotation marks.", official.quotation, fixed.quotation
    ),
    "change_case:capital_word_frequency": Family(
        {"capital_frequency": _count, "capital_relation": _relation},
        "In your response, words with all capital letters should appear {capital_relation} {capital_frequency} times.",
        official.capital_word_frequency,
        fixed.capital_word_frequency,
    ),
    "change_case:english_capital": Family(
        {},
        "Your entire response should be in English, and in all capital letters.",
        official.english_capital,
        fixed.english_capital,
    ),
    "change_case:english_lowercase": Family(
        {},
        "Your entire response should be in English, and in all lowercase letters. No capital letters are allowed.",
        official.english_lowercase,
        fixed.english_lowercase,
    ),
    "punctuation:no_comma": Family(
        {}, "In your entire response, refrain from the use of any commas.", official.no_comma, fixed.no_comma
    ),
}


@dataclass(frozen=True)
class Constraint:
    """One instruction: a family id and its parameters, as sorted pairs so that it hashes. Made by `read`."""

    id: str
    kwargs: tuple[tuple[str, Value], ...] = ()

    def __post_init__(self) -> None:
        """Refuse an unknown family, and parameters that are missing, unknown or out of range."""
        object.__setattr__(self, "kwargs", _read_kwargs(self.id, dict(self.kwargs)))

    @classmethod
    def read(cls, id: str, kwargs: Mapping[str, Any]) -> Constraint:
        """From a row of the benchmark, where an absent parameter may also be written as null."""
        return cls(id, tuple((name, value) for name, value in kwargs.items() if value is not None))

    @cached_property
    def parameters(self) -> Mapping[str, Value]:
        """The parameters by name."""
        return dict(self.kwargs)

    @property
    def wording(self) -> str:
        """The instruction in words."""
        values = {name: ", ".join(value) if isinstance(value, tuple) else value for name, value in self.kwargs}
        return FAMILIES[self.id].wording.format(**values)


def _read_kwargs(id: str, given: Mapping[str, Any]) -> tuple[tuple[str, Value], ...]:
    if id not in FAMILIES:
        raise UserError(f"instruction id {id!r} is not known; take one of: {', '.join(FAMILIES)}")
    readers = FAMILIES[id].parameters
    if set(given) != set(readers):
        raise UserError(f"{id}: parameters are {sorted(given)}; give exactly {sorted(readers)}")
    read: list[tuple[str, Value]] = []
    for name in sorted(readers):
        try:
            read.append((name, readers[name](given[name])))
        except (ValueError, TypeError):
            raise UserError(f"{id}: {name} is {given[name]!r}; give {_expectation(readers[name])}") from None
    values = dict(given)
    if "nth_paragraph" in values and not 1 <= values["nth_paragraph"] <= values["num_paragraphs"]:
        raise UserError(f"{id}: nth_paragraph is {values['nth_paragraph']}; give 1 to {values['num_paragraphs']}")
    return tuple(read)


def _expectation(reader: Reader) -> str:
    text = (reader.__doc__ or "").rstrip(".")
    return text[0].lower() + text[1:]


@dataclass(frozen=True)
class Judgement:
    """A verdict on one constraint; `reason` says why when the text allowed no verdict, else ""."""

    followed: bool
    reason: str = ""


def judge(constraint: Constraint, text: str, profile: Profile) -> Judgement:
    """Whether a reply follows a constraint. An empty reply follows none (IFEval strict)."""
    if not text.strip():
        return Judgement(False, "the reply is empty")
    family = FAMILIES[constraint.id]
    checker = family.official if profile is Profile.OFFICIAL else family.fixed
    try:
        return Judgement(checker(text, **constraint.parameters))
    except UndecidableError as error:
        return Judgement(False, str(error))


@dataclass(frozen=True)
class BothJudgements:
    """The verdicts on one reply: by the reply itself (strict), and by any of its eight views (loose)."""

    strict: Judgement
    loose: Judgement


def judge_both(constraint: Constraint, text: str, profile: Profile) -> BothJudgements:
    """Strict and loose verdict; the further views are only read where the reply itself does not follow."""
    strict = judge(constraint, text, profile)
    if strict.followed or not any(judge(constraint, view, profile).followed for view in further_views(text)):
        return BothJudgements(strict, strict)
    return BothJudgements(strict, Judgement(True))


@lru_cache(maxsize=32)
def further_views(text: str) -> tuple[str, ...]:
    """Seven more views: without the first line, the last line, both; and these and the reply without asterisks.

    Each once, and none that is blank or the reply itself.
    """
    lines = text.split("\n")
    cut = ["\n".join(kept).strip() for kept in (lines[1:], lines[:-1], lines[1:-1])]
    views = dict.fromkeys([*cut, *(whole.replace("*", "") for whole in (text, *cut))])
    return tuple(view for view in views if view.strip() and view != text)
