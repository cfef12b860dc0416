"""Device times of products, from what multiprocessors multiply per clock."""

from __future__ import annotations

from xla_explorer.backends.gpu.architecture import GpuArchitecture


def product_us(
    work: float,
    rate: float,
    share: float,
    architecture: GpuArchitecture,
    multiprocessors: int | None = None,
) -> float:
    """Microseconds for so many multiplications at a share of a rate, on all multiprocessors or on some."""
    count = architecture.multiprocessors if multiprocessors is None else multiprocessors
    return work / (count * rate * share * architecture.clock_gigahertz * 1e3)
