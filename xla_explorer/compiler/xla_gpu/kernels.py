"""XLA:GPU's rules for kernels with several results, and for the shape that they loop over.

Sources of the facts: xla/service/gpu/gpu_fusible.cc, reduction_utils.cc, ir_emission_utils.cc.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Final

from xla_explorer.compiler.target import WARP_SIZE
from xla_explorer.compiler.target.units import GpuUnit
from xla_explorer.compiler.xla_gpu.emitters import (
    KernelTime,
    has_reduction_emitter,
    kernel_time,
    launch_dimensions,
    operations_of,
    reduction_runs,
)
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape

_LEAST_TILED: Final = 16  # elements of the dimensions that a tiled transpose swaps
_PRODUCERS: Final = frozenset({
    "bitcast", "broadcast", "concatenate", "dynamic-slice", "gather", "pad", "reduce-window", "reshape", "reverse", "slice", "iota",
    "transpose",
})  # fmt: skip
_SAME_BYTES: Final = frozenset({"bitcast", "reshape", "bitcast-convert", "convert"})


def is_loop(i: HloInstruction) -> bool:
    """Return True if the kernel is emitted as a loop over its result."""
    return i.opcode.name == "fusion" and i.attributes.get("kind") == "kLoop"


def roots(i: HloInstruction) -> list[HloInstruction]:
    """Return the stored instructions: the instruction itself, or the roots of a fusion."""
    if i.opcode.name != "fusion":
        return [i]
    root = i.called[0].root
    return list(root.operands) if root.opcode.name == "tuple" else [root]


def hero(root: HloInstruction) -> HloInstruction:
    """Return the hero of a root: itself, or the reduction or transpose behind unary operations."""
    found = root
    while not (is_emitted_reduction(found) or is_tiled_transpose(found)):
        moves_nothing = found.opcode.elementwise or found.opcode.name in _SAME_BYTES
        if not moves_nothing or len(found.operands) != 1 or len(found.operands[0].users) > 1:
            return root
        found = found.operands[0]
    return found


def kernel_hero(i: HloInstruction) -> HloInstruction:
    """Return the hero of a kernel; among several results, a reduction or transpose if any."""
    heroes = list(map(hero, roots(i)))
    return next(
        (one for one in heroes if is_emitted_reduction(one) or is_tiled_transpose(one)), heroes[0]
    )


def is_emitted_reduction(i: HloInstruction) -> bool:
    """Return True if the reduction has its own emitter, for rows or columns."""
    return i.opcode.name == "reduce" and has_reduction_emitter(i)


def is_tiled_transpose(i: HloInstruction) -> bool:
    """Return True if the transpose is emitted with tiles in shared memory."""
    if i.opcode.name != "transpose" or not i.shape.is_array or not i.shape.rank:
        return False
    minor, from_minor = i.shape.rank - 1, i.attribute("dimensions")[-1]
    sizes = i.shape.dimensions
    return bool(
        from_minor != minor
        and sizes[-1] >= _LEAST_TILED
        and i.operands[0].shape.dimensions[-1] >= _LEAST_TILED
    )


def same_loop(first: HloInstruction, second: HloInstruction) -> bool:
    """Return True if two kernels fit one loop over the same elements in the same order.

    Reductions and transposes must have equal dimensions.
    """
    (one, how), (two, else_how) = map(_loop, (first, second))
    if (
        how is not None
        and else_how is not None
        and (how != else_how or one.dimensions != two.dimensions)
    ):
        return False
    if not (one.is_array and two.is_array):
        return one == two
    squeezed = [tuple([shape.dimensions[d] for d in reversed(shape.layout.minor_to_major) if shape.dimensions[d] != 1])
                for shape in (one, two)]  # fmt: skip
    return squeezed[0] == squeezed[1] or (
        one.base is one and two.base is two and prod(squeezed[0]) == prod(squeezed[1])
    )


def is_loop_shaped_by_operand(i: HloInstruction) -> bool:
    """Return True if a reduction or a transpose determines the kernel's loop."""
    found = kernel_hero(i)
    return is_emitted_reduction(found) or is_tiled_transpose(found)


def loop_shape(i: HloInstruction) -> Shape:
    """Return the shape that a kernel loops over."""
    return _loop(i)[0]


def _loop(i: HloInstruction) -> tuple[Shape, object]:
    """Return the shape that a kernel loops over, and the reduction or transpose on it."""
    found = kernel_hero(i)
    if is_loop_shaped_by_operand(i):
        return found.operands[0].shape, (found.opcode.name, tuple(found.attribute("dimensions")))
    return found.shape, None


def may_be_root(i: HloInstruction) -> bool:
    """Return True if an instruction may become a result of a kernel with several results."""
    if i.opcode.name == "fusion":
        return i.attributes.get("kind") != "kCustom" and (is_loop(i) or any(is_emitted_reduction(h) or is_tiled_transpose(h)
                                                                             for h in map(hero, roots(i))))  # fmt: skip
    return (
        is_emitted_reduction(i)
        or is_tiled_transpose(i)
        or (i.opcode.elementwise and bool(i.operands) and i.shape.is_array)
    )


def may_be_stored_by_reader(producer: HloInstruction) -> bool:
    """Return True if a kernel that reads the producer may store it too.

    Dumps show that a producer that reduces is not stored.
    """
    if (
        not producer.shape.is_array
        or updates_in_place(producer)
        or any(map(_moves_or_reduces, _inside(producer)))
    ):
        return False
    return is_loop(producer) or producer.opcode.elementwise or producer.opcode.name in _PRODUCERS


