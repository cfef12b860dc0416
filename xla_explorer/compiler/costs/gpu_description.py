"""What estimates of time know of a GPU."""

from __future__ import annotations

import dataclasses

from xla_explorer.compiler.pipeline.context import PassContext


@dataclasses.dataclass(frozen=True, slots=True)
class GpuDescription:
    """What the model knows of a device; defaults are an H100's (SXM). Times in nanoseconds, sizes in bytes.

    lanes: f32 operations that one multiprocessor starts per clock. double_rate: share of them for f64. l2_rate, l1_rate: bandwidth of
    the caches as a multiple of DRAM's (XLA: 2.5, and 8 more). latency: of a DRAM access.
    """

    multiprocessors: int = 132
    threads_per_multiprocessor: int = 2048
    lanes: int = 128
    double_rate: float = 0.5
    clock_gigahertz: float = 1.755
    dram_bytes_per_nanosecond: float = 3350.0
    l2_bytes: int = 50 << 20
    l1_bytes: int = 256 << 10
    l2_rate: float = 2.5
    l1_rate: float = 20.0
    latency: float = 600.0
    launch: float = 1000.0

    @classmethod
    def from_context(cls, context: PassContext) -> GpuDescription:
        """The device of the compile: every field that the target states as a fact of that name."""
        return cls(**{f.name: context.target[f.name] for f in dataclasses.fields(cls) if f.name in context.target})
