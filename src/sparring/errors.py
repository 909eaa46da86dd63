"""Errors that a user can mend. The command line prints the message as one line and exits with 2."""

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Bad input. The message names the field, the value and the mend, on one line."""


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word most like `word`, to be named in a message."""
    return difflib.get_close_matches(word, list(known), n=1, cutoff=0.0)[0]
