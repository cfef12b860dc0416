"""An executable for another CPU, run by an emulator: arrays to bytes, one run, bytes to arrays.

The emulators and how they are started are in `runners.py`.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from xla_explorer.backends.aot.ahead_of_time import AheadOfTimeProgram
from xla_explorer.backends.cross.runners import Runner
from xla_explorer.backends.interfaces import ProfileResult, ProgramStep
from xla_explorer.backends.interfaces.host_arguments import LeafReader, wrong_count
from xla_explorer.hlo.shape import Shape

Array = np.ndarray[Any, Any]


class ForeignExecutable:
    """A program for another CPU as an `Executable`; the first execution links it."""

    def __init__(self, program: AheadOfTimeProgram, runner: Runner) -> None:
        self.module = program.module
        self.program = program
        self.steps = [ProgramStep(*row[:-1], refused=row.refused) for row in program.program.rows]
        self._runner = runner
        self._lock = threading.Lock()  # all runs of the runner use one folder
        self._readers = [LeafReader(buffer.instruction, buffer.shape) for buffer in program.inputs]

    def execute(self, arrays: list[Array]) -> list[Array]:
        """Run the program on parameter leaves and return the result leaves."""
        return self._run(arrays, 1)[0]

    def profile(self, arrays: list[Array], repeats: int = 20) -> ProfileResult:
        """Return whole-program times by the emulated machine's clock.

        The times compare programs with each other; they predict no real machine. There are no
        kernel times, because the emulator has no meaningful cycle counter.
        """
        return ProfileResult(self._run(arrays, max(repeats, 1))[1], (), 0.0)

    def _run(self, arrays: list[Array], repeats: int) -> tuple[list[Array], tuple[float, ...]]:
        if len(arrays) != len(self._readers):
            raise wrong_count(self._readers, len(arrays))
        data = [
            reader.prepare(array).tobytes()
            for reader, array in zip(self._readers, arrays, strict=True)
        ]
        with self._lock:
            results, times = self._runner.run(self.program, data, repeats)
        outputs = [
            _array(raw, buffer.shape)
            for raw, buffer in zip(results, self.program.outputs, strict=True)
        ]
        return outputs, times


def _array(raw: bytes, shape: Shape) -> Array:
    """Return the bytes of a result in its layout, as an array in logical order."""
    major_to_minor = tuple(reversed(shape.layout.minor_to_major))
    stored = np.frombuffer(bytearray(raw), shape.element_type.dtype, shape.element_count)
    return stored.reshape([shape.dimensions[d] for d in major_to_minor]).transpose(
        np.argsort(major_to_minor)
    )
