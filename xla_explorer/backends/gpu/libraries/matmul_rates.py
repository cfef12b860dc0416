"""Multiplications with additions that a multiprocessor starts per clock, by architecture: of tensor cores as libraries use them, and as
our own kernels do. Source: NVIDIA's architecture white papers (dense rates, sums in f32), divided by multiprocessors and boost clock.
"""

from __future__ import annotations

from collections.abc import Mapping

Rates = dict[str, float]

_LIBRARY: dict[str, tuple[float, float, float, float]] = {  # f16 and bf16, tf32, f32, f64
    "sm_75": (512, 0, 64, 2), "sm_80": (1024, 512, 64, 64), "sm_86": (256, 128, 128, 2), "sm_89": (256, 128, 128, 2),
    "sm_90": (2048, 1024, 128, 128), "sm_90a": (2048, 1024, 128, 128), "sm_100": (4096, 2048, 128, 64), "sm_120": (256, 128, 128, 2),
}  # fmt: skip
_BY_MMA = {"sm_90": 1024.0, "sm_100": 1024.0}  # sm_90a has wgmma
_KINDS = ("f16", "tf32", "f32", "f64")


def library_rates(architecture: str) -> Rates:
    """By kind of arithmetic; 0 where there is none."""
    return dict(zip(_KINDS, map(float, _LIBRARY[architecture]), strict=True))


def own_rates(architecture: str) -> Rates:
    """The same for our kernels: f32 and f64 on the ordinary lanes."""
    rates: Mapping[str, float] = library_rates(architecture)
    return {
        "f16": _BY_MMA.get(architecture, rates["f16"]),
        "tf32": 0.0,
        "f32": rates["f32"],
        "f64": min(rates["f64"], 64.0),
    }
