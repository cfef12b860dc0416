"""GPU architectures: LLVM's name and PTX version for each, and the limits that launch dimensions depend on.

Source: CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability"; PTX ISA, release notes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xla_explorer.backends.llvm.target_machine import TargetDescription, describe_target
from xla_explorer.foundation.diagnostic import XlaExplorerError

NVPTX_TRIPLE = "nvptx64-nvidia-cuda"
DEFAULT_ARCHITECTURE = "sm_90"
# The same for all of them:
BLOCKS_IN_GRID = 2**31 - 1
STATIC_SHARED_BYTES = 48 << 10  # of a block; more has to be asked for, and is dynamic


class UnknownArchitectureError(XlaExplorerError, ValueError):
    """No GPU architecture of that name."""


_COST_FACTS = (
    "multiprocessors",
    "threads_per_multiprocessor",
    "lanes",
    "double_rate",
    "clock_gigahertz",
    "dram_bytes_per_nanosecond",
    "l2_bytes",
    "l1_bytes",
)


@dataclass(frozen=True, slots=True)
class GpuArchitecture:
    """name: as ptxas spells it. ptx_version: of the PTX text, 83 is 8.3. multiprocessors: of the largest product.

    threads_per_multiprocessor: resident at once. lanes: f32 operations that a multiprocessor starts per clock; double_rate: share of
    them for f64. clock_gigahertz: boost. dram_bytes_per_nanosecond (GB/s), l2_bytes, l1_bytes: of the product, from its data sheet.
    registers_per_multiprocessor: of 32 bits.
    """

    name: str
    product: str
    ptx_version: int
    multiprocessors: int
    threads_per_multiprocessor: int
    lanes: int
    double_rate: float
    clock_gigahertz: float
    dram_bytes_per_nanosecond: float
    l2_bytes: int
    l1_bytes: int
    registers_per_multiprocessor: int = 65536
    warp_size: int = 32

    @property
    def target(self) -> TargetDescription:
        """What LLVM generates code for."""
        return describe_target(NVPTX_TRIPLE, self.name, f"+ptx{self.ptx_version}")

    def with_facts(self, **facts: int | float) -> GpuArchitecture:
        """The same on a device of its own, whose product may be another: facts by field, 0 where the device does not say."""
        return replace(self, **{name: value for name, value in facts.items() if value})  # type: ignore[arg-type]

    @property
    def cost_facts(self) -> dict[str, int | float]:
        """What the cost model of fusion asks about the device, by the names that it uses."""
        return {name: getattr(self, name) for name in _COST_FACTS}

    @property
    def shared_per_multiprocessor(self) -> int:
        """Bytes of shared memory."""
        return _RESIDENT[self.name.rstrip("a")][0] << 10

    @property
    def blocks_per_multiprocessor(self) -> int:
        """Blocks that are resident at once, at most."""
        return _RESIDENT[self.name.rstrip("a")][1]

    @property
    def resident_threads(self) -> int:
        """Threads that the whole device holds at once."""
        return self.multiprocessors * self.threads_per_multiprocessor


# KiB of shared memory, and resident blocks, of a multiprocessor.
_RESIDENT = {"sm_70": (96, 32), "sm_75": (64, 16), "sm_80": (164, 32), "sm_86": (100, 16), "sm_89": (100, 24), "sm_90": (228, 32),
             "sm_100": (228, 32), "sm_120": (100, 24)}  # fmt: skip
# CUDA 13's ptxas begins with sm_75; CUDA 12's still assembles sm_70.
ARCHITECTURES = {
    a.name: a
    for a in (
        GpuArchitecture("sm_70", "V100", 70, 80, 2048, 64, 1 / 2, 1.53, 900.0, 6 << 20, 128 << 10),
        GpuArchitecture("sm_75", "T4", 70, 40, 1024, 64, 1 / 32, 1.59, 320.0, 4 << 20, 64 << 10),
        GpuArchitecture("sm_80", "A100", 80, 108, 2048, 64, 1 / 2, 1.41, 2039.0, 40 << 20, 192 << 10),
        GpuArchitecture("sm_86", "RTX 3090", 80, 82, 1536, 128, 1 / 64, 1.7, 936.0, 6 << 20, 128 << 10),
        GpuArchitecture("sm_89", "L40", 83, 142, 1536, 128, 1 / 64, 2.49, 864.0, 96 << 20, 128 << 10),
        GpuArchitecture("sm_90", "H100, H200", 83, 132, 2048, 128, 1 / 2, 1.98, 3350.0, 50 << 20, 256 << 10),
        GpuArchitecture(
            "sm_90a", "H100, H200 (with architecture-specific instructions)", 83, 132, 2048, 128, 1 / 2, 1.98, 3350.0, 50 << 20, 256 << 10
        ),
        GpuArchitecture("sm_100", "B200", 86, 148, 2048, 128, 1 / 2, 1.97, 8000.0, 126 << 20, 256 << 10),
        GpuArchitecture("sm_120", "RTX 5090", 87, 170, 1536, 128, 1 / 64, 2.41, 1792.0, 96 << 20, 128 << 10),
    )
}


def gpu_architecture(name: str = DEFAULT_ARCHITECTURE) -> GpuArchitecture:
    """The architecture of a name. UnknownArchitectureError with the names there are."""
    try:
        return ARCHITECTURES[name]
    except KeyError:
        raise UnknownArchitectureError(
            f"no GPU architecture is named {name!r}", f"choose from {', '.join(ARCHITECTURES)}"
        ) from None
