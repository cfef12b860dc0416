"""Multiplications with additions that a multiprocessor starts per clock, by architecture: of tensor cores as libraries use them, and as
our own kernels do; and device times estimated from them.

Source: NVIDIA's architecture white papers (dense rates, sums in f32), divided by multiprocessors and boost clock.
"""

from __future__ import annotations

from xla_explorer.backends.gpu.architecture import GpuArchitecture

Rates = dict[str, float]

_LIBRARY: dict[str, tuple[float, float, float, float]] = {  # f16 and bf16, tf32, f32, f64
    "sm_70": (512, 0, 64, 32), "sm_75": (512, 0, 64, 2), "sm_80": (1024, 512, 64, 64), "sm_86": (256, 128, 128, 2),
    "sm_89": (256, 128, 128, 2),
    "sm_90": (2048, 1024, 128, 128), "sm_90a": (2048, 1024, 128, 128), "sm_100": (4096, 2048, 128, 64), "sm_120": (256, 128, 128, 2),
}  # fmt: skip
# Where `mma.sync` is not all that the tensor cores can do: wgmma and tcgen05 are faster. sm_70 and sm_75 lack the shapes that we write (0).
_BY_MMA = {"sm_70": 0.0, "sm_75": 0.0, "sm_90": 1024.0, "sm_90a": 1024.0, "sm_100": 1024.0}
_KINDS = ("f16", "tf32", "f32", "f64")
LIBRARY_SHARE = 0.75  # of the peak that a library's large products reach; assumed, not measured


def library_rates(architecture: str) -> Rates:
    """By kind of arithmetic; 0 where there is none."""
    return dict(zip(_KINDS, map(float, _LIBRARY[architecture]), strict=True))


def mma_rate(architecture: str) -> float:
    """Of f16 and bf16 by `mma.sync`; half of it for TF32, whose elements are twice as long. 0 where our kernels cannot use it."""
    return _BY_MMA.get(architecture, float(_LIBRARY[architecture][0]))


def own_rates(architecture: str) -> Rates:
    """The same for our kernels: f32 and f64 on the ordinary lanes, and TF32 only where a dot asks for it, so never by choice."""
    rates = library_rates(architecture)
    tensor_cores = rates["f16"] if architecture == "sm_90a" else mma_rate(architecture)  # sm_90a has wgmma
    return {"f16": tensor_cores or rates["f32"], "tf32": 0.0, "f32": rates["f32"], "f64": min(rates["f64"], 64.0)}


def product_us(work: float, rate: float, share: float, architecture: GpuArchitecture, multiprocessors: int | None = None) -> float:
    """Microseconds for so many multiplications at a share of a rate, on all multiprocessors or on some."""
    count = architecture.multiprocessors if multiprocessors is None else multiprocessors
    return work / (count * rate * share * architecture.clock_gigahertz * 1e3)
