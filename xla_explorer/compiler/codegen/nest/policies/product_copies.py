"""Packing of product operands: panels of the right one, blocks of the left one."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.directives import (
    CutLoop,
    InterchangeReduction,
    Reorder,
    Split,
    Stage,
    Unroll,
    Vectorize,
)
from xla_explorer.compiler.codegen.nest.directives.base import MOST_STAGED
from xla_explorer.compiler.codegen.nest.ir import Body, Load, Reduce, walk
from xla_explorer.compiler.codegen.nest.policies.base import Plan, has_masks
from xla_explorer.compiler.codegen.nest.policies.columns import vectors
from xla_explorer.compiler.codegen.nest.policies.elementwise import tail
from xla_explorer.compiler.codegen.nest.policies.tiles import LIMITS, RegisterTile
from xla_explorer.compiler.codegen.nest.transformations import for_of
from xla_explorer.hlo.analysis.indexing import Axis

LEFT_PADDING = 16  # elements between packed rows, against cache-set conflicts in L1
LEFT_LINES = 8  # of a left operand that are packed together: the ways of an L1 set
SQUARE = 8  # lanes of the squares in which contiguous columns are transposed


class Product(NamedTuple):
    """The loops of a product, and strides in bytes.

    row: None for a left operand with one row. left, right: the arrays that are read along rows and
    along columns. right_read: if they are one array, the number of the right read, else -1. steps:
    of the left operand along rows and along the contraction; of the right one along the
    contraction. near: rows of the left operand overlap. overlaps_tails: tiles may overlap.
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


def reduction_in(plan: Plan, name: str) -> Reduce:
    """Return the first reduction inside a loop."""
    return next(s for s, _ in walk(body_of(plan, name)) if isinstance(s, Reduce))


def body_of(plan: Plan, name: str) -> Body:
    """Return the body of a loop."""
    return for_of(plan.nest, name).body


def extent_of(plan: Plan, name: str) -> int:
    """Return the extent of an axis, 1 for a missing one."""
    return plan.nest.axes()[name].axis.extent if name else 1


def in_block(
    plan: Plan, p: Product, by: OperandPacking, around: str, loops: list[str], staged: bool
) -> list[str]:
    """Move the contraction outside of the panels of a block of rows, and pack the rest.

    around: the loop over blocks. loops: over panels (if several), tiles, their rows, vectors and
    lanes. staged: the right operand is packed. Return the suffixes of all reduction loops.
    """
    panel, tiles, row, unrolled, inner = loops
    k = reduction_in(plan, tiles).axes[-1].axis.name
    if by.deep:
        if p.depth % by.deep:
            plan.do(CutLoop(k, p.depth - p.depth % by.deep))
            k += "m"
        plan.do(Split(k, by.deep))
        plan.do(InterchangeReduction(f"{k}o", panel or tiles))
        around, tiles, row, k = f"{k}o", f"{tiles}t", f"{row}t", f"{k}i"
        if not staged:
            stage_panels(
                plan,
                p,
                around,
                [f"{panel}t" if panel else "", f"{unrolled}t" if unrolled else "", f"{inner}t"],
                False,
            )
            staged = True
    if by.left:
        _pack_left(plan, p, by, around, (tiles, row, k))
    return ["c", "t", ""] if by.deep else [""]


def _pack_left(
    plan: Plan, p: Product, by: OperandPacking, around: str, loops: tuple[str, str, str]
) -> None:
    """Pack the left operand by rows or by columns.

    around: the loop that the packing is inside of. loops: over tiles, their rows and the
    contracted dimension.
    """
    tiles, row, k = loops
    lanes = plan.tuning.register_bytes // p.bytes
    order = [
        name
        for name in ((tiles, row, k) if by.left == "rows" else (tiles, k, row))
        if extent_of(plan, name) > 1
    ]
    pitch = extent_of(plan, k) + LEFT_PADDING if by.left == "rows" else 0
    copied = _staged(
        plan,
        Stage(
            f"%{p.left}",
            around,
            "scratch",
            pitch,
            ".".join(order),
            _read_of_left(plan, p, around),
        ),
    )
    if by.left == "rows":
        vectors(plan, copied[k], lanes, 1)
    else:
        plan.do(
            Split(
                copied[k],
                next(
                    n
                    for n in range(min(LEFT_LINES, extent_of(plan, k)), 0, -1)
                    if extent_of(plan, k) % n == 0
                ),
            )
        )
        if tiles in copied:
            plan.do(Reorder(copied[tiles], f"{copied[k]}o"))
        if row in copied:
            _along_rows(plan, copied[row], lanes)


