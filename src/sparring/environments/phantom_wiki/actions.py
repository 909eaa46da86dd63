"""What a PhantomWiki executor writes and what its tools answer.

Two codecs read and write the same `Action`: chat is one JSON object, compact a few words. The tools
answer truthfully from the universe whatever is asked and know nothing of the question.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sparring.environments.phantom_wiki.articles import article
from sparring.environments.phantom_wiki.kinship import RELATIONS, Universe
from sparring.environments.phantom_wiki.names import SHORT_NAMES
from sparring.parsing import last_json_object, remove_thinking

DONE, SUBMIT, NONE = "done", "submit", "none"

Names = tuple[str, ...]


@dataclass(frozen=True)
class Article:
    """Open the articles of these people."""

    names: Names


@dataclass(frozen=True)
class Find:
    """Name everyone whose attribute has this value."""

    attribute: str
    value: str


@dataclass(frozen=True)
class Lookup:
    """Name everything that one relation or attribute reaches from these people, and claim it for the next hop."""

    names: Names
    step: str


Call = Article | Find | Lookup


@dataclass(frozen=True)
class Action:
    """One executor turn: a claim for the next hop (one name, or several), a tool call, two flags.

    A lookup claims what it returns, so it goes without a claim of its own: its gain then falls on
    the turn that chose the right person and relation, not on the one after it.
    """

    claim: Names = ()
    call: Call | None = None
    done: bool = False
    submit: bool = False


def normal(text: str) -> str:
    """A name or value as it is compared: white space and capitals aside."""
    return " ".join(text.split()).casefold()


def read_chat(text: str, *, unique: bool) -> Action | None:
    """The action in the last JSON object of `text`; None when there is none or it does not make sense.

    unique: every hop reaches one, so that an action on several names is none: who may name everybody
    need not know the way.
    """
    answer = remove_thinking(text)
    found = last_json_object(answer) if answer is not None else None
    if found is None:
        return None
    fields = {key: value for key, value in found.items() if value is not None}
    try:
        action = Action(
            claim=_names(fields.get("claim", [])),
            call=_chat_call(fields) if "tool" in fields else None,
            done=_flag(fields.get(DONE, False)),
            submit=_flag(fields.get(SUBMIT, False)),
        )
    except (KeyError, TypeError):
        return None
    twice = bool(action.claim) and isinstance(action.call, Lookup)
    return None if twice or action == Action() or (unique and _names_several(action)) else action


def _names_several(action: Action) -> bool:
    call = action.call
    return len(action.claim) > 1 or (isinstance(call, Article | Lookup) and len(call.names) > 1)


def _chat_call(fields: dict[str, Any]) -> Call:
    """The tool call of a chat action; KeyError or TypeError when a part is missing or of a wrong kind."""
    match fields["tool"]:
        case "article":
            return Article(_some_names(fields["name"]))
        case "find":
            return Find(_text(fields["attribute"]), _text(fields["value"]))
        case "lookup":
            return Lookup(_some_names(fields["person"]), _text(fields["relation"]))
        case other:
            raise KeyError(other)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return normal(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(value)
    return value


def _names(value: object) -> Names:
    """One name or a list of names, blank ones left out."""
    values = value if isinstance(value, list) else [value]
    return tuple(name for name in map(_text, values) if name)


def _some_names(value: object) -> Names:
    names = _names(value)
    if not names:
        raise KeyError("a name")
    return names


def write_chat(action: Action) -> str:
    """The action as a JSON object."""
    fields: dict[str, object] = {}
    if action.claim:
        fields["claim"] = _one_or_many(action.claim)
    match action.call:
        case Article(names):
            fields |= {"tool": "article", "name": _one_or_many(names)}
        case Find(attribute, value):
            fields |= {"tool": "find", "attribute": attribute, "value": value}
        case Lookup(names, step):
            fields |= {"tool": "lookup", "person": _one_or_many(names), "relation": step}
    fields |= {flag: True for flag, is_set in ((DONE, action.done), (SUBMIT, action.submit)) if is_set}
    return json.dumps(fields, ensure_ascii=False)


def _one_or_many(names: Names) -> str | list[str]:
    return names[0] if len(names) == 1 else list(names)


def read_compact(text: str, *, unique: bool) -> Action | None:
    """Read "<person> <relation>", with "done" or "submit" behind it; several persons where hops are sets.

    None for anything else.
    """
    words = text.split()
    flag = words.pop() if words[-1:] in ([DONE], [SUBMIT]) else None
    *names, relation = words or [""]
    if not names or not set(names) <= set(SHORT_NAMES) or relation not in RELATIONS:
        return None
    action = Action(call=Lookup(tuple(names), relation), done=flag == DONE, submit=flag == SUBMIT)
    return None if unique and _names_several(action) else action


def write_compact(action: Action) -> str:
    """A lookup and its flag, as words. Raises TypeError for an action that the compact pack cannot say."""
    if not isinstance(action.call, Lookup) or action.claim or (action.done and action.submit):
        raise TypeError(f"compact actions are lookups with one flag at most, not {action}")
    flags = [*([DONE] if action.done else []), *([SUBMIT] if action.submit else [])]
    return " ".join([*action.call.names, action.call.step, *flags])


def answer(universe: Universe, call: Call) -> Names:
    """What a tool returns: articles, or sorted names or values; empty when there is nothing."""
    match call:
        case Article(names):
            return tuple(article(universe, name) for name in _known(universe, names))
        case Find(attribute, value):
            return universe.having(attribute, value)
        case Lookup(names, step):
            return universe.follow(_known(universe, names), step)


def _known(universe: Universe, names: Names) -> Names:
    return tuple(universe.spelling[name] for name in names if name in universe.spelling)
