"""How long a call may take, how much memory it may use, and which process does its work: `xe.options` or one session's own limits.

Readable from every room. Generated code cannot be stopped from within. What Python executes step by step reads its deadline here;
a child process is ended at the deadline of whoever waits for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from xla_explorer.foundation.diagnostic import XlaExplorerError


class Bounds(NamedTuple):
    """What holds for one call.

    seconds: it may take; None: no end. memory: bytes that a child process may use; None: no limit. elsewhere: a function that does
    named work of Python in a child process, `elsewhere("evaluate", module, ...)`, or returns NotImplemented where only this process can;
    None: this process does all.
    """

    seconds: float | None = None
    memory: int | None = None
    elsewhere: Callable[..., Any] | None = None


class Deadline(NamedTuple):
    """moment: by `time.monotonic`, when the call must be over. seconds: that it had."""

    moment: float
    seconds: float

    @property
    def left(self) -> float:
        """Seconds until then, at least 0."""
        return max(self.moment - time.monotonic(), 0.0)


class Limits:
    """bounds: of every call that has none of its own. emulated_instructions: that a batch of a kernel's blocks may execute on the
    emulator."""

    __slots__ = ("bounds", "emulated_instructions")

    def __init__(self) -> None:
        self.bounds = Bounds()
        self.emulated_instructions = 20_000_000


limits = Limits()
_own: ContextVar[Bounds | None] = ContextVar("own", default=None)
_deadline: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


class OutOfTimeError(XlaExplorerError, TimeoutError):
    """Work was stopped at its deadline."""


def bounds() -> Bounds:
    """What holds here: the bounds of the innermost `under`, else those of `xe.options`."""
    found = _own.get()
    return limits.bounds if found is None else found


@contextmanager
def under(own: Bounds | None) -> Iterator[None]:
    """Inside, these bounds hold; None changes nothing."""
    if own is None:
        yield
        return
    token = _own.set(own)
    try:
        yield
    finally:
        _own.reset(token)


@contextmanager
def limited_run(seconds: float | None = None) -> Iterator[None]:
    """One run: it ends so many seconds from here (None: those of `bounds`). A run inside a run has the deadline of the outer one."""
    seconds = bounds().seconds if seconds is None else seconds
    if seconds is None or _deadline.get() is not None:
        yield
        return
    token = _deadline.set(Deadline(time.monotonic() + seconds, seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


@contextmanager
def uncounted() -> Iterator[None]:
    """Inside, the clock of the present run stands still: a process starts, which the run does not count."""
    began = time.monotonic()
    try:
        yield
    finally:
        found = _deadline.get()
        if found is not None:
            _deadline.set(found._replace(moment=found.moment + time.monotonic() - began))


def deadline() -> Deadline | None:
    """When the present run must be over; outside of runs, when one that began now would be; None without limits."""
    found, seconds = _deadline.get(), bounds().seconds
    if found is None and seconds is not None:
        return Deadline(time.monotonic() + seconds, seconds)
    return found
