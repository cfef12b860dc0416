"""Estimated time of one GPU kernel: launch, arithmetic, memory traffic, and how much of the device it occupies.

Source of the form: xla/service/gpu/model/gpu_performance_model.cc and gpu_performance_model_base.cc. time = launch + the larger of
arithmetic and memory + a small part of the smaller (they overlap). Arithmetic runs on the multiprocessors that have a block. Memory
is read once from DRAM and again from a cache; a kernel of few threads has too few requests under way to reach the bandwidth
(Little's law).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from xla_explorer.compiler.target import GpuUnit, Target, gpu_numbers
from xla_explorer.hlo.analysis.cost import instruction_cost
from xla_explorer.hlo.instruction import HloInstruction

_OVERLAP = 0.95  # of the smaller of arithmetic and memory time is hidden behind the larger
_BLOCK = 128  # threads of a block of a loop kernel
_BYTES_UNDER_WAY = 16  # that one thread has requested at a time
TRANSCENDENTAL = 20  # instructions of one call, about


class KernelEstimate(NamedTuple):
    """operations: instructions of lanes. bytes_read: distinct. bytes_read_again: from a cache. occupancy: share of the device's resident
    threads that the kernel fills, 0 to 1. Times in nanoseconds."""

    operations: float
    bytes_read: float
    bytes_read_again: float
    bytes_written: float
    threads: int
    occupancy: float
    compute: float
    memory: float
    nanoseconds: float


def threads_in_flight(device: GpuUnit) -> int:
    """Threads whose requests keep the memory busy, or as many as are resident at once."""
    return min(math.ceil(device.dram_bytes_per_nanosecond * device.dram_nanoseconds / _BYTES_UNDER_WAY), device.resident_threads)


def gpu_kernel_estimate(target: Target, operations: float, net: float, again: float, written: float, threads: int) -> KernelEstimate:
    """One launch. net, again, written: bytes that are read from DRAM, read again from a cache, and written."""
    device, launch = gpu_numbers(target)
    blocks = -(-threads // _BLOCK)
    active = min(blocks, device.multiprocessors)
    lanes = min(device.lanes, min(threads, _BLOCK) if blocks < device.multiprocessors else device.lanes)
    compute = operations / (active * lanes * device.clock_gigahertz)
    resident = device.resident_threads
    occupancy = min(1.0, threads / resident)
    bandwidth = min(device.dram_bytes_per_nanosecond, min(threads, resident) * _BYTES_UNDER_WAY / device.dram_nanoseconds)
    memory = (net + again + written) / bandwidth + (device.dram_nanoseconds if net + written else 0.0)
    time = launch.nanoseconds + compute + memory - _OVERLAP * min(compute, memory)
    return KernelEstimate(operations, net, again, written, threads, occupancy, compute, memory, time)


def finished_kernel_estimate(target: Target, kernel: HloInstruction) -> KernelEstimate:
    """A kernel as it stands in a module, a thread for each element that it makes."""
    cost = instruction_cost(kernel)
    threads = max(1, sum([shape.element_count for _, shape in kernel.shape.leaves() if shape.is_array]))
    operations = cost.flops + TRANSCENDENTAL * cost.transcendentals
    return gpu_kernel_estimate(target, operations, cost.bytes_read, 0.0, cost.bytes_written, threads)
