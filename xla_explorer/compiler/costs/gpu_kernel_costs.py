"""Estimated time of one GPU kernel: launch, arithmetic and memory traffic at its occupancy.

Source of the form: xla/service/gpu/model/gpu_performance_model.cc and
gpu_performance_model_base.cc. time = launch + the larger of arithmetic and memory + a small part of
the smaller (they overlap). Arithmetic runs on the multiprocessors that have a block; that of a
product is the estimate of its kernel's plan, if the target has the plan. Memory is read once from
DRAM and again from a cache. A kernel of few threads has too little memory-level parallelism to
reach the bandwidth (Little's law).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from xla_explorer.compiler.target import GpuUnit, ProductRates, Target, gpu_numbers
from xla_explorer.hlo.analysis.cost import contractions, instruction_cost
from xla_explorer.hlo.instruction import HloInstruction

_OVERLAP = 0.95  # of the smaller of arithmetic and memory time is hidden behind the larger
_BLOCK = 128  # threads of a block of a loop kernel
_BYTES_PER_THREAD = 16  # that one thread has requested at a time
_BYTES_OF_A_THREAD = 64  # that one thread reads of a kernel that makes less than it reads
TRANSCENDENTAL = 20  # instructions of one call, about
SHARE_OF_A_PRODUCT = (
    0.55  # of the rate that a product of ours reaches, where no plan has an estimate
)


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


def _product_nanoseconds(target: Target, product: HloInstruction, multiplications: float) -> float:
    plan = target.abilities.products
    if plan is not None and (own := plan(product)) is not None:
        return 1e3 * own.arithmetic_us
    device, _ = gpu_numbers(target)
    rate = _rate(device.own_rates, product)
    return multiplications / (
        rate * SHARE_OF_A_PRODUCT * device.multiprocessors * device.clock_gigahertz
    )


def _rate(rates: ProductRates, product: HloInstruction) -> float:
    operand = product.operands[0].shape.element_type
    by_type = (
        rates.f64
        if operand.name in ("f64", "c128")
        else rates.f32
        if operand.bytes > 2
        else rates.f16
    )
    return by_type or rates.f32


def finished_kernel_estimate(target: Target, kernel: HloInstruction) -> KernelEstimate:
    """Return the estimate of a kernel in a module.

    It has a thread per written element, or per few elements read if it reads more.
    """
    cost = instruction_cost(kernel)
    operations, products = cost.flops + TRANSCENDENTAL * cost.transcendentals, 0.0
    for product in contractions(kernel):
        flops = instruction_cost(product).flops
        operations -= flops
        products += _product_nanoseconds(target, product, flops / 2)
    written = kernel.shape.byte_size
    made = sum([shape.element_count for _, shape in kernel.shape.leaves() if shape.is_array])
    if cost.bytes_written < written:  # a part of it is written in place
        made = int(made * cost.bytes_written / written)
    threads = max(1, made, int(cost.bytes_read) // _BYTES_OF_A_THREAD)
    return gpu_kernel_estimate(
        target, max(operations, 0.0), cost.bytes_read, 0.0, cost.bytes_written, threads, products
    )
