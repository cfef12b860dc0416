"""The time of a GPU's launch from the counts of its work and the numbers of the device.

Source of the form: xla/service/gpu/model/gpu_performance_model.cc and
gpu_performance_model_base.cc. time = launch + the larger of arithmetic and memory + a small part of
the smaller (they overlap). Arithmetic runs on the multiprocessors that have a block. Memory is read
once from DRAM and again from a cache. A kernel of few threads has too little memory-level
parallelism to reach the bandwidth (Little's law).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from xla_explorer.compiler.target.target import Target, gpu_numbers
from xla_explorer.compiler.target.units import GpuUnit

_OVERLAP = 0.95  # of the smaller of arithmetic and memory time is hidden behind the larger
_BLOCK = 128  # threads of a block of a loop kernel
_BYTES_PER_THREAD = 16  # that one thread has requested at a time


class KernelEstimate(NamedTuple):
    """The estimated cost of a kernel.

    operations: instructions of all lanes. bytes_read: distinct bytes. bytes_read_again: from a
    cache. occupancy: share of the device's resident threads that the kernel fills, 0 to 1. Times in
    nanoseconds.
    """

    operations: float
    bytes_read: float
    bytes_read_again: float
    bytes_written: float
    threads: int
    occupancy: float
    compute: float
    memory: float
    nanoseconds: float


def threads_for_full_bandwidth(device: GpuUnit) -> int:
    """Return the threads whose loads saturate DRAM bandwidth, at most those resident at once."""
    return min(
        math.ceil(device.dram_bytes_per_nanosecond * device.dram_nanoseconds / _BYTES_PER_THREAD),
        device.resident_threads,
    )


def gpu_kernel_estimate(
    target: Target,
    operations: float,
    net: float,
    again: float,
    written: float,
    threads: int,
    products: float = 0.0,
) -> KernelEstimate:
    """Estimate one launch.

    net, again, written: bytes that are read from DRAM, read again from a cache, and written.
    products: nanoseconds of arithmetic besides the operations.
    """
    device, launch = gpu_numbers(target)
    blocks = -(-threads // _BLOCK)
    active = min(blocks, device.multiprocessors)
    lanes = min(
        device.lanes, min(threads, _BLOCK) if blocks < device.multiprocessors else device.lanes
    )
    compute = products + operations / (active * lanes * device.clock_gigahertz)
    resident = device.resident_threads
    occupancy = min(1.0, threads / resident)
    bandwidth = min(
        device.dram_bytes_per_nanosecond,
        min(threads, resident) * _BYTES_PER_THREAD / device.dram_nanoseconds,
    )
    memory = (net + again + written) / bandwidth + (
        device.dram_nanoseconds if net + written else 0.0
    )
    time = launch.nanoseconds + compute + memory - _OVERLAP * min(compute, memory)
    return KernelEstimate(
        operations, net, again, written, threads, occupancy, compute, memory, time
    )
