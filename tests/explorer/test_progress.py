"""Bars for people who wait: after a second, gone at the end, none for scripts."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace

import pytest

import xla_explorer as xe
from xla_explorer.explorer.sessions import progress


class _Terminal:
    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> _Terminal:
    made = _Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=made, modules={}))  # pytest changes sys.stderr between the phases
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr(progress, "_PACE", 0.02)
    return made


def test_short_work_shows_nothing(terminal: _Terminal) -> None:
    with progress.working("short"):
        pass
    assert list(progress.counted([1, 2], "few")) == [1, 2] and terminal.text == ""


def test_long_work_shows_and_leaves_nothing(terminal: _Terminal) -> None:
    with progress.working("long"), progress.working("inside"):
        time.sleep(0.25)
    assert "long: 0 s" in terminal.text and "inside" not in terminal.text
    assert terminal.text.endswith("\r") and not terminal.text.rsplit("\r", 2)[1].strip()


def test_a_bar_without_tqdm(terminal: _Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    for _ in progress.counted(range(4), "rows"):
        time.sleep(0.04)
    assert "rows: 2 of 4" in terminal.text or "rows: 3 of 4" in terminal.text


def test_scripts_and_those_who_say_so_see_none(terminal: _Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    assert progress.watched()
    with xe.options.set(progress=False):
        assert not progress.watched()
    monkeypatch.setattr(terminal, "isatty", lambda: False)
    assert not progress.watched()


def test_an_exception_ends_the_line(terminal: _Terminal) -> None:
    with pytest.raises(KeyboardInterrupt), progress.working("halted"):
        raise KeyboardInterrupt
    assert not progress._busy.locked()
