"""Stored generations: JSON lines with `id` and `text`, this program's or anyone's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from sparring.errors import UserError
from sparring.wording import shown


class Stop(StrEnum):
    """Why a stored generation ended. NO_ROOM: the context could not hold another turn."""

    END = "end"
    LENGTH = "length"
    NO_ROOM = "no_room"


@dataclass(frozen=True)
class Stored:
    """One generation: where it stands in its file, what it answers, and everything else on the line.

    stop is None where the file does not say.
    """

    where: str
    id: str
    text: str
    stop: Stop | None
    fields: Mapping[str, Any]


def read_generations(path: Path) -> list[Stored]:
    """The generations of a file; UserError, naming the line, for anything that is not one."""
    found: dict[str, Stored] = {}
    for number, fields in read_json_lines(path, "generations"):
        stored = _stored(f"{path} line {number}", fields)
        if stored.id in found:
            raise UserError(f"{stored.where}: id {stored.id!r} is given twice; keep one generation for each id")
        found[stored.id] = stored
    if not found:
        raise UserError(f"{path} holds no generations; write one JSON object a line, with id and text")
    return list(found.values())


def refuse_unknown(rows: Sequence[Stored], known: Mapping[str, Any], benchmark: str) -> None:
    """Raise a UserError for the first generation that answers nothing of the benchmark."""
    for row in rows:
        if row.id not in known:
            raise UserError(
                f"{row.where}: id {row.id!r} is none of the {len(known)} ids of {benchmark}, such as "
                f"{next(iter(known))!r}; name the benchmark that the file answers"
            )


def truncated(rows: Sequence[Stored]) -> int | None:
    """How many generations were cut short; None where no line of the file says why it stopped."""
    stops = [row.stop for row in rows if row.stop is not None]
    return sum(stop is not Stop.END for stop in stops) if stops else None


def read_json_lines(path: Path, what: str) -> list[tuple[int, dict[str, Any]]]:
    """Line number and object of every line that is not blank."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{path} does not exist; give the file that holds the {what}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read ({error}); give a file of JSON lines") from None
    found = []
    # Only "\n" ends a line: JSON strings may hold the other line ends of str.splitlines.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                fields = json.loads(line)
            except ValueError as error:
                raise UserError(f"{path} line {number} is not JSON ({error}); write one object a line") from None
            except RecursionError:
                raise UserError(f"{path} line {number} nests too deeply; write one flat object a line") from None
            if not isinstance(fields, dict):
                raise UserError(f"{path} line {number} is a {type(fields).__name__}; write one JSON object a line")
            found.append((number, fields))
    return found


def _stored(where: str, fields: Mapping[str, Any]) -> Stored:
    for name in ("id", "text"):
        if name not in fields:
            raise UserError(f"{where} has no {name!r}, only {sorted(fields)}; give each line an id and a text")
    name, text, stop = fields["id"], fields["text"], fields.get("stop")
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise UserError(f"{where}: id = {shown(name)} is not accepted; give the benchmark's own id")
    if not isinstance(text, str):
        raise UserError(f'{where}: text = {shown(text)} is not accepted; give a string, "" for no answer')
    if stop is not None and stop not in list(Stop):
        raise UserError(f"{where}: stop = {shown(stop)} is not accepted; give {', '.join(Stop)}, or leave it out")
    return Stored(where, str(name), text, None if stop is None else Stop(stop), fields)
