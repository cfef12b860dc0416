"""Rules of advice for programs that compute more than their result needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Final

from xla_explorer.explorer.advice.rules import NOTABLE, Advice, Facts, KernelFact
from xla_explorer.explorer.advice.slow_forms import fusion_around, kernel_instructions
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.metadata import parse_metadata

_FEW: Final = 8
"""The least ratio of computed to read elements of a wasteful product."""
_LARGE: Final = 1 << 18  # bytes
_THROUGH: Final = frozenset({"bitcast", "reshape", "convert", "copy", "broadcast"})
_NARROW: Final = frozenset({"bf16", "f16"})


def _advice(
    facts: Facts, kernels: list[KernelFact], seen: str, change: str, part: float = 1.0
) -> Advice | None:
    """Return advice on some kernels, at the line of the longest; None if they are fast."""
    us = part * sum([k.us for k in kernels])
    if not kernels or us < NOTABLE * facts.run_us:
        return None
    line = max(kernels, key=lambda k: k.us).line
    return Advice(us, f"{seen}, {us:.0f} us of a run: {change}", line)


def _value(i: HloInstruction) -> HloInstruction:
    """Return the instruction that makes a value, through fusions and operations without work."""
    while True:
        if i.opcode.name == "parameter" and (fusion := fusion_around(i)) is not None:
            i = fusion.operands[i.parameter_number]
        elif i.opcode.name == "fusion" and i.called[0].root.opcode.name != "tuple":
            i = i.called[0].root
        elif i.opcode.name in _THROUGH:
            i = i.operands[0]
        else:
            return i


def _is_identity_mask(i: HloInstruction) -> bool:
    """Return True for a comparison of two iotas, the mask of a diagonal."""
    i = _value(i)
    return (
        i.opcode.name == "compare"
        and i.attribute("direction") == "EQ"
        and all(_is_iota(operand) for operand in i.operands)
    )


def _is_iota(i: HloInstruction, depth: int = 0) -> bool:
    i = _value(i)
    if i.opcode.name == "add" and depth < 3:
        return any(_is_iota(operand, depth + 1) for operand in i.operands)
    return i.opcode.name == "iota"


def diagonal_products(facts: Facts) -> Advice | None:
    """Advise against products with a diagonal matrix."""

    def is_diagonal(i: HloInstruction) -> bool:
        made = _value(i)
        return made.opcode.name == "select" and _is_identity_mask(made.operands[0])

    found = [
        k
        for k in facts.kernels
        if k.instruction.opcode.name == "dot" and any(map(is_diagonal, k.instruction.operands))
    ]
    change = "scale the rows or columns instead: jnp.diag(d) @ x is d[:, None] * x"
    return _advice(facts, found, "products with a diagonal matrix", change)


def product_order(facts: Facts) -> Advice | None:
    """Advise to multiply three matrices in the cheaper order."""
    found, seen = [], ""
    for kernel in facts.kernels:
        i = kernel.instruction
        if i.opcode.name != "dot" or i.attribute("lhs_batch_dims"):
            continue
        for side in (0, 1):
            inner = _value(i.operands[side])
            if inner.opcode.name != "dot" or inner.attribute("lhs_batch_dims"):
                continue
            now, other = _flops_of_orders(inner, i, side)
            if other * 2 < now and all(user is i or user.shape == i.shape for user in inner.users):
                found += [k for k in facts.kernels if k.instruction is inner]
                seen = f"a product of three matrices takes {now / other:.0f} times the operations"
    change = "multiply the smaller ones first: (a @ b) @ v is a @ (b @ v)"
    return _advice(facts, found, f"{seen} of another order", change)


def _flops_of_orders(inner: HloInstruction, outer: HloInstruction, side: int) -> tuple[int, int]:
    """Return the multiply-adds of a product of three, and those of the other order.

    side: the operand of the outer product that is the inner one.
    """
    names = ("lhs_contracting_dims", "rhs_contracting_dims")
    sizes = [o.shape.dimensions for o in inner.operands]
    summed = prod([sizes[0][d] for d in inner.attribute(names[0])])
    free = [prod(one) // summed for one in sizes]
    shared = prod([outer.operands[side].shape.dimensions[d] for d in outer.attribute(names[side])])
    other = outer.operands[1 - side].shape.element_count // max(shared, 1)
    now = free[0] * summed * free[1] + free[0] * free[1] * other
    which = 1 if shared == free[1] and shared != free[0] else 0
    if shared != free[which]:
        return now, now
    if free[0] == free[1]:  # a square: the contracted dimension says which side is free
        first_rank = len(sizes[0]) - len(inner.attribute(names[0]))
        which = int(min(outer.attribute(names[side])) >= first_rank)
    return now, free[which] * summed * other + summed * free[1 - which] * other


def read_in_part(facts: Facts) -> Advice | None:
    """Advise against products of which only a diagonal or a few rows are read."""
    found = [
        k
        for k in facts.kernels
        if k.instruction.opcode.name == "dot" and _is_read_in_part(k.instruction)
    ]
    change = (
        "compute only what is read: jnp.trace(a @ b) is (a * b.T).sum(), the diagonal is "
        "jnp.einsum('ij,ji->i', a, b), one row is a[i] @ b"
    )
    return _advice(facts, found, "products that are read in a small part", change)


def _is_read_in_part(dot: HloInstruction) -> bool:
    readers = list(_readers(dot))
    return bool(readers) and all(
        (reader.opcode.name == "select" and _is_identity_mask(reader.operands[0]))
        or (
            reader.opcode.name in ("slice", "gather")
            and reader.operands[0] is value
            and _FEW * reader.shape.element_count <= dot.shape.element_count
        )
        for value, reader in readers
    )


def _readers(i: HloInstruction) -> Iterator[tuple[HloInstruction, HloInstruction]]:
    """Yield (value, reader) of a value, inside of fusions too."""
    for user in i.users:
        if user.opcode.name == "fusion":
            number = list(user.operands).index(i)
            for parameter in user.called[0].parameters():
                if parameter.parameter_number == number:
                    yield from _readers(parameter)
        elif user.opcode.name in ("bitcast", "reshape", "copy"):
            yield from _readers(user)
        else:
            yield i, user


def both_branches(facts: Facts) -> Advice | None:
    """Advise against computing both sides of a choice by one flag."""
    by_instruction = {k.instruction: k for k in facts.kernels}
    found: list[KernelFact] = []
    for kernel in facts.kernels:
        for i in kernel_instructions(kernel.instruction):
            if i.opcode.name == "select" and _value(i.operands[0]).shape.element_count == 1:
                if i.shape.element_count > 1:
                    sides = [_makers(side, by_instruction) for side in i.operands[1:]]
                    only = (sides[0] ^ sides[1]) - {kernel.instruction}
                    found += [by_instruction[one] for one in only if one in by_instruction]
    unique = list({id(k): k for k in found}.values())
    change = "jax.lax.cond(flag, f, g, x) computes one side (outside of vmap)"
    return _advice(facts, unique, "both sides of a choice by one flag are computed", change)


def _makers(i: HloInstruction, kernels: dict[HloInstruction, KernelFact]) -> set[HloInstruction]:
    """Return the kernels that a value is made by, directly or through others."""
    found: set[HloInstruction] = set()
    pending, seen = [i], set()
    while pending:
        one = pending.pop()
        if one in seen:
            continue
        seen.add(one)
        if one in kernels:
            found.add(one)
        if one.opcode.name == "parameter" and (fusion := fusion_around(one)) is not None:
            pending.append(fusion.operands[one.parameter_number])
        pending += one.operands
    return found


def recomputed_blocks(facts: Facts) -> Advice | None:
    """Advise against a checkpoint that computes again what would fit in memory."""

    def again(i: HloInstruction) -> bool:
        return any(
            "rematted_computation" in (parse_metadata(part.metadata).op_name or "")
            for part in (i, *kernel_instructions(i))
        )

    found = [k for k in facts.kernels if again(k.instruction)]
    change = (
        "leave jax.checkpoint out if the values fit in memory, or keep the products: "
        "policy=jax.checkpoint_policies.dots_saveable"
    )
    return _advice(facts, found, "jax.checkpoint computes values a second time", change)


def widened_products(facts: Facts) -> Advice | None:
    """Advise against products whose 16-bit operands are converted to f32 first."""
    found = []
    for kernel in facts.kernels:
        i = kernel.instruction
        if i.opcode.name == "dot":
            for operand in i.operands:
                made = operand.called[0].root if operand.opcode.name == "fusion" else operand
                if made.opcode.name == "convert" and _type_of(made.operands[0]) in _NARROW:
                    found += [k for k in facts.kernels if k.instruction is operand]
    change = (
        "give the operands as they are: jnp.dot(x, w, preferred_element_type=jnp.float32) "
        "accumulates in f32 without a copy of the weights"
    )
    return _advice(facts, found, "16-bit operands of products are converted to f32", change)


def _type_of(i: HloInstruction) -> str:
    return i.shape.element_type.name if i.shape.is_array else ""


def real_transforms(facts: Facts) -> Advice | None:
    """Advise against complex Fourier transforms of real values."""

    def is_wasteful(i: HloInstruction) -> bool:
        if i.opcode.name != "fft" or i.attribute("fft_type") not in ("FFT", "IFFT"):
            return False
        made = _value(i.operands[0])
        whole = made.opcode.name == "complex" and _value(made.operands[1]).opcode.name == "constant"
        return whole or _type_of(made).startswith("f") or _reads_real(i)

    found = [k for k in facts.kernels if any(map(is_wasteful, kernel_instructions(k.instruction)))]
    change = "use jnp.fft.rfft and irfft: half of the work and of the bytes"
    return _advice(facts, found, "complex Fourier transforms of real values", change, 0.5)


def _reads_real(i: HloInstruction) -> bool:
    readers = [reader for _, reader in _readers(i)]
    return bool(readers) and all(reader.opcode.name == "real" for reader in readers)


def batch_first(facts: Facts) -> Advice | None:
    """Advise against products whose batch dimension is the innermost."""

    def is_last(i: HloInstruction) -> bool:
        for operand, name in zip(i.operands, ("lhs_batch_dims", "rhs_batch_dims"), strict=False):
            batch, layout = i.attribute(name) or (), operand.shape.layout
            if layout is not None and batch and layout.minor_to_major[0] in batch:
                return operand.shape.dimensions[layout.minor_to_major[0]] > 1
        return False

    found = [
        k for k in facts.kernels if k.instruction.opcode.name == "dot" and is_last(k.instruction)
    ]
    change = "store the batch first, jnp.einsum('bik,bkj->bij'), so that each product is contiguous"
    return _advice(facts, found, "products with the batch as the last dimension", change)


def only_transposed(facts: Facts) -> Advice | None:
    """Advise against large transposes."""

    def transposes(i: HloInstruction) -> bool:
        parts = list(kernel_instructions(i))
        return i.shape.byte_size >= _LARGE and any(p.opcode.name == "transpose" for p in parts)

    found = [k for k in facts.kernels if transposes(k.instruction)]
    change = (
        "keep one order of dimensions from the arguments to the results, such as the summed one "
        "last in both operands of an einsum"
    )
    return _advice(facts, found, "kernels that transpose a large array", change, 0.5)


WASTED_WORK: Final[tuple[Callable[[Facts], Advice | None], ...]] = (
    diagonal_products, product_order, read_in_part, both_branches, recomputed_blocks,
    widened_products, real_transforms, batch_first, only_transposed,
)  # fmt: skip
