"""Estimated time of one GPU kernel of a module, by `target/launch_time.py`.

The arithmetic of a product is the estimate of its kernel's plan, if the target has the plan.
"""

from __future__ import annotations

from xla_explorer.compiler.target import ProductRates, Target, gpu_numbers
from xla_explorer.compiler.target.launch_time import KernelEstimate, gpu_kernel_estimate
from xla_explorer.hlo.analysis.cost import Cost, contractions, instruction_cost
from xla_explorer.hlo.instruction import HloInstruction

_BYTES_OF_A_THREAD = 64  # that one thread reads of a kernel that makes less than it reads
SHARE_OF_A_PRODUCT = (
    0.55  # of the rate that a product of ours reaches, where no plan has an estimate
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


def gpu_operations(target: Target, cost: Cost) -> float:
    """Return the instructions of all lanes that operations and functions take."""
    device, _ = gpu_numbers(target)
    return cost.flops + device.function_instructions * cost.transcendentals


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
    operations, products = gpu_operations(target, cost), 0.0
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
