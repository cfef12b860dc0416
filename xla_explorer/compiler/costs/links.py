"""Links between devices and machines made of them, each number with its source."""

from __future__ import annotations

from dataclasses import dataclass

from xla_explorer.compiler.target.units import Link, Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkClass(Link):
    """A kind of link, one direction of one device.

    Attributes
    ----------
    name : str
        Such as NVLink or ICI.
    form : str
        `switch` (every device reaches every other at full rate) or `torus` (neighbours).
    cited : str
        The publication of the numbers.
    """

    name: str
    form: str = "switch"
    cited: str = ""

    @property
    def bytes_per_us(self) -> float:
        """Bytes that a device sends in a microsecond."""
        return self.bytes_per_nanosecond * 1e3

    @property
    def step_us(self) -> float:
        """Microseconds of a step, besides its bytes."""
        return self.nanoseconds / 1e3


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine(Unit):
    """A kind of device and the links between devices.

    Attributes
    ----------
    name : str
        Such as `h100`.
    inner, outer : LinkClass
        Between the devices of one node or slice, and between nodes.
    per_node : int
        Devices that the inner links connect.
    torus_axes, wraps : int
        Of a torus: its dimensions, and the size whose multiples are closed to rings.
    flops_per_second : float
        Of bf16 products; other types take time in proportion to their bytes.
    bytes_per_second, memory_bytes : float, int
        Of the device's memory.
    launch_us : float
        Time of a kernel or collective that does nothing.
    cited : str
        The publication of the numbers.
    """

    name: str
    inner: LinkClass
    outer: LinkClass
    per_node: int
    torus_axes: int = 0
    wraps: int = 0
    flops_per_second: float
    bytes_per_second: float
    memory_bytes: int
    launch_us: float = 1.0
    cited: str = ""

    def closes(self, size: int) -> bool:
        """Return True if devices of one torus axis form a ring."""
        return bool(self.wraps) and size >= self.wraps and size % self.wraps == 0
