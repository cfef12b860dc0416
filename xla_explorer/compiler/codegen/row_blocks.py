"""Chains of kernels that run block by block of rows, so that what one kernel writes or reads is still in the cache for the next.

Consecutive kernels whose outermost loops run along the rows of the same arrays (softmax: maximum, sum of exponentials, quotient) are
written in shares (`kernels/shares.py`), and the program calls share 0 of each, then share 1 of each, and so on. Share b of a kernel
touches the fraction [b / parts, (b + 1) / parts) of every row-major array that the outermost loop runs along, whatever its rank. That is
in order when whatever two kernels of the chain both touch, and at least one of them writes, is exactly the same memory, cut by both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.elemental.registry import ELEMENTWISE_EMITTERS
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext, kernel_slots
from xla_explorer.compiler.codegen.kernels.shares import INNERMOST_GRAIN
from xla_explorer.compiler.codegen.placement.kernel_rows import has_own_writer
from xla_explorer.compiler.target import Target
from xla_explorer.hlo.analysis.indexing import DimensionMap, dimensions_read
from xla_explorer.hlo.instruction import HloInstruction

BLOCK_BYTES = 256 << 10  # of all arrays together: a part of an ordinary second-level cache
LEAST_BYTES = 1 << 20  # less lies in the cache anyway
MOST_PARTS = 4096
Memory = tuple[int, int, int]  # table slot, offset, bytes


class RowKernel(NamedTuple):
    """A kernel that can be cut along rows. extent: steps of its outermost loop. alone: it has no other loop.
    follows: for each operand whether the loop runs along its outermost dimensions (results always do)."""

    extent: int
    alone: bool
    follows: tuple[bool, ...]

    def can_be_cut(self, parts: int) -> bool:
        """Whether `Shares` cuts the outermost loop into equal shares."""
        if self.extent % parts:
            return False
        return not self.alone or self.extent < INNERMOST_GRAIN * parts or self.extent % (INNERMOST_GRAIN * parts) == 0


class Access(NamedTuple):
    """Memory that a kernel of the chain touches. follows: share b touches the fraction b of it alone."""

    memory: Memory
    follows: bool
    written: bool

    def may_go_with(self, other: Access) -> bool:
        """Whether the order block by block gives what the order kernel by kernel gives."""
        if not (self.written or other.written):
            return True
        if self.memory == other.memory:
            return self.follows and other.follows
        (slot, offset, size), (slot_b, offset_b, size_b) = self.memory, other.memory
        return slot != slot_b or offset + size <= offset_b or offset_b + size_b <= offset


def row_kernel(i: HloInstruction, target: Target) -> RowKernel | None:
    """How the kernel of an instruction runs along rows; None where that is not known: anything but elementwise code and reductions of
    inner dimensions, row-major throughout."""
    if i.opcode.name == "fusion" and i.attributes.get("kind") == "kOutput":
        return None
    context = KernelContext(target, i, kernel_slots(i))
    roots, root = context.roots, context.roots[0]
    if any(not leaf.layout.is_default and leaf.rank > 1 for _, leaf in i.shape.leaves()):
        return None
    if len(roots) == 1 and root.opcode.name == "reduce":
        count = len(root.operands) // 2
        walked, reduced = list(root.operands[:count]), set(root.attribute("dimensions"))
        if not all(initial_is_simple(o, context) for o in root.operands[count:]):
            return None
    elif len(roots) == 1 and has_own_writer(root.opcode.name):
        return None
    else:
        walked, reduced = roots, set()
    dimensions = walked[0].shape.dimensions
    if not dimensions or 0 in dimensions or any(o.shape.dimensions != dimensions for o in walked):
        return None
    if 0 in reduced or (reduced and len(dimensions) - 1 not in reduced):
        return None
    maps = _dimension_maps(walked, context.arrays)
    if maps is None:
        return None
    borders = {d for d in range(len(dimensions) - 1) if (d in reduced) != (d + 1 in reduced)}
    groups = _group_dimensions(dimensions, maps, borders)
    kept = [e for e, group in zip(_extents_of(groups, dimensions), groups, strict=True) if group[0] not in reduced]
    inner = i.called[0].parameters() if i.opcode.name == "fusion" else list(dict.fromkeys(i.operands))
    follows = tuple([bool(maps.get(parameter)) and maps[parameter][0] == 0 for parameter in inner])
    return RowKernel(kept[0], len(kept) == 1, follows)


def _dimension_maps(
    roots: Iterable[HloInstruction], arrays: dict[HloInstruction, ArrayInMemory]
) -> dict[HloInstruction, DimensionMap] | None:
    """How each instruction's dimensions run along the roots' (all of equal dimensions), or None when something moves data.

    arrays: instructions that are read from memory, where the walk stops; they need the default layout.
    """
    maps: dict[HloInstruction, DimensionMap] = {}
    stack: list[tuple[HloInstruction, DimensionMap]] = [(root, tuple(range(root.shape.rank))) for root in roots]
    while stack:
        i, mapping = stack.pop()
        known = maps.get(i)
        if known is not None:
            if known != mapping:
                return None
            continue
        maps[i] = mapping
        if i in arrays:
            if not arrays[i].shape.layout.is_default and arrays[i].shape.rank > 1:
                return None
            continue
        operands = _operands_along(i, mapping)
        if operands is None:
            return None
        stack += operands
    return maps


def _operands_along(i: HloInstruction, mapping: DimensionMap) -> list[tuple[HloInstruction, DimensionMap]] | None:
    """The operands of an instruction that moves nothing, with what their dimensions run along; None for any other."""
    name = i.opcode.name
    moves_nothing = (name in ELEMENTWISE_EMITTERS and name != "bitcast-convert") or name in ("broadcast", "iota")
    if moves_nothing or (name == "constant" and i.literal.splat is not None):
        return dimensions_read(i, mapping)
    return None


def _group_dimensions(
    dimensions: tuple[int, ...], maps: dict[HloInstruction, DimensionMap], borders: AbstractSet[int] = frozenset()
) -> list[list[int]]:
    """Runs of root dimensions that may be one loop. borders: dimensions d such that d and d+1 must stay apart."""
    apart = set(borders)
    for i, mapping in maps.items():
        if mapping == tuple(range(len(dimensions))):
            if i.opcode.name == "iota":
                d = i.attribute("iota_dimension")
                apart.update((d, d - 1))
            continue
        places = {d: k for k, d in enumerate(mapping)}
        for d in range(len(dimensions) - 1):
            a, b = places.get(d), places.get(d + 1)
            if (a is None) != (b is None) or (a is not None and b != a + 1):
                apart.add(d)
        if i.opcode.name == "iota":
            d = mapping[i.attribute("iota_dimension")]
            apart.update((d, d - 1))
    groups: list[list[int]] = []
    for d in range(len(dimensions)):
        if groups and d - 1 not in apart:
            groups[-1].append(d)
        else:
            groups.append([d])
    return groups


def _extents_of(groups: list[list[int]], dimensions: tuple[int, ...]) -> list[int]:
    """Number of steps of each group."""
    return [math.prod([dimensions[d] for d in group]) for group in groups]


def initial_is_simple(i: HloInstruction, context: KernelContext) -> bool:
    """Whether an initial value is read from memory or a constant, perhaps converted."""
    if i.opcode.name == "convert":
        i = i.operands[0]
    return i in context.arrays or (i.opcode.name == "constant" and i.literal.splat is not None)


def blocks_of(kernels: Sequence[RowKernel], accesses: Sequence[Access]) -> int:
    """In how many blocks a chain should run: enough that a block stays in the cache; 0 when it does not pay or does not come out even."""
    touched = {access.memory for access in accesses if access.follows}
    size = sum(memory[2] for memory in touched)
    # What only one kernel touches, or touches once, profits nothing.
    again = sum(memory[2] for memory in touched if sum(access.memory == memory for access in accesses) > 1)
    if len(kernels) < 2 or again < LEAST_BYTES:
        return 0
    common = math.gcd(*[kernel.extent for kernel in kernels])
    wanted = -(-size // BLOCK_BYTES)
    for parts in range(max(wanted, 2), min(8 * wanted, MOST_PARTS, common) + 1):
        if common % parts == 0 and all(kernel.can_be_cut(parts) for kernel in kernels):
            return parts
    return 0
