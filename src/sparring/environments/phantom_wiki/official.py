"""Reading the official PhantomWiki questions and articles; facts.py reads the world they are of.

A question comes with a Prolog query. Each of its predicates takes up what the one inside it reached, so
it is a chain, and our own evaluator answers it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from sparring.environments.phantom_wiki.articles import ATTRIBUTE_PREDICATES
from sparring.environments.phantom_wiki.facts import lines_of
from sparring.environments.phantom_wiki.grammar import Asked, Query
from sparring.environments.phantom_wiki.relations import RELATION_TABLE
from sparring.errors import UserError, nearest

# Our words for the steps of official queries.
RELATION_PREDICATES = {relation.predicate: name for name, relation in RELATION_TABLE.items()}
STEP_PREDICATES = RELATION_PREDICATES | ATTRIBUTE_PREDICATES

_VARIABLE = r"[A-Z]\w*"
_TERM = rf'({_VARIABLE}|"[^"]+")'
_PREDICATE = re.compile(rf"(\w+)\({_TERM}, {_TERM}\)")
_COUNT = re.compile(rf"aggregate_all\(count, distinct\((\w+)\({_TERM}, {_VARIABLE}\)\), ({_VARIABLE})\)")


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True)


_Shape = TypeVar("_Shape", bound=_Row)


class PrologQuery(_Row):
    """The predicates, the answer's first, and the variable that is asked for."""

    query: tuple[str, ...]
    answer: str


class QuestionRow(_Row):
    """A row of the official questions. A trace gives each variable one value, and together they fit the query."""

    id: str
    question: str
    answers: tuple[str, ...]
    difficulty: int
    type: int
    is_aggregation_question: bool
    prolog: PrologQuery
    solution_traces: tuple[Mapping[str, str | int], ...]

    @property
    def query(self) -> Query:
        """What is asked; UserError when the Prolog query is no chain of known predicates."""
        return read_query(self.prolog.query, self.prolog.answer)


class ArticleRow(_Row):
    """A row of the official articles, and what it states as Prolog facts."""

    title: str
    article: str
    facts: tuple[str, ...]


def read_question_rows(path: Path) -> list[QuestionRow]:
    """The questions of a JSON-lines file, each of which is found to be a chain that can be followed."""
    rows = []
    for number, row in _rows(path, QuestionRow):
        try:
            read_query(row.prolog.query, row.prolog.answer)
        except UserError as error:
            raise UserError(f"{path}:{number}: prolog.{error}") from None
        rows.append(row)
    return rows


def read_article_rows(path: Path) -> list[ArticleRow]:
    """The articles of a JSON-lines file."""
    return [row for _, row in _rows(path, ArticleRow)]


def _rows(path: Path, shape: type[_Shape]) -> Iterator[tuple[int, _Shape]]:
    """The rows with the numbers of their lines."""
    for number, line in enumerate(lines_of(path), start=1):
        try:
            yield number, shape.model_validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"])) or "the line"
            value = " ".join(str(first["input"]).split())[:60]
            raise UserError(
                f"{path}:{number}: {field}: {first['msg']}, got {value!r}; "
                f"give {', '.join(shape.model_fields)} as the official rows do"
            ) from None


def read_query(predicates: Iterable[str], answer: str) -> Query:
    """The meaning of an official query: the outermost predicate comes first, the start of the chain last.

    UserError for predicates that are unknown or make no chain.
    """
    steps: list[str] = []
    described_by: str | None = None
    asked, wanted = Asked.WHO, answer
    for text in predicates:
        if wanted.startswith('"'):
            raise UserError(f"query: {text!r} comes after the start of the chain; leave it out")
        count = None if steps else _COUNT.fullmatch(text)
        found = count or _PREDICATE.fullmatch(text)
        if found is None:
            raise UserError(f"query: {text!r} is no predicate of two terms, nor a count in the first place; mend it")
        predicate, subject, reached = found.groups()
        step = _step(predicate, RELATION_PREDICATES if count else STEP_PREDICATES, text)
        if reached.startswith('"') and predicate in ATTRIBUTE_PREDICATES:
            described_by, subject, reached = step, reached, subject
        else:
            if not steps:
                asked = Asked.HOW_MANY if count else Asked.WHAT if predicate in ATTRIBUTE_PREDICATES else Asked.WHO
            elif predicate in ATTRIBUTE_PREDICATES:
                raise UserError(f"query: {text!r} goes on from an attribute; ask for it in the first place only")
            steps.append(step)
        if reached != wanted:
            raise UserError(f"query: {text!r} reaches {reached} where {wanted} is wanted; link each to the one before")
        wanted = subject
    if not wanted.startswith('"'):
        raise UserError(f"query: nothing says who {wanted} is; end it with a name or an attribute's value")
    return Query(asked, wanted.strip('"'), described_by, tuple(reversed(steps)))


def _step(predicate: str, known: Mapping[str, str], text: str) -> str:
    if predicate not in known:
        raise UserError(f"query: {text!r} has an unknown predicate; did you mean {nearest(predicate, known)!r}?")
    return known[predicate]
