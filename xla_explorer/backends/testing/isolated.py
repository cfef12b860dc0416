"""Conformance programs in a child process, so that a crash of native code becomes a status.

The child gets the backend's name as an argument. It answers a JSON line per program with a JSON
line of the outcome.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from typing import IO, Any

from xla_explorer.backends.registry import platform
from xla_explorer.backends.testing.outcome import Outcome, Run, reference, run_module
from xla_explorer.foundation.child_python import child_command, child_environment
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo


class IsolatedRunner:
    """Runs modules on a registered backend in a child process, a new one after a death.

    timeout: seconds for one module.
    """

    def __init__(self, backend: str, timeout: float = 120) -> None:
        self.backend, self.timeout = backend, timeout
        self._child: subprocess.Popen[str] | None = None

    def __call__(self, module: HloModule, values: str, seed: int) -> Run:
        """Run a module as `run_module` does, without the backend's results."""
        arguments, expected = reference(module, values, seed)
        if self._child is None:
            self._child = subprocess.Popen(
                child_command(__name__, self.backend),
                env=child_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        child = self._child
        assert child.stdin is not None and child.stdout is not None
        try:
            child.stdin.write(
                json.dumps({"text": module.to_text(), "values": values, "seed": seed}) + "\n"
            )
            child.stdin.flush()
            ready, _, _ = select.select([child.stdout], [], [], self.timeout)
            answer = child.stdout.readline() if ready else None
        except BrokenPipeError:
            answer = ""
        if answer:
            return Outcome(*json.loads(answer)), arguments, expected, None
        self.close()
        if answer is None:
            return (
                Outcome("crashed", "timeout", f"no answer within {self.timeout:g} seconds"),
                arguments,
                expected,
                None,
            )
        return (
            Outcome("crashed", _death(child.returncode), "the process that ran it died"),
            arguments,
            expected,
            None,
        )

    def close(self) -> None:
        """End the child."""
        child, self._child = self._child, None
        if child is not None:
            try:
                child.wait(0.5)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            for stream in (child.stdin, child.stdout):
                if stream is not None:
                    with contextlib.suppress(BrokenPipeError):
                        stream.close()


def _death(status: int) -> str:
    """Name how a process ended: `SIGSEGV`, or `exit-status-3`."""
    return signal.Signals(-status).name if status < 0 else f"exit-status-{status}"


def serve(backend: str, given: IO[str], answers: IO[str]) -> None:
    """Answer lines until the end of the input."""
    found = platform(backend)
    for line in given:
        task: dict[str, Any] = json.loads(line)
        outcome, *_ = run_module(found, parse_hlo(task["text"]), task["values"], task["seed"])
        answers.write(json.dumps(list(outcome)) + "\n")
        answers.flush()


def main() -> None:
    """Run the child."""
    # Output of the backend must not mix with the answers.
    own = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    serve(sys.argv[1], sys.stdin, own)
