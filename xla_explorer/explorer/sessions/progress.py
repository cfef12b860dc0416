"""Progress of work that takes longer than a second: tqdm's bars where it is installed, else a plain line. Scripts see nothing of it.

Bars are for people who wait: they show in a notebook and on a terminal, disappear when the work is done, and `xe.options.progress =
False` turns them off.
"""

from __future__ import annotations

import contextvars
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import Any, TypeVar

from xla_explorer.explorer.sessions.options import options
from xla_explorer.foundation.rounds import present
from xla_explorer.foundation.visible_text import cleaned_text

PATIENCE = 1.0  # seconds without a bar
_PACE = 0.5
_Item = TypeVar("_Item")


def watched() -> bool:
    """Whether anybody looks: a notebook's kernel or a terminal."""
    if not options.progress:
        return False
    return _notebook() is not None or bool(getattr(sys.stderr, "isatty", bool)())


def _notebook() -> Any:
    """The module IPython where this process is a notebook's kernel, which then has loaded it; else None."""
    ipython = sys.modules.get("IPython")
    return ipython if ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None else None


def counted(items: Iterable[_Item], label: str, total: int | None = None) -> Iterator[_Item]:
    """The items, with a bar once it has taken longer than a second."""
    if not watched():
        yield from items
        return
    if total is None and isinstance(items, Sized):
        total = len(items)
    bar, started, done = None, time.monotonic(), 0
    try:
        for item in items:
            yield item
            done += 1
            if bar is None and time.monotonic() - started > PATIENCE:
                bar = _bar(label, total, done)
            elif bar is not None:
                bar.update(1)
    finally:
        if bar is not None:
            bar.close()


@contextmanager
def working(label: str) -> Iterator[None]:
    """A line with the seconds so far while the block runs, once it has taken longer than a second. Nested blocks show one line."""
    if not watched() or _busy.locked():
        yield
        return
    with _busy:
        ended, started = threading.Event(), time.monotonic()

        def tick() -> None:
            if ended.wait(PATIENCE):
                return
            line = _line()
            while not ended.wait(_PACE):
                counted = f"{present.done} of {present.total} runs, " if present.total else ""
                line.show(f"{label}: {counted}{time.monotonic() - started:.0f} s")
            line.clear()

        context = contextvars.copy_context()  # a notebook knows by it which cell the output belongs to
        ticker = threading.Thread(target=lambda: context.run(tick), daemon=True)
        ticker.start()
        try:
            yield
        finally:
            ended.set()
            ticker.join(_PACE)


_busy = threading.Lock()


class _Line:
    """One line of a terminal, written over and over."""

    def __init__(self) -> None:
        self.width = 0

    def show(self, text: str) -> None:
        text = cleaned_text(text)
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = len(text)

    def clear(self) -> None:
        sys.stderr.write("\r" + " " * self.width + "\r")
        sys.stderr.flush()


class _Output:
    """An output of a notebook that changes, and is empty at the end: the error stream would leave a coloured strip there."""

    def __init__(self, ipython: Any) -> None:
        self.ipython, self.shown = ipython, None

    def show(self, text: str) -> None:
        if self.shown is None:
            self.shown = self.ipython.display.display({"text/plain": text}, raw=True, display_id=True)
        else:
            self.shown.update({"text/plain": text}, raw=True)

    def clear(self) -> None:
        if self.shown is not None:
            self.shown.update({"text/plain": ""}, raw=True)


def _line() -> _Line | _Output:
    ipython = _notebook()
    return _Line() if ipython is None else _Output(ipython)


class _PlainBar:
    """What stands for tqdm's bar without tqdm."""

    def __init__(self, label: str, total: int | None, done: int) -> None:
        self.label, self.total, self.done, self.line = label, total, done, _line()
        self.update(0)

    def update(self, count: int) -> None:
        self.done += count
        self.line.show(f"{self.label}: {self.done}" + (f" of {self.total}" if self.total is not None else ""))

    def close(self) -> None:
        self.line.clear()


def _bar(label: str, total: int | None, done: int) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _PlainBar(label, total, done)
    return tqdm(desc=cleaned_text(label), total=total, initial=done, leave=False)
