"""Loops of a register-tiled product: blocks of rows, panels of columns, tiles, packing."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.directives.base import MOST_STAGED
from xla_explorer.compiler.codegen.nest.plan import AxisHandle
from xla_explorer.compiler.codegen.nest.policies.product_copies import (
    OperandPacking,
    Product,
    TileLoops,
    extent_of,
    in_block,
    is_spread,
    stage_panels,
)
from xla_explorer.compiler.codegen.nest.policies.tiles import RegisterTile


class Piece(NamedTuple):
    """Loops over some rows and columns; row: None for a single row."""

    row: AxisHandle | None
    column: AxisHandle


def count_blocks(
    tiles: int, tile: RegisterTile, p: Product, panels: int, by: OperandPacking
) -> int:
    """Return the number of blocks of tile rows, so that a block stays in L2 for all panels.

    A large result whose rows conflict in cache sets is written a few rows at a time.
    """
    most = max(
        1,
        (p.limits.deep_block_bytes if by.deep else p.limits.block_bytes)
        // (tile.rows * (by.deep or p.depth) * p.bytes),
    )
    row_bytes = p.column.extent * p.bytes
    is_large = tiles * tile.rows * row_bytes > p.limits.result_bytes
    if (
        p.depth * row_bytes <= p.limits.block_bytes
        and is_large
        and row_bytes % p.limits.colliding == 0
        and not by.left
    ):
        most = min(most, max(1, p.limits.open_rows // tile.rows))
    least = -(-tiles // most) if panels > 1 or by.left or by.deep else 1
    return min(range(least, max(least, min(2 * least, tiles)) + 1), key=lambda n: -tiles % n)


class _TileCounts(NamedTuple):
    """Counts of a tiled product: blocks of rows, tasks, tiles along rows, panels."""

    blocks: int
    tasks: int
    rows: int
    panels: int


def tile_loops(
    p: Product, piece: Piece, tile: RegisterTile, by: OperandPacking, blocks: int, tasks: int
) -> None:
    """Tile the loops of a product: blocks of rows, panels of columns, tiles of rows, registers.

    Several panels may be packed together, outside of the blocks.
    """
    row = piece.row
    panels, panel, unrolled, inner = _tile_columns(piece.column, tile)
    rows = -(-extent_of(row) // tile.rows)
    staged = by.transposed or (
        by.spread and panel is not None and is_spread(p, rows, tile, by.deep if tasks == 1 else 0)
    )
    blocked = panel is not None or bool(by.left or by.deep)
    outer = block = inside = None
    if row is not None:
        outer, block, inside = _tile_rows(row, tile, rows, blocks if blocked else 1)
    loops = TileLoops(outer, block, inside, panel, unrolled, inner)
    reduced = [loops]
    if row is not None and blocked:
        counts = _TileCounts(blocks, tasks, rows, panels)
        reduced = _order_blocks(p, tile, by, loops, counts, staged)
    elif staged:
        assert panel is not None
        stage_panels(p, panel, loops, by.transposed)
    for one in reduced:
        if one.inside is not None:
            one.inside.unroll()
        if one.unrolled is not None:
            one.unrolled.unroll()
        if tile.width > 1:
            one.inner.vectorize()


def _tile_columns(
    column: AxisHandle, tile: RegisterTile
) -> tuple[int, AxisHandle | None, AxisHandle | None, AxisHandle]:
    """Split the columns into panels, vectors and lanes; return their number and the loops."""
    panels, rest = divmod(column.extent, tile.columns)
    if tile.overlaps and panels and rest:
        panels, rest = panels + 1, 0
    if rest and tile.vectors > 1:
        unrolled, inner, _ = column.split(tile.width)
        return panels, None, unrolled, inner
    panel, inner, _ = column.split(tile.columns, "overlap" if panels else "guard")
    if tile.vectors == 1:
        return max(panels, 1), panel, None, inner
    unrolled, inner, _ = inner.split(tile.width)
    return max(panels, 1), panel, unrolled, inner


def _tile_rows(
    row: AxisHandle, tile: RegisterTile, rows: int, blocks: int
) -> tuple[AxisHandle | None, AxisHandle, AxisHandle]:
    """Split the rows into tiles; return the loops outer, block and inside."""
    if rows % blocks:  # blocks overlap, not their tiles
        outer, inside, _ = row.split(-(-rows // blocks) * tile.rows, "overlap")
        return outer, *inside.split(tile.rows)[:2]
    return None, *row.split(tile.rows, "overlap")[:2]


def _order_blocks(
    p: Product,
    tile: RegisterTile,
    by: OperandPacking,
    loops: TileLoops,
    counts: _TileCounts,
    staged: bool,
) -> list[TileLoops]:
    """Order blocks and panels, and pack the operands; return the loops of all reductions."""
    around, block, inside, panel, unrolled, inner = loops
    assert block is not None and inside is not None
    blocks, tasks, rows, panels = counts
    tasks_take_rows = 1 < blocks == tasks and panels < tasks
    if panel is not None:
        inside.reorder(panel)
    if tasks_take_rows:
        if around is None:
            block = block.split(rows // blocks).inner
        packs = by.left or by.deep
        blocks = count_blocks(block.extent, tile, p, panels, by) if packs else 1
        around = None
    group = panel
    # A block of the contraction transposes its part of a panel, which then stays in L2.
    staged = staged and not (by.transposed and by.deep and blocks == tasks == 1)
    if staged:
        assert panel is not None
        panel_bytes = p.depth * tile.columns * p.bytes
        fitting = -(-panels * panel_bytes // MOST_STAGED)
        least = min(max(fitting, 1 if tasks_take_rows else tasks), panels)
        inside_of = [block, around] if around is not None else [block]
        group, panel = _group_panels(panel, panels, least, inside_of)
    if around is None and (blocks > 1 or by.left or by.deep):
        around, block, _ = block.split(block.extent // blocks)
    if panel is not None:
        block.reorder(panel)
    loops = TileLoops(around, block, inside, panel, unrolled, inner)
    if staged:
        assert group is not None
        stage_panels(p, group, loops, by.transposed)
    if rows == 1:
        by = by._replace(left="")
    # Also for a few remaining rows: the order of a sum must not depend on the tasks.
    if by.left or by.deep:
        assert around is not None
        return in_block(p, by, around, loops, staged)
    return [loops]


def _group_panels(
    panel: AxisHandle, panels: int, least: int, inside: list[AxisHandle]
) -> tuple[AxisHandle, AxisHandle]:
    """Move groups of panels, at least `least`, outside of other loops; return both loops."""
    groups = next(n for n in range(least, panels + 1) if panels % n == 0)
    group, panel, _ = panel.split(panels // groups)
    for loop in inside:
        loop.reorder(group)
    return group, panel
