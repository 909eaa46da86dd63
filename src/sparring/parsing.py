"""Reading what a policy wrote: thinking, tags, JSON, difficulty emissions, plans, cells.

Pure text. Every reader drops the thinking first and answers None (or an empty list) when nothing
can be read; none of them raises on any text.
"""

from __future__ import annotations

import json
import re
from typing import Any

from sparring.tasks import PromptPack

_THINK, _END_THINK = "<think>", "</think>"
STAGES_AT_MOST = 4
"""Stages of a plan (LURE 1.5)."""
_OBJECT_OPENS = re.compile(r'\{(?=\s*["}])')

# strict=False: models write raw line breaks inside strings, and the benchmarks accept them.
_DECODER = json.JSONDecoder(strict=False)


def remove_thinking(text: str) -> str | None:
    """The part after the last </think>; None when a <think> after it was never closed."""
    answer = text.rpartition(_END_THINK)[2]
    return None if _THINK in answer else answer


def json_objects(text: str) -> list[dict[str, Any]]:
    """All complete top-level JSON objects in `text`, in order.

    A brace opens an object only where a key or a closing brace follows, so sets in prose are
    skipped. An object that was begun and never closed takes the rest of the text with it: the
    complete objects inside it are parts of an answer, not answers.
    """
    found: list[dict[str, Any]] = []
    end: int | None = 0
    while end is not None and (opens := _OBJECT_OPENS.search(text, end)) is not None:
        decoded = _decode(text, opens.start())
        if decoded is None:
            end = _closing_brace(text, opens.start())
        else:
            found.append(decoded[0])
            end = decoded[1]
    return found


def last_json_object(text: str) -> dict[str, Any] | None:
    """The last complete top-level JSON object in `text`."""
    objects = json_objects(text)
    return objects[-1] if objects else None


def parse_emission(text: str) -> float | None:
    """The difficulty an evader emitted; None unless well-formed (SPEC 1.3).

    Well-formed: exactly one JSON object, with exactly the key "difficulty", a finite number in
    [0, 1]. Nothing is clamped, and true is not a number.
    """
    answer = remove_thinking(text)
    objects = json_objects(answer) if answer is not None else []
    if len(objects) != 1 or objects[0].keys() != {"difficulty"}:
        return None
    if answer is not None and answer.count('"difficulty"') != 1:
        return None  # the key twice, or once more in an object that was begun behind the first
    value = objects[0]["difficulty"]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Compared before the conversion: an integer of a thousand digits has no float. NaN fails too.
    return float(value) if 0 <= value <= 1 else None


def parse_plan(text: str, pack: PromptPack, stage_limit: int = STAGES_AT_MOST) -> tuple[str, ...] | None:
    """The stages a planner wrote, 1 to `stage_limit` of them, none empty; None when there is no such plan.

    Chat: the last JSON list of strings. Compact: the words, split into stages at the word ",".
    """
    answer = remove_thinking(text)
    if answer is None:
        return None
    stages = _last_list_of_strings(answer) if pack is PromptPack.CHAT else _split_at_commas(answer)
    if stages is None or not 1 <= len(stages) <= stage_limit or not all(stages):
        return None
    return tuple(stages)


def last_between(text: str, opening: str, closing: str) -> str | None:
    """What stands between the last pair of two literal marks, stripped; None without a pair.

    Give it one turn of the policy, never a transcript: a tool may quote the marks as well.
    """
    end = text.rfind(closing)
    start = text.rfind(opening, 0, end) if end >= 0 else -1
    return text[start + len(opening) : end].strip() if start >= 0 else None


def last_tag(text: str, tag: str) -> str | None:
    """What stands in the last <tag>...</tag> of `text`, stripped; None without one."""
    return last_between(text, f"<{tag}>", f"</{tag}>")


def folded(key: str) -> str:
    """A key without case, spaces and punctuation: "house_1" and "House 1" fold to the same."""
    return "".join(character for character in key.casefold() if character.isalnum())


def cell_text(value: object) -> str | None:
    """What a JSON cell says, without case and outer spaces; None when it says nothing readable.

    Numbers are read as their digits, and a list of one item as that item.
    """
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        return value.strip().casefold()
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _decode(text: str, at: int) -> tuple[Any, int] | None:
    """The JSON value that starts at `at` and where it ends; None when it is not one."""
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):  # also integers too long to read, and endless nesting
        return None


def _closing_brace(text: str, at: int) -> int | None:
    """Where the brace at `at` is closed, braces inside strings aside; None when it is not."""
    depth, inside, escaped = 0, False, False
    for index in range(at, len(text)):
        character = text[index]
        if escaped:
            escaped = False
        elif inside:
            escaped = character == "\\"
            inside = character != '"'
        elif character == '"':
            inside = True
        elif character in "{}":
            depth += 1 if character == "{" else -1
            if depth == 0:
                return index + 1
    return None


def _last_list_of_strings(text: str) -> list[str] | None:
    """The last JSON list of strings in `text`, each stripped."""
    last: list[str] | None = None
    at = text.find("[")
    while at >= 0:
        decoded = _decode(text, at)
        if decoded is not None and decoded[0] and all(isinstance(item, str) for item in decoded[0]):
            last = [item.strip() for item in decoded[0]]
        at = text.find("[", decoded[1] if decoded is not None else at + 1)
    return last


def _split_at_commas(text: str) -> list[str]:
    """The words of `text` in runs between the word ","."""
    runs: list[list[str]] = [[]]
    for word in text.split():
        if word == ",":
            runs.append([])
        else:
            runs[-1].append(word)
    return [" ".join(run) for run in runs]
