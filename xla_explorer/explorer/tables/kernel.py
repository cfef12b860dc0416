"""The rows of kernels, their columns, and the limits of the machine that runs them."""

from __future__ import annotations

from typing import Final, NamedTuple

from xla_explorer.explorer.tables.column import Column

COLUMNS_OF_KERNELS: Final = (
    # Times, bytes and operations are of one run unless a sentence says otherwise.
    Column("computes", "", "the work of a kernel as a formula", rank=2),
    Column("runs_on", "", "the code that runs: native, evaluator, a library or a device", rank=4),
    Column("stream", "", "the stream of a device", rank=6),
    Column("median_us", "us", "the measured time, the median of the runs", "less", 1),
    Column("iqr_us", "us", "the interquartile range of the runs", "less", 5),
    Column("n", "count", "the number of timed runs", "", 7),
    Column("predicted_us", "us", "the predicted time, by the cost model", "less", 2),
    Column("time_us", "us", "the time of the kernels of a line", "less", 2),
    Column("roof_share", "share", "the lower bound of the machine over the time", "more", 3),
    Column("bound", "", "the limit of a kernel: memory, arithmetic, launch or latency", rank=3),
    Column("calls", "count", "executions in a run", "less", 5),
    Column("bytes_read", "bytes", "bytes read (estimate)", "less", 6),
    Column("bytes_written", "bytes", "bytes written (estimate)", "less", 6),
    Column("flops", "flops", "operations, transcendental ones included (estimate)", "", 5),
    Column("intensity", "count", "operations per byte", "", 7),
    Column("gb_per_s", "count", "gigabytes per second", "more", 6),
    Column("cycles", "count", "cycles of the processor's counter", "less", 7),
    Column("kernel", "", "the name of a kernel, with %", rank=0),
    Column("opcode", "", "the opcode of an instruction", rank=4),
)


class Kernel(NamedTuple):
    """One kernel of a program.

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

    opcode, line: None for the whole program, so that groups of them count each time once.
    bytes, flops, intensity: estimates. cycles: of the processor's counter, None without one.
    """

    kernel: str
    opcode: str | None
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
    line: str | None
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
