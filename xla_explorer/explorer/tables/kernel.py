"""The row of a kernel, and the limits of the machine that runs it."""

from __future__ import annotations

from typing import NamedTuple


class Kernel(NamedTuple):
    """One kernel of a program; its fields are columns of `COLUMNS`.

    Times, bytes and operations are of all its calls in one run. Measured ones are None until the
    program is profiled, predicted ones if the cost model has none.

    Attributes
    ----------
    kernel : str
        The name, with %.
    computes : str
        The work as a formula.
    runs_on : str
        `kernel`, `library`, `evaluator` or a device's name.
    bound : str
        `memory`, `arithmetic`, `launch` or `latency`; empty if the machine is unknown.
    code, reason : str
        Why it is not native code; empty if it is.
    instruction : int, optional
        The id of its instruction.
    """

    kernel: str
    opcode: str = ""
    computes: str = ""
    runs_on: str = ""
    calls: float = 1.0
    median_us: float | None = None
    iqr_us: float | None = None
    n: int = 0
    predicted_us: float | None = None
    share: float | None = None
    roof_share: float | None = None
    bound: str = ""
    bytes_read: int = 0
    bytes_written: int = 0
    flops: int = 0
    gb_per_s: float | None = None
    line: str = ""
    scope: str = ""
    code: str = ""
    reason: str = ""
    instruction: int | None = None
    stream: int = 0

    @property
    def time_us(self) -> float:
        """The measured time, else the predicted one, else 0."""
        return self.median_us if self.median_us is not None else self.predicted_us or 0.0


class ProfiledKernel(NamedTuple):
    """One kernel of a profile, or the whole program, whose columns are of one run.

    bytes, flops, intensity: estimates. cycles: of the processor's counter, None without one.
    """

    kernel: str
    opcode: str
    runs_on: str
    n: int
    median_us: float
    iqr_us: float
    cycles: float | None
    bytes: int
    flops: int
    intensity: float | None
    gb_per_s: float | None
    roof_share: float | None
    line: str
    instruction: int | None


class MachineRoof(NamedTuple):
    """Measured limits of the cores that a program uses.

    flops_per_second, bytes_per_second: peak and memory bandwidth. cached: (bytes touched, bytes/s)
    of the caches.
    """

    machine: str
    flops_per_second: float
    bytes_per_second: float
    cached: tuple[tuple[int, float], ...] = ()
    cores: int = 1
