"""A transpose of what lies in memory: square tiles through vector registers, so that whole cache lines are read and written.

Element by element, one of both sides goes through memory in strides, and large powers of two among them make all of them
compete for the same few lines of the cache. Everything else (what is computed on the way, other widths, a minor dimension
that stays) is a loop nest over the result.
"""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.matrix_multiply import tile_starts
from xla_explorer.compiler.codegen.kernels.streaming import LINE, NONTEMPORAL, end_streaming, in_lines_or_not, is_streamed
from xla_explorer.compiler.codegen.llvm_types import memory_type

_WIDTHS = (32, 64)
LARGEST_TILE = 16
TOGETHER = 4  # tiles that are neighbours in a large operand, one after the other: memory is read a few lines at a time


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
    if context.target.kind != "cpu" or len(context.roots) != 1 or operand not in context.arrays or t.bits not in _WIDTHS or t.is_complex:
        return None
    if not (root.shape.layout.is_default and operand.shape.layout.is_default):
        return None
    order, last = root.attribute("dimensions"), root.shape.rank - 1
    if last < 1 or order[last] == last:
        return None
    across = order.index(last)
    side = min(context.target.vector_bits // t.bits, LARGEST_TILE)
    if side < 2 or side & (side - 1) or min(root.shape.dimensions[across], root.shape.dimensions[last]) < side:
        return None
    return TransposeTiles(side, tuple([d for d in range(last) if d != across]), across)


def write_transpose_tiles(context: KernelContext, tiles: TransposeTiles) -> None:
    """The whole kernel."""
    root, w = context.roots[0], context.writer
    dimensions, order, last = root.shape.dimensions, root.attribute("dimensions"), root.shape.rank - 1
    source, target = context.arrays[root.operands[0]], context.outputs[0]
    from_strides = [source.shape.strides[d] for d in order]  # by dimension of the result
    to_strides = target.shape.strides
    side, t = tiles.side, memory_type(root.shape.element_type)
    bytes_ = root.shape.element_type.bits // 8
    extents = [dimensions[d] for d in tiles.kept]
    streamed = dimensions[last] % side == 0 and is_streamed(context, target)
    count = -(-dimensions[tiles.across] // side)
    together = TOGETHER if streamed else 1
    with (
        context.iterate([*extents, -(-count // together), -(-dimensions[last] // side)]) as (*outer, group, columns),
        w.loop(together, stem="tile") as tile,
    ):
        rows = w.add(w.mul(group, together), tile)
        if count % together:  # behind the last tile comes the last tile again
            rows = w.call_intrinsic("llvm.smin.i64", "i64", ("i64", str(rows)), ("i64", str(count - 1)))
        row, column = tile_starts(w, rows, side, dimensions[tiles.across]), tile_starts(w, columns, side, dimensions[last])
        index = [*outer, row, column]
        places = [*tiles.kept, tiles.across, last]
        read = w.linear(index, [from_strides[d] for d in places])
        written = w.linear(index, [to_strides[d] for d in places])

        def address(pointer: str, start: str | int, step: int) -> str:
            return w.value(f"getelementptr inbounds {t}, ptr {pointer}, i64 {w.add(start, step)}")

        lines = [w.value(f"load <{side} x {t}>, ptr {address(source.pointer, read, k * from_strides[last])}, align {bytes_}")
                 for k in range(side)]
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
