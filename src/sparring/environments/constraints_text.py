"""Reading text for the IFEval checkers: words, sentences, languages. Offline and repeatable.

The official checkers load nltk's trained Punkt model, which has to be downloaded. Here Punkt runs with its rules and a
short list of common English abbreviations instead of the trained tables (docs/ifeval_profiles.md says what differs).
Language detection is langdetect with its seed fixed, so a text always gets the same verdict.
"""

from __future__ import annotations

import re
from functools import cache

from langdetect.detector_factory import DetectorFactory, detect
from langdetect.lang_detect_exception import LangDetectException
from nltk.tokenize.destructive import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
from nltk.tokenize.regexp import RegexpTokenizer

DetectorFactory.seed = 0

SHORT_TEXT_WORDS = 20
"""Below this many words langdetect guesses: it takes "small boats drift home" for Swedish."""

# Only abbreviations that the trained English model knows too: it ends a sentence after "i.e.", "etc." and "P.S.".
_ABBREVIATIONS = (
    "adm a.m aug ave co col corp dec dr feb ft gen inc jan jr lt ltd maj messrs mr mrs ms nov oct ph.d p.m prof rep "
    "sen sept sr st u.k u.n u.s u.s.a vs c d e f g h k l m n p r s t v w"
)


class UndecidableError(Exception):
    """The text does not allow a verdict; the message says why. It counts as not followed."""


@cache
def _sentence_tokenizer() -> PunktSentenceTokenizer:
    parameters = PunktParameters()  # type: ignore[no-untyped-call]
    parameters.abbrev_types = set(_ABBREVIATIONS.split())
    return PunktSentenceTokenizer(parameters)  # type: ignore[no-untyped-call]


@cache
def _word_tokenizer() -> RegexpTokenizer:
    return RegexpTokenizer(r"\w+")  # type: ignore[no-untyped-call]


@cache
def _treebank_tokenizer() -> NLTKWordTokenizer:
    return NLTKWordTokenizer()


def sentences(text: str) -> list[str]:
    """The sentences of a text, by Punkt."""
    return list(_sentence_tokenizer().tokenize(text))


def alphanumeric_runs(text: str) -> list[str]:
    r"""The runs of `\w`, which is what the official word count counts ("don't" is two)."""
    return list(_word_tokenizer().tokenize(text))  # type: ignore[no-untyped-call]


def treebank_tokens(text: str) -> list[str]:
    """Tokens as nltk.word_tokenize makes them: sentence by sentence, contractions and punctuation split off."""
    return [token for sentence in sentences(text) for token in _treebank_tokenizer().tokenize(sentence)]


def words(text: str) -> list[str]:
    """The words as a reader counts them: between spaces, with a letter or digit ("don't" and "well-known" are one)."""
    return [token for token in text.split() if any(character.isalnum() for character in token)]


def detected_language(text: str) -> str | None:
    """The ISO 639-1 code langdetect finds most likely, None when it finds nothing to go by."""
    try:
        return str(detect(text))  # type: ignore[no-untyped-call]
    except LangDetectException:
        return None


def is_language(text: str, language: str) -> bool:
    """Whether the text is in this language, as well as that can be told.

    Capitals are lowered first, since langdetect knows mostly lower-case text. A short text without accents is taken for
    English when English is asked for. Raises UndecidableError when the text has no letters.
    """
    if not any(character.isalpha() for character in text):
        raise UndecidableError("no language can be told: the text has no letters")
    if language == "en" and len(words(text)) < SHORT_TEXT_WORDS:
        return all(character.isascii() for character in text if character.isalpha())
    detected = detected_language(text.lower())
    return detected is not None and detected.split("-")[0] == language.split("-")[0]


def mentions(text: str, phrase: str) -> int:
    """How often a phrase occurs as whole words, letter case aside ("cat" is not in "concatenate")."""
    return len(re.findall(rf"(?<!\w){re.escape(phrase)}(?!\w)", text, flags=re.IGNORECASE))
