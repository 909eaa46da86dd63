"""What pydantic refused, in the words of who wrote the value: how it is shown, and what to give instead."""

from __future__ import annotations

from typing import Any

from pydantic_core import ErrorDetails

LONGEST_SHOWN = 80
"""Characters of a value that a message shows."""

MENDS = {
    "model_type": "give named values, not one value",
    "dict_type": "give named values, not one value",
    "int_type": "give a whole number",
    "float_type": "give a number",
    "finite_number": "give a finite number",
    "bool_type": "give true or false",
    "string_type": "give text, in quotes",
    "list_type": "give a list",
    "tuple_type": "give a list",
    "named_tuple_type": "give a list",
    "int_from_float": "give a whole number",
    "int_parsing": "give a whole number",
    "bool_parsing": "give true or false",
    "missing": "give a value there",
    "too_short": "give at least {min_length} of them",
    "too_long": "give at most {max_length} of them",
    "enum": "give {expected}",
    "literal_error": "give {expected}",
    "greater_than": "give a number above {gt:g}",
    "greater_than_equal": "give a number of at least {ge:g}",
    "less_than": "give a number below {lt:g}",
    "less_than_equal": "give a number of at most {le}",
    "value_error": "{error}",
}


def mend(error: ErrorDetails) -> str:
    """What to give in place of a refused value."""
    words = MENDS.get(error["type"])
    return error["msg"] if words is None else words.format(**error.get("ctx", {}))


def shown(value: Any) -> str:
    """A value as a message shows it, cut where it is long; a tuple as the list that a recipe writes for it."""
    try:
        text = repr(list(value) if isinstance(value, tuple) else value)
    except ValueError:  # Python writes no whole number of more than 4300 digits
        return "a number too long to show"
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "..."
