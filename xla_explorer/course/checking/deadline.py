"""A deadline and a limit of memory for an answer's own Python.

An endless loop, or a list that grows without end, is an answer too.

A thread watches how long the answer computes and raises an exception in the middle of it. The limit
is on processor time of the thread that runs the answer, so that a busy machine does not fail a
right answer. If the thread is blocked, wall-clock time ends it.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from xla_explorer.explorer.sessions.options import options
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.memory_limit import at_most_more

SECONDS = 10.0
"""Limit of one call of the answer, unless `xe.options.timeout` is set."""
MEMORY = 4 << 30
"""Bytes that one call of the answer may map beyond the present ones, by default."""
_WALL = 12  # times the limit: when the thread waits instead of computing
_LOOK = 0.05
_AGAIN = 0.5  # seconds of the processor between one exception and the next
_MOST_ITEMS = 100_000
# Files that are not the answer's: this package, and contextlib, which calls decorated functions.
_OTHER_FILES = (str(Path(__file__).resolve().parents[2]), contextlib.__file__, "<frozen")


class DeadlineReached(BaseException):
    """Raised inside the answer. No `except Exception` there catches it; no caller receives it."""


class AnswerTooSlowError(XlaExplorerError, TimeoutError):
    """The answer was still computing when its time was over."""


class AnswerTooLargeError(XlaExplorerError, MemoryError):
    """The answer wanted more memory than it may take."""


class Watch:
    """Watches the calls of one answer, from this thread: `with Watch() as watch: watch.call(f, x)`.

    seconds: the limit for one call; None is `xe.options.timeout`, or 10.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds or options.timeout or SECONDS
        self.memory = options.memory_limit or MEMORY
        self.last: tuple[Any, ...] = ()
        """The arguments of the last call."""
        self._lock = threading.Lock()
        self._since: tuple[float, float] | None = None
        self._sent = False
        self._ended = threading.Event()

    def __enter__(self) -> Watch:
        self._thread = threading.get_ident()
        self._clock = _processor_clock(self._thread)
        self._ended.clear()
        self._watcher = threading.Thread(target=self._look, name="xla-explorer-course", daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def call(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Call a function and return its result (of an iterator: a list).

        AnswerTooSlowError if it does not end in time.
        """
        nested = self._since is not None
        if not nested:
            self.last = arguments
            self._since = (self._clock(), time.monotonic())
        try:
            try:
                with contextlib.nullcontext() if nested else at_most_more(self.memory):
                    return self._guarded(function(*arguments, **named))
            finally:
                if not nested:
                    self._disarm()  # before anything else: the next exception may be on its way
        except (DeadlineReached, MemoryError) as end:
            if nested:
                raise
            where, is_late = _place_in_the_answer(end), isinstance(end, DeadlineReached)
        if is_late:
            raise AnswerTooSlowError(
                f"the answer was still computing after {self.seconds:g} s{where}",
                "does every loop end, and is a value with several readers visited once? "
                "xe.options.timeout sets the limit",
            )
        raise AnswerTooLargeError(
            f"the answer allocated more than {self.memory / 2**30:g} GiB of memory{where}",
            "does every list end, and has every array the program's size? "
            "xe.options.memory_limit sets the limit",
        )

    def guarded(self, answer: Any) -> Any:
        """Return a function with all its calls watched; other answers unchanged."""
        if not callable(answer) or isinstance(answer, type):
            return answer

        @functools.wraps(answer, updated=())
        def watched(*arguments: Any, **named: Any) -> Any:
            return self.call(answer, *arguments, **named)

        return watched

    def _guarded(self, result: Any) -> Any:
        if isinstance(result, Iterator):
            return list(itertools.islice(result, _MOST_ITEMS))
        return self.guarded(result) if hasattr(result, "__code__") else result

    def _disarm(self) -> None:
        """Prevent any later exception, even one that was already sent.

        A sent exception is replaced by another, which arrives here. To cancel it would leave
        CPython's mark of a pending exception. Under a profiler or a debugger the interpreter would
        then loop forever (3.11: RESUME in DO_TRACING).
        """
        while True:
            try:
                with self._lock:
                    self._since = None
                if self._sent:
                    self._sent = False
                    _raise_in(self._thread, DeadlineReached)
                    while True:
                        pass
                return
            except DeadlineReached:
                self._sent = False

    def _look(self) -> None:
        while not self._ended.wait(_LOOK):
            with self._lock:
                since = self._since
                if since is None:
                    continue
                spent, waited = self._clock() - since[0], time.monotonic() - since[1]
                if spent > self.seconds or waited > _WALL * self.seconds:
                    self._sent = True
                    _raise_in(
                        self._thread, DeadlineReached
                    )  # again and again: a bare `except:` may have kept the last one
                    # Not at once: the handler of this exception must first stop this thread.
                    self._since = (
                        since[0] + _AGAIN * (spent > self.seconds),
                        since[1] + _WALL * _AGAIN * (waited > _WALL * self.seconds),
                    )


def frames_of_the_answer(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the frames of the student's code."""
    return [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(_OTHER_FILES)
    ]


def _place_in_the_answer(error: BaseException) -> str:
    """Return the line of the answer that was running."""
    frames = frames_of_the_answer(error)
    return (
        f", in line {frames[-1].lineno} of {frames[-1].name}: {(frames[-1].line or '').strip()}"
        if frames
        else ""
    )


def _processor_clock(thread: int) -> Callable[[], float]:
    clock_of = getattr(time, "pthread_getcpuclockid", None)
    if clock_of is None:
        return time.monotonic
    clock = clock_of(thread)
    return lambda: time.clock_gettime(clock)


def _raise_in(thread: int, kind: type[BaseException]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))