def updates_in_place(i: HloInstruction) -> bool:
    """Return True if a kernel writes part of one of its operands."""
    return any(root.opcode.name in ("dynamic-update-slice", "scatter") for root in roots(i))


def shared_memory(i: HloInstruction) -> int:
    """Return the bytes of shared memory for its reductions and transposes."""
    found = 0
    for one in _inside(i):
        if is_emitted_reduction(one):
            each = one.operands[0].shape.element_type.bytes * max(len(one.operands) // 2, 1)
            found += each * (
                WARP_SIZE if reduction_runs(one)[-1][0] else 2 * WARP_SIZE * (WARP_SIZE + 1)
            )
        elif is_tiled_transpose(one):
            found += WARP_SIZE * (WARP_SIZE + 1) * one.shape.element_type.bytes
    return found


def reductions(i: HloInstruction) -> int:
    """Return the number of reductions in a kernel with their own emitter."""
    return sum(map(is_emitted_reduction, _inside(i)))


def results(i: HloInstruction) -> int:
    """Return the number of buffers that a kernel writes, the tuple's included, as XLA counts."""
    return 1 + len(i.shape.tuple_shapes) if i.shape.is_tuple else 1


def read_disjoint_slices(
    first: HloInstruction, second: HloInstruction, parent: HloInstruction
) -> bool:
    """Return True if both read the parent by disjoint slices: then nothing is read twice."""
    one, two = [_slices(i, parent) for i in (first, second)]
    return bool(one) and bool(two) and not any(_overlap(a, b) for a in one for b in two)


def _slices(i: HloInstruction, parent: HloInstruction) -> list[HloInstruction]:
    """Return the slices by which a kernel reads an operand; none if other operations read it."""
    if i.opcode.name != "fusion":
        return []
    found: list[HloInstruction] = []
    for number, operand in enumerate(i.operands):
        if operand is parent:
            parameter = next(
                p
                for p in i.called[0].instructions.values()
                if p.opcode.name == "parameter" and p.parameter_number == number
            )
            found += parameter.users
    return found if all(one.opcode.name == "slice" for one in found) else []


def _overlap(first: HloInstruction, second: HloInstruction) -> bool:
    return all(
        a.start < b.limit and b.start < a.limit
        for a, b in zip(first.attribute("slice"), second.attribute("slice"), strict=True)
    )


def _inside(i: HloInstruction) -> list[HloInstruction]:
    return list(i.called[0].instructions.values()) if i.opcode.name == "fusion" else [i]


def _moves_or_reduces(i: HloInstruction) -> bool:
    """Return True if it reduces, or changes the order of elements in memory."""
    if i.opcode.name in ("copy", "reduce"):
        return True
    if i.opcode.name != "transpose":
        return False
    sizes = i.shape.dimensions
    kept = [
        source for size, source in zip(sizes, i.attribute("dimensions"), strict=True) if size != 1
    ]
    return kept != sorted(kept)


def estimate(
    device: GpuUnit,
    leader: HloInstruction,
    members: Sequence[HloInstruction],
    stored: Iterable[HloInstruction],
) -> KernelTime:
    """Return the times of one kernel that computes all members, emitted like the leader.

    stored: the members whose results it writes.
    """
    elements = sum([shape.element_count for _, shape in roots(leader)[0].shape.leaves()])
    operations, reads = (
        0.0,
        dict.fromkeys(
            [operand for one in members for operand in one.operands if operand not in members], 0.0
        ),
    )
    for one in members:
        points = _points(one)
        operations += sum([operations_of(i) * count for i, count in points.items()])
        for number, operand in enumerate(one.operands):
            if operand in reads:
                inner = (
                    one.called[0].parameters()[number] if one.opcode.name == "fusion" else operand
                )
                count = points.get(
                    inner, operand.shape.element_count if operand.shape.is_array else 0
                )
                reads[operand] = max(reads[operand], _bytes(operand, count))
    written = float(sum([one.shape.byte_size for one in stored]))
    read = [
        (float(operand.shape.byte_size), size)
        for operand, size in reads.items()
        if operand.shape.is_array
    ]
    return kernel_time(
        device, launch_dimensions(kernel_hero(leader), elements), operations, read, written
    )


def _bytes(operand: HloInstruction, count: float) -> float:
    return count * max(1, operand.shape.element_type.bytes) if operand.shape.is_array else 0.0


def _points(kernel: HloInstruction) -> dict[HloInstruction, float]:
    """Return how often each instruction of a kernel is evaluated: as often as its readers."""
    if kernel.opcode.name != "fusion":
        return {
            kernel: float(
                (
                    kernel.operands[0] if kernel.opcode.name == "reduce" else kernel
                ).shape.element_count
            )
        }
    found: dict[HloInstruction, float] = {
        root: float(next(root.shape.leaves())[1].element_count) for root in roots(kernel)
    }
    for i in reversed(kernel.called[0].post_order()):
        times = found.setdefault(i, 0.0)
        for operand in i.operands:
            each = (
                operand.shape.element_count / max(i.shape.element_count, 1)
                if i.opcode.name == "reduce" and i.shape.is_array
                else 1.0
            )
            found[operand] = found.get(operand, 0.0) + times * each
        if i.opcode.name == "reduce":  # its combiner runs for each element that it reads
            found[i] = times * (
                i.operands[0].shape.element_count / max(i.shape.element_count, 1)
                if i.shape.is_array
                else 1.0
            )
    return found
