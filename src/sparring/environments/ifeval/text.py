"""Reading text for the IFEval checkers: words, sentences, tokens, whether a text is in a language.

Sentences are those of nltk's Punkt with its trained English model, whose tables come with a package, so that nothing is
downloaded. What is found for a text is kept for the other constraints on it, since reading is what a verdict costs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache, lru_cache

import punkt
from nltk.tokenize.destructive import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from sparring.environments.ifeval.language import detected_language

SHORT_TEXT_WORDS = 20
"""Below this many words langdetect guesses: it takes "small boats drift home" for Swedish."""

# The eight views of one reply and a few more.
_TEXTS_KEPT = 32


class UndecidableError(Exception):
    """The text does not allow a verdict; the message says why. It counts as not followed."""


@cache
def _sentence_tokenizer() -> PunktSentenceTokenizer:
    model = punkt.load_model("english")
    parameters = PunktParameters()  # type: ignore[no-untyped-call]
    parameters.abbrev_types = model.abbrev_types
    parameters.collocations = model.collocations
    parameters.sent_starters = model.sent_starters
    parameters.ortho_context = defaultdict(int, model.ortho_context)
    tokenizer = PunktSentenceTokenizer(parameters)  # type: ignore[no-untyped-call]
    # Punkt decides on the few words around a full stop alone, and the views of a reply share nearly all of them.
    kept = lru_cache(maxsize=65_536)(tokenizer.text_contains_sentbreak)
    tokenizer.text_contains_sentbreak = kept  # type: ignore[method-assign]
    return tokenizer


@cache
def _word_tokenizer() -> NLTKWordTokenizer:
    return NLTKWordTokenizer()


@lru_cache(maxsize=_TEXTS_KEPT)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text, by Punkt."""
    return tuple(_sentence_tokenizer().tokenize(text))


def alphanumeric_runs(text: str) -> int:
    r"""The number of runs of `\w`, which is what the official word count counts ("don't" is two)."""
    return len(re.findall(r"\w+", text))


@lru_cache(maxsize=_TEXTS_KEPT)
def capital_tokens(text: str) -> int:
    """The number of tokens in capitals, by nltk.word_tokenize: sentence by sentence, contractions split off."""
    if _without_capital_token(text):
        return 0
    return sum(
        token.isupper()
        for sentence in sentences(text)
        if not _without_capital_token(sentence)
        for token in _word_tokenizer().tokenize(sentence)
    )


def _without_capital_token(text: str) -> bool:
    """True where no token can be in capitals: each capital letter touches a small one, and no token ends there.

    nltk parts letters from letters in words such as "cannot" only, each part two letters long, so a part in capitals
    has a capital letter that touches no small one. Other scripts are left to the tokenizer.
    """
    return text.isascii() and not re.search(r"(?<![a-z])[A-Z](?![a-z])", text)


@lru_cache(maxsize=_TEXTS_KEPT)
def words(text: str) -> tuple[str, ...]:
    """The words as a reader counts them: between spaces, with a letter or digit ("don't" and "well-known" are one)."""
    return tuple(token for token in text.split() if token.isalnum() or any(map(str.isalnum, token)))


def is_language(text: str, language: str) -> bool:
    """Whether the text is in this language, as well as that can be told.

    Capitals are lowered first, since langdetect knows mostly lower-case text. A short text without accents or foreign
    letters is taken for English when English is asked for. Raises UndecidableError when no letters tell.
    """
    letters = "".join(filter(str.isalpha, text))
    if not letters:
        raise UndecidableError("no language can be told: the text has no letters")
    if language == "en" and letters.isascii() and len(words(text)) < SHORT_TEXT_WORDS:
        return True
    detected = detected_language(text.lower())
    if detected is None:
        raise UndecidableError("no language can be told: the detector knows none of the letters")
    return detected.split("-")[0] == language.split("-")[0]


def whole_words(phrase: str) -> str:
    """A pattern for a phrase as whole words, with any spacing; the underscores of markdown are no letters."""
    spaced = r"\s+".join(map(re.escape, phrase.split()))
    return rf"(?<![^\W_]){spaced}(?![^\W_]|[\u0300-\u036f])"


def mentions(text: str, phrase: str) -> int:
    """How often a phrase occurs as whole words, letter case aside ("cat" is not in "concatenate")."""
    return len(re.findall(whole_words(phrase), text, flags=re.IGNORECASE))
