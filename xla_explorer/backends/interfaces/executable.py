"""Executables and their reports: steps, timings, profiles."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.module import HloModule

Array = np.ndarray[Any, Any]


class ProgramStep(NamedTuple):
    """One step of an executable.

    runs_on: `kernel` (generated code), `library` (BLAS ...), `copy`, `exchange` (a collective of
    several devices), `evaluator` (numpy, no native code). instruction: id in the optimised module.
    reason: against native code or a library call, or None. stream: of the device, 0 is the main
    one. refused: other lowering strategies with their refusals.
    """

    number: int
    instruction: int
    name: str
    opcode: str
    runs_on: str
    function: str
    reason: Reason | None
    stream: int = 0
    refused: tuple[tuple[str, Reason], ...] = ()


class KernelTiming(NamedTuple):
    """Times of one step over the runs of a profile, in microseconds per call.

    calls: per run (more than one inside loops).
    """

    step: ProgramStep
    calls: int
    samples_us: tuple[float, ...]


class ProfileResult(NamedTuple):
    """Times of a profiled executable.

    total_us: whole-program times without instrumentation, one per run. kernels: per step, with
    instrumentation. instrumentation_cost_us: per call. cycles_per_us: rate of the counter behind
    the kernels' times; None without a counter.
    """

    total_us: tuple[float, ...]
    kernels: tuple[KernelTiming, ...]
    instrumentation_cost_us: float
    cycles_per_us: float | None = None


@runtime_checkable
class Executable(Protocol):
    """A compiled module."""

    @property
    def module(self) -> HloModule:
        """The optimised module that it executes."""
        ...

    @property
    def steps(self) -> list[ProgramStep]:
        """The steps, in program order."""
        ...

    def execute(self, arrays: list[Array]) -> list[Array]:
        """Run on parameter leaves and return result leaves, in logical row-major order.

        The inputs are not written to.
        """
        ...

    def profile(self, arrays: list[Array], repeats: int) -> ProfileResult:
        """Execute `repeats` times with and without instrumentation."""
        ...
