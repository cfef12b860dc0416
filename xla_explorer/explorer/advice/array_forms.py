"""Rules for slow forms of arrays: one-hot by scatter, small products, transposes, half precision.

Each has a rewritten form, by which its gain is measured.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import prod
from typing import Final

import numpy as np

from xla_explorer.explorer.advice.rules import (
    NOTABLE,
    Advice,
    Facts,
    KernelFact,
    only_moves,
    product_of,
)
from xla_explorer.explorer.advice.slow_forms import fusion_around, kernel_instructions
from xla_explorer.explorer.sessions.source_lines import SourceLines
from xla_explorer.hlo.instruction import HloInstruction

_LEAST_BATCH: Final = 64
_MOST_WORK: Final = 1 << 11
"""Multiplications of one product, up to which starting it takes longer than the product."""
_SAME_ELEMENTS: Final = frozenset({"broadcast", "reshape", "bitcast", "copy", "convert"})
_HALVES: Final = ("f16", "bf16")
_NO_WORK: Final = frozenset({"parameter", "constant", *_SAME_ELEMENTS})
_DEEPEST: Final = 40
_KEEPING: Final = frozenset(("bitcast", "copy", "tuple"))


def is_small_product(i: HloInstruction) -> bool:
    """Return True for a dot with many products of a few elements each."""
    if i.opcode.name != "dot" or not i.attribute("lhs_batch_dims"):
        return False
    sizes = i.operands[0].shape.dimensions
    batch: int = prod([sizes[d] for d in i.attribute("lhs_batch_dims")])
    summed: int = prod([sizes[d] for d in i.attribute("lhs_contracting_dims")])
    return batch >= _LEAST_BATCH and summed * i.shape.element_count <= _MOST_WORK * batch


def splat(i: HloInstruction) -> HloInstruction | None:
    """Return the scalar constant that each element of a value is, also of another kernel's."""
    for _ in range(_DEEPEST):
        if i.opcode.name == "parameter" and (fusion := fusion_around(i)) is not None:
            i = fusion.operands[i.parameter_number]
        elif i.opcode.name == "fusion":
            i = i.called[0].root
        elif i.opcode.name in _SAME_ELEMENTS:
            i = i.operands[0]
        else:
            break
    return i if i.opcode.name == "constant" and i.shape.is_scalar else None


def stores_a_constant(scatter: HloInstruction) -> bool:
    """Return True for a scatter of single elements, one constant, into another constant."""
    if scatter.opcode.name != "scatter" or len(scatter.operands) != 3 or scatter.shape.rank < 2:
        return False
    off, on = splat(scatter.operands[0]), splat(scatter.operands[2])
    # XLA gives windows of one element a dimension of one element each.
    rows = scatter.operands[2].shape.dimensions
    if (
        off is None
        or on is None
        or prod([rows[d] for d in scatter.attribute("update_window_dims")]) > 1
    ):
        return False
    root = scatter.called[0].root
    if root.opcode.name == "parameter":
        return root.parameter_number == 1
    return root.opcode.name == "add" and not np.any(np.asarray(off.payload.array))


def line_of_form(kernels: Sequence[KernelFact], is_slow: Callable[[HloInstruction], bool]) -> str:
    """Return the source line with most of the slow instructions of the longest kernel.

    A kernel has the line of its root, which can be another.
    """
    longest = max(kernels, key=lambda kernel: kernel.us)
    places = SourceLines(longest.instruction.parent.module)
    slow = [i for i in kernel_instructions(longest.instruction) if is_slow(i)]
    computing = [i for i in slow if i.opcode.name not in _NO_WORK]
    for group in (computing, slow, [o for i in slow for o in i.operands]):
        lines = Counter([line for i in group if (line := places.metadata_place(i.metadata))])
        if lines:
            return lines.most_common(1)[0][0]
    return longest.line


def one_hot_by_comparison(facts: Facts) -> Advice | None:
    """Advise to make one-hot rows by a comparison, which fuses, in place of a scatter."""
    found: list[KernelFact] = []
    filled: set[HloInstruction] = set()
    for kernel in facts.kernels:
        if any(stores_a_constant(i) for i in kernel_instructions(kernel.instruction)):
            found.append(kernel)
            filled.update(kernel.instruction.operands)
            filled.update(kernel.instruction.users)  # which read the rows from memory
    whole = [*found, *[kernel for kernel in facts.kernels if kernel.instruction in filled]]
    gain = sum([kernel.us for kernel in whole])
    if gain < NOTABLE * facts.run_us or not found:
        return None
    seen = (
        f"one-hot rows are written by a scatter into zeros, and read again, {gain:.0f} us of a run"
    )
    change = "compare instead: jax.nn.one_hot(i, n), which is fused into its reader"
    return Advice(
        gain, f"{seen}: {change}", line_of_form(found, stores_a_constant), form="compared-one-hot"
    )


