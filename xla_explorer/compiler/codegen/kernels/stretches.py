"""A reduction in stretches: shares of the reduced dimensions that are reduced apart and joined afterwards.

Two reasons. Several threads, where the results are too few to give each thread some (a sum of everything, sums of columns). And vectors
that begin where a cache line begins: numpy's arrays of pages begin 16 bytes after one, so that every load of 64 bytes takes two lines; a
stretch of a long run starts at the first whole line, and the elements before it and behind the last stretch are reduced apart.

Every stretch starts from the identity element, and the initial value comes in once, when they are joined. The order is fixed by the
extents and by the number of shares, so a program gives the same bits at every run. Stretches that begin with a line depend on where the
array lies besides: the same values at another place in a line are added in another order. So they are for arrays alone that gain from
them, of which numpy and the allocators put all at the same place in a line, for they are mappings of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory, IndexTuple
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.shares import BALANCED, Shares
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import array_shape

LINE = 64
NARROW = 2048  # bytes of a row that a share of the columns should have, or the shares take rows
LONG = 1 << 15  # elements of a run that is worth stretches
BEYOND_CACHES = 32 << 20  # bytes of a run from which whole lines gain (a fifth; next to nothing below)
GRAIN = 64  # elements that a stretch of a run is a multiple of


class Stretches(NamedTuple):
    """How a reduction is cut. group: the dimension (of the collapsed ones) that is cut. size: its steps in each stretch. rest: steps that
    belong to no stretch. aligned: the array whose cache lines the first stretch begins with, else the rest is at the end."""

    group: int
    size: int
    rest: int
    aligned: ArrayInMemory | None = None


def plan_stretches(
    shares: Shares, extents: list[int], is_reduced: list[bool], by_column: bool, element_bytes: int, array: ArrayInMemory | None
) -> Stretches | None:
    """How to cut; None where the loops over the results are cut, or nothing. array: what a run of one dimension is read from."""
    parts = shares.parts
    if is_reduced == [True] and extents[0] >= LONG:
        aligned = array if array is not None and element_bytes < LINE and extents[0] * element_bytes >= BEYOND_CACHES else None
        before = LINE // element_bytes if aligned is not None else 0
        size = (extents[0] - before) // parts // GRAIN * GRAIN
        if size and (parts > 1 or aligned is not None):
            return Stretches(0, size, extents[0] - parts * size, aligned)
    if parts == 1:
        return None
    kept = [e for e, flag in zip(extents, is_reduced, strict=True) if not flag]
    if shares.place_to_cut(kept[:-1] if by_column else kept) is not None:
        return None
    if by_column and kept[-1] * element_bytes >= NARROW * parts:
        return None
    for k, (extent, flag) in enumerate(zip(extents, is_reduced, strict=True)):
        grain = GRAIN if k == len(extents) - 1 else BALANCED
        if flag and extent >= BALANCED * grain * parts:
            size = extent // parts // grain * grain
            return Stretches(k, size, extent - parts * size)
    return None


def write_stretches(
    context: KernelContext,
    stretches: Stretches,
    extents: list[int],
    is_reduced: list[bool],
    types: list[PrimitiveType],
    reduce_part: Callable[[list[int], Callable[[IndexTuple], IndexTuple], Callable[[list[str | int], list[Scalar]], None]], None],
    join: Callable[[list[str | int], list[list[Scalar]]], None],
) -> None:
    """The kernel. reduce_part(extents, place, give): code that reduces so many steps, reads at place(index) and gives the values of each
    result (with its index). join(index, values): combines the values of the stretches in order and stores the result."""
    w, shares = context.writer, context.shares
    group, size, rest, aligned = stretches
    parts, pieces = shares.parts, shares.parts + (rest > 0)
    kept = [1 if flag else e for e, flag in zip(extents, is_reduced, strict=True)]
    count = math.prod(kept)
    strides = [math.prod(kept[k + 1 :]) for k in range(len(kept))]
    # Shares write side by side: never into the same cache line.
    pitch = -(-count // LINE) * LINE
    arrays = [ArrayInMemory(context.scratch(pieces * pitch * max(t.bytes, 1)), array_shape(t, (pieces * pitch,))) for t in types]
    before = _up_to_the_first_line(context, aligned) if aligned is not None else 0

    def reduce_piece(number: str | int, steps: int, at: Callable[[str | int], str | int]) -> None:
        def place(index: IndexTuple) -> IndexTuple:
            return (*index[:group], at(index[group]), *index[group + 1 :])

        def give(index: list[str | int], values: list[Scalar]) -> None:
            where = w.add(w.mul(number, pitch), w.linear(index, strides))
            for array, value in zip(arrays, values, strict=True):
                array.store_linear(w, where, value)

        reduce_part([steps if k == group else e for k, e in enumerate(extents)], place, give)

    def at_the_ends(step: str | int) -> str | int:
        """What is before the first stretch, then what is behind the last one."""
        behind = w.add(step, parts * size)
        if before == 0:
            return behind
        first = w.value(f"icmp slt i64 {step}, {before}")
        return w.value(f"select i1 {first}, i64 {step}, i64 {behind}")

    with shares.phase(by_hand=True) as number:
        start = w.add(before, w.mul(number, size))
        reduce_piece(number, size, lambda step: w.add(start, step))
    with shares.phase(alone=True):
        if rest:
            reduce_piece(parts, rest, at_the_ends)
        with context.iterate([e for e, flag in zip(extents, is_reduced, strict=True) if not flag]) as index:
            positions = iter(index)
            merged = [0 if flag else next(positions) for flag in is_reduced]
            where = w.linear(merged, strides)
            join(merged, [[array.load_linear(w, w.add(where, number * pitch)) for array in arrays] for number in range(pieces)])


def _up_to_the_first_line(context: KernelContext, array: ArrayInMemory) -> str | int:
    """Elements before the first whole cache line; rounded down where lines begin inside an element."""
    w = context.writer
    address = w.value(f"ptrtoint ptr {array.pointer} to i64")
    behind = w.value(f"and i64 {w.value(f'sub i64 0, {address}')}, {LINE - 1}")
    return w.div(behind, array.shape.element_type.bytes)