def _read_of_left(plan: Plan, p: Product, around: str) -> int:
    """Return the number of the left operand's read inside a loop, -1 for the only one.

    A copy of the right operand may read the same array.
    """
    reads = [
        outside
        for s, outside in walk(body_of(plan, around))
        if isinstance(s, Load) and s.array == p.left
    ]
    summed = [
        number
        for number, outside in enumerate(reads)
        if any(isinstance(x, Reduce) for x in outside)
    ]
    return -1 if len(reads) == 1 else summed[0 if len(summed) == 1 else 1 - p.right_read]


def _along_rows(plan: Plan, row: str, lanes: int) -> None:
    """Vectorise a copy along the rows of a tile, in one register or several."""
    height = extent_of(plan, row)
    width = height & -height
    if width < height <= lanes and has_masks(plan, body_of(plan, row)):
        tail(plan, row, lanes)
        return
    width = min(width, lanes)
    if width < height:
        plan.do(Split(row, width))
        plan.do(Unroll(f"{row}o"))
        row += "i"
    if width > 1:
        plan.do(Vectorize(row))


def _staged(plan: Plan, directive: Stage) -> dict[str, str]:
    """Return the loops of a copy, by the loops over the copied array."""
    before = plan.nest.axes().keys()
    plan.do(directive)
    return dict(
        zip(
            directive.order.split("."),
            [name for name in plan.nest.axes() if name not in before],
            strict=True,
        )
    )


def is_spread(p: Product, rows: int, tile: RegisterTile) -> bool:
    """Return True if panels with contiguous rows are packed.

    rows: number of tiles along rows.
    """
    whole, apart = p.depth * p.column.extent * p.bytes, p.right_step > tile.columns * p.bytes
    return (
        apart
        and whole <= MOST_STAGED
        and bool(LIMITS.copied_right(p.right_step, tile.width * p.bytes, p.depth, whole, rows))
    )


def stage_panels(plan: Plan, p: Product, group: str, names: list[str], transposed: bool) -> None:
    """Pack panels one by one, some rows of all panels at a time, or transposed."""
    panel, unrolled, inner = names
    contracted = [b.axis.name for b in reduction_in(plan, group).axes]
    order = [name for name in (panel, *contracted, unrolled, inner) if extent_of(plan, name) > 1]
    copied = _staged(
        plan, Stage(f"%{p.right}", group, "scratch", order=".".join(order), read=p.right_read)
    )
    k, unrolled, inner = [copied.get(name, "") for name in (contracted[-1], unrolled, inner)]
    if transposed:
        _in_squares(plan, k, unrolled, inner)
        return
    if (
        p.right_step >= LIMITS.page
        and len(contracted) == 1
        and p.depth % LIMITS.rows_copied == 0
        and panel in order
    ):
        plan.do(Split(k, LIMITS.rows_copied))
        plan.do(Reorder(copied[panel], f"{k}o"))
    if unrolled:
        plan.do(Unroll(unrolled))
    if inner:
        plan.do(Vectorize(inner))


def _in_squares(plan: Plan, k: str, unrolled: str, inner: str) -> None:
    """Transpose a copy in registers by squares; the remainder is scalar."""
    depth, width = extent_of(plan, k), extent_of(plan, inner)
    side = min(SQUARE, width, 1 << (depth.bit_length() - 1))
    if side < 2 or for_of(plan.nest, inner).guards:
        return
    if depth % side:
        plan.do(CutLoop(k, depth - depth % side))
        k = f"{k}m"
    plan.do(Split(k, side))
    if unrolled:
        plan.do(Reorder(f"{k}i", unrolled))
    if width > side:
        plan.do(Split(inner, side))
        plan.do(Reorder(f"{k}i", f"{inner}o"))
        inner += "i"
    plan.do(Unroll(f"{k}i"))
    plan.do(Vectorize(inner))
