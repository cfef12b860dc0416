"""Work that the shared child process does under the limits of one isolation, and its errors."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from xla_explorer.backends.interfaces import ProgramStep
from xla_explorer.explorer.sessions.isolation.failure import (
    IsolatedCrashError,
    IsolatedError,
    IsolatedMemoryError,
    IsolatedTimeoutError,
    failure,
)
from xla_explorer.explorer.sessions.isolation.process import (
    ChildProcess,
    ProcessEndedError,
    RemoteError,
    shared_process,
)
from xla_explorer.explorer.sessions.isolation.settings import Isolation
from xla_explorer.foundation.child_process import TIME_TO_START
from xla_explorer.foundation.limits import Bounds, deadline, limited_run, uncounted, under
from xla_explorer.foundation.plain_data import PlainDataError
from xla_explorer.hlo.module import HloModule

_KINDS: dict[str, type[IsolatedError]] = {
    "crash": IsolatedCrashError,
    "killed": IsolatedCrashError,
    "timeout": IsolatedTimeoutError,
    "memory": IsolatedMemoryError,
}
_HINTS = {
    "crash": (
        "this session is unharmed; session.stage('llvm-ir') has the code, session.bisect(...) "
        "finds the pass that broke it"
    ),
    "killed": "this session is unharmed; the next call starts a new process",
    "timeout": "a loop whose condition stays true? raise timeout= if it is only slow",
    "memory": "smaller shapes, or raise memory_limit=",
}
forgotten: list[int] = []
"""Programs whose session is gone; the next request sends them.

A finalizer may run anywhere, so it sends nothing itself.
"""


class RemoteWork:
    """Requests to the child about one module, made under `process_lock`.

    module, steps: of the optimised module, for errors; None and empty before it exists. process:
    the child that has the work.
    """

    module: HloModule | None = None
    steps: Sequence[ProgramStep] = ()
    process: ChildProcess | None = None

    def __init__(self, name: str, backend: str, isolation: Isolation) -> None:
        self.name, self.backend, self.isolation = name, backend, isolation

    @contextmanager
    def one_run(self) -> Iterator[None]:
        """Count the time of all requests inside as that of one."""
        with under(Bounds(self.isolation.timeout, self.isolation.memory)), limited_run():
            yield

    def prepared(self) -> ChildProcess:
        """Return the shared process, ready for the backend.

        A process that died while idle is replaced. The start of a process does not count as run
        time.
        """
        limits = self.isolation
        environment = {name: os.environ.get(name) for name in limits.environment}
        gone, forgotten[:] = tuple(forgotten), []
        request = "prepare", self.backend, limits.imports, limits.memory, gone, environment
        with uncounted():
            for last in (False, True):
                process = shared_process()
                try:
                    process.ask(TIME_TO_START, *request)
                    break
                except ProcessEndedError as ended:
                    if last or ended.how == "timeout":
                        raise self._failure(ended) from None
                except RemoteError as raised:
                    raise self._raised(process, raised) from None
        return process

    def answer_of(self, process: ChildProcess, *request: Any) -> Any:
        """Send one request and return the answer. Raises IsolatedError, and the child's errors."""
        with self.one_run():
            until = deadline()
            if until is not None and not until.left:  # earlier requests have used the time
                raise IsolatedTimeoutError(
                    f"{self.name}: the call was not done after {until.seconds:g} s",
                    "raise timeout= if it is only slow",
                )
            try:
                return process.ask(until, *request)
            except ProcessEndedError as ended:
                raise self._failure(ended) from None
            except RemoteError as raised:
                raise self._raised(process, raised) from None
            except PlainDataError as problem:
                raise IsolatedError(
                    f"{self.name}: {problem.message}", "compile it with isolate=False"
                ) from None

    def _failure(self, ended: ProcessEndedError) -> IsolatedError:
        self.process = None
        hint = _HINTS[ended.how]
        if ended.how == "timeout" and ended.progress.phase in (
            "parsing",
            "in the passes",
            "compiling",
        ):
            hint = "a big module takes long to compile: raise timeout="
        elif ended.how == "crash" and self.module is None:  # there is no session to name
            hint = "this process is unharmed; report it with the module that was given"
        return failure(
            _KINDS[ended.how], ended.words, hint, self.name, self.module, self.steps, ended.progress
        )

    def _raised(self, process: ChildProcess, raised: RemoteError) -> BaseException:
        if getattr(
            raised.problem, "fatal", False
        ):  # its device's context is lost: the next request goes to a new child
            process.close()
            self.process = None
        return raised.problem or IsolatedError(f"{self.name} in its child process: {raised.text}")
