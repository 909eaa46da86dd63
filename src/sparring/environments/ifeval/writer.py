"""A constructive writer: a text that follows a set of chat constraints, or None when it cannot make one.

It proves that a drawn set can be satisfied. The prose is a string of plain English words; every piece of structure that
a constraint asks for is laid out in a fixed order, and the whole is judged at the end by the checkers that train.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sparring.environments.ifeval.constraints import Constraint, judge
from sparring.environments.ifeval.official import CONSTRAINED_RESPONSES
from sparring.environments.ifeval.prose import PROSE
from sparring.environments.ifeval.text import words
from sparring.profiles import Profile

_SHORT_SENTENCE = 3
# Words more than are asked for, tried in turn: with few words no language can be told, with many a limit is passed.
_FURTHER_WORDS = (0, 20, 60)

_Wanted = Mapping[str, Mapping[str, Any]]


class _Prose:
    """An endless supply of plain words of a language, without those that hold a letter that must be rare."""

    def __init__(self, language: str, avoided: str, rng: random.Random) -> None:
        words = PROSE.get(language, PROSE["en"]).split()
        pool = [word for word in words if not set(word) & set(avoided) and len(word) > 1]
        start = rng.randrange(len(pool)) if pool else 0
        self.pool = pool[start:] + pool[:start]
        self.source = self._cycle()

    def _cycle(self) -> Iterator[str]:
        while self.pool:
            yield from self.pool

    def take(self, count: int) -> list[str]:
        """The next words, in the order of the prose."""
        return [word for word, _ in zip(self.source, range(count), strict=False)]

    def holding(self, letter: str) -> str:
        """The first word with this letter, "" when none is left."""
        return next((word for word in self.pool if letter in word), "")


def write(constraints: Sequence[Constraint], rng: random.Random) -> str | None:
    """A text that follows all of these under profile `fixed`, None when this writer finds none.

    A text that profile `official` accepts too is preferred.
    """
    wanted = {constraint.id.partition(":")[2]: constraint.parameters for constraint in constraints}
    accepted: str | None = None
    for further in _FURTHER_WORDS:
        text = _compose(wanted, further, rng)
        if all(judge(constraint, text, Profile.FIXED).followed for constraint in constraints):
            if all(judge(constraint, text, Profile.OFFICIAL).followed for constraint in constraints):
                return text
            accepted = accepted or text
    return accepted


def _compose(wanted: _Wanted, further: int, rng: random.Random) -> str:
    if "constrained_response" in wanted:
        return rng.choice(CONSTRAINED_RESPONSES)
    letter = wanted.get("letter_frequency", {})
    avoided = letter["letter"] if letter.get("let_relation") == "less than" else ""
    prose = _Prose(wanted.get("response_language", {}).get("language", "en"), avoided, rng)
    required = _required_words(wanted, prose)
    if "json_format" in wanted:
        text = json.dumps({" ".join(prose.take(1)): " ".join(required + prose.take(6 + further))}, ensure_ascii=False)
        return _dress(wanted, text)
    count = next((wanted[name]["num_paragraphs"] for name in _PARAGRAPHS if name in wanted), 1)
    paragraphs = _sentences(wanted, required, count, further, prose)
    paragraphs[-1] += "".join(f"\n{line}" for line in _structure(wanted, prose))
    separator = "\n***\n" if "number_paragraphs" in wanted else "\n\n"
    missing = _words_missing(wanted, separator.join(paragraphs))
    if missing:
        paragraphs[0] = f"{' '.join([_opening(wanted, 0), *prose.take(missing)]).strip()} {paragraphs[0]}"
    for index in range(count):
        if missing and index == 0:
            continue
        paragraphs[index] = f"{_opening(wanted, index)} {paragraphs[index]}".strip()
    return _dress(wanted, _arrange(wanted, separator.join(paragraphs), prose))


_PARAGRAPHS = ("number_paragraphs", "nth_paragraph_first_word")


def _required_words(wanted: _Wanted, prose: _Prose) -> list[str]:
    """Words that must occur somewhere: keywords, words with a letter that is asked for, words in capitals."""
    required = list(wanted.get("existence", {}).get("keywords", ()))
    frequency = wanted.get("frequency", {})
    if frequency.get("relation") == "at least":
        required += [frequency["keyword"]] * frequency["frequency"]
    letter = wanted.get("letter_frequency", {})
    if letter.get("let_relation") == "at least":
        required += [prose.holding(letter["letter"])] * letter["let_frequency"]
    capital = wanted.get("capital_word_frequency", {})
    if capital.get("capital_relation") == "at least":
        required += [word.upper() for word in prose.take(capital["capital_frequency"])]
    return required


def _sentences(wanted: _Wanted, required: list[str], count: int, further: int, prose: _Prose) -> list[str]:
    """`count` paragraphs of sentences. Without a full stop where sentences are to be few."""
    sentences = wanted.get("number_sentences", {})
    few = sentences.get("relation") == "less than"
    total = max(count, sentences["num_sentences"] if sentences and not few else 1)
    share = [total // count + (index < total % count) for index in range(count)]
    stop = "" if few else "."
    paragraphs = [" ".join(" ".join(prose.take(_SHORT_SENTENCE)) + stop for _ in range(number)) for number in share]
    paragraphs[0] = " ".join([*required, *prose.take(further), paragraphs[0]])
    return paragraphs


def _structure(wanted: _Wanted, prose: _Prose) -> list[str]:
    """The lines that a constraint asks for, in an order in which none disturbs another."""

    def pair() -> str:
        return " ".join(prose.take(2))

    def count(name: str, parameter: str) -> range:
        return range(1, wanted.get(name, {}).get(parameter, 0) + 1)

    lines = [f"<<{pair()}>>"] if "title" in wanted else []
    # Not at the start of its line, where the reference takes a highlight for a bullet.
    lines += [f"{' '.join(prose.take(1))} *{pair()}*" for _ in count("number_highlighted_sections", "num_highlights")]
    lines += [f"[{pair()}]" for _ in count("number_placeholders", "num_placeholders")]
    lines += [f"* {pair()}" for _ in count("number_bullet_lists", "num_bullets")]
    if "multiple_sections" in wanted:
        mark = wanted["multiple_sections"]["section_spliter"]
        lines += [f"{mark} {number}\n{pair()}" for number in count("multiple_sections", "num_sections")]
    if "postscript" in wanted:
        lines.append(f"{wanted['postscript']['postscript_marker']} {pair()}")
    if "end_checker" in wanted:
        lines.append(wanted["end_checker"]["end_phrase"])
    return lines


def _opening(wanted: _Wanted, index: int) -> str:
    """The word that this paragraph must start with, "" when any may."""
    first = wanted.get("nth_paragraph_first_word", {})
    return str(first["first_word"]) if first.get("nth_paragraph") == index + 1 else ""


def _words_missing(wanted: _Wanted, text: str) -> int:
    length = wanted.get("number_words", {})
    return max(0, length["num_words"] - len(words(text))) if length.get("relation") == "at least" else 0


def _arrange(wanted: _Wanted, text: str, prose: _Prose) -> str:
    """The request before the answer, and a second answer after it."""
    if "repeat_prompt" in wanted:
        text = f"{wanted['repeat_prompt']['prompt_to_repeat']}\n\n{text}"
    if "two_responses" in wanted:
        text = f"{text}\n******\n{' '.join(prose.take(8))}"
    return text


def _dress(wanted: _Wanted, text: str) -> str:
    """Letter case and quotation marks, over the whole text."""
    if "english_capital" in wanted:
        text = text.upper()
    if "english_lowercase" in wanted:
        text = text.lower()
    return f'"{text}"' if "quotation" in wanted else text
