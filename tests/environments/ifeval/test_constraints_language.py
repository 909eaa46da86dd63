import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langdetect.detector_factory import DetectorFactory, detect
from langdetect.lang_detect_exception import LangDetectException

from sparring.environments.ifeval.language import SEED, detected_language, known_languages
from sparring.environments.ifeval.prose import PROSE

PIECES = (
    *("the ", "und ", "de ", "och ", "a", "TH", "E", " ", "  ", "\n", "1", ".", "-"),
    *(
        "é",
        "e\u0301",
        "ș",
        "ế",
        "ñ",
        "ß",
        "İ",
        "ø",
        "д",
        "и",
        "ع",
        "\u06cc",
        "א",
        "中",
        "文",
        "あ",
        "カ",
        "한",
        "ठ",
        "ไ",
    ),
    *("\u200b", "\u00a0", "\U0001f600", "a@b.org", "http://x.org/a?b", "@", "http"),
)


@pytest.fixture(autouse=True)
def seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DetectorFactory, "seed", SEED)


def by_langdetect(text: str) -> str | None:
    try:
        return str(detect(text))  # type: ignore[no-untyped-call]
    except LangDetectException:
        return None


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_the_answer_is_that_of_langdetect_with_its_seed(text: str) -> None:
    assert detected_language(text) == by_langdetect(text)


@pytest.mark.parametrize("code", PROSE)
def test_each_prose_is_recognised_by_both(code: str) -> None:
    assert detected_language(PROSE[code]) == by_langdetect(PROSE[code]) == code


def test_long_texts_capitals_and_what_is_cut_off_are_read_alike() -> None:
    rng = random.Random(3)
    mixed = " ".join(rng.choices([word for prose in PROSE.values() for word in prose.split()], k=300))
    late = f"{PROSE['en']} " * 20 + f"{PROSE['de']} " * 60  # the German begins near the 10,000th character
    for text in (mixed, mixed.upper(), mixed.title(), late, "ab" * 6000, PROSE["ru"] + PROSE["en"][:40]):
        assert detected_language(text) == by_langdetect(text)


def test_known_languages_are_those_of_the_detector() -> None:
    detected = {detected_language(prose) for prose in PROSE.values()}
    assert detected < set(known_languages())
    assert {"zh", "zh-cn", "en"} < set(known_languages())
    assert "xx" not in known_languages()
