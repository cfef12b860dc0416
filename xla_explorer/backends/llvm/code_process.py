"""The LLVM child process: reads jobs from standard input, writes outputs to standard output.

LLVM aborts its process on internal errors, and must not end the user's. Jobs run side by side, one
thread each. The process ends at the end of its input, which the kernel closes when the parent ends.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
import threading
from collections.abc import Mapping
from typing import Any, Final

from xla_explorer.backends.llvm.llvm_module import Job, LlvmIrError, OptimizationOptions, perform
from xla_explorer.backends.llvm.target_machine import TargetDescription, llvm
from xla_explorer.foundation.diagnostic import XlaExplorerError

READY: Final = 0  # the number of the message that says that LLVM is loaded; jobs count from 1
_FRAME: Final = struct.Struct("<QQQ")  # number, bytes of the head (JSON), bytes of the payload
_CHUNK: Final = 1 << 20


def message(number: int, head: Mapping[str, Any], payload: bytes = b"") -> bytes:
    """Return the bytes of one message."""
    header = json.dumps(head).encode()
    return _FRAME.pack(number, len(header), len(payload)) + header + payload


def write_all(descriptor: int, data: bytes) -> None:
    """Write to a pipe. OSError if it has no reader any longer."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view[:_CHUNK]) :]


class Incoming:
    """Messages from a pipe. For one thread at a time."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._found = bytearray()  # read, but not requested yet

    def message(self) -> tuple[int, dict[str, Any], bytes]:
        """Return the next (number, head, payload); EOFError at the end of the input."""
        number, head_size, size = _FRAME.unpack(self._take(_FRAME.size))
        head: dict[str, Any] = json.loads(self._take(head_size))
        return number, head, self._take(size)

    def _take(self, size: int) -> bytes:
        while len(self._found) < size:
            piece = os.read(self._descriptor, _CHUNK)
            if not piece:
                raise EOFError
            self._found += piece
        taken = bytes(memoryview(self._found)[:size])
        del self._found[:size]
        return taken


def head_of(job: Job) -> dict[str, Any]:
    """Return a job without its text, as JSON data."""
    options, description = (
        {name: getattr(record, name) for name in record.__slots__}
        for record in (job.options, job.description)
    )
    settings = {
        "wanted": job.wanted,
        "passes": job.passes,
        "verbose": job.verbose,
        "code_level": job.code_level,
    }
    return {**settings, "options": options, "description": description}


def _job(head: dict[str, Any], payload: bytes) -> Job:
    options, description = (
        OptimizationOptions(**head.pop("options")),
        TargetDescription(**head.pop("description")),
    )
    return Job(ir=payload.decode(), options=options, description=description, **head)


def error_of(head: Mapping[str, Any]) -> Exception | None:
    """Return the exception of an answer; None if the job succeeded."""
    if "error" not in head:
        return None
    if head["error"] == "LlvmIrError":
        found = LlvmIrError("", head["line"], head["column"], head["excerpt"])
        found.message, found.args = head["message"], (head["message"],)
        return found
    if head["error"] == "XlaExplorerError":
        return XlaExplorerError(head["message"], head["hint"])
    return (
        MemoryError(head["message"])
        if head["error"] == "MemoryError"
        else RuntimeError(head["message"])
    )


def _told(problem: Exception) -> dict[str, Any]:
    """Return an exception as JSON data, for `error_of`."""
    if isinstance(problem, LlvmIrError):
        place = {"line": problem.line, "column": problem.column, "excerpt": problem.excerpt}
        return {"error": "LlvmIrError", "message": problem.message, **place}
    if isinstance(problem, XlaExplorerError):
        return {"error": "XlaExplorerError", "message": problem.message, "hint": problem.hint}
    return {"error": type(problem).__name__, "message": str(problem)}


class _Workers:
    """The threads that do jobs: one of them waits for the next, the others work.

    Each that takes a job sees to it that one waits.
    """

    def __init__(self, jobs: int, answers: int, most: int) -> None:
        self._incoming, self._answers = Incoming(jobs), answers
        self._reading, self._writing = threading.Lock(), threading.Lock()
        self._idle, self._more = 1, most - 1  # threads

    def work(self) -> None:
        """Do jobs until the input ends, and this process with it."""
        try:
            while True:
                with self._reading:
                    job = self._incoming.message()
                    self._idle -= 1
                    if not self._idle and self._more:
                        self._idle, self._more = 1, self._more - 1
                        threading.Thread(target=self.work, daemon=True).start()
                self._do(*job)
                with self._writing:
                    self._idle += 1
        except (EOFError, OSError):
            os._exit(0)

    def _do(self, number: int, head: dict[str, Any], payload: bytes) -> None:
        try:
            made, seconds = perform(_job(head, payload))
            answer: dict[str, Any] = {"seconds": seconds}
        except Exception as problem:  # whatever it is, the other process says it
            made, answer = b"", _told(problem)
        with self._writing:
            write_all(self._answers, message(number, answer, made))


def main() -> None:
    """Do jobs until the input ends. The argument is the number of threads."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    jobs, answers = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # LLVM may print
    llvm()
    write_all(answers, message(READY, {}))
    _Workers(jobs, answers, int(sys.argv[1])).work()


if __name__ == "__main__":
    main()
