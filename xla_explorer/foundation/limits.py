"""How long work may take that runs in this process: what `xe.options` and the environment say, readable from every room.

Generated code cannot be stopped from within; what Python executes step by step can, and asks here.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from xla_explorer.foundation.diagnostic import XlaExplorerError

_deadline: ContextVar[tuple[float, float] | None] = ContextVar("deadline", default=None)


class Limits:
    """seconds: one run may take, None: no end. emulated_instructions: that a batch of a kernel's blocks may execute on the emulator."""

    __slots__ = ("emulated_instructions", "seconds")

    def __init__(self) -> None:
        self.seconds: float | None = None
        self.emulated_instructions = 20_000_000


limits = Limits()


class OutOfTimeError(XlaExplorerError, TimeoutError):
    """Work was stopped at its deadline."""


@contextmanager
def limited_run() -> Iterator[None]:
    """One run: it ends `limits.seconds` from here. A run inside a run has the deadline of the outer one."""
    if limits.seconds is None or _deadline.get() is not None:
        yield
        return
    token = _deadline.set((time.monotonic() + limits.seconds, limits.seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def deadline() -> tuple[float, float] | None:
    """(the moment by `time.monotonic` at which the present run must be over, the seconds that it had), or None."""
    found = _deadline.get()
    if found is None and limits.seconds is not None:
        return time.monotonic() + limits.seconds, limits.seconds
    return found
