"""The child process that runs LLVM: started with the first job and kept.

Several jobs run side by side. If LLVM ends the process, `crashed_code.py` finds the functions that
caused it and compiles them in another way. LLVM runs in this process only if no child can be
started.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import queue
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import Future
from typing import Final, NamedTuple

from xla_explorer.backends.llvm.code_process import (
    READY,
    Incoming,
    error_of,
    head_of,
    message,
    write_all,
)
from xla_explorer.backends.llvm.llvm_module import Job, perform
from xla_explorer.backends.llvm.parallel_llvm import compilation_threads
from xla_explorer.backends.llvm.target_machine import usable_cores
from xla_explorer.foundation.child_process import ChildEndedError
from xla_explorer.foundation.child_python import child_command, child_environment
from xla_explorer.foundation.warning import warn

_FITS_INTO_A_PIPE: Final = (
    60_000  # bytes; an empty pipe takes 64 KiB on Linux and macOS, and more is written by a thread
)
_TIME_TO_DIE: Final = 10.0  # seconds, from closing its output to its exit status


class Made(NamedTuple):
    """The output of LLVM for a job, and the seconds of each step."""

    data: bytes
    seconds: dict[str, float]


class NoCodeProcessError(Exception):
    """The process could not be started, or ended before LLVM was loaded."""


class LlvmInThisProcessWarning(RuntimeWarning):
    """LLVM runs in the user's process, which it aborts on an internal error."""


