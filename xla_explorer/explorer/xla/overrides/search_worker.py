"""The child process of `xe.xla.search`, so that a change with which XLA crashes is one more trial.

Requests beside those of `backends.xla.worker`: ("place", arrays), ("build", number, program, types,
flags, pairs, expected), ("values", number), ("seconds", number, runs).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xla_explorer.backends.xla.worker import CLOCK, Worker, answer_requests
from xla_explorer.explorer.xla.overrides.hook import captured, overridden
from xla_explorer.explorer.xla.overrides.report import XlaOverrides
from xla_explorer.explorer.xla.overrides.requests import make_requests
from xla_explorer.frontends.hlo_proto.large_constants import Payload
from xla_explorer.frontends.jax_program.mlir import without_donation

Pair = tuple[str, str]
Program = bytes | tuple[str, Mapping[str, Payload]]
"""StableHLO as text or bytecode, or HLO text with the values of its large constants."""


class SearchWorker(Worker):
    """jaxlib's CPU client, the arguments on its device, and executables by number."""

    def __init__(self) -> None:
        super().__init__()
        self.arguments: list[Any] = []
        self.executables: dict[int, tuple[Any, list[Any]]] = {}

    def place(self, arrays: Sequence[Any]) -> None:
        """Keep the arguments of all runs on the device."""
        self.arguments = [self.jax.device_put(array, self.device) for array in arrays]

    def build(
        self,
        number: int,
        program: Program,
        types: Sequence[str],
        flags: Sequence[tuple[str, Any]],
        pairs: Mapping[str, Sequence[Pair]],
        expected: tuple[str, Pair] | None,
    ) -> tuple[str, list[bytes]]:
        """Compile a program and keep it under a number.

        types: of the parameters. pairs: to `forbid` and to `fuse`. expected: the request that must
        be granted. Return why it was not granted, else an empty text, and the modules that XLA
        compiled.
        """
        from jaxlib import _jax, xla_client

        if isinstance(program, bytes):
            program = without_donation(program)  # each run takes the same arguments
        else:
            program = _jax.mlir.hlo_to_stablehlo(self.proto(*program))
        options = xla_client.CompileOptions()
        options.env_option_overrides = list(flags)
        report = XlaOverrides(make_requests(pairs["fuse"], pairs["forbid"]), overridden)
        with captured() as modules, overridden(report, clear_caches=False):
            made = self.device.client.compile_and_load(program, self.devices, options)
        self.executables[number] = made, self._converted(types)
        refused = [
            str(one.reason)
            for one in report.outcomes
            if (one.word, one.subjects) == expected and one.result != "granted"
        ]
        return "".join(refused[:1]), modules

    def _converted(self, types: Sequence[str]) -> list[Any]:
        """Return the arguments in the types of a rewritten program."""
        import numpy as np

        return [
            leaf
            if str(leaf.dtype) == wanted
            else self.jax.device_put(np.asarray(leaf).astype(wanted), self.device)
            for leaf, wanted in zip(self.arguments, types, strict=True)
        ]

    def values(self, number: int) -> list[Any]:
        """Return the results of a run."""
        import numpy as np

        executable, arguments = self.executables[number]
        return [np.asarray(one) for one in executable.execute(arguments)]

    def seconds(self, number: int, runs: int) -> float:
        """Return the time of a run, of so many one after another."""
        executable, arguments = self.executables[number]
        read: Callable[[], float] = (
            time.process_time if os.environ.get(CLOCK) == "process" else time.perf_counter
        )
        started = read()
        for _ in range(runs):
            results = executable.execute(arguments)
        for one in results:
            one.block_until_ready()
        return (read() - started) / runs


def main() -> None:
    """Answer requests until the pipe closes."""
    answer_requests(SearchWorker)
