"""What sets profile `fixed` apart from the reference: the kinds of docs/ifeval_profiles.md, as they show in a text.

For each family, and each way in which the verdicts can differ, a feature that the text must have. A difference on a
text without it is a fault, of ours or of that list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from sparring.environments.ifeval.language import detected_language
from sparring.environments.ifeval.official import CONSTRAINED_RESPONSES
from sparring.environments.ifeval.text import SHORT_TEXT_WORDS, mentions, sentences, words

Feature = Callable[[str, Mapping[str, Any]], object]

_OTHER_COMMAS = "[\uff0c\u3001\u060c\ufe50\u1363]"


def _unlike_a_pattern(text: str, parameters: Mapping[str, Any]) -> bool:
    """A keyword matches as a pattern at other places than it stands as a whole word."""
    keywords = parameters.get("keywords") or [parameters["keyword"]]
    return any(len(re.findall(keyword, text, re.IGNORECASE)) != mentions(text, keyword) for keyword in keywords)


def _forbidden(sign: str) -> Feature:
    return lambda text, parameters: any(
        re.search(sign.format(re.escape(word)), text, re.IGNORECASE) for word in parameters["forbidden_words"]
    )


def _untold_language(text: str, parameters: Mapping[str, Any]) -> bool:
    return detected_language(text) is None


def _wordless_sentence(text: str, parameters: Mapping[str, Any]) -> bool:
    """A sentence without a letter or digit, or the number of a list."""
    return bool(re.search(r"(?m)^[ \t]*\d+[.)][ \t]", text)) or any(not words(each) for each in sentences(text))


def _divider_not_alone(text: str, parameters: Mapping[str, Any]) -> bool:
    beside = any("***" in line and line.strip() != "***" for line in text.split("\n"))
    return beside or bool(re.search(r"\*{3}\s*\*{3}", text))


def _words_not_runs(text: str, parameters: Mapping[str, Any]) -> bool:
    r"""Something between spaces that is not one run of `\w` exactly where it is one word."""
    return any(len(re.findall(r"\w+", token)) != len(words(token)) for token in text.split())


def _section_marks(text: str, parameters: Mapping[str, Any]) -> bool:
    """Marks repeated, more than asked for, or not a word and a number with a space between."""
    mark = re.escape(parameters["section_spliter"])
    numbers = re.findall(rf"{mark}\s?(\d+)", text)
    return len(set(numbers)) != parameters["num_sections"] or bool(re.search(rf"\w{mark}|{mark}\d", text))


def _alike_or_no_divider(text: str, parameters: Mapping[str, Any]) -> bool:
    parts = [" ".join(part.casefold().split()) for part in text.split("******")]
    filled = [part for part in parts if part]
    return len(set(filled)) < len(filled) or bool(re.search(r"\*{7}", text))


def _spaced(text: str) -> str:
    return " ".join(text.lower().split())


def _capitals_with_marks(text: str, parameters: Mapping[str, Any]) -> bool:
    return any(re.search("[^\\W\\d_]", token) and not token.isalnum() for token in text.split())


FEATURES: Mapping[tuple[str, bool], Feature] = {
    ("keywords:existence", True): _unlike_a_pattern,
    ("keywords:existence", False): _unlike_a_pattern,
    ("keywords:frequency", True): _unlike_a_pattern,
    ("keywords:frequency", False): _unlike_a_pattern,
    ("keywords:forbidden_words", True): _forbidden("_{0}|{0}_"),
    ("keywords:forbidden_words", False): lambda text, parameters: (
        any(re.search(r"[^\w\s-]", word) for word in parameters["forbidden_words"])
        or _forbidden("{0}[\u0300-\u036f]")(text, parameters)
    ),
    ("language:response_language", True): _untold_language,
    ("language:response_language", False): lambda text, parameters: text != text.lower(),
    ("length_constraints:number_sentences", True): _wordless_sentence,
    ("length_constraints:number_sentences", False): _wordless_sentence,
    ("length_constraints:number_paragraphs", True): _divider_not_alone,
    ("length_constraints:number_paragraphs", False): _divider_not_alone,
    ("length_constraints:number_words", True): _words_not_runs,
    ("length_constraints:number_words", False): _words_not_runs,
    ("length_constraints:nth_paragraph_first_word", True): lambda text, parameters: re.search(r"\n\s+\n", text),
    ("length_constraints:nth_paragraph_first_word", False): lambda text, parameters: re.search(
        r"\n\s+\n|[^\w\s.,?!'\"]", text
    ),
    ("detectable_content:number_placeholders", True): lambda text, parameters: re.search(
        r"\[[^\w\]]*\]|\]\(|\[[^\]]*\[", text
    ),
    ("detectable_content:postscript", True): lambda text, parameters: re.search(
        r"(?i)[\w.]\s?p\.\s?s|p\.\s?p\.\s?s\w|s\.?\W*$", text
    ),
    ("detectable_format:number_bullet_lists", True): lambda text, parameters: re.search(
        r"(?m)^\s*(\*[^ \t*]|-[^ \t]|[-*]\W*$|\+[ \t])", text
    ),
    ("detectable_format:number_bullet_lists", False): lambda text, parameters: re.search(
        r"(?m)^\s*(\*[^ \t*]|-[^ \t]|[-*]\W*$|\+[ \t])", text
    ),
    ("detectable_format:constrained_response", True): lambda text, parameters: (
        sum(answer in text for answer in CONSTRAINED_RESPONSES) > 1
    ),
    ("detectable_format:number_highlighted_sections", True): lambda text, parameters: re.search(
        r"\*\*|\*\s|\w\*\w|\*[^\w\n]+\*", text
    ),
    ("detectable_format:multiple_sections", True): _section_marks,
    ("detectable_format:multiple_sections", False): lambda text, parameters: re.search(r"\s[IVXLCivxlc]+\b", text),
    ("detectable_format:json_format", True): lambda text, parameters: (
        text.strip()[:1] not in "[{" or re.search("NaN|Infinity|```", text)
    ),
    ("detectable_format:title", True): lambda text, parameters: re.search(r"<<[^\n]*[<>][^\n]*>>|<<\W*>>", text),
    ("combination:two_responses", True): _alike_or_no_divider,
    ("combination:two_responses", False): lambda text, parameters: re.search(r"\*{7}|\*{6}\s*\*{6}", text),
    ("combination:repeat_prompt", True): lambda text, parameters: (
        len(words(_spaced(text)[len(_spaced(parameters["prompt_to_repeat"])) :])) == 0
    ),
    ("combination:repeat_prompt", False): lambda text, parameters: _spaced(text).startswith(
        _spaced(parameters["prompt_to_repeat"])
    ),
    ("startend:end_checker", True): lambda text, parameters: re.search(
        rf"(?i)[^\W_]{re.escape(parameters['end_phrase'])}", text
    ),
    ("startend:end_checker", False): lambda text, parameters: (
        re.search("[\"'*\u201d\u2019`]\\s*$", text)
        or (parameters["end_phrase"].lower() not in text.lower() and _spaced(parameters["end_phrase"]) in _spaced(text))
    ),
    ("startend:quotation", True): lambda text, parameters: not words(text) or text.count('"') > 2,
    ("startend:quotation", False): lambda text, parameters: re.search("[\u201c\u201d]", text),
    ("change_case:capital_word_frequency", True): _capitals_with_marks,
    ("change_case:capital_word_frequency", False): _capitals_with_marks,
    ("change_case:english_capital", True): lambda text, parameters: detected_language(text.lower()) != "en",
    ("change_case:english_capital", False): lambda text, parameters: text.isupper(),
    ("change_case:english_lowercase", True): _untold_language,
    ("change_case:english_lowercase", False): lambda text, parameters: len(words(text)) < SHORT_TEXT_WORDS,
    ("punctuation:no_comma", True): lambda text, parameters: re.search(_OTHER_COMMAS, text),
}
"""By family and the verdict of the reference; the verdict of `fixed` is the other one."""


def is_listed(family: str, parameters: Mapping[str, Any], text: str, reference: bool) -> bool:
    """Whether a difference between the reference and `fixed` on a text is of a kind that is listed."""
    feature = FEATURES.get((family, reference))
    return feature is not None and bool(feature(text, parameters))
