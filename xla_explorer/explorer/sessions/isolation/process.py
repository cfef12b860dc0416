"""The process that all isolated sessions share: requests with a deadline, and how it ended."""

from __future__ import annotations

import atexit
import contextlib
import signal
import threading
from typing import Any

import xla_explorer.explorer.sessions.isolation.travelling  # noqa: F401  # declares the classes of messages
from xla_explorer.explorer.sessions.isolation.blackboard import BlackboardFile, Progress
from xla_explorer.foundation.child_process import ChildEndedError, MessagingChild
from xla_explorer.foundation.child_python import child_command, child_environment
from xla_explorer.foundation.limits import Deadline


class ProcessEndedError(Exception):
    """The child died, or was ended here.

    how: `crash`, `killed`, `timeout` or `memory`. words: a sentence on it. progress: its last
    activity.
    """

    def __init__(self, how: str, words: str, progress: Progress) -> None:
        super().__init__(words)
        self.how, self.words, self.progress = how, words, progress


class RemoteError(Exception):
    """The child raised, and lives.

    problem: the exception, if it could be sent. text: its message.
    """

    def __init__(self, problem: BaseException | None, text: str) -> None:
        super().__init__(text)
        self.problem, self.text = problem, text


class ChildProcess:
    """The worker process. `ask` is for one thread at a time."""

    def __init__(self) -> None:
        self._board = BlackboardFile()
        self._kills = out_of_memory_kills()
        command = child_command(
            "xla_explorer.explorer.sessions.isolation.worker", str(self._board.path)
        )
        self._child = MessagingChild(command, child_environment(XLA_EXPLORER_ISOLATE="0"))

    @property
    def alive(self) -> bool:
        """True if the process accepts requests."""
        return self._child.alive

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._child.pid

    def ask(self, timeout: float | Deadline | None, *request: Any) -> Any:
        """Send one request and return the answer.

        After a ProcessEndedError (or an interrupt) the process is gone; after a RemoteError it is
        not.
        """
        try:
            kind, *answer = self._child.ask(timeout, *request)
        except TimeoutError as late:
            raise self._gone("timeout", str(late)) from None
        except ChildEndedError as ended:
            raise self._died(ended) from None
        except BaseException:
            self.close()
            raise
        if kind == "memory":  # memory that it still holds would count for the next one
            raise self._gone("memory", f"ran out of the memory it may take ({answer[0]})")
        if kind == "error":
            raise RemoteError(answer[0], answer[1])
        return answer[0]

    def _died(self, ended: ChildEndedError) -> ProcessEndedError:
        if ended.code == -signal.SIGKILL and out_of_memory_kills() > self._kills:
            return self._gone(
                "memory", f"was ended by the system, whose memory ran out{ended.last_line}"
            )
        if ended.code == -signal.SIGKILL:
            return self._gone("killed", f"was killed (SIGKILL) by somebody else{ended.last_line}")
        if any("out of memory" in line or "bad_alloc" in line for line in ended.error_lines):
            return self._gone("memory", f"ran out of the memory it may take{ended.last_line}")
        return self._gone("crash", str(ended))

    def _gone(self, how: str, words: str) -> ProcessEndedError:
        progress = self._board.read()
        self.close()
        return ProcessEndedError(how, words, progress)

    def close(self) -> None:
        """End it."""
        self._child.close()
        self._board.remove()


def out_of_memory_kills() -> int:
    """Return the number of processes that the system killed for memory since it started.

    Kills anywhere and in this process's group are counted; 0 if the system does not report them.
    """
    counts = [0]
    for path in ("/proc/vmstat", "/sys/fs/cgroup/memory.events"):
        with contextlib.suppress(OSError, ValueError), open(path) as file:
            counts += [int(line.split()[1]) for line in file if line.startswith("oom_kill ")]
    return sum(counts)


process_lock = threading.RLock()
"""The lock of the shared process: one request at a time."""
_current: list[ChildProcess] = []


def shared_process() -> ChildProcess:
    """Return the process that isolated sessions share, started if there is none.

    Use it under `process_lock`.
    """
    with process_lock:
        if not _current or not _current[0].alive:
            _close_all()
            _current[:] = [ChildProcess()]
        return _current[0]


def _close_all() -> None:
    for process in _current:
        process.close()


atexit.register(_close_all)
