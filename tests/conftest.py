"""Tests marked `official_data` read the benchmarks' own files, which are not part of the project."""

from __future__ import annotations

import signal

import pytest

from sparring.errors import UserError
from sparring.evaluation.benchmarks import data_folder


def official_data_is_here() -> bool:
    try:
        return (data_folder() / "ifeval.jsonl").is_file()
    except UserError:
        return False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave these tests out, and say so, where the files are not at hand: on a newcomer's machine."""
    if not official_data_is_here():
        absent = pytest.mark.skip(reason="the official data files are not here; name their folder in SPARRING_DATA")
        for item in items:
            if item.get_closest_marker("official_data"):
                item.add_marker(absent)


@pytest.fixture(autouse=True, scope="session")
def interrupts() -> None:
    """Ctrl-C as in a terminal: a shell has processes in the background ignore it, and tests send it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
