"""Device times of products from multiplication rates."""

from __future__ import annotations

from xla_explorer.backends.gpu.architecture import GpuArchitecture


def product_us(
    work: float,
    rate: float,
    share: float,
    architecture: GpuArchitecture,
    multiprocessors: int | None = None,
) -> float:
    """Return the microseconds of `work` multiplications at a share of a rate.

    multiprocessors: used ones; None: all.
    """
    count = architecture.multiprocessors if multiprocessors is None else multiprocessors
    return work / (count * rate * share * architecture.clock_gigahertz * 1e3)
