"""The IFEval checkers that judge what the instruction says (profile `fixed`), where that differs from the reference.

Same parameters as in official; a family without a function here is judged alike in both profiles.
docs/ifeval_profiles.md shows an example of each difference.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NoReturn

from sparring.environments.ifeval.official import CONSTRAINED_RESPONSES, compare
from sparring.environments.ifeval.text import is_language, mentions, sentences, whole_words, words


def existence(text: str, keywords: Sequence[str]) -> bool:
    """Every keyword occurs, literally, as a whole word."""
    return all(mentions(text, keyword) for keyword in keywords)


def frequency(text: str, keyword: str, frequency: int, relation: str) -> bool:
    """The keyword occurs so often, literally, as a whole word."""
    return compare(mentions(text, keyword), relation, frequency)


def forbidden_words(text: str, forbidden_words: Sequence[str]) -> bool:
    """No word occurs, literally, as a whole word."""
    return not any(mentions(text, word) for word in forbidden_words)


def response_language(text: str, language: str) -> bool:
    """The text is in the language; a text without letters is in none."""
    return is_language(text, language)


def number_sentences(text: str, num_sentences: int, relation: str) -> bool:
    """So many sentences that hold a letter or digit; the numbers of a list are none."""
    unnumbered = re.sub(r"^[ \t]*\d+[.)](?=[ \t])", "", text, flags=re.MULTILINE)
    spoken = sum(any(map(str.isalnum, sentence)) for sentence in sentences(unnumbered))
    return compare(spoken, relation, num_sentences)


def number_paragraphs(text: str, num_paragraphs: int) -> bool:
    """So many non-blank parts between dividers, each a line with *** alone."""
    parts = re.split(r"^[ \t]*\*\*\*[ \t\r]*$", text, flags=re.MULTILINE)
    return sum(1 for part in parts if part.strip()) == num_paragraphs


def number_words(text: str, num_words: int, relation: str) -> bool:
    """So many words as a reader counts them."""
    return compare(len(words(text)), relation, num_words)


def nth_paragraph_first_word(text: str, num_paragraphs: int, nth_paragraph: int, first_word: str) -> bool:
    """So many non-blank paragraphs between blank lines, and the nth of them starts with the word, mark-up aside."""
    paragraphs = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    if len(paragraphs) != num_paragraphs:
        return False
    start = re.match(rf"[\W_]*{re.escape(first_word)}(?![^\W_]|-\w)", paragraphs[nth_paragraph - 1], re.IGNORECASE)
    return start is not None


def number_placeholders(text: str, num_placeholders: int) -> bool:
    """At least so many square brackets with a word inside that are not links."""
    brackets = re.findall(r"\[([^\[\]\n]*)\](?!\()", text)
    return sum(1 for inside in brackets if words(inside)) >= num_placeholders


def postscript(text: str, postscript_marker: str) -> bool:
    """The marker, not as the tail of a longer one, with words after it; spaces after its dots do not matter."""
    letters = [re.escape(part) for part in postscript_marker.split(".") if part]
    marker = r"\.\s?".join(letters) + (r"\." if postscript_marker.endswith(".") else r"(?!\w)")
    return re.search(rf"(?<![\w.])(?<!\bp\.\s){marker}[\s\S]*?\w", text, re.IGNORECASE) is not None


def number_bullet_lists(text: str, num_bullets: int) -> bool:
    """Exactly so many lines with a bullet mark, a space and a word."""
    return len(re.findall(r"^[ \t]*[*+-][ \t]+[^\n]*\w", text, flags=re.MULTILINE)) == num_bullets


def constrained_response(text: str) -> bool:
    """Exactly one of the three answers occurs."""
    return sum(response in text for response in CONSTRAINED_RESPONSES) == 1


def number_highlighted_sections(text: str, num_highlights: int) -> bool:
    """At least so many stretches in asterisks that touch their text on both sides, as markdown asks."""
    stretches = re.findall(r"(?<![*A-Za-z0-9])(\*{1,3})(?![\s*])([^\n*]*?)(?<!\s)\1(?![*A-Za-z0-9])", text)
    return sum(1 for _, stretch in stretches if words(stretch)) >= num_highlights


def multiple_sections(text: str, section_spliter: str, num_sections: int) -> bool:
    """Exactly so many different marks, numbered with digits or roman numerals."""
    numbers = re.findall(rf"(?<!\w){re.escape(section_spliter)}\s+(\d+|[IVXLC]+|[ivxlc]+)(?!\w)", text)
    return len({number.upper() for number in numbers}) == num_sections


def json_format(text: str) -> bool:
    """The whole reply, a code fence aside, is one JSON object or list by the standard."""
    fenced = re.fullmatch(r"```(?:json)?\s*\n?([\s\S]*?)```", text.strip(), re.IGNORECASE)
    try:
        value = json.loads(fenced.group(1) if fenced else text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict | list)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def title(text: str) -> bool:
    """A word stands between << and >>, with no other angular bracket inside."""
    return any(words(inside) for inside in re.findall(r"<<([^\n<>]*)>>", text))


def two_responses(text: str) -> bool:
    """Two parts around exactly six asterisks that differ in more than spacing and letter case."""
    parts = [part.casefold().split() for part in re.split(r"(?<!\*)\*{6}(?!\*)", text)]
    filled = [part for part in parts if part]
    return len(filled) == 2 and filled[0] != filled[1]


def repeat_prompt(text: str, prompt_to_repeat: str) -> bool:
    """The reply starts with the request, letter case and spacing aside, and something follows it."""
    reply, request = " ".join(text.lower().split()), " ".join(prompt_to_repeat.lower().split())
    return reply.startswith(request) and bool(re.search(r"\w", reply[len(request) :]))


_CLOSING_MARKS = " \t\r\n\"'*\u201d\u2019`"


def end_checker(text: str, end_phrase: str) -> bool:
    """The reply, closing marks aside, ends with the phrase as whole words."""
    body = text.rstrip(_CLOSING_MARKS)
    phrase = end_phrase.rstrip(_CLOSING_MARKS) or end_phrase
    return re.search(rf"{whole_words(phrase)}$", body, re.IGNORECASE) is not None


def quotation(text: str) -> bool:
    """The reply stands in one pair of double quotation marks, straight or curly, with a word inside."""
    body = text.strip()
    if len(body) < 2 or body[0] not in '"\u201c' or body[-1] not in '"\u201d' or not words(body):
        return False
    depth = 1
    for mark in re.finditer('["\u201c\u201d]', body[:-1]):
        if mark.start() > 0:
            depth += _depth(body, mark.start())
        if depth == 0:
            return False  # the marks that the reply began with are closed before its end
    return True


def _depth(text: str, place: int) -> int:
    """1 for a quotation mark that opens, -1 for one that closes, 0 for one that may be either, such as in inches."""
    if text[place] != '"':
        return 1 if text[place] == "\u201c" else -1
    opens = text[place + 1].isalnum()
    closes = not text[place - 1].isspace() and not opens
    return 1 if opens and not text[place - 1].isalnum() else -1 if closes else 0


def capital_word_frequency(text: str, capital_frequency: int, capital_relation: str) -> bool:
    """So many words in capitals as a reader counts words."""
    return compare(sum(word.isupper() for word in words(text)), capital_relation, capital_frequency)


def english_capital(text: str) -> bool:
    """No lower-case letter, and the words are English."""
    return text.isupper() and is_language(text, "en")


def english_lowercase(text: str) -> bool:
    """No capital letter, and the words are English."""
    return text.islower() and is_language(text, "en")


_COMMAS = (
    ",\u055d\u060c\u07f8\u1363\u1802\u1808\u2e32"
    "\u2e34\u2e41\u3001\ua4fe\ua60d\ua6f5\ufe10\ufe11\ufe50\ufe51\uff0c\uff64"
)


def no_comma(text: str) -> bool:
    """No comma of any script."""
    return not re.search(f"[{_COMMAS}]", text)
