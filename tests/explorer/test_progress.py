"""Bars for people who wait: after a second, gone at the end, none for scripts."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

import pytest

import xla_explorer as xe
from xla_explorer.compiler.pipeline import PassControl
from xla_explorer.explorer.sessions import progress
from xla_explorer.foundation.rounds import counting, present


class _Terminal:
    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


def until(condition: Callable[[], bool], seconds: float = 60) -> bool:
    """Return True once a condition holds; a thread writes the line when the machine lets it."""
    limit = time.monotonic() + seconds
    while not condition() and time.monotonic() < limit:
        time.sleep(0.01)
    return condition()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> _Terminal:
    made = _Terminal()
    monkeypatch.setattr(
        progress, "sys", SimpleNamespace(stderr=made, modules={})
    )  # pytest changes sys.stderr between the phases
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr(progress, "_PACE", 0.02)
    return made


def test_short_work_shows_nothing(terminal: _Terminal) -> None:
    with progress.working("short"):
        pass
    assert list(progress.counted([1, 2], "few")) == [1, 2] and terminal.text == ""


def test_long_work_shows_and_leaves_nothing(terminal: _Terminal) -> None:
    with progress.working("long"), progress.working("inside"):
        assert until(lambda: "long: " in terminal.text)
    assert "inside" not in terminal.text
    assert (
        until(lambda: terminal.text.endswith("\r")) and not terminal.text.rsplit("\r", 2)[1].strip()
    )


def test_items_are_counted(terminal: _Terminal) -> None:
    for _ in progress.counted(range(4), "rows"):
        time.sleep(0.04)
    assert "rows: 2 of 4 done" in terminal.text or "rows: 3 of 4 done" in terminal.text


def test_scripts_and_those_who_say_so_see_none(
    terminal: _Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert progress.watched()
    with xe.options.set(progress=False):
        assert not progress.watched()
    monkeypatch.setattr(terminal, "isatty", lambda: False)
    assert not progress.watched()


def test_an_exception_ends_the_line(terminal: _Terminal) -> None:
    with pytest.raises(KeyboardInterrupt), progress.working("halted"):
        raise KeyboardInterrupt
    assert not progress._busy.locked()


def test_a_script_is_told_and_cancels(
    terminal: _Terminal, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """A function hears label, done, total and seconds, watched or not; its False is Ctrl-C."""
    monkeypatch.setattr(terminal, "isatty", lambda: False)
    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a job in the background of a shell ignores it
    request.addfinalizer(partial(signal.signal, signal.SIGINT, before))
    heard: list[tuple[str, int, int | None]] = []

    def hear(label: str, done: int, total: int | None, seconds: float) -> bool:
        heard.append((label, done, total))
        return len(heard) < 3

    with (
        xe.options.set(progress=hear),
        pytest.raises(KeyboardInterrupt),
        progress.working("long"),
        counting(7, "passes") as present,
    ):
        while True:
            present.done = min(6, present.done + 1)
            time.sleep(0.01)
    assert len(heard) == 3 and heard[-1] == ("long", 6, 7) and terminal.text == ""
    with xe.options.set(progress=lambda *told: heard.append(told[:3])):
        for _ in progress.counted(range(3), "rows"):
            time.sleep(0.06)
    assert heard[-1] == ("rows", 3, 3)


@pytest.mark.usefixtures("terminal")
def test_a_halt_is_one_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    monkeypatch.setattr(progress, "interrupt_main", lambda: sent.append(threading.active_count()))
    with xe.options.set(progress=lambda *told: False), progress.working("long"):
        assert until(lambda: sent != [])
        time.sleep(0.1)  # several intervals without a reaction
    assert len(sent) == 1


def test_passes_are_counted() -> None:
    seen: list[tuple[int, int, str]] = []

    control = PassControl()
    control.on_pass = lambda name: seen.append((present.done, present.total, present.noun))
    text = "ENTRY e { x = f32[4] parameter(0) ROOT r = f32[4] negate(x) }"
    xe.optimize(text, "cse,dce,algsimp", control=control)
    assert seen == [(0, 3, "passes"), (1, 3, "passes"), (2, 3, "passes")] and present.total == 0


def test_threads_that_count_side_by_side_leave_nothing() -> None:
    with counting(5, "passes") as mine:
        thread = threading.Thread(target=lambda: counting(9, "rows").__enter__())
        thread.start()
        thread.join()
        assert (mine is present, present.total, present.noun) == (True, 5, "passes")
    assert present.total == 0 and present.owner == 0
