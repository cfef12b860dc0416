"""Limits of a call's time and memory, and the process for its work.

They come from `xe.options` or from one session, and every room may read them. Generated code cannot
stop itself, but Python code that works step by step reads its deadline here. A child process is
ended at the deadline of the call that waits for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from xla_explorer.foundation.diagnostic import XlaExplorerError


class Bounds(NamedTuple):
    """Limits of one call.

    seconds: the time it may take; None: no limit. memory: bytes that a child process may use;
    None: no limit. elsewhere: a function that does named work of Python in a child process,
    `elsewhere("evaluate", module, ...)`. It returns NotImplemented if only this process can do the
    work. None: this process does all work.
    """

    seconds: float | None = None
    memory: int | None = None
    elsewhere: Callable[..., Any] | None = None


class Deadline(NamedTuple):
    """The end of a call.

    moment: the end, by `time.monotonic`. seconds: the time that the call had in all.
    """

    moment: float
    seconds: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """Return the deadline that is `seconds` from now."""
        return cls(time.monotonic() + seconds, seconds)

    @property
    def left(self) -> float:
        """Seconds until the deadline, at least 0."""
        return max(self.moment - time.monotonic(), 0.0)


class Limits:
    """Limits of calls without their own.

    bounds: the limits of such a call. emulated_instructions: instructions that the emulator may
    execute for a batch of a kernel's blocks.
    """

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
    """Return the bounds of the innermost `under`, or else the bounds of `xe.options`."""
    found = _own.get()
    return limits.bounds if found is None else found


@contextmanager
def under(own: Bounds | None) -> Iterator[None]:
    """Set the bounds inside the context; None changes nothing."""
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
    """Limit the run inside the context to `seconds` (None: the seconds of `bounds()`).

    A run inside a run has the deadline of the outer run.
    """
    seconds = bounds().seconds if seconds is None else seconds
    if seconds is None or _deadline.get() is not None:
        yield
        return
    token = _deadline.set(Deadline.after(seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


@contextmanager
def uncounted() -> Iterator[None]:
    """Extend the current deadline by the time inside the context, as a process starts there."""
    began = time.monotonic()
    try:
        yield
    finally:
        found = _deadline.get()
        if found is not None:
            _deadline.set(found._replace(moment=found.moment + time.monotonic() - began))


def deadline() -> Deadline | None:
    """Return the deadline of the current run; None without a limit.

    Outside of runs, it is the deadline of a run that begins now.
    """
    found, seconds = _deadline.get(), bounds().seconds
    if found is None and seconds is not None:
        return Deadline.after(seconds)
    return found


def check_deadline(work: str) -> None:
    """Stop the current run if its deadline has passed; without a deadline this costs nothing.

    Parameters
    ----------
    work : str
        What was not done in time, for the message.

    Raises
    ------
    OutOfTimeError
        The deadline has passed.
    """
    found = _deadline.get()
    if found is not None and not found.left:
        raise OutOfTimeError(
            f"{work} was not done after {found.seconds:g} s",
            "raise xe.options.timeout if it is only slow",
        )
