"""The parent of the child process that runs jaxlib: its flags, its folder, its errors."""

from __future__ import annotations

import os
import tempfile
import weakref
from pathlib import Path
from typing import Any, Final

from xla_explorer.backends.llvm.target_machine import usable_core_numbers
from xla_explorer.backends.xla.worker import DEVICES
from xla_explorer.foundation.child_process import TIME_TO_START, ChildEndedError, MessagingChild
from xla_explorer.foundation.child_python import (
    child_command,
    child_environment,
    foreign_command,
    foreign_environment,
)
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.limits import bounds, deadline, limited_run, uncounted
from xla_explorer.foundation.memory_limit import limit_memory_of

_WORKER: Final = "xla_explorer.backends.xla.worker"
_PLUGIN: Final = "plugin_to_conform"


class XlaProcessError(XlaExplorerError, RuntimeError):
    """Real XLA refused the module, or its process died; its own words are the message."""


class XlaTimeoutError(XlaProcessError, TimeoutError):
    """Real XLA took longer than the timeout. Its process was ended."""


class XlaMemoryError(XlaProcessError, MemoryError):
    """Real XLA needed more memory than it may use."""


_OUT_OF_MEMORY: Final = ("RESOURCE_EXHAUSTED", "out of memory", "bad_alloc", "MemoryError")


class XlaChild:
    """One child process and the folder of its XLA's dumps.

    `close`, garbage collection, or the end of Python ends both.

    Its limits are those of `foundation.limits.bounds` at its creation; without such, those at a
    request. The start of the process, which loads jaxlib, is not counted.

    flags: further XLA flags. python: of another environment, or that environment's folder. dumped:
    a regular expression of the passes whose results XLA dumps; empty: only before the first and
    after the last; None: nothing. plugin: the file of a PJRT plugin, whose devices run the programs
    in place of XLA's CPU. worker: the module whose `main` answers the requests.
    """

    def __init__(
        self,
        threads: int | None = None,
        *,
        flags: str = "",
        python: str | None = None,
        dumped: str | None = ".*",
        plugin: str | None = None,
        worker: str = _WORKER,
    ) -> None:
        interpreter = _interpreter(python) if python is not None else None
        self._install = (
            f"jax must be installed there: {interpreter} -m pip install jax"
            if interpreter is not None
            else ""
        )
        # A process that was just killed may still write there.
        self._folder = tempfile.TemporaryDirectory(
            prefix="xla-explorer-dump-", ignore_cleanup_errors=True
        )
        dump = "" if dumped is None else f"--xla_dump_to={self.folder} --xla_dump_hlo_as_text "
        dump += f"--xla_dump_hlo_pass_re={dumped}" if dumped else ""
        settings = {
            "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {dump} {flags}".strip(),
            "JAX_PLATFORMS": "cpu",
        }
        if plugin is not None:
            settings |= {
                "JAX_PLATFORMS": f"{_PLUGIN},cpu",
                "PJRT_NAMES_AND_LIBRARY_PATHS": f"{_PLUGIN}:{plugin}",
                DEVICES: _PLUGIN,
            }
        if interpreter is not None:
            command, environment = (
                foreign_command(interpreter, worker),
                foreign_environment(**settings),
            )
        else:
            command, environment = child_command(worker), child_environment(**settings)
        self._bounds, self._started, self._late = bounds(), False, ""
        self._process = MessagingChild(command, environment)
        self._end = weakref.finalize(self, _end, self._process, self._folder)
        if threads is not None and hasattr(os, "sched_setaffinity"):
            # XLA sizes its thread pool by the processors that the process may use.
            os.sched_setaffinity(self._process.pid, usable_core_numbers()[:threads])

    @property
    def folder(self) -> Path:
        """The folder of XLA's dumps."""
        return Path(self._folder.name)

    @property
    def alive(self) -> bool:
        """True if the child can answer."""
        return self._process.alive

    def ask(self, *request: Any) -> Any:
        """Return the answer of a request. XlaProcessError has XLA's message, or the crash."""
        what = f"real XLA during {request[0]!r}"
        if self._late:
            raise XlaTimeoutError(
                f"the process of real XLA is gone: during {self._late!r} it took too long",
                "compile the program again",
            )
        try:
            self._start()
            with limited_run(self._bounds.seconds):
                kind, value = self._process.ask(deadline(), *request)
        except TimeoutError as late:
            self._late = str(request[0])
            raise XlaTimeoutError(
                f"{what} {late}",
                "a loop whose condition stays true? raise xe.options.timeout (or timeout=) if it "
                "is only slow, and compile it again",
            ) from None
        except ChildEndedError as ended:
            if self._ran_out("\n".join(ended.error_lines)):
                raise self._too_much(what, str(ended)) from None
            hint = "your session is unharmed; the module may be one that this XLA cannot compile"
            raise XlaProcessError(
                f"the process of real XLA ended during {request[0]!r}: it {ended}",
                self._install or hint,
            ) from None
        if kind == "error" and self._ran_out(value):
            raise self._too_much(what, value)
        if kind == "error":
            raise XlaProcessError(
                f"real XLA: {value}", self._install if "No module named" in value else ""
            )
        return value

    def _start(self) -> None:
        """Load jaxlib, then limit the memory to so much more than it maps by then."""
        if self._started:
            return
        with uncounted():
            self._process.ask(TIME_TO_START, "version")
        limit_memory_of(self._process.pid, self._bounds.memory)
        self._started = True

    def _ran_out(self, said: str) -> bool:
        return self._bounds.memory is not None and any(words in said for words in _OUT_OF_MEMORY)

    def _too_much(self, what: str, said: str) -> XlaMemoryError:
        return XlaMemoryError(
            f"{what} ran out of the {self._bounds.memory:,} bytes that it may use: {said}",
            "smaller shapes, or raise xe.options.memory_limit (or memory_limit=)",
        )

    def close(self) -> None:
        """End the process and remove the dump."""
        self._end()


def _interpreter(place: str) -> str:
    """Return the Python of an environment. XlaProcessError if it has none."""
    path = Path(place).expanduser()
    inside = (path / "bin" / "python", path / "Scripts" / "python.exe")
    found = [path] if path.is_file() else [one for one in inside if one.is_file()]
    if not found:
        raise XlaProcessError(
            f"{place} has no Python", "give the folder of a virtual environment, or its bin/python"
        )
    return str(found[0].absolute())


def _end(process: MessagingChild, folder: tempfile.TemporaryDirectory[str]) -> None:
    process.close()
    folder.cleanup()
