"""Packing of product operands: panels of the right one, blocks of the left one."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.ir import Load, Reduce, walk
from xla_explorer.compiler.codegen.nest.plan import AxisHandle, Copied
from xla_explorer.compiler.codegen.nest.policies.base import has_masks, unrolled_registers
from xla_explorer.compiler.codegen.nest.policies.columns import vectors
from xla_explorer.compiler.codegen.nest.policies.elementwise import tail
from xla_explorer.compiler.codegen.nest.policies.tiles import LIMITS, ProductLimits, RegisterTile
from xla_explorer.hlo.analysis.indexing import Axis

LEFT_PADDING = 16  # elements between packed rows, against cache-set conflicts in L1
LEFT_LINES = 8  # of a left operand that are packed together: the ways of an L1 set
SQUARE = 8  # lanes of the squares in which contiguous columns are transposed


class Product(NamedTuple):
    """The loops of a product, and strides in bytes.

    row: None for a left operand with one row. left, right: the arrays that are read along rows and
    along columns. right_read: if they are one array, the number of the right read, else -1. steps:
    of the left operand along rows and along the contraction; of the right one along the
    contraction. near: rows of the left operand overlap. overlaps_tails: tiles may overlap. limits:
    of the target.
    """

    row: Axis | None
    column: Axis
    depth: int
    left: str
    right: str
    bytes: int
    row_step: int
    left_step: int
    right_step: int
    right_across: int
    right_read: int
    near: bool = False
    overlaps_tails: bool = False
    limits: ProductLimits = LIMITS


class OperandPacking(NamedTuple):
    """The packing of operands, and the blocks of the contraction.

    transposed: columns are contiguous, so panels are transposed. left: the packed part of the left
    operand, its `rows` or its `columns`, against cache-set conflicts. deep: contracted elements of
    a block, 0 for all. spread: panels with distant rows are packed.
    """

    transposed: bool = False
    left: str = ""
    deep: int = 0
    spread: bool = False


def extent_of(axis: AxisHandle | None) -> int:
    """Return the extent of an axis, 1 for a missing one."""
    return axis.extent if axis is not None else 1


class TileLoops(NamedTuple):
    """The loops of a tiled product; None for a missing one.

    outer: over overlapping blocks of rows. block: over tiles of rows. inside: over the rows of a
    tile. panel: over panels of columns. unrolled, inner: over the vectors and the lanes of a tile.
    """

    outer: AxisHandle | None
    block: AxisHandle | None
    inside: AxisHandle | None
    panel: AxisHandle | None
    unrolled: AxisHandle | None
    inner: AxisHandle

    def along(self, new: Copied) -> TileLoops:
        """Return the loops that an interchanged reduction has made of these."""
        return TileLoops._make([new.get(x, x) if x is not None else None for x in self])


def in_block(
    p: Product, by: OperandPacking, around: AxisHandle, loops: TileLoops, staged: bool
) -> list[TileLoops]:
    """Move the contraction outside of the panels of a block of rows, and pack the rest.

    around: the loop over blocks. staged: the right operand is packed. Return the loops of all
    reductions.
    """
    tiles = loops.block
    assert tiles is not None
    k = around.plan.axis(tiles.first_reduction().axes[-1].axis)
    reduced, rows = [loops], around.extent * tiles.extent
    if by.deep:
        around, k, _ = k.split(by.deep, "cut")
        made = around.interchange(loops.panel or tiles)
        reduced = [loops.along(made.clear), loops.along(made.add), loops]
        if not staged and by.transposed:
            assert reduced[1].panel is not None
            stage_panels(p, reduced[1].panel, reduced[1]._replace(panel=None), True)
        elif not staged and _copied_in_blocks(p, by.deep, loops, rows):
            stage_panels(p, around, reduced[1], False)
    if by.left:
        _pack_left(p, by, around, reduced[1 if by.deep else 0], k)
    return reduced


def _copied_in_blocks(p: Product, deep: int, loops: TileLoops, rows: int) -> bool:
    """Return True if each block of the contraction packs its rows of the right operand.

    rows: number of tiles along rows. All of them read a panel of a block while it is in L2, so that
    the size of the operand is no reason. Reading 24x3000x800 in place takes 0.69 of the time, with
    96 rows 0.82, on Zen 5.
    """
    width = loops.inner.extent * p.bytes
    panel = deep * width * extent_of(loops.unrolled)
    return bool(p.limits.copied_right(p.right_step, width, deep, panel, rows))


def _pack_left(
    p: Product, by: OperandPacking, around: AxisHandle, loops: TileLoops, k: AxisHandle
) -> None:
    """Pack the left operand by rows or by columns.

    around: the loop that the packing is inside of. k: over the contracted dimension.
    """
    tiles, row = loops.block, loops.inside
    lanes = around.plan.tuning.register_bytes // p.bytes
    order = (tiles, row, k) if by.left == "rows" else (tiles, k, row)
    copied = around.stage(
        p.left,
        [axis for axis in order if axis is not None and axis.extent > 1],
        pitch=k.extent + LEFT_PADDING if by.left == "rows" else 0,
        read=_read_of_left(p, around),
    )
    if by.left == "rows":
        vectors(copied[k], lanes, 1)
        return
    few = next(n for n in range(min(LEFT_LINES, k.extent), 0, -1) if k.extent % n == 0)
    lines = copied[k].split(few).outer
    if tiles in copied:
        copied[tiles].reorder(lines)
    if row in copied:
        _along_rows(copied[row], lanes)


def _read_of_left(p: Product, around: AxisHandle) -> int:
    """Return the number of the left operand's read inside a loop, -1 for the only one.

    A copy of the right operand may read the same array.
    """
    reads = [
        outside for s, outside in walk(around.body) if isinstance(s, Load) and s.array == p.left
    ]
    summed = [
        number
        for number, outside in enumerate(reads)
        if any(isinstance(x, Reduce) for x in outside)
    ]
    return -1 if len(reads) == 1 else summed[0 if len(summed) == 1 else 1 - p.right_read]


def _along_rows(row: AxisHandle, lanes: int) -> None:
    """Vectorise a copy along the rows of a tile, in one register or several."""
    height = row.extent
    width = height & -height
    if width < height <= lanes and has_masks(row.plan, row.body):
        tail(row, lanes)
        return
    width = min(width, lanes)
    if width < height:
        row = unrolled_registers(row, width)
    if width > 1:
        row.vectorize()


def is_spread(p: Product, rows: int, tile: RegisterTile, deep: int) -> bool:
    """Return True if panels with contiguous rows are packed before the blocks of the contraction.

    rows: number of tiles along rows. deep: contracted elements of a block, 0 for all; each block
    packs its own rows of an operand that exceeds L2.
    """
    whole, apart = p.depth * p.column.extent * p.bytes, p.right_step > tile.columns * p.bytes
    by_blocks = deep > 0 and whole > p.limits.uncopied_bytes
    return (
        apart
        and not by_blocks
        and bool(p.limits.copied_right(p.right_step, tile.width * p.bytes, p.depth, whole, rows))
    )


def stage_panels(p: Product, group: AxisHandle, loops: TileLoops, transposed: bool) -> None:
    """Pack panels one by one, some rows of all panels at a time, or transposed.

    group: the loop that the packing is inside of.
    """
    contracted = [group.plan.axis(b.axis) for b in group.first_reduction().axes]
    axes = (loops.panel, *contracted, loops.unrolled, loops.inner)
    order = [axis for axis in axes if axis is not None and axis.extent > 1]
    copied = group.stage(p.right, order, read=p.right_read)
    panel, k, unrolled, inner = [
        copied.get(axis) if axis is not None else None
        for axis in (loops.panel, contracted[-1], loops.unrolled, loops.inner)
    ]
    if transposed:
        if k is not None and inner is not None:
            _in_squares(k, unrolled, inner)
        return
    if (
        p.right_step >= p.limits.page
        and len(contracted) == 1
        and p.depth % p.limits.rows_copied == 0
        and panel is not None
    ):
        assert k is not None
        panel.reorder(k.split(p.limits.rows_copied).outer)
    if unrolled is not None:
        unrolled.unroll()
    if inner is not None:
        inner.vectorize()


def _in_squares(k: AxisHandle, unrolled: AxisHandle | None, inner: AxisHandle) -> None:
    """Transpose a copy in registers by squares; the remainder is scalar."""
    depth, width = k.extent, inner.extent
    side = min(SQUARE, width, 1 << (depth.bit_length() - 1))
    if side < 2 or inner.loop.guards:
        return
    rows = k.split(side, "cut").inner
    if unrolled is not None:
        rows.reorder(unrolled)
    if width > side:
        columns = inner.split(side)
        rows.reorder(columns.outer)
        inner = columns.inner
    rows.unroll()
    inner.vectorize()
