"""Harnesses in short-lived child processes: a crash or hang ends its child only."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

CHILD = Path(__file__).resolve().parent / "child.py"
LIFE = 250  # harnesses; a fresh child then, because jax and LLVM keep some memory of each
PATIENCE = 60.0  # seconds a harness
START = 240.0  # seconds until jax is imported


class Child:
    """One process: lines in, rows out. `harnesses`: name -> primitive."""

    def __init__(self, backends: str, seed: int, of_64_bits: bool = True) -> None:
        environment = {**os.environ, "JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": str(int(of_64_bits))}
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", str(CHILD), backends, str(seed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=environment,
        )
        assert self.process.stdout is not None
        self.rest = b""
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)
        self.served = 0
        harnesses = self._row(START)
        if harnesses is None:
            raise RuntimeError(f"the child does not start: {self.end()}")
        self.harnesses: dict[str, str] = harnesses

    def run(self, name: str) -> dict[str, Any] | None:
        """Return the row of a harness; None if the process ended or did not answer in time."""
        assert self.process.stdin is not None
        self.served += 1
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(name.encode() + b"\n")
            self.process.stdin.flush()
        return self._row(PATIENCE)

    def _row(self, seconds: float) -> dict[str, Any] | None:
        assert self.process.stdout is not None
        until = time.monotonic() + seconds
        while b"\n" not in self.rest:
            left = until - time.monotonic()
            found = (
                os.read(self.process.stdout.fileno(), 1 << 20)
                if left > 0 and self.selector.select(left)
                else b""
            )
            if not found:
                return None
            self.rest += found
        line, self.rest = self.rest.split(b"\n", 1)
        return dict(json.loads(line))

    def end(self) -> str:
        """Stop it; return how it ended by itself, if it did, with the end of its stderr."""
        try:
            said = f"crashed with exit status {self.process.wait(1)}"
        except subprocess.TimeoutExpired:
            said = f"took more than {PATIENCE:.0f} s"
        self.process.kill()
        self.process.wait()
        self.selector.close()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        self.errors.seek(0)
        written = self.errors.read()[-2000:].decode(errors="replace")
        self.errors.close()
        return f"{said}: {written}"


class Pool:
    """Run harnesses: `with Pool("cpu,interpreter", 42) as pool: for row in pool.run(names): ...`.

    `harnesses` maps the name of each to its primitive.
    """

    def __init__(self, backends: str, seed: int) -> None:
        self.backends, self.seed = backends, seed
        self.child: Child | None = Child(backends, seed)
        self.harnesses = self.child.harnesses

    def run(self, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield a row for each harness, in order; `crashed` and `hung` are statuses too."""
        for name in names:
            if self.child is None or self.child.served >= LIFE:
                self._end()
                self.child = Child(self.backends, self.seed)
            row = self.child.run(name)
            if row is None:
                said = self._end()
                outcome = {"status": "hung" if said.startswith("took") else "crashed", "note": said}
                row = {
                    "name": name,
                    "primitive": self.harnesses[name],
                    "seed": self.seed,
                    **dict.fromkeys(self.backends.split(","), outcome),
                }
            yield row

    def _end(self) -> str:
        child, self.child = self.child, None
        return child.end() if child is not None else ""

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()
