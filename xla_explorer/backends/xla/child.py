"""The user's side of the child process: start, ask, and say in plain words when it dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, BinaryIO, cast

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.messages import receive, send


class XlaProcessError(XlaExplorerError, RuntimeError):
    """Real XLA refused the module, or its process died; its own words are the message."""


class XlaChild:
    """One child process and the folder into which its XLA dumps every pass. `close` (or being forgotten) ends both."""

    def __init__(self, threads: int | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="xla-explorer-dump-")
        flags = f"--xla_dump_to={self.folder} --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*"
        environment = {**os.environ, "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {flags}".strip(), "JAX_PLATFORMS": "cpu"}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the process)
        command = [sys.executable, "-m", "xla_explorer.backends.xla.worker"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=environment)
        if threads is not None and hasattr(os, "sched_setaffinity"):
            # XLA sizes its thread pool by the processors that the process may use.
            os.sched_setaffinity(self._process.pid, sorted(os.sched_getaffinity(0))[:threads])

    @property
    def folder(self) -> Path:
        """Where XLA dumps."""
        return Path(self._folder.name)

    def ask(self, *request: Any) -> Any:
        """One request, its answer. XlaProcessError with what XLA said, or how the process ended."""
        try:
            send(cast(BinaryIO, self._process.stdin), request)
            kind, value = receive(cast(BinaryIO, self._process.stdout))
        except (EOFError, BrokenPipeError, OSError):
            raise XlaProcessError(f"the process of real XLA ended during {request[0]!r}: {self._ending()}",
                                  "your session is unharmed; the module may be one that this XLA cannot compile") from None
        if kind == "error":
            raise XlaProcessError(f"real XLA: {value}")
        return value

    def _ending(self) -> str:
        code = self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip().splitlines()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return f"{how}; its last words: {said[-1][:300]}" if said else how

    def close(self) -> None:
        """End the process and remove the dump."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._errors.close()
        self._folder.cleanup()

    def __del__(self) -> None:
        if hasattr(self, "_process"):
            self.close()
