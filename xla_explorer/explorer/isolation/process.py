"""This side of the child process: start, ask, wait with a deadline, and tell how it ended. All isolated sessions share one."""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO, cast

import xla_explorer
from xla_explorer.explorer.isolation.blackboard import BlackboardFile, Progress
from xla_explorer.foundation.messages import receive, send

_HOME = str(Path(xla_explorer.__file__).resolve().parents[1])


class ProcessEndedError(Exception):
    """The child died, or was ended here. how: `crash`, `timeout` or `memory`. words: how, for people. progress: what it was doing."""

    def __init__(self, how: str, words: str, progress: Progress) -> None:
        super().__init__(words)
        self.how, self.words, self.progress = how, words, progress


class RemoteError(Exception):
    """The child raised, and lives. problem: the exception where it could travel. text: it in words."""

    def __init__(self, problem: BaseException | None, text: str) -> None:
        super().__init__(text)
        self.problem, self.text = problem, text


class ChildProcess:
    """One worker process. `ask` is for one thread at a time."""

    def __init__(self) -> None:
        self._board = BlackboardFile()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the process)
        paths = [_HOME, *[p for p in sys.path if p and p != _HOME]]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "XLA_EXPLORER_ISOLATE": "0"}
        command = [sys.executable, "-P", "-m", "xla_explorer.explorer.isolation.worker", str(self._board.path), str(os.getpid())]
        # A session of its own: a notebook's interrupt goes to the kernel's whole process group.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=environment, start_new_session=True
        )
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        stream = cast(BinaryIO, self._process.stdout)
        try:
            while True:
                self._answers.put(receive(stream))
        except (EOFError, OSError, ValueError):
            self._answers.put(None)

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def ask(self, timeout: float | None, *request: Any) -> Any:
        """One request, its answer. After a ProcessEndedError (or an interrupt) the process is gone; after a RemoteError it is not."""
        deadline = None if timeout is None else time.monotonic() + timeout
        try:
            try:
                send(cast(BinaryIO, self._process.stdin), request)
            except OSError:
                answer = None
            else:
                answer = self._answers.get(timeout=None if deadline is None else max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            progress = self._board.read()
            self.close()
            raise ProcessEndedError("timeout", f"was still at it after {timeout:g} s and was ended", progress) from None
        except BaseException:  # Ctrl-C: what runs there must not run on
            self.close()
            raise
        if answer is None:
            raise self._ended()
        if answer[0] == "memory":
            progress = self._board.read()
            self.close()  # what it still holds would count against the next one
            raise ProcessEndedError("memory", f"ran out of the memory it may take ({answer[1]})", progress)
        if answer[0] == "error":
            raise RemoteError(answer[1], answer[2])
        return answer[1]

    def _ended(self) -> ProcessEndedError:
        code = self._process.wait()
        progress = self._board.read()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip().splitlines()
        self.close()
        last = f"; its last words: {said[-1][:300]}" if said else ""
        if code == -signal.SIGKILL:
            return ProcessEndedError("memory", f"was ended by the system, which does so when memory runs out{last}", progress)
        if any("out of memory" in line or "bad_alloc" in line for line in said):
            return ProcessEndedError("memory", f"ran out of the memory it may take{last}", progress)
        how = f"crashed with {signal.Signals(-code).name}" if code < 0 else f"ended its process with exit code {code}"
        return ProcessEndedError("crash", f"{how}{last}", progress)

    def close(self) -> None:
        """End it."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._errors.close()
        self._board.remove()


_lock = threading.RLock()
_current: list[ChildProcess] = []


def shared_process() -> tuple[ChildProcess, threading.RLock]:
    """The process that isolated sessions share, started when there is none, and the lock under which to ask it."""
    with _lock:
        if not _current or not _current[0].alive:
            _current[:] = [ChildProcess()]
        return _current[0], _lock


def _close_all() -> None:
    for process in _current:
        process.close()


atexit.register(_close_all)
