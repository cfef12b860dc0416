"""Loops of a register-tiled product: blocks of rows, panels of columns, tiles, packing."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.directives import (
    OverlapTail,
    Reorder,
    Split,
    Unroll,
    Vectorize,
)
from xla_explorer.compiler.codegen.nest.policies.base import Plan, in_blocks
from xla_explorer.compiler.codegen.nest.policies.product_copies import (
    OperandPacking,
    Product,
    extent_of,
    in_block,
    is_spread,
    stage_panels,
)
from xla_explorer.compiler.codegen.nest.policies.tiles import LIMITS, RegisterTile

DEEP_BLOCK_BYTES = 512 << 10  # of a block of rows in a blocked contraction, whose panels are small


class Piece(NamedTuple):
    """Loops over some rows and columns, by name.

    row: empty for a single row.
    """

    row: str
    column: str


def count_blocks(
    tiles: int, tile: RegisterTile, p: Product, panels: int, by: OperandPacking
) -> int:
    """Return the number of blocks of tile rows, so that a block stays in L2 for all panels.

    A large result whose rows conflict in cache sets is written a few rows at a time.
    """
    most = max(
        1,
        (DEEP_BLOCK_BYTES if by.deep else LIMITS.block_bytes)
        // (tile.rows * (by.deep or p.depth) * p.bytes),
    )
    row_bytes = p.column.extent * p.bytes
    is_large = tiles * tile.rows * row_bytes > LIMITS.result_bytes
    if (
        p.depth * row_bytes <= LIMITS.block_bytes
        and is_large
        and row_bytes % LIMITS.colliding == 0
        and not by.left
    ):
        most = min(most, max(1, LIMITS.open_rows // tile.rows))
    least = -(-tiles // most) if panels > 1 or by.left or by.deep else 1
    return min(range(least, max(least, min(2 * least, tiles)) + 1), key=lambda n: -tiles % n)


class _TileLoops(NamedTuple):
    """Names of the loops of a tiled product; a missing loop has no name.

    outer: over overlapping blocks of rows. block: over tiles of rows. inside: over the rows of a
    tile. panel: over panels of columns. unrolled, inner: over the vectors and the lanes of a tile.
    """

    outer: str
    block: str
    inside: str
    panel: str
    unrolled: str
    inner: str


class _TileCounts(NamedTuple):
    """Counts of a tiled product: blocks of rows, tasks, tiles along rows, panels."""

    blocks: int
    tasks: int
    rows: int
    panels: int


def tile_loops(
    plan: Plan,
    p: Product,
    piece: Piece,
    tile: RegisterTile,
    by: OperandPacking,
    blocks: int,
    tasks: int,
) -> None:
    """Tile the loops of a product: blocks of rows, panels of columns, tiles of rows, registers.

    Several panels may be packed together, outside of the blocks.
    """
    row = piece.row
    panels, panel, unrolled, inner = _tile_columns(plan, piece.column, tile)
    rows = -(-extent_of(plan, row) // tile.rows)
    staged = by.transposed or (by.spread and bool(panel) and is_spread(p, rows, tile))
    blocked = bool(row) and bool(panel or by.left or by.deep)
    outer, block, inside = _tile_rows(plan, row, tile, rows, blocks if blocked else 1)
    suffixes = [""]
    if blocked:
        loops = _TileLoops(outer, block, inside, panel, unrolled, inner)
        counts = _TileCounts(blocks, tasks, rows, panels)
        suffixes = _order_blocks(plan, p, tile, by, loops, counts, staged)
    elif staged:
        stage_panels(plan, p, panel, [panel, unrolled, inner], by.transposed)
    for suffix in suffixes:
        if row:
            plan.do(Unroll(f"{inside}{suffix}"))
        if unrolled:
            plan.do(Unroll(f"{unrolled}{suffix}"))
        if tile.width > 1:
            plan.do(Vectorize(f"{inner}{suffix}"))


def _tile_columns(plan: Plan, column: str, tile: RegisterTile) -> tuple[int, str, str, str]:
    """Split the columns into panels, vectors and lanes; return their number and the loop names."""
    panels, rest = divmod(extent_of(plan, column), tile.columns)
    if tile.overlaps and panels and rest:
        panels, rest = panels + 1, 0
    panel, inner, unrolled = f"{column}o", f"{column}i", ""
    if rest and tile.vectors > 1:
        plan.do(Split(column, tile.width))
        return panels, "", panel, inner
    plan.do(in_blocks(plan, column, tile.columns) if panels else Split(column, tile.columns))
    if tile.vectors > 1:
        plan.do(Split(inner, tile.width))
        unrolled, inner = f"{inner}o", f"{inner}i"
    return max(panels, 1), panel, unrolled, inner


def _tile_rows(
    plan: Plan, row: str, tile: RegisterTile, rows: int, blocks: int
) -> tuple[str, str, str]:
    """Split the rows into tiles; return the names of the loops outer, block and inside."""
    outer, block, inside = "", f"{row}o", f"{row}i"
    if row and rows % blocks:  # blocks overlap, not their tiles
        plan.do(OverlapTail(row, -(-rows // blocks) * tile.rows))
        plan.do(Split(inside, tile.rows))
        return block, f"{inside}o", f"{inside}i"
    if row:
        plan.do(in_blocks(plan, row, tile.rows))
    return outer, block, inside


def _order_blocks(
    plan: Plan,
    p: Product,
    tile: RegisterTile,
    by: OperandPacking,
    loops: _TileLoops,
    counts: _TileCounts,
    staged: bool,
) -> list[str]:
    """Order the loops over blocks and panels, and pack the operands; return suffixes of loops."""
    outer, block, inside, panel, unrolled, inner = loops
    blocks, tasks, rows, panels = counts
    tasks_take_rows, around = 1 < blocks == tasks and panels < tasks, outer
    if panel:
        plan.do(Reorder(inside, panel))
    if tasks_take_rows:
        if not outer:
            plan.do(Split(block, rows // blocks))
            block += "i"
        packs = by.left or by.deep
        blocks = count_blocks(extent_of(plan, block), tile, p, panels, by) if packs else 1
        around = ""
    group = panel
    if staged:
        least = 1 if tasks_take_rows else min(tasks, panels)
        group, panel = _group_panels(
            plan, panel, panels, least, [block, around] if around else [block]
        )
    if not around and (blocks > 1 or by.left or by.deep):
        plan.do(Split(block, extent_of(plan, block) // blocks))
        block, around = f"{block}i", f"{block}o"
    if panel:
        plan.do(Reorder(block, panel))
    if staged:
        stage_panels(plan, p, group, [panel, unrolled, inner], by.transposed)
    if rows == 1:
        by = by._replace(left="")
    # Also for a few remaining rows: the order of a sum must not depend on the tasks.
    if by.left or by.deep:
        return in_block(plan, p, by, around, [panel, block, inside, unrolled, inner], staged)
    return [""]


def _group_panels(
    plan: Plan, panel: str, panels: int, least: int, inside: list[str]
) -> tuple[str, str]:
    """Move groups of panels, at least `least`, outside of other loops; return both loops."""
    groups = next(n for n in range(least, panels + 1) if panels % n == 0)
    plan.do(Split(panel, panels // groups))
    for name in inside:
        plan.do(Reorder(name, f"{panel}o"))
    return f"{panel}o", f"{panel}i"
