"""Reading the official PhantomWiki base facts (Prolog, .pl) into a universe.

They name parents but no marriages: there a couple is who shares a child, so the reader states that marriage.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from sparring.environments.phantom_wiki.articles import ATTRIBUTE_PREDICATES
from sparring.environments.phantom_wiki.kinship import Person, Universe
from sparring.errors import UserError

_VALUE_PREDICATES = (*ATTRIBUTE_PREDICATES, "gender")
_BASE_PREDICATES = ("type", "parent", "friend_", *_VALUE_PREDICATES)
_GENDERS = ("female", "male")

_TYPE_FACT = re.compile(r'(type)\("([^"]+)", (person)\)\.')
_FACT = re.compile(r'(\w+)\("([^"]+)", "([^"]+)"\)\.')


def read_base_facts(path: Path) -> Universe:
    """The universe that base facts state. Blank lines and % comments are passed over."""
    stated: dict[str, list[tuple[int, str, str]]] = {predicate: [] for predicate in _BASE_PREDICATES}
    for number, line in enumerate(lines_of(path), start=1):
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        match = _TYPE_FACT.fullmatch(text) or _FACT.fullmatch(text)
        if match is None or match[1] not in stated:
            raise UserError(
                f"{path}:{number}: {text[:80]!r} is no base fact; write one of {', '.join(_BASE_PREDICATES)} "
                f'as predicate("Name", "value").'
            )
        stated[match[1]].append((number, match[2], match[3]))
    people = _people(path, stated)
    parents = _parents(path, stated["parent"], people)
    friendships = {_pair(path, number, "friend_", one, other, people) for number, one, other in stated["friend_"]}
    marriages = {(min(couple), max(couple)) for couple in parents.values() if len(couple) == 2}
    return Universe(people, parents, tuple(sorted(marriages)), tuple(sorted(friendships)))


def _people(path: Path, stated: Mapping[str, list[tuple[int, str, str]]]) -> dict[str, Person]:
    names = dict.fromkeys(name for _, name, _ in stated["type"])
    values: dict[str, dict[str, str]] = {predicate: {} for predicate in _VALUE_PREDICATES}
    for predicate in _VALUE_PREDICATES:
        for number, name, value in stated[predicate]:
            if name not in names:
                raise UserError(f'{path}:{number}: {predicate} of {name!r}; add type("{name}", person).')
            if name in values[predicate]:
                raise UserError(f"{path}:{number}: {predicate} of {name!r} is stated twice; keep one")
            if predicate == "gender" and value not in _GENDERS:
                raise UserError(f"{path}:{number}: gender {value!r} of {name!r}; give one of {', '.join(_GENDERS)}")
            values[predicate][name] = value
        for number, name, _ in stated["type"]:
            if name not in values[predicate]:
                raise UserError(f'{path}:{number}: {name!r} has no {predicate}; add {predicate}("{name}", "...").')
    return {name: Person(name, *(values[field][name] for field in ("gender", "dob", "job", "hobby"))) for name in names}


def _parents(
    path: Path, stated: Iterable[tuple[int, str, str]], people: Mapping[str, Person]
) -> dict[str, tuple[str, ...]]:
    parents: dict[str, tuple[str, ...]] = {}
    for number, child, parent in stated:
        _pair(path, number, "parent", child, parent, people)
        known = parents.get(child, ())
        if parent in known or len(known) == 2:
            raise UserError(f"{path}:{number}: parent of {child!r} is {parent!r} after {' and '.join(known)}; keep two")
        parents[child] = (*known, parent)
    return parents


def _pair(
    path: Path, number: int, predicate: str, one: str, other: str, people: Mapping[str, Person]
) -> tuple[str, str]:
    """The two people of a fact; UserError for someone unknown, or one person twice."""
    for name in (one, other):
        if name not in people:
            raise UserError(f'{path}:{number}: {predicate} names {name!r}; add type("{name}", person).')
    if one == other:
        raise UserError(f"{path}:{number}: {predicate} of {one!r} is the same person; name two people")
    return one, other


def lines_of(path: Path) -> list[str]:
    """The lines of an official data file; UserError when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"{path}: cannot be read as text ({type(error).__name__}); give an official data file"
        ) from None
