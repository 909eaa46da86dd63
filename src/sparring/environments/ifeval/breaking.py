"""Near misses: a text that follows a constraint, changed by the least that breaks it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence

from sparring.environments.ifeval.constraints import Constraint, judge
from sparring.environments.ifeval.prose import PROSE
from sparring.environments.ifeval.text import mentions, whole_words, words
from sparring.profiles import Profile

Break = Callable[..., Sequence[str]]

_FILLERS = ("so", "we", "go", "by", "my", "um", "it")
"""Short words to put in a text; several, since one of them may be forbidden or hold a letter that must be rare."""


def near_misses(constraint: Constraint, text: str) -> list[str]:
    """Texts near this one that should break the constraint, the smallest change first; none is blank."""
    broken = _BREAKS[constraint.id](text, **constraint.parameters)
    return [each.strip() for each in broken if each.strip()]


def break_one(constraints: Sequence[Constraint], text: str, rng: random.Random) -> str | None:
    """The text with exactly one constraint broken, drawn by `rng`; with more than one broken where no text is found.

    Judged by profile `fixed`. None when no near miss breaks anything.
    """
    spare: str | None = None
    for target in rng.sample(constraints, len(constraints)):
        for candidate in near_misses(target, text):
            if judge(target, candidate, Profile.FIXED).followed:
                continue
            others = (other for other in constraints if other is not target)
            if all(judge(other, candidate, Profile.FIXED).followed for other in others):
                return candidate
            spare = spare or candidate
    return spare


def _insert(text: str, inserted: str) -> list[str]:
    """Words put after the first word, in the middle of the first line, and before the last word."""
    places = [match.start() for match in re.finditer(r"(?<=\w) (?=\w)", text)]
    if not places:
        return [f"{text} {inserted}", f"{inserted} {text}"]
    chosen = dict.fromkeys((places[0], places[len(places) // 2], places[-1]))
    return [f"{text[:place]} {inserted}{text[place:]}" for place in chosen]


def _fill(text: str, count: int) -> list[str]:
    return [filled for word in _FILLERS for filled in _insert(text, " ".join([word] * count))]


def _without(text: str, pattern: str, kept: int, replacement: str = "", flags: int = re.IGNORECASE) -> str:
    """All matches after the first `kept` replaced."""
    found = list(re.finditer(pattern, text, flags))
    for match in reversed(found[kept:]):
        text = text[: match.start()] + match.expand(replacement) + text[match.end() :]
    return text


def _removed(text: str, phrase: str, kept: int) -> list[str]:
    return [_without(text, whole_words(phrase), kept, word) for word in ("", *_FILLERS)]


def _existence(text: str, keywords: Sequence[str]) -> list[str]:
    return [broken for keyword in keywords for broken in _removed(text, keyword, 0)]


def _frequency(text: str, keyword: str, frequency: int, relation: str) -> list[str]:
    if relation == "less than":
        return _insert(text, " ".join([keyword] * max(1, frequency - mentions(text, keyword))))
    return _removed(text, keyword, max(0, frequency - 1))


def _forbidden(text: str, forbidden_words: Sequence[str]) -> list[str]:
    return [broken for word in forbidden_words for broken in _insert(text, word)]


def _letter(text: str, letter: str, let_frequency: int, let_relation: str) -> list[str]:
    if let_relation == "less than":
        return _insert(text, letter * max(1, let_frequency - text.lower().count(letter.lower())))
    kept = max(0, let_frequency - 1)
    without = rf"\S*{re.escape(letter)}\S*"
    return [_without(text, re.escape(letter), kept, other) for other in ("a", "e", "")] + [_without(text, without, 0)]


def _language(text: str, language: str) -> list[str]:
    other = PROSE["en" if language != "en" else "de"]
    return [f"{text}\n{other} {other}", f"{other} {other}\n{text}", other]


def _sentences(text: str, num_sentences: int, relation: str) -> list[str]:
    if relation == "less than":
        return [filled for word in _FILLERS for filled in _insert(text, f"{word}. {word.title()}. " * num_sentences)]
    return [_without(text, r"[.?!](?=\s|$)", kept) for kept in (num_sentences - 2, 0) if kept >= 0]


def _paragraphs(text: str, num_paragraphs: int) -> list[str]:
    more = [f"{word}\n***\n{text}" for word in _FILLERS] + [f"{text}\n***\n{word}" for word in _FILLERS]
    return [_without(text, r"\n\*\*\*\n", num_paragraphs - 2, "\n"), *more] if num_paragraphs > 1 else more


def _words(text: str, num_words: int, relation: str) -> list[str]:
    there = len(words(text))
    if relation == "less than":
        return _fill(text, max(1, num_words - there))
    spare = max(1, there - num_words + 1)
    plain = list(re.finditer(r"(?<=[a-z] )[a-z]+ (?=[a-z])", text))
    for match in reversed(plain[:spare]):
        text = text[: match.start()] + text[match.end() :]
    return [text, " ".join(text.split()[: num_words - 1])]


def _first_word(text: str, num_paragraphs: int, nth_paragraph: int, first_word: str) -> list[str]:
    parts = text.split("\n\n")
    nth = min(nth_paragraph, len(parts)) - 1
    return [
        "\n\n".join([*parts[:nth], changed, *parts[nth + 1 :]])
        for word in _FILLERS
        for changed in (f"{word} {parts[nth]}", re.sub(re.escape(first_word), word, parts[nth], flags=re.IGNORECASE))
    ] + [f"{text}\n\n{word}" for word in _FILLERS]


def _placeholders(text: str, num_placeholders: int) -> list[str]:
    return [_without(text, r"\[([^\[\]]*)\]", num_placeholders - 1, r"\1")]


def _postscript(text: str, postscript_marker: str) -> list[str]:
    letters = postscript_marker.replace(".", "")
    return [re.sub(re.escape(postscript_marker), mark, text, flags=re.IGNORECASE) for mark in (letters, "", "so")]


def _bullets(text: str, num_bullets: int) -> list[str]:
    fewer = _without(text, r"^([ \t]*)[*+-][ \t]+(?=[^\n]*\w)", num_bullets - 1, r"\1", re.MULTILINE)
    return [fewer, *(f"* {word}\n{text}" for word in _FILLERS), *(f"{text}\n* {word}" for word in _FILLERS)]


def _answers(text: str) -> list[str]:
    return [
        re.sub(r"My answer is (\w+)\.", changed, text) for changed in (r"My answer is \1", r"my answer is \1.", "so")
    ]


def _highlights(text: str, num_highlights: int) -> list[str]:
    return [_without(text, r"(\*{1,3})(?![\s*])([^\n*]+)(?<!\s)\1", num_highlights - 1, r"\2")]


def _sections(text: str, section_spliter: str, num_sections: int) -> list[str]:
    mark = re.escape(section_spliter)
    fewer = [_without(text, rf"(?<!\w){mark}\s+\d+", max(0, num_sections - 1), word) for word in ("", *_FILLERS)]
    return fewer + [f"{section_spliter} {num_sections + 1}\n{word}\n{text}" for word in _FILLERS]


def _json(text: str) -> list[str]:
    return [text[:-1], f"{text} so"]


def _title(text: str) -> list[str]:
    return [text.replace(">>", ">"), text.replace(">>", ""), text.replace("<<", "").replace(">>", "")]


def _two(text: str) -> list[str]:
    first = text.split("******")[0]
    return [text.replace("******", "*****"), text.replace("******", ""), f"{first}******{first}", f"{text}\n******\nso"]


def _repeat(text: str, prompt_to_repeat: str) -> list[str]:
    body = text.strip()
    return [body[1:], f"so {body}", body[: len(prompt_to_repeat)]]


def _end(text: str, end_phrase: str) -> list[str]:
    phrase = re.escape(end_phrase)
    ends = [re.sub(rf"{phrase}(\W*)$", rf"{end_phrase} {word}\1", text, flags=re.IGNORECASE) for word in _FILLERS]
    return ends + [re.sub(rf"{phrase}(\W*)$", rf"{word}\1", text, flags=re.IGNORECASE) for word in _FILLERS]


def _quotation(text: str) -> list[str]:
    return [text.strip()[:-1], text.strip()[1:]]


def _capital_words(text: str, capital_frequency: int, capital_relation: str) -> list[str]:
    there = [token for token in words(text) if token.isupper()]
    if capital_relation == "less than":
        missing = max(1, capital_frequency - len(there))
        return [inserted for word in _FILLERS for inserted in _insert(text, " ".join([word.upper()] * missing))]
    lowered = text
    for token in there[max(0, capital_frequency - 1) :]:
        lowered = re.sub(rf"(?<!\S){re.escape(token)}(?!\S)", token.lower(), lowered, count=1)
    return [lowered, text.lower()]


def _letter_case(change: Callable[[str], str]) -> Break:
    """One letter changed, from each end of the text in turn."""

    def broken(text: str) -> list[str]:
        places = [place for place, letter in enumerate(text) if change(letter) != letter]
        return [text[:place] + change(text[place]) + text[place + 1 :] for place in (*places[1:3], *places[:1])]

    return broken


def _comma(text: str) -> list[str]:
    return [text.replace(" ", ", ", 1), re.sub(r"(?<=[a-z]) (?=[a-z])", ", ", text, count=1), f"{text},"]


_BREAKS: Mapping[str, Break] = {
    "keywords:existence": _existence,
    "keywords:frequency": _frequency,
    "keywords:forbidden_words": _forbidden,
    "keywords:letter_frequency": _letter,
    "language:response_language": _language,
    "length_constraints:number_sentences": _sentences,
    "length_constraints:number_paragraphs": _paragraphs,
    "length_constraints:number_words": _words,
    "length_constraints:nth_paragraph_first_word": _first_word,
    "detectable_content:number_placeholders": _placeholders,
    "detectable_content:postscript": _postscript,
    "detectable_format:number_bullet_lists": _bullets,
    "detectable_format:constrained_response": _answers,
    "detectable_format:number_highlighted_sections": _highlights,
    "detectable_format:multiple_sections": _sections,
    "detectable_format:json_format": _json,
    "detectable_format:title": _title,
    "combination:two_responses": _two,
    "combination:repeat_prompt": _repeat,
    "startend:end_checker": _end,
    "startend:quotation": _quotation,
    "change_case:capital_word_frequency": _capital_words,
    "change_case:english_capital": _letter_case(str.lower),
    "change_case:english_lowercase": _letter_case(str.upper),
    "punctuation:no_comma": _comma,
}
