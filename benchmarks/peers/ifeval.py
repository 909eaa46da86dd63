"""lm-eval's IFEval checkers, the copy of the reference that most published scores come from, and both sides' speed."""

from __future__ import annotations

import importlib
import json
import logging
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.ifeval_replies import constraints_of, replies
from benchmarks.peers.comparison import Comparison, PeerMissingError, Work, timed

from sparring.environments.ifeval import constraints, language, text
from sparring.errors import UserError
from sparring.evaluation.benchmarks import data_folder
from sparring.profiles import Profile

Row = Mapping[str, Any]
Pair = tuple[Row, str]
TARGETS: Mapping[Profile, float] = {Profile.OFFICIAL: 3, Profile.FIXED: 10}


@dataclass(frozen=True)
class Verdicts:
    """The verdicts on one reply, one for each instruction of its prompt."""

    strict: tuple[bool, ...]
    loose: tuple[bool, ...]


@cache
def _reference() -> Any:
    """lm-eval's module, langdetect seeded as ours and the sentence model at hand, so that nothing is downloaded."""
    import nltk
    from langdetect.detector_factory import DetectorFactory

    try:
        importlib.import_module("lm_eval")
    except ImportError as error:
        raise PeerMissingError("pip install 'sparring[benchmark]'") from error
    try:
        nltk.data.find("tokenizers/punkt_tab")  # type: ignore[no-untyped-call]
    except LookupError:
        _write_sentence_model(Path(tempfile.mkdtemp(prefix="punkt-")))
    DetectorFactory.seed = language.SEED
    logging.getLogger("lm_eval.tasks.ifeval.instructions").setLevel(logging.CRITICAL)
    return importlib.import_module("lm_eval.tasks.ifeval.utils")


def _write_sentence_model(folder: Path) -> None:
    """The trained English model, from the package that carries it, in the files that nltk reads."""
    import nltk
    import punkt
    from nltk.tokenize.punkt import save_punkt_params

    english = folder / "tokenizers" / "punkt_tab" / "english"
    english.parent.mkdir(parents=True)
    nltk.data.path.insert(0, str(folder))
    save_punkt_params(punkt.load_model("english"), dir=str(english))


def reference_verdicts(row: Row, reply: str) -> Verdicts:
    """What lm-eval says. Raises PeerMissingError when it is not installed."""
    reference = _reference()
    given = reference.InputExample(row["key"], row["instruction_id_list"], row["prompt"], row["kwargs"])
    strict = reference.test_instruction_following_strict(given, reply).follow_instruction_list
    loose = reference.test_instruction_following_loose(given, reply).follow_instruction_list
    return Verdicts(tuple(map(bool, strict)), tuple(map(bool, loose)))


def our_verdicts(row: Row, reply: str, profile: Profile) -> Verdicts:
    """What we say, thinking not taken off, since the reference does not do it here."""
    both = [constraints.judge_both(constraint, reply, profile) for constraint in constraints_of(row)]
    return Verdicts(tuple(each.strict.followed for each in both), tuple(each.loose.followed for each in both))


def official_rows() -> list[dict[str, Any]]:
    """The 541 prompts of the benchmark."""
    file = data_folder() / "ifeval.jsonl"
    if not file.is_file():
        raise UserError(f"{file}: not found; name the folder of the official data files in SPARRING_DATA")
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def pairs(rows: Sequence[Row], each: int) -> list[Pair]:
    """`each` replies to every prompt, spread evenly over the kinds."""
    found = []
    for row in rows:
        made = replies(row)
        found += [(row, made[place * len(made) // each].text) for place in range(each)]
    return found


def measure_ours(given: Sequence[Pair], profile: Profile) -> Work:
    """Checks (one instruction on one reply, strict and loose) by us, models loaded and no text seen before."""
    for module in (constraints, language, text):
        for each in vars(module).values():
            if hasattr(each, "cache_clear"):
                each.cache_clear()
    language.detected_language("loads the profiles")
    text.sentences("Loads the model.")
    return _measured(given, partial(our_verdicts, profile=profile))


def measure_theirs(given: Sequence[Pair]) -> Work:
    """The same checks by lm-eval."""
    reference_verdicts({"key": 0, "prompt": "", "instruction_id_list": [], "kwargs": []}, "loads the module")
    warm = {"instruction_id_list": ["language:response_language"], "kwargs": [{"language": "en"}]}
    reference_verdicts({"key": 0, "prompt": "", **warm}, "loads the profiles")
    return _measured(given, reference_verdicts, version("lm-eval"))


def _measured(given: Sequence[Pair], verdicts: Callable[[Row, str], Verdicts], release: str = "") -> Work:
    return timed(lambda: sum(len(verdicts(row, reply).strict) for row, reply in given), release)


def comparisons() -> list[Comparison]:
    """Checks a second in either profile, over eight replies to each of the 541 prompts."""
    given = cache(lambda: pairs(official_rows(), each=8))

    def compared(profile: Profile, target: float) -> Comparison:
        return Comparison(
            name=f"ifeval {profile.value}: checks, strict and loose",
            peer="lm-eval",
            ours=lambda: measure_ours(given(), profile),
            theirs=lambda: measure_theirs(given()),
            target=target,
            repeats=2,
        )

    return [compared(profile, target) for profile, target in TARGETS.items()]
