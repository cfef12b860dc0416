"""The rows of kernels, their columns, and the limits of the machine that runs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

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
    """A kernel of a program, of a profile or of a recording; a table shows some of its columns.

    Times, bytes and operations are of all its calls in one run, unless a column of recordings is
    meant. Measured ones are None until the program is profiled, predicted ones if the cost model
    has none. The whole program is a row of profiles.

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
    bytes, flops : int
        Estimates; bytes are read and written ones.
    cycles : float, optional
        Of the processor's counter, if it has one.
    code, reason : str
        Why it is not native code; empty if it is.
    instruction : int, optional
        The id of its instruction.
    device, module, per_run_us, total_us, library
        Columns of recordings.
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
    bytes: int | None = 0
    flops: int | None = 0
    intensity: float | None = None
    gb_per_s: float | None = None
    cycles: float | None = None
    line: str = ""
    scope: str = ""
    code: str = ""
    reason: str = ""
    instruction: int | None = None
    stream: int = 0
    device: str = ""
    module: str = ""
    per_run_us: float | None = None
    total_us: float | None = None
    library: str = ""

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Kernel:
        """Return the row of a record of a frame, whose missing values are None or NaN."""
        return cls("").updated({k: v for k, v in record.items() if v is not None and v == v})

    def updated(self, values: Mapping[str, Any]) -> Kernel:
        """Return the row with other values of some columns; NaN is a missing value."""
        known: dict[str, Any] = {key: None if v != v else v for key, v in values.items()}
        for name in _COUNTS & set(known):
            known[name] = int(known[name])
        return self._replace(**known)

    @property
    def time_us(self) -> float:
        """The measured time, else the predicted one, else 0."""
        return self.median_us if self.median_us is not None else self.predicted_us or 0.0

    def measured(self, median_us: float, iqr_us: float, n: int) -> Kernel:
        """Return the row with measured times, and with the rates that follow from its work."""
        moved, flops = self.bytes, self.flops
        return self._replace(
            median_us=median_us,
            iqr_us=iqr_us,
            n=n,
            intensity=flops / moved if moved and flops is not None else None,
            gb_per_s=moved / median_us / 1e3 if moved and median_us > 0 else None,
        )

    def cells(self, columns: Sequence[str]) -> list[Any]:
        """Return the values of some columns."""
        return [getattr(self, name) for name in columns]


MEASURED_COLUMNS: Final = (
    *("n", "median_us", "iqr_us", "cycles", "bytes", "flops", "intensity", "gb_per_s"),
    "roof_share",
)
"""The columns of a run: its times, its work and the rates of both."""
_COUNTS: Final = frozenset({"n", "bytes", "flops", "instruction"})
KERNEL_COLUMNS: Final = Kernel._fields[: Kernel._fields.index("stream")]
"""The columns of `kernels()`; devices with streams have `stream` too."""
PROFILE_COLUMNS: Final = (
    *("kernel", "opcode", "runs_on"),
    *MEASURED_COLUMNS,
    *("line", "instruction"),
)
"""The columns of `profile()`."""
TIMELINE_COLUMNS: Final = (*PROFILE_COLUMNS, "module", "total_us")
"""The columns of `xe.read_timeline`."""
RECORDED_COLUMNS: Final = (
    *("kernel", "opcode", "device", "module", "n", "median_us", "iqr_us", "per_run_us"),
    *("total_us", "share", "bytes", "flops", "gb_per_s", "line", "library", "scope"),
)
"""The columns of `xe.xla.profile(...).kernels()`."""


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
