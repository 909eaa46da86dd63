"""langdetect's answer with its seed fixed, the same answer every time, and many times sooner.

langdetect takes a text apart character by character and updates 55 probabilities one by one, with a random n-gram at
each step. Here the profiles, the n-grams, the random draws and the order of the floating-point operations are its own;
the n-grams of a word are kept, the probabilities are one array, and a trial that cannot change the answer is left out.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from langdetect.detector import Detector
from langdetect.detector_factory import PROFILES_DIRECTORY, DetectorFactory
from langdetect.utils.ngram import NGram
from numpy.typing import NDArray

SEED = 0
_TRIALS = 7
_LONGEST_TEXT = 10_000
_NORMALIZE_EVERY = 5
# Trials end early on a lead that the ones left cannot close, with room for what rounding adds up to.
_ROUNDING = 1e-9


class _NormalizedGrams(NGram):
    """langdetect's n-gram buffer over characters that are normalized already."""

    @classmethod
    def normalize(cls, ch: str) -> str:
        return ch


class _Normalization(dict[int, str]):
    """langdetect's normal form of each character, found when first met (for str.translate)."""

    def __missing__(self, code: int) -> str:
        self[code] = str(NGram.normalize(chr(code)))  # type: ignore[no-untyped-call]
        return self[code]


@dataclass(frozen=True)
class _Profiles:
    """The languages, the row of each n-gram, and how frequent it is in each language (rows by languages)."""

    languages: tuple[str, ...]
    rows: dict[str, int]
    frequencies: NDArray[np.float64]


@cache
def _profiles() -> _Profiles:
    # A factory of our own: langdetect's module-level one would keep 100,000 lists of numbers beside our array.
    factory = DetectorFactory()  # type: ignore[no-untyped-call]
    factory.load_profile(PROFILES_DIRECTORY)  # type: ignore[no-untyped-call]
    rows = {gram: row for row, gram in enumerate(factory.word_lang_prob_map)}
    return _Profiles(tuple(factory.langlist), rows, np.array(list(factory.word_lang_prob_map.values())))


@cache
def known_languages() -> tuple[str, ...]:
    """The codes that the detector can answer, and those without their script ("zh" of "zh-cn"), sorted."""
    codes = [file.name for file in Path(PROFILES_DIRECTORY).iterdir() if not file.name.startswith(".")]
    return tuple(sorted({*codes, *(code.partition("-")[0] for code in codes)}))


_normalization = _Normalization()


@lru_cache(maxsize=65_536)
def _rows(word: str) -> tuple[int, ...]:
    """The rows of the n-grams of a normalized word, in langdetect's order; the word may end in its space."""
    rows, found = _profiles().rows, list[int]()
    buffer = _NormalizedGrams()  # type: ignore[no-untyped-call]
    for character in word:
        buffer.add_char(character)  # type: ignore[no-untyped-call]
        if not buffer.capitalword:
            grams = (buffer.grams[-length:] for length in range(1, len(buffer.grams) + 1))
            found += [rows[gram] for gram in grams if gram != " " and gram in rows]
    return tuple(found)


def _all_rows(text: str) -> list[int]:
    # Addresses go first. Each pattern is slow on text without one, so it is only tried where it may match.
    if "http" in text:
        text = Detector.URL_RE.sub(" ", text)
    if "@" in text:
        text = Detector.MAIL_RE.sub(" ", text)
    if not text.isascii():
        text = str(NGram.normalize_vi(text))  # type: ignore[no-untyped-call]
    text = text[:_LONGEST_TEXT]
    if not text.isascii() and 2 * len(re.findall("[A-z]", text)) < len(re.findall("[\u0300-\U0010ffff]", text)):
        text = re.sub("[A-z]", "", text)
    # An n-gram never reaches across a space, so a text is its words, each with the space after it.
    *words, last = text.translate(_normalization).split(" ")
    found: list[int] = []
    for word in words:
        if word:
            found += _rows(f"{word} ")
    found += _rows(last)
    return found


def _trial(rows: list[int], rng: random.Random) -> NDArray[np.float64]:
    """The probabilities after one of langdetect's trials."""
    frequencies = _profiles().frequencies
    languages = frequencies.shape[1]
    probabilities = np.full(languages, 1.0 / languages)
    weight = (Detector.ALPHA_DEFAULT + rng.gauss(0.0, 1.0) * Detector.ALPHA_WIDTH) / Detector.BASE_FREQ
    factors: dict[int, NDArray[np.float64]] = {}
    # As random.choice draws, without its two calls a draw.
    count, draw = len(rows), rng.getrandbits
    bits = count.bit_length()
    steps, wanted = 0, 1
    while True:
        for _ in range(wanted):
            while (place := draw(bits)) >= count:
                pass
            row = rows[place]
            if row not in factors:
                factors[row] = weight + frequencies[row]
            probabilities *= factors[row]
        steps, wanted = steps + wanted, _NORMALIZE_EVERY
        values = probabilities.tolist()
        total = sum(values)
        probabilities /= total
        if max(values) / total > Detector.CONV_THRESHOLD or steps > Detector.ITERATION_LIMIT:
            return probabilities


@lru_cache(maxsize=256)
def detected_language(text: str) -> str | None:
    """The code that langdetect finds most likely, None when it finds nothing to go by."""
    rows = _all_rows(text)
    if not rows:
        return None
    rng = random.Random(SEED)
    total = np.zeros(len(_profiles().languages))
    for left in reversed(range(_TRIALS)):
        total += _trial(rows, rng) / _TRIALS
        second, first = np.partition(total, -2)[-2:]
        if first - second > left / _TRIALS + _ROUNDING:
            break
    best = int(total.argmax())
    return _profiles().languages[best] if total[best] > Detector.PROB_THRESHOLD else Detector.UNKNOWN_LANG