class CodeProcess:
    """A child process that runs LLVM.

    `submit` may be called by several threads. NoCodeProcessError if no child can be started.
    """

    def __init__(self, threads: int) -> None:
        self._numbers = itertools.count(READY + 1)
        self._lock = threading.Lock()
        self._jobs: dict[int, Future[Made]] = {}
        self._ended: Exception | None = None
        self._ready = False
        self._writing = threading.Lock()
        self._outgoing: queue.SimpleQueue[bytes | None] = (
            queue.SimpleQueue()
        )  # what the pipe may have no room for
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the process)
        command = child_command("xla_explorer.backends.llvm.code_process", str(threads), bare=True)
        try:
            # A session of its own: a notebook's interrupt goes to the whole process group.
            self._process = subprocess.Popen(
                command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=child_environment(),
                start_new_session=True,
            )  # fmt: skip
        except (OSError, ValueError, subprocess.SubprocessError) as problem:
            self._errors.close()
            raise NoCodeProcessError(str(problem)) from None
        assert self._process.stdin is not None and self._process.stdout is not None
        self._descriptors = self._process.stdin.fileno(), self._process.stdout.fileno()
        for target in (self._write, self._read):
            threading.Thread(target=target, name="xla_explorer_llvm", daemon=True).start()

    @property
    def alive(self) -> bool:
        """True if the process takes jobs."""
        return self._ended is None

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def submit(self, job: Job) -> Future[Made]:
        """Submit a job.

        The future raises the job's exception, or ChildEndedError with the end of the process.
        """
        future: Future[Made] = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            if self._ended is not None:
                future.set_exception(self._ended)
                return future
            number = next(self._numbers)
            self._jobs[number] = future
            alone = len(self._jobs) == 1
        request = message(number, head_of(job), job.ir_text.encode())
        if alone and len(request) <= _FITS_INTO_A_PIPE:
            with self._writing, contextlib.suppress(OSError):  # it has died: reading says so
                write_all(self._descriptors[0], request)
        else:
            self._outgoing.put(request)
        return future

    def abandon(self, future: Future[Made]) -> None:
        """Drop a job whose result is no longer needed.

        LLVM cannot be interrupted: the process is ended, unless it has other jobs.
        """
        with self._lock:
            others = [found for found in self._jobs.values() if found is not future]
        if not others:
            self.close()

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()

    def forget(self) -> None:
        """Drop the parent's process in a forked child."""
        for stream in (self._process.stdin, self._process.stdout):
            if (
                stream is not None
            ):  # closed by its owner, which would otherwise close the number once more when it goes
                with contextlib.suppress(OSError):
                    stream.close()
        self._process.returncode = self._process.returncode or 0  # it is another's to wait for
        self._ended = NoCodeProcessError("it belongs to the process that this one was forked from")

    def _write(self) -> None:
        with contextlib.suppress(OSError):
            while (request := self._outgoing.get()) is not None:
                with self._writing:
                    write_all(self._descriptors[0], request)

    def _read(self) -> None:
        incoming = Incoming(self._descriptors[1])
        try:
            while True:
                number, head, made = incoming.message()
                if number == READY:
                    self._ready = True
                    continue
                with self._lock:
                    future = self._jobs.pop(number)
                problem = error_of(head)
                if problem is not None:
                    future.set_exception(problem)
                else:
                    future.set_result(Made(made, head["seconds"]))
        except (OSError, EOFError, ValueError, KeyError):
            self._end()

    def _end(self) -> None:
        """Say to all who wait how the process ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_TIME_TO_DIE)
        self.close()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip().splitlines()
        self._errors.close()
        ended = ChildEndedError(self._process.returncode, said)
        with self._lock:
            self._ended = ended if self._ready else NoCodeProcessError(f"it {ended}")
            waiting, self._jobs = list(self._jobs.values()), {}
        self._outgoing.put(None)
        with self._writing:  # whoever submits now must not write to a number that is used again
            self._descriptors = -1, -1
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
        for future in waiting:
            future.set_exception(self._ended)


class _Maker:
    """The child process of this process: started with the first job, and again after it ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: CodeProcess | None = None
        self._never = sys.platform in ("emscripten", "wasi")

    def process(self) -> CodeProcess | None:
        """Return the process, started if needed; None if LLVM runs in this process."""
        with self._lock:
            if self._never:
                return None
            if self._process is None or not self._process.alive:
                try:
                    self._process = CodeProcess(usable_cores())
                except NoCodeProcessError as problem:
                    self._works_here(problem)
                    return None
            return self._process

    def works_here(self, why: Exception) -> None:
        """Run LLVM in this process from now on, and warn once."""
        with self._lock:
            if not self._never:
                self._works_here(why)

    def _works_here(self, why: Exception) -> None:
        self._never = True
        warn("LLVM works in this process, which a fault of LLVM would end: no process could be "
        f"started for it ({why})",
             LlvmInThisProcessWarning)  # fmt: skip

    def forget(self) -> None:
        """Drop the parent's process in a forked child."""
        self._lock = threading.Lock()
        if self._process is not None:
            self._process.forget()
            self._process = None

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.close()
            self._process = None


_maker = _Maker()


def submit(job: Job) -> Future[Made]:
    """Have a job done, by the process of LLVM. `made` waits for it."""
    process = _maker.process()
    if process is not None:
        return process.submit(job)
    if usable_cores() == 1:
        future: Future[Made] = Future()
        try:
            future.set_result(Made(*perform(job)))
        except Exception as problem:
            future.set_exception(problem)
        return future
    return compilation_threads().submit(lambda: Made(*perform(job)))


def result_of(future: Future[Made]) -> Made:
    """Wait for a job and return its output.

    Raises the job's exception, ChildEndedError if LLVM crashed, NoCodeProcessError without a
    process.
    """
    try:
        return future.result()
    except BaseException:
        process = _maker._process
        if (
            not future.done() and process is not None
        ):  # an interrupt: the user waits for nothing more
            process.abandon(future)
        raise


def in_this_process(job: Job, why: Exception) -> Made:
    """Do a job in this process, because no child can be started."""
    _maker.works_here(why)
    return Made(*perform(job))


atexit.register(_maker.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_maker.forget)

__all__ = [
    "CodeProcess",
    "LlvmInThisProcessWarning",
    "Made",
    "NoCodeProcessError",
    "in_this_process",
    "result_of",
    "submit",
]
