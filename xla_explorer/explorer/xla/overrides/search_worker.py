"""The child process of `xe.xla.search`, so that a change with which XLA crashes is one more trial.

Requests beside those of `backends.xla.worker`: ("place", arrays), ("build", number, program,
parameters, flags, pairs, expected), ("values", number), ("seconds", number, runs).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xla_explorer.backends.xla.worker import Worker, answer_requests, is_processor_time
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
        self.executables: dict[int, tuple[Any, list[Any], list[bool]]] = {}

    def place(self, arrays: Sequence[Any]) -> None:
        """Keep the arguments of all runs on the device."""
        self.arguments = [self.jax.device_put(array, self.device) for array in arrays]

    def build(
        self,
        number: int,
        program: Program,
        parameters: Sequence[tuple[str, bool]],
        changes: Mapping[str, Any],
        expected: tuple[str, Pair] | None,
    ) -> tuple[str, list[bytes]]:
        """Compile a program and keep it under a number.

        parameters: the type of each, and whether it is donated. changes: flags, and pairs to
        `forbid` and to `fuse`. expected: the request that must be granted. Return why it was not
        granted, else an empty text, and the modules that XLA compiled.
        """
        from jaxlib import _jax, xla_client

        if isinstance(program, bytes):
            program = without_donation(program)  # each run takes the same arguments
        else:
            program = _jax.mlir.hlo_to_stablehlo(self.proto(*program))
        options = xla_client.CompileOptions()
        options.env_option_overrides = list(changes["flags"])
        report = XlaOverrides(make_requests(changes["fuse"], changes["forbid"]), overridden)
        with captured() as modules, overridden(report, clear_caches=False):
            made = self.device.client.compile_and_load(program, self.devices, options)
        types, donated = zip(*parameters, strict=True) if parameters else ((), ())
        self.executables[number] = made, self._converted(types), list(donated)
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

        executable, arguments, donated = self.executables[number]
        return [np.asarray(one) for one in executable.execute(self._fresh(arguments, donated))]

    def _fresh(self, arguments: list[Any], donated: list[bool]) -> list[Any]:
        """Return the arguments with copies of those that a run donates."""
        if not any(donated):
            return arguments
        put, place = self.jax.device_put, self.device
        made = [
            put(one, place, may_alias=False) if is_given else one
            for one, is_given in zip(arguments, donated, strict=True)
        ]
        for one in made:
            one.block_until_ready()
        return made

    def seconds(self, number: int, runs: int) -> float:
        """Return the time of a run, of so many one after another.

        Copies of donated arguments are made before each run, and are not timed.
        """
        executable, arguments, donated = self.executables[number]
        read: Callable[[], float] = time.process_time if is_processor_time() else time.perf_counter
        if not any(donated):
            return _seconds(read, executable, arguments, runs) / runs
        return (
            sum(
                [
                    _seconds(read, executable, self._fresh(arguments, donated), 1)
                    for _ in range(runs)
                ]
            )
            / runs
        )


def _seconds(read: Callable[[], float], executable: Any, arguments: list[Any], runs: int) -> float:
    started = read()
    for _ in range(runs):
        results = executable.execute(arguments)
    for one in results:
        one.block_until_ready()
    return read() - started


def main() -> None:
    """Answer requests until the pipe closes."""
    answer_requests(SearchWorker)
