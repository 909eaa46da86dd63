"""Whole-or-nothing files and the moment at which Ctrl-C counts."""

from __future__ import annotations

import json
import math
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from sparring.errors import UserError
from sparring.runs.writing import interrupts_deferred, write_atomically, write_json, write_json_lines


def test_replaces_a_file_whole(tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    write_atomically(target, b"first")
    write_atomically(target, b"second")
    assert target.read_bytes() == b"second"
    assert list(tmp_path.iterdir()) == [target]


def test_failed_rename_keeps_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.bin"
    write_atomically(target, b"old")

    def refuse(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(UserError, match=r"a.bin cannot be written \(Permission denied\)"):
        write_atomically(target, b"new")
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_json_refuses_what_json_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "a.json", {"loss": math.nan})
    assert list(tmp_path.iterdir()) == []


def test_json_lines_hold_any_text_a_model_may_sample(tmp_path: Path) -> None:
    rows = [{"text": "a\nb\u2028c\x85d\ud800"}, {"text": "é"}]
    write_json_lines(tmp_path / "a.jsonl", rows)
    lines = (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == rows


def test_interrupt_comes_after_the_outermost_write() -> None:
    done: list[str] = []

    def nested() -> None:
        with interrupts_deferred():
            with interrupts_deferred():
                signal.raise_signal(signal.SIGINT)
                done.append("inner")
            done.append("outer")
        done.append("after")

    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        nested()
    assert done == ["inner", "outer"]
    assert signal.getsignal(signal.SIGINT) is handler


def test_without_interrupt_nothing_is_raised_and_the_handler_returns() -> None:
    handler = signal.getsignal(signal.SIGINT)
    with interrupts_deferred():
        assert signal.getsignal(signal.SIGINT) is not handler
    assert signal.getsignal(signal.SIGINT) is handler


def test_other_threads_may_write(tmp_path: Path) -> None:
    thread = threading.Thread(target=write_atomically, args=(tmp_path / "a", b"x"))
    thread.start()
    thread.join()
    assert (tmp_path / "a").read_bytes() == b"x"
