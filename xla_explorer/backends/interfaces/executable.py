"""Executables and what they report about themselves."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.module import HloModule

Array = np.ndarray[Any, Any]


class ProgramStep(NamedTuple):
    """One step of an executable. runs_on: `kernel` (our code), `library` (BLAS ...), `copy`, `evaluator` (numpy, no native code).

    instruction: id in the optimised module. reason: why it is not native, or not by the library; None when nothing to say. stream: of
    the device, 0 is the main one. refused: other ways of running it that were asked before, with what they said.
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
    """Times of one step over the runs of a profile, in microseconds per call. calls: per run (more than one inside loops)."""

    step: ProgramStep
    calls: int
    samples_us: tuple[float, ...]


class ProfileResult(NamedTuple):
    """total_us: whole-program times without probes, one per run. kernels: per step, with probes. probe_cost_us: per call.

    cycles_per_us: how fast the counter runs that the kernels' times were read from; None where they were not.
    """

    total_us: tuple[float, ...]
    kernels: tuple[KernelTiming, ...]
    probe_cost_us: float
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
        """What runs, in program order."""
        ...

    def execute(self, arrays: list[Array]) -> list[Array]:
        """Parameter leaves in, result leaves out (logical row-major order as numpy sees it). Does not write to its inputs."""
        ...

    def profile(self, arrays: list[Array], repeats: int) -> ProfileResult:
        """Execute `repeats` times with and without probes."""
        ...
