"""This side of the child process in which jaxlib runs: its flags, its folder, and plain words when it dies."""

from __future__ import annotations

import os
import tempfile
import weakref
from pathlib import Path
from typing import Any

from xla_explorer.backends.llvm.target_machine import usable_core_numbers
from xla_explorer.foundation.child_process import ChildEndedError, MessagingChild
from xla_explorer.foundation.child_python import child_command, child_environment
from xla_explorer.foundation.diagnostic import XlaExplorerError


class XlaProcessError(XlaExplorerError, RuntimeError):
    """Real XLA refused the module, or its process died; its own words are the message."""


class XlaChild:
    """One child process and the folder into which its XLA dumps every pass. `close`, being forgotten, or the end of Python
    ends both."""

    def __init__(self, threads: int | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="xla-explorer-dump-")
        flags = f"--xla_dump_to={self.folder} --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*"
        environment = child_environment(XLA_FLAGS=f"{os.environ.get('XLA_FLAGS', '')} {flags}".strip(), JAX_PLATFORMS="cpu")
        self._process = MessagingChild(child_command("xla_explorer.backends.xla.worker"), environment)
        self._end = weakref.finalize(self, _end, self._process, self._folder)
        if threads is not None and hasattr(os, "sched_setaffinity"):
            # XLA sizes its thread pool by the processors that the process may use.
            os.sched_setaffinity(self._process.pid, usable_core_numbers()[:threads])

    @property
    def folder(self) -> Path:
        """Where XLA dumps."""
        return Path(self._folder.name)

    def ask(self, *request: Any) -> Any:
        """One request, its answer. XlaProcessError with what XLA said, or how the process ended."""
        try:
            kind, value = self._process.ask(None, *request)
        except ChildEndedError as ended:
            raise XlaProcessError(f"the process of real XLA ended during {request[0]!r}: it {ended}",
                                  "your session is unharmed; the module may be one that this XLA cannot compile") from None
        if kind == "error":
            raise XlaProcessError(f"real XLA: {value}")
        return value

    def close(self) -> None:
        """End the process and remove the dump."""
        self._end()


def _end(process: MessagingChild, folder: tempfile.TemporaryDirectory[str]) -> None:
    process.close()
    folder.cleanup()