def multiply_small_products(facts: Facts) -> Advice | None:
    """Advise to compute a batch of small products element by element."""
    found = [
        kernel
        for kernel in facts.kernels
        if any(is_small_product(i) for i in kernel_instructions(kernel.instruction))
    ]
    gain = sum([kernel.us - min(kernel.least_us or 0.0, kernel.us) for kernel in found])
    if gain < NOTABLE * facts.run_us:
        return None
    seen = f"batches of small products take {gain:.0f} us of a run, one call for each product"
    change = (
        "multiply and sum instead, (a[:, :, :, None] * b[:, None]).sum(2) in place of a @ b, "
        "which is one fused kernel"
    )
    return Advice(
        gain,
        f"{seen}: {change}",
        line_of_form(found, is_small_product),
        form="multiplied-and-summed",
    )


def moves_the_minor(i: HloInstruction) -> bool:
    """Return True if neighbours in memory of the operand are not neighbours in the result's."""
    if i.opcode.name not in ("transpose", "copy") or not i.shape.is_array or not i.operands:
        return False
    before, after = i.operands[0].shape, i.shape
    if before.layout is None or after.layout is None or after.rank < 2:
        return False
    order = i.attribute("dimensions") if i.opcode.name == "transpose" else range(after.rank)
    there = [order[d] for d in after.layout.minor_to_major if after.dimensions[d] > 1]
    here = [d for d in before.layout.minor_to_major if before.dimensions[d] > 1]
    return bool(here) and there[0] != here[0]


def _orders_the_result(moved: HloInstruction, kernel: HloInstruction) -> bool:
    """Return True if only element-wise operations lie between a transpose and the results.

    Then the program returns its values in that order, which no other form changes. A reshape that
    merges dimensions hides the order, so that another one can be chosen.
    """
    pending = [moved]
    while pending:
        one = pending.pop()
        users = list(one.users)
        if one is one.parent.root and one.parent is not kernel.parent:
            users.append(kernel)
        for user in users:
            if not (user.opcode.elementwise or user is kernel or user.opcode.name in _KEEPING):
                return False
            if user.opcode.name == "bitcast" and _sizes(user) != _sizes(user.operands[0]):
                return False
        pending.extend(users)
    return True


def _sizes(i: HloInstruction) -> list[int]:
    """Return the sizes of an array's dimensions in increasing order, without those of 1."""
    return sorted([size for size in i.shape.dimensions if size > 1])


def keep_the_order(facts: Facts) -> Advice | None:
    """Advise against transposes of the last dimension, which read memory with large strides."""
    found = [
        kernel
        for kernel in facts.kernels
        if product_of(kernel.instruction) is None
        and not (kernel.calls > 1 and only_moves(kernel.instruction))  # of a loop's state
        and any(
            moves_the_minor(i) and not _orders_the_result(i, kernel.instruction)
            for i in kernel_instructions(kernel.instruction)
        )
    ]
    gain = sum([kernel.us - min(kernel.least_us or 0.0, kernel.us) for kernel in found])
    if gain < NOTABLE * facts.run_us:
        return None
    seen = (
        f"a transpose before a reshape or an operation reads memory with large strides, {gain:.0f} "
        "us of a run"
    )
    change = (
        "store the array in the order in which it is read, reduce or reshape it without the "
        "transpose, or transpose the smaller result"
    )
    return Advice(
        gain, f"{seen}: {change}", line_of_form(found, moves_the_minor), form="without-transposes"
    )


def compute_in_32_bits(facts: Facts) -> Advice | None:
    """Advise against arithmetic in 16 bits, which CPUs convert to 32 bits and back."""

    def is_half(i: HloInstruction) -> bool:
        shapes = [i.shape, *[one.shape for one in i.operands]]
        leaves = [leaf for shape in shapes for _, leaf in shape.leaves() if leaf.is_array]
        return any(leaf.element_type.name in _HALVES for leaf in leaves)

    found = [
        kernel
        for kernel in facts.kernels
        if any(is_half(i) for i in kernel_instructions(kernel.instruction))
    ]
    gain = sum([kernel.us for kernel in found]) / 2
    if gain < NOTABLE * facts.run_us:
        return None
    seen = f"kernels on 16-bit floats take {2 * gain:.0f} us of a run; each value is converted"
    change = "compute in 32 bits, x.astype(jnp.float32), and keep 16 bits for what is stored only"
    return Advice(gain, f"{seen}: {change}", line_of_form(found, is_half), form="halves-in-32-bits")


ARRAY_FORMS: Final = (
    one_hot_by_comparison, multiply_small_products, keep_the_order, compute_in_32_bits,
)  # fmt: skip
