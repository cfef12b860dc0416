"""GPU architectures: LLVM's name, PTX version and hardware limits of each.

Source: CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability"; PTX
ISA, release notes.
"""

from __future__ import annotations

from dataclasses import dataclass

from xla_explorer.backends.llvm.target_machine import TargetDescription, describe_target
from xla_explorer.compiler.target import NVPTX, GpuUnit, ProductRates, Source
from xla_explorer.foundation.diagnostic import XlaExplorerError

DEFAULT_ARCHITECTURE = "sm_90"
# The same for all architectures:
BLOCKS_IN_GRID = 2**31 - 1


class UnknownArchitectureError(XlaExplorerError, ValueError):
    """Unknown name of a GPU architecture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuArchitecture(GpuUnit):
    """An NVIDIA GPU, with the numbers of the largest product by default.

    name: in ptxas's spelling. ptx_version: of the PTX text, 83 is 8.3.
    """

    name: str
    product: str
    ptx_version: int

    @property
    def target(self) -> TargetDescription:
        """LLVM target for code generation."""
        return describe_target(NVPTX.triple, self.name, f"+ptx{self.ptx_version}")

    def on_device(self, **numbers: int | float) -> GpuArchitecture:
        """Return the architecture with a device's own numbers by field; 0 means unknown."""
        return self.stating(
            Source.DETECTED, **{name: value for name, value in numbers.items() if value}
        )

    @property
    def shared_per_multiprocessor(self) -> int:
        """Bytes of shared memory."""
        return _RESIDENT[self.name.rstrip("a")][0] << 10

    @property
    def blocks_per_multiprocessor(self) -> int:
        """Maximum number of resident blocks."""
        return _RESIDENT[self.name.rstrip("a")][1]


# KiB of shared memory and resident blocks of a multiprocessor.
_RESIDENT = {"sm_70": (96, 32), "sm_75": (64, 16), "sm_80": (164, 32), "sm_86": (100, 16), "sm_89": (100, 24), "sm_90": (228, 32),
             "sm_100": (228, 32), "sm_120": (100, 24)}  # fmt: skip
# Multiply-adds per clock and multiprocessor as used by libraries: f16 and bf16, tf32, f32, f64.
# Source: NVIDIA's architecture white papers (dense rates, f32 accumulators), divided by
# multiprocessors and boost clock.
_LIBRARY = {
    "sm_70": (512, 0, 64, 32), "sm_75": (512, 0, 64, 2), "sm_80": (1024, 512, 64, 64), "sm_86": (256, 128, 128, 2),
    "sm_89": (256, 128, 128, 2), "sm_100": (4096, 2048, 128, 64), "sm_120": (256, 128, 128, 2),
}  # fmt: skip
# Architectures on which `mma.sync` does not reach the tensor cores' peak: wgmma and tcgen05 are
# faster. sm_70 and sm_75 lack the shapes of our kernels (0).
_BY_MMA = {"sm_70": 0.0, "sm_75": 0.0, "sm_90": 1024.0, "sm_90a": 1024.0, "sm_100": 1024.0}
_ON_DATA_SHEETS = ("multiprocessors", "threads_per_multiprocessor", "warp_size", "lanes", "double_rate", "clock_gigahertz",
                   "dram_bytes_per_nanosecond", "l2_bytes", "l1_bytes", "sector_bytes", "registers_per_multiprocessor",
                   "registers_per_thread", "library_rates")  # fmt: skip


def mma_rate(architecture: GpuArchitecture) -> float:
    """Return the rate of f16 and bf16 by `mma.sync`, 0 if our kernels cannot use it.

    TF32 has half the rate, because its elements are twice as long.
    """
    return _BY_MMA.get(architecture.name, architecture.library_rates.f16)


def _architecture(
    name: str, product: str, ptx_version: int, **numbers: int | float
) -> GpuArchitecture:
    """Return a product by its data sheet; `numbers` are the differences from an H100.

    Our kernels use the ordinary lanes for f32 and f64, and TF32 only if a dot requests it.
    """
    made = GpuArchitecture(name=name, product=product, ptx_version=ptx_version).stating(
        Source.DATA_SHEET, *_ON_DATA_SHEETS, **numbers
    )
    if name in _LIBRARY:
        made = made.stating(
            Source.DATA_SHEET, library_rates=ProductRates(*map(float, _LIBRARY[name]))
        )
    rates = made.library_rates
    tensor_cores = rates.f16 if name == "sm_90a" else mma_rate(made)  # sm_90a has wgmma
    own = ProductRates(tensor_cores or rates.f32, 0.0, rates.f32, min(rates.f64, 64.0))
    return made.stating(Source.DATA_SHEET, own_rates=own)


def _product(
    multiprocessors: int,
    threads: int,
    lanes: int,
    double_rate: float,
    clock: float,
    dram: float,
    l2: int,
    l1: int,
) -> dict[str, int | float]:
    return {
        "multiprocessors": multiprocessors, "threads_per_multiprocessor": threads, "lanes": lanes, "double_rate": double_rate,
        "clock_gigahertz": clock, "dram_bytes_per_nanosecond": dram, "l2_bytes": l2, "l1_bytes": l1,
    }  # fmt: skip


# CUDA 13's ptxas starts at sm_75; CUDA 12's still assembles sm_70.
ARCHITECTURES = {
    a.name: a
    for a in (
        _architecture(
            "sm_70", "V100", 70, **_product(80, 2048, 64, 1 / 2, 1.53, 900.0, 6 << 20, 128 << 10)
        ),
        _architecture(
            "sm_75", "T4", 70, **_product(40, 1024, 64, 1 / 32, 1.59, 320.0, 4 << 20, 64 << 10)
        ),
        _architecture(
            "sm_80", "A100", 80, **_product(108, 2048, 64, 1 / 2, 1.41, 2039.0, 40 << 20, 192 << 10)
        ),
        _architecture(
            "sm_86",
            "RTX 3090",
            80,
            **_product(82, 1536, 128, 1 / 64, 1.7, 936.0, 6 << 20, 128 << 10),
        ),
        _architecture(
            "sm_89", "L40", 83, **_product(142, 1536, 128, 1 / 64, 2.49, 864.0, 96 << 20, 128 << 10)
        ),
        _architecture("sm_90", "H100, H200", 83),
        _architecture("sm_90a", "H100, H200 (with architecture-specific instructions)", 83),
        _architecture(
            "sm_100",
            "B200",
            86,
            **_product(148, 2048, 128, 1 / 2, 1.97, 8000.0, 126 << 20, 256 << 10),
        ),
        _architecture(
            "sm_120",
            "RTX 5090",
            87,
            **_product(170, 1536, 128, 1 / 64, 2.41, 1792.0, 96 << 20, 128 << 10),
        ),
    )
}


def gpu_architecture(name: str = DEFAULT_ARCHITECTURE) -> GpuArchitecture:
    """Return the architecture of a name; UnknownArchitectureError lists the valid names."""
    try:
        return ARCHITECTURES[name]
    except KeyError:
        raise UnknownArchitectureError(
            f"unknown GPU architecture {name!r}", f"choose from {', '.join(ARCHITECTURES)}"
        ) from None
