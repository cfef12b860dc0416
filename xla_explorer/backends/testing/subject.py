"""The subject of the contract's checks: the backend under test and a module to compile.

`CheckSkippedError` ends a check that does not apply.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from xla_explorer.backends.interfaces import (
    CompileOptions,
    CompileResult,
    Executable,
    Platform,
    StreamExecutor,
    TransferManager,
)
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.text import parse_hlo

SMALL = """HloModule contract
ENTRY main {
  x = f32[5,3] parameter(0)
  y = f32[5,3] parameter(1)
  z = f32[5,3] multiply(x, y)
  s = f32[5,3] add(z, x)
  ROOT result = (f32[5,3], f32[5,3]) tuple(s, z)
}
"""


class CheckSkippedError(Exception):
    """The check does not apply; the text is the reason."""


class Subject:
    """The backend under test, and shared facts of several checks."""

    def __init__(self, backend: Platform, sample: int) -> None:
        self.backend, self.sample = backend, sample
        self.module = parse_hlo(SMALL)
        self.inputs = [
            np.arange(1, 16, dtype=np.float32).reshape(5, 3),
            np.full((5, 3), 0.5, np.float32),
        ]

    def compile(self) -> CompileResult:
        """Compile the module; CheckSkippedError if it cannot be compiled here."""
        compiler, options = self.backend.compiler(), CompileOptions(cache=False)
        try:
            return compiler.run_backend(compiler.run_hlo_passes(self.module, options), options)
        except XlaExplorerError as problem:
            if (why := self.backend.availability()) is None:
                raise
            raise CheckSkippedError(
                f"the program does not compile here ({why}): {problem.message}"
            ) from None

    @cached_property
    def result(self) -> CompileResult:
        """The compiled module."""
        return self.compile()

    @property
    def executable(self) -> Executable:
        """The executable; CheckSkippedError if the program does not run here."""
        if self.result.executable is None:
            raise CheckSkippedError(
                "the program does not run here: "
                f"{self.result.why_not or self.backend.availability()}"
            )
        return self.result.executable

    @cached_property
    def executor(self) -> StreamExecutor:
        """The stream executor; CheckSkippedError without a device."""
        if (why := self.backend.availability()) is not None:
            raise CheckSkippedError(f"there is no device: {why}")
        return self.backend.stream_executor()

    @cached_property
    def manager(self) -> TransferManager:
        """The transfer manager; CheckSkippedError without a device."""
        if (why := self.backend.availability()) is not None:
            raise CheckSkippedError(f"there is no device: {why}")
        return self.backend.transfer_manager()

    def expected(self, inputs: list[Any]) -> list[Any]:
        """Return the evaluator's results, as a list of leaves."""
        return flatten_value(evaluate(self.module, *inputs))
