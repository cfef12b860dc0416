"""A transpose of what lies in memory: square tiles through vector registers, so that whole cache lines are read and written.

Element by element, one of both sides goes through memory in strides, and large powers of two among them make all of them
compete for the same few lines of the cache. Everything else (what is computed on the way, other widths, a minor dimension
that stays) is a loop nest over the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.function_writer import NO_UNROLL, NONTEMPORAL, FunctionWriter
from xla_explorer.compiler.codegen.kernels.guards import Guard
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.matrix_multiply import tile_starts
from xla_explorer.compiler.codegen.kernels.prefetching import LINE, ask_for
from xla_explorer.compiler.codegen.kernels.streaming import (
    STREAMED_TRANSPOSE_BYTES,
    end_streaming,
    in_lines_or_not,
    is_streamed,
)
from xla_explorer.compiler.codegen.llvm_types import memory_type

_WIDTHS = (32, 64)
LARGEST_TILE = 16
TOGETHER = 4  # tiles that are neighbours in a large result, one after the other: memory is written a few lines at a time


class TransposeTiles(NamedTuple):
    """side: elements of a tile's side. kept: result dimensions that only run outside. across: the one that is minor in the operand."""

    side: int
    kept: tuple[int, ...]
    across: int


def transpose_tiles(context: KernelContext) -> TransposeTiles | None:
    """The tiles of a kernel whose root is a transpose; None where it stays a loop nest."""
    root = context.roots[0]
    if root.opcode.name != "transpose":
        return None
    operand, t = root.operands[0], root.shape.element_type
    if context.target.is_launched or len(context.roots) != 1 or operand not in context.arrays or t.bits not in _WIDTHS or t.is_complex:
        return None
    if not (root.shape.layout.is_default and operand.shape.layout.is_default):
        return None
    order, last = root.attribute("dimensions"), root.shape.rank - 1
    if last < 1 or order[last] == last:
        return None
    across = order.index(last)
    side = min(context.target.vector.bits // t.bits, LARGEST_TILE)
    if side < 2 or side & (side - 1) or min(root.shape.dimensions[across], root.shape.dimensions[last]) < side:
        return None
    return TransposeTiles(side, tuple([d for d in range(last) if d != across]), across)


def write_transpose_tiles(context: KernelContext, tiles: TransposeTiles) -> None:
    """The whole kernel. Rows of tiles run along the dimension that is minor in the operand, columns along the result's last one.

    A small result stays in the cache: columns run inside. A streamed one is written in runs of a few lines, so rows run inside, and each
    tile asks for what its neighbour of the next row reads.
    """
    root, w = context.roots[0], context.writer
    dimensions, order, last = root.shape.dimensions, root.attribute("dimensions"), root.shape.rank - 1
    source, target = context.arrays[root.operands[0]], context.outputs[0]
    from_strides = [source.shape.strides[d] for d in order]  # by dimension of the result
    to_strides = target.shape.strides
    side, t = tiles.side, memory_type(root.shape.element_type)
    bytes_ = root.shape.element_type.bytes
    extent, step = dimensions[tiles.across], from_strides[last]
    streamed = dimensions[last] % side == 0 and is_streamed(context, target, STREAMED_TRANSPOSE_BYTES)
    columns, rows = -(-dimensions[last] // side), -(-extent // side)
    together = TOGETHER if streamed else 1
    outside = [dimensions[d] for d in tiles.kept]
    first: str | int = 0
    if (aligned := _lines_begin_alike(source, tiles, extent)) is not None:
        first = aligned(w)
        rows += 1
    nest = [*outside, -(-columns // together), rows] if streamed else [*outside, rows, columns]
    with context.iterate(nest) as (*outer, x, y), Guard(w, _not_twice(w, first, y if streamed else x, rows)):
        row = _row_start(w, first, y if streamed else x, side, extent)
        with w.loop(together, stem="tile", metadata=NO_UNROLL) as tile:
            number = w.add(w.mul(x, together), tile) if streamed else y
            if streamed and columns % together:  # behind the last tile comes the last tile again
                number = w.call_intrinsic("llvm.smin.i64", "i64", ("i64", str(number)), ("i64", str(columns - 1)))
            index = [*outer, row, tile_starts(w, number, side, dimensions[last])]
            places = [*tiles.kept, tiles.across, last]
            read = w.linear(index, [from_strides[d] for d in places])
            written = w.linear(index, [to_strides[d] for d in places])

            def address(pointer: str, start: str | int, ahead: int, inbounds: str = " inbounds") -> str:
                return w.value(f"getelementptr{inbounds} {t}, ptr {pointer}, i64 {w.add(start, ahead)}")

            lines = [w.value(f"load <{side} x {t}>, ptr {address(source.pointer, read, k * step)}, align {bytes_}") for k in range(side)]
            if streamed:
                for k in range(side):  # behind the last row it is memory that need not be there, which a prefetch may name
                    ask_for(w, address(source.pointer, read, k * step + side, ""))
            lines = _transposed(context, lines, t)

            def store(tail: str) -> None:
                for k, line in enumerate(lines):
                    w.do(f"store <{side} x {t}> {line}, ptr {address(target.pointer, written, k * to_strides[tiles.across])}, {tail}")

            if streamed:
                in_lines_or_not(w, target.pointer, lambda: store(f"align {LINE}{NONTEMPORAL}"), lambda: store(f"align {bytes_}"))
            else:
                store(f"align {bytes_}")
    if streamed:
        end_streaming(context)


def _lines_begin_alike(source: ArrayInMemory, tiles: TransposeTiles, extent: int) -> Callable[[FunctionWriter], str] | None:
    """What writes where the first row of tiles begins, at or before the first element, so that every later one begins with a cache line of
    the operand, wherever that lies in memory. None where its lines do not begin alike, or a line is not the side of a tile."""
    bytes_ = source.shape.element_type.bytes
    if extent % tiles.side or tiles.side * bytes_ != LINE:
        return None

    def write(w: FunctionWriter) -> str:
        place = w.value(f"lshr i64 {w.value(f'ptrtoint ptr {source.pointer} to i64')}, {bytes_.bit_length() - 1}")
        return w.value(f"sub nsw i64 0, {w.value(f'and i64 {place}, {tiles.side - 1}')}")

    return write


def _not_twice(w: FunctionWriter, first: str | int, number: str | int, rows: int) -> list[str]:
    """The condition that a row of tiles is needed: where the operand begins a line, the last is behind its end."""
    if isinstance(first, int):
        return []
    return [w.value(f"or i1 {w.value(f'icmp ne i64 {number}, {rows - 1}')}, {w.value(f'icmp ne i64 {first}, 0')}")]


def _row_start(w: FunctionWriter, first: str | int, number: str | int, side: int, extent: int) -> str | int:
    """Where a row of tiles begins; those over an edge are moved inside."""
    if isinstance(first, int):
        return tile_starts(w, number, side, extent)
    start = w.add(w.mul(number, side), first)
    start = w.call_intrinsic("llvm.smax.i64", "i64", ("i64", str(start)), ("i64", "0"))
    return w.call_intrinsic("llvm.smin.i64", "i64", ("i64", str(start)), ("i64", str(extent - side)))


def _transposed(context: KernelContext, lines: list[str], t: str) -> list[str]:
    """A square in registers: blocks off the diagonal change places, then the same inside the blocks, down to single elements."""
    w, side = context.writer, len(lines)
    half = side // 2
    while half:
        first = ", ".join([f"i32 {k if not k & half else side + k - half}" for k in range(side)])
        second = ", ".join([f"i32 {k + half if not k & half else side + k}" for k in range(side)])
        for i in range(side):
            if not i & half:
                pair = f"<{side} x {t}> {lines[i]}, <{side} x {t}> {lines[i | half]}"
                lines[i], lines[i | half] = [w.value(f"shufflevector {pair}, <{side} x i32> <{mask}>") for mask in (first, second)]
        half //= 2
    return lines
