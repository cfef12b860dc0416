"""A child process that answers messages within a deadline.

The other end reads requests from its standard input with `messages.receive` and writes one answer
to each on its standard output with `messages.send`. Everything else that it prints goes to its
error output, whose last line is kept for error messages.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, Final

from xla_explorer.foundation.limits import Deadline
from xla_explorer.foundation.messages import receive_unread, write
from xla_explorer.foundation.plain_data import Message, PlainDataError, packed

_LONGEST_LINE: Final = 300  # characters
_CHECK: Final = re.compile(
    r"^F\d{4}\b|\bCheck failed\b|\bRET_CHECK\b|\bAssertion\b.*\bfailed\b|\bLLVM ERROR:|^error: "
)
_STACK: Final = re.compile(
    r"\s*(?:@\s+0x|\*\*\*|#\d+\s|PC:|Fatal Python error|Current thread|Thread 0x|File \"|Extension modules:|<no Python frame>)"
)
_TIME_TO_DIE: Final = 10.0  # seconds, from closing its output to its exit status
_TIME_TO_REAP: Final = 1.0  # seconds that `close` waits for a killed process; its thread waits on
TIME_TO_START: Final = 120.0
"""Seconds in which a child must load its modules; a busy machine takes some ten."""


_leaving: Final = threading.Event()


@functools.cache
def _watch_for_the_end() -> None:
    """Set `_leaving` before children are ended at exit.

    The function is called after the first finalizer is made.
    """
    atexit.register(_leaving.set)


class ChildEndedError(Exception):
    """The process has ended.

    code: its exit status, negative for a signal. error_lines: the lines of its error output.
    """

    def __init__(self, code: int, error_lines: Sequence[str], how: str = "") -> None:
        self.code, self.error_lines, self._how = code, list(error_lines), how
        super().__init__(self.how + self.last_line)

    @property
    def how(self) -> str:
        """`crashed with SIGSEGV`, or `ended its process with exit code 3`."""
        if self._how:
            return self._how
        return (
            f"crashed with {signal.Signals(-self.code).name}"
            if self.code < 0
            else f"ended its process with exit code {self.code}"
        )

    @property
    def last_line(self) -> str:
        """Text to append to `how`; empty if the child printed nothing."""
        return f"; its last words: {self.explanation}" if self.explanation else ""

    @property
    def explanation(self) -> str:
        """Line of the error output that explains the end; empty if there is none.

        The message of a failed check is preferred to the stack and to Python's own report.
        """
        check = next((line for line in self.error_lines if _CHECK.search(line)), None)
        explanation = check or next(
            (
                line
                for line in reversed(self.error_lines)
                if line.strip() and not _STACK.match(line)
            ),
            "",
        )
        return explanation.strip()[:_LONGEST_LINE]


class MessagingChild:
    """A child process; `ask` is for one thread at a time.

    The child ends with `close`, when this object is no longer referenced, and when Python ends.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the process)
        self._ended: ChildEndedError | None = None
        self._closing = (
            threading.RLock()
        )  # another thread may close it while this one waits for its answer
        # A session of its own: a notebook's interrupt goes to the kernel's whole process group. The
        # waiting thread ends the child. No buffers: a buffered stream has a lock, and Python aborts
        # if it ends while a thread holds that lock.
        self._process = subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
            start_new_session=True,
        )
        self._requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Message | PlainDataError | None] = queue.SimpleQueue()
        streams = self._process.stdin, self._process.stdout
        threading.Thread(
            target=_converse,
            args=(self._process, self._requests, self._answers, *streams),
            daemon=True,
        ).start()
        self._end = weakref.finalize(self, _end, self._process, self._requests)
        _watch_for_the_end()

    @property
    def alive(self) -> bool:
        """True if the child can answer."""
        return self._ended is None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """Process id of the child."""
        return self._process.pid

    def ask(self, timeout: float | Deadline | None, *request: Any) -> Any:
        """Send one request and return its answer.

        timeout: seconds from here, or a deadline; None waits forever. Raises TimeoutError if the
        deadline passes, ChildEndedError if the child has ended. After either, and after an
        interrupt, the child is closed. Raises PlainDataError for a request that cannot be encoded;
        the child receives nothing.
        """
        until = (
            timeout if timeout is None or isinstance(timeout, Deadline) else Deadline.after(timeout)
        )
        if self._ended is None:
            pieces = packed(request)
            try:
                self._requests.put(pieces)
                answer = self._answers.get(timeout=None if until is None else until.left)
                if isinstance(answer, Message):
                    return answer.value()
                if isinstance(answer, PlainDataError):
                    raise answer
            except queue.Empty:
                self.close()
                assert until is not None
                raise TimeoutError(
                    f"did not finish within {until.seconds:g} s and was killed"
                ) from None
            except (
                PlainDataError
            ) as problem:  # the child is broken: nothing more that it writes counts
                raise ChildEndedError(
                    self.close().code, [], f"gave an answer that cannot be read ({problem})"
                ) from None
            except BaseException:  # Ctrl-C: the code there must not continue
                self.close()
                raise
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_TIME_TO_DIE)
        raise self.close()

    def close(self) -> ChildEndedError:
        """End it, if it still runs, within about a second. How it ended."""
        if (
            sys.is_finalizing()
        ):  # other threads have stopped where they were; one may hold a lock forever
            _kill(self._process)
            return self._ended or ChildEndedError(-signal.SIGKILL, [])
        with self._closing:
            if self._ended is None:
                self._end()
                code = self._process.poll()
                if code is None:  # it is killed; the system takes its memory from it
                    code = -signal.SIGKILL
                self._errors.seek(0)
                self._ended = ChildEndedError(
                    code, self._errors.read().decode(errors="replace").strip().splitlines()
                )
                self._errors.close()
            return self._ended


def _converse(
    process: subprocess.Popen[bytes],
    requests: queue.SimpleQueue[Any],
    answers: queue.SimpleQueue[Message | PlainDataError | None],
    wanted: BinaryIO,
    given: BinaryIO,
) -> None:
    """Write each request and read its answer, in a thread of its own.

    A child that does not read its requests then meets the deadline too.
    """
    with wanted, given:
        while (pieces := requests.get()) is not None:
            try:
                with contextlib.suppress(OSError):  # the child has ended: the read fails
                    write(wanted, pieces)
                answers.put(receive_unread(given))
            except PlainDataError as problem:
                answers.put(problem)
            except (OSError, EOFError, ValueError):
                if _leaving.is_set():
                    return  # a waiting thread belongs to a process that ends
                answers.put(None)
    process.wait()


def _end(process: subprocess.Popen[bytes], requests: queue.SimpleQueue[Any]) -> None:
    """Kill the process and its copies.

    Its thread then reads the end of the streams, closes them and waits for the remaining processes.
    """
    _kill(process)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_TIME_TO_REAP)
    requests.put(None)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and all processes of its group.

    Code that runs there may have forked, and the copies outlive their leader.
    """
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.poll() is None:
        process.kill()
