"""The machines that meshes are placed on, with the publications of their numbers."""

from __future__ import annotations

import threading
import time
from functools import cache
from typing import Final

import numpy as np

from xla_explorer.compiler.costs.links import LinkClass, Machine
from xla_explorer.compiler.target.units import Source
from xla_explorer.foundation.diagnostic import SourceSpan, XlaExplorerError
from xla_explorer.foundation.suggestions import nearest

_BOOK = "How to Scale Your Model (jax-ml/scaling-book, tpus.md)"
_NVIDIA = "NVIDIA's data sheets"
_GIB = 1 << 30
_HOST_NETWORK = 25e9  # bytes per second of a TPU host


class UnknownMachineError(XlaExplorerError, ValueError):
    """A topology that is not in the table."""


def _link(name: str, gigabytes: float, us: float, form: str, cited: str) -> LinkClass:
    """Return a link; GB/s from the publication. Latencies of TPUs are published, others assumed."""
    link = LinkClass(name=name, form=form, cited=cited).stating(
        Source.DATA_SHEET, bytes_per_nanosecond=gigabytes
    )
    latency = Source.DATA_SHEET if name == "ICI" else Source.DEFAULT
    return link.stating(latency, nanoseconds=us * 1e3)


def _machine(
    name: str,
    cited: str,
    links: tuple[LinkClass, LinkClass],
    per_node: int,
    chip: tuple[float, float, int],
    torus: tuple[int, int] = (0, 0),
) -> Machine:
    """Return a machine. chip: bf16 operations and bytes per second, GiB of memory."""
    flops, bandwidth, gibibytes = chip
    made = Machine(
        name=name,
        inner=links[0],
        outer=links[1],
        per_node=per_node,
        torus_axes=torus[0],
        wraps=torus[1],
        flops_per_second=flops,
        bytes_per_second=bandwidth,
        memory_bytes=gibibytes * _GIB,
        cited=cited,
    )
    return made.stating(
        Source.DATA_SHEET, "flops_per_second", "bytes_per_second", "memory_bytes", "per_node"
    )


def _tpu(
    name: str,
    gigabytes: float,
    chip: tuple[float, float, int],
    pod: tuple[int, int],
    torus: tuple[int, int],
) -> Machine:
    """Return a TPU. pod: chips of a slice and of a host. torus: axes, and size that wraps."""
    chips, per_host = pod
    ici = _link("ICI", gigabytes, 1.0, "torus", _BOOK)
    network = _link("DCN", _HOST_NETWORK / per_host / 1e9, 10.0, "switch", _BOOK)
    return _machine(name, _BOOK, (ici, network), chips, chip, torus)


def _gpu(name: str, nvlink: float, network: float, chip: tuple[float, float, int]) -> Machine:
    inner = _link("NVLink", nvlink, 1.0, "switch", _NVIDIA)
    outer = _link("InfiniBand", network, 5.0, "switch", _NVIDIA)
    return _machine(name, _NVIDIA, (inner, outer), 8, chip)


MACHINES: Final = {
    one.name: one
    for one in (
        _tpu("tpu-v4", 45.0, (2.75e14, 1.2e12, 32), (4096, 4), (3, 4)),
        _tpu("tpu-v5e", 45.0, (1.97e14, 8.1e11, 16), (256, 8), (2, 16)),
        _tpu("tpu-v5p", 90.0, (4.59e14, 2.8e12, 96), (8960, 4), (3, 4)),
        _tpu("tpu-v6e", 90.0, (9.2e14, 1.6e12, 32), (256, 8), (2, 16)),
        _gpu("a100", 300.0, 25.0, (3.12e14, 2.039e12, 80)),
        _gpu("h100", 450.0, 50.0, (9.89e14, 3.35e12, 80)),
        _gpu("b200", 900.0, 50.0, (2.25e15, 8.0e12, 180)),
    )
}
"""The machines with published numbers, by name; `cpu` is measured when it is needed."""


def machine_of(name: str) -> Machine:
    """Return a machine by name; `cpu` measures this one. UnknownMachineError with near names.

    Examples
    --------
    >>> machine_of("h100").inner.bytes_per_nanosecond, machine_of("tpu-v5p").inner.name
    (450.0, 'ICI')
    """
    wanted = name.lower().replace("_", "-")
    if wanted == "cpu":
        return _this_cpu()
    for key in (wanted, f"tpu-{wanted}"):
        if key in MACHINES:
            return MACHINES[key]
    names = [*MACHINES, "cpu"]
    near = nearest(wanted, names, 3)
    place = SourceSpan.from_offset(name, 0, len(name), "topology").caret()
    raise UnknownMachineError(
        f"{place}\nno machine {name!r} is known" + (f"; near: {', '.join(near)}" if near else ""),
        f"machines: {', '.join(names)}",
    )


@cache
def _this_cpu() -> Machine:
    """Measure copies between threads and the latency of a barrier, once in a process."""
    source = np.ones(1 << 22, np.uint8)
    target = np.empty_like(source)
    seconds = []
    for _ in range(6):
        start = time.perf_counter()
        np.copyto(target, source)
        seconds.append(time.perf_counter() - start)
    rate = source.nbytes / max(min(seconds), 1e-9)
    link = LinkClass(name="shared memory", cited="measured on this machine").stating(
        Source.MEASURED, bytes_per_nanosecond=rate / 1e9, nanoseconds=_barrier_seconds() * 1e9
    )
    made = Machine(
        name="cpu", inner=link, outer=link, per_node=1 << 20, flops_per_second=1e11,
        bytes_per_second=rate, memory_bytes=16 * _GIB, cited="measured on this machine",
    )  # fmt: skip
    return made.stating(Source.MEASURED, "bytes_per_second")


def _barrier_seconds(rounds: int = 40) -> float:
    """Return the seconds in which two threads meet once."""
    barrier = threading.Barrier(2)

    def meet() -> None:
        for _ in range(rounds):
            barrier.wait()

    other = threading.Thread(target=meet)
    start = time.perf_counter()
    other.start()
    meet()
    other.join()
    return (time.perf_counter() - start) / rounds
