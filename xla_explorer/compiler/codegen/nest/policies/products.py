"""The policy of matrix products: register-tiled GEMM with packed panels of the right operand.

A tile keeps rows x vectors of accumulators in registers for the whole contraction. Each step loads
one row of the right operand as vectors, and broadcasts one element of the left operand per row. So
the left operand may have any strides. Panels of columns are outside of rows, so that a panel stays
in the cache. A panel is packed first if its rows are distant or its columns contiguous. A block of
rows of the left operand is packed if its rows or columns conflict in cache sets. A long contraction
is blocked, with the accumulators of a block of rows in memory. Source: Goto and van de Geijn,
"Anatomy of High-Performance Matrix Multiplication". A matrix times a vector reads several rows of
the matrix at once.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.nest.directives.base import MOST_STAGED
from xla_explorer.compiler.codegen.nest.ir import (
    Combination,
    Load,
    LoopNest,
    Reduce,
)
from xla_explorer.compiler.codegen.nest.plan import AxisHandle, Plan
from xla_explorer.compiler.codegen.nest.policies.base import (
    accesses,
    has_masks,
    is_sum_of_products,
    tail_may_overlap,
)
from xla_explorer.compiler.codegen.nest.policies.columns import columns, count_of, is_simple
from xla_explorer.compiler.codegen.nest.policies.product_copies import (
    OperandPacking,
    Product,
    extent_of,
)
from xla_explorer.compiler.codegen.nest.policies.product_loops import (
    Piece,
    count_blocks,
    tile_loops,
)
from xla_explorer.compiler.codegen.nest.policies.reductions import (
    collapse_kept,
    collapse_reduced,
    kept_loops,
    reduction_policy,
    row_in_registers,
)
from xla_explorer.compiler.codegen.nest.policies.tiles import RegisterTile, product_limits, tile_for
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.indexing import Axis

SWEPT_ROWS = 8  # rows per pass of a matrix with a vector on its left ...
SWEPT_COLUMNS = 0.5  # ... of this part of L1, for their accumulators
ROWS_OF_MATRIX = 8  # interleaved rows


def product_policy(nest: LoopNest, tuning: Tuning, tasks: int = 1) -> Schedule | Reason:
    """Return the schedule of a product of matrices, or of a matrix and a vector.

    Other nests use the policy of reductions. tasks: number of tasks for CPU threads, if possible.
    """
    plan = Plan(nest, tuning)
    p = _product(plan) if tuning.register_bytes and tuning.fused else None
    if p is None:
        return reduction_policy(nest, tuning, tasks)
    contiguous = p.right_across == p.bytes
    if p.row is None and not contiguous and p.left_step == p.right_step == p.bytes:
        _rows_of_matrix(plan.axis(p.column), p)
    elif (
        p.row is None and contiguous and p.depth * p.column.extent * p.bytes > p.limits.swept_bytes
    ):
        column = plan.axis(p.column)
        alone = plan.nest.body[-1] is column.loop
        most = int(SWEPT_COLUMNS * tuning.first_cache.bytes) // p.bytes
        reason = columns(column, tasks if alone else 1, most, SWEPT_ROWS)
        if reason is not None:
            return reason
    elif contiguous or _may_be_transposed(plan, p):
        in_tiles(plan, p, _copies(plan, p, not contiguous), tasks)
    elif (
        p.row is not None and p.row_step == p.bytes < p.left_step
    ):  # rows become columns; the result has strided stores
        plan.axis(p.row).reorder(plan.axis(p.column))
        if (swapped := _product(plan, gaps=True)) is None:
            return reduction_policy(nest, tuning, tasks)
        in_tiles(plan, swapped, _copies(plan, swapped, False), tasks)
    else:
        return reduction_policy(nest, tuning, tasks)
    plan.parallelize(tasks)
    return plan.schedule()


def _product(plan: Plan, gaps: bool = False) -> Product | None:
    """Return the product of a nest, with loops collapsed where memory treats them as one.

    gaps: vectors of the result may be strided.
    """
    kept = kept_loops(plan.nest)
    if isinstance(kept, Reason) or not kept:
        return None
    found = [s for s in kept[-1].body if isinstance(s, Reduce)]
    if (
        len(found) != 1
        or not found[0].axes
        or not is_simple(found[0])
        or count_of(found[0]) == 0
        or not adds_products(found[0])
    ):
        return None
    collapse_reduced(plan, found[0])
    collapse_kept(plan, 0)
    kept = kept_loops(plan.nest)
    assert not isinstance(kept, Reason)
    return product_of(plan, kept[-1].axis, kept[-2].axis if len(kept) > 1 else None, gaps)


def product_of(plan: Plan, column: Axis, row: Axis | None, gaps: bool = False) -> Product | None:
    """Return the product in the loop over columns.

    row: of the loop around it. gaps: vectors of the result may be strided.
    """
    body, s = plan.axis(column).body, plan.axis(column).first_reduction()
    inside = [(x, offset) for x, offset in accesses(plan.nest, s.body) if isinstance(x, Load)]
    right, left = [
        [found for found in inside if (found[1].coefficient(column) != 0) is moves]
        for moves in (True, False)
    ]
    others = [
        offset
        for x, offset in accesses(plan.nest, body)
        if not any(x is found for found, _ in inside)
    ]
    if (
        len(right) != 1
        or len(left) != 1
        or any(offset.coefficient(column) not in (0, 1) for offset in others if not gaps)
    ):
        return None
    if row is not None and (right[0][1].coefficient(row) != 0 or not left[0][1].coefficient(row)):
        row = None  # a loop over batches
    k, size = s.axes[-1].axis, s.elements[0].bytes
    (a, a_offset), (b, b_offset) = left[0], right[0]
    read = [x for x, _ in inside].index(b) if a.array == b.array else -1
    pairs = ((a_offset, row or k), (a_offset, k), (b_offset, k), (b_offset, column))
    down, left_step, right_step, across = [
        (offset.coefficient(along) or 0) * size for offset, along in pairs
    ]
    overlaps_tails = all(
        tail_may_overlap(plan.axis(axis)) for axis in (row, column) if axis is not None
    )
    down = down if row else 0
    return Product(
        row,
        column,
        count_of(s),
        a.array,
        b.array,
        size,
        down,
        left_step,
        right_step,
        across,
        read,
        overlaps_tails=overlaps_tails,
        limits=product_limits(plan.tuning.caches),
    )


def adds_products(s: Reduce) -> bool:
    """Return True for a dot of types with vector registers."""
    return (
        is_sum_of_products(s)
        and not isinstance(s.combiner, Combination)
        and s.combiner.name == "add"
        and not s.elements[0].is_complex
        and s.elements[0].bytes >= 4
    )


# -- matrices --------------------------------------------------------------------------------------
def _tile(plan: Plan, p: Product) -> RegisterTile:
    sizes = (
        p.row.extent if p.row is not None else 1,
        p.column.extent,
        p.depth,
        plan.tuning.register_bytes // p.bytes,
        plan.tuning.registers,
    )
    pieces, whole = tile_for(*sizes, p.near), tile_for(*sizes, p.near, overlaps=True)
    return (
        whole
        if p.overlaps_tails and whole.cycles <= p.limits.overlapping * pieces.cycles
        else pieces
    )


def _may_be_transposed(plan: Plan, p: Product) -> bool:
    """Return True if panels of contiguous columns are packed by transposition in registers."""
    one = len(plan.axis(p.column).first_reduction().axes) == 1 and p.depth > 1
    fits = p.depth * p.column.extent * p.bytes <= MOST_STAGED
    return (
        one
        and fits
        and p.right_step == p.bytes
        and p.row is not None
        and p.row.extent >= 2 * _tile(plan, p).rows
    )


def _copies(plan: Plan, p: Product, transposed: bool) -> OperandPacking:
    tile, rows = _tile(plan, p), p.row.extent if p.row is not None else 1
    down, across, deep = -(-rows // tile.rows), -(-p.column.extent // tile.columns), 0
    if down == 1 or len(plan.axis(p.column).first_reduction().axes) > 1:
        return OperandPacking(transposed, spread=True)
    block = p.limits.block_depth(p.depth, p.bytes)
    if (
        p.limits.is_deep(p.depth, p.bytes, plan.tuning.register_bytes, down * across)
        and block * p.column.extent * p.bytes <= MOST_STAGED
    ):
        deep = block
    steps, whole = (p.row_step, p.left_step), rows * p.depth * p.bytes
    left = p.limits.copied_left(
        steps, p.bytes, whole, tile.rows, deep or p.depth, across > 1, deep > 0
    )
    return OperandPacking(transposed, left, deep, True)


def in_tiles(plan: Plan, p: Product, by: OperandPacking, tasks: int) -> None:
    """Schedule the loops over rows and columns in tiles, and the remainders."""
    tile, lanes = _tile(plan, p), plan.tuning.register_bytes // p.bytes
    piece = Piece(plan.axis(p.row) if p.row is not None else None, plan.axis(p.column))
    masks = has_masks(plan, piece.column.body)
    if piece.row is not None:
        piece.row.sink()
    few = (
        tile.overlaps
        and tile.width < p.column.extent
        and (p.row.extent if p.row is not None else 1) * p.depth <= p.limits.few_steps
    )
    if masks and tile.width < min(lanes, p.column.extent) and not few:
        tile = tile._replace(
            width=min(lanes, 1 << (p.column.extent - 1).bit_length()), vectors=1
        )  # wider registers slow down the code around
    rest = 0 if tile.overlaps and tile.columns < p.column.extent else p.column.extent % tile.columns
    if rest < p.column.extent:
        piece, after = _cut_columns(piece, p.column.extent - rest) if rest else (piece, piece)
        _of_all_rows(p, piece, tile, by, tasks)
        piece = after
    while rest:
        masks = masks and rest > 1
        masked = masks and (
            not by.transposed or rest < tile.width
        )  # whole vectors of transposed columns are packed in squares
        width = tile.width if masks else min(tile.width, 1 << (rest.bit_length() - 1))
        vectors = -(-rest // width) if masked else rest // width
        after, done = piece, rest if masked else vectors * width
        if done < rest:
            piece, after = _cut_columns(piece, done)
        _of_all_rows(p, piece, tile._replace(vectors=vectors, width=width), by, tasks)
        piece, rest = after, rest - done


def _cut_columns(piece: Piece, steps: int) -> tuple[Piece, Piece]:
    """Return the pieces of the first columns and of the rest."""
    if piece.row is None:
        first, rest = piece.column.cut(steps)
        return Piece(None, first), Piece(None, rest)
    piece.row.reorder(piece.column)
    pieces = []
    for column in piece.column.cut(steps):
        row = column.inner()
        column.reorder(row)
        pieces.append(Piece(row, column))
    return pieces[0], pieces[1]


def _of_all_rows(
    p: Product, piece: Piece, tile: RegisterTile, by: OperandPacking, tasks: int
) -> None:
    """Schedule some columns for all rows, then for the remaining rows.

    Tiles of rows are in blocks that stay in L2, or in one block for each thread that has rows.
    """
    outermost = piece.column.plan.outermost()[-1:]
    batches = outermost != [] and outermost[0] not in piece
    panels, tiles = (
        _steps(piece.column, tile.columns, tile),
        _steps(piece.row, tile.rows, tile),
    )
    blocks = (
        tasks
        if not batches and panels < tasks <= tiles
        else count_blocks(tiles, tile, p, panels, by)
    )
    for height, count in (
        (tile.rows, blocks),
        (tile.rows, 1),
        (extent_of(piece.row) % tile.rows, 1),
    ):
        rows = extent_of(piece.row)
        done = (
            rows
            if tile.overlaps and 0 < height <= rows
            else rows - rows % (height * count)
            if height
            else 0
        )
        if not done:
            continue
        after = piece
        if done < rows:
            assert piece.row is not None
            row, rest = piece.row.cut(done)
            piece, after = Piece(row, piece.column), Piece(rest, rest.inner())
        tile_loops(p, piece, tile._replace(rows=height), by, count, tasks)
        if done == rows:
            return
        piece = after


def _steps(axis: AxisHandle | None, size: int, tile: RegisterTile) -> int:
    """Return the number of tiles along an axis; the last may overlap."""
    extent = extent_of(axis)
    return -(-extent // size) if tile.overlaps and size <= extent else extent // size


# -- a matrix and a vector -------------------------------------------------------------------------
def _rows_of_matrix(matrix: AxisHandle, p: Product) -> None:
    """Interleave rows of a matrix, each with its own accumulators along the row."""
    tuning, n = matrix.plan.tuning, matrix.extent
    most = ROWS_OF_MATRIX if tuning.registers >= 32 else ROWS_OF_MATRIX // 2
    height = -(-n // -(-n // most))
    for rows in matrix.cut(n - n % height) if n % height else (matrix,):
        steps = min(height, rows.extent)
        k = matrix.plan.axis(rows.first_reduction().axes[-1].axis)
        rows.split(steps).inner.unroll()
        row_in_registers(k, tuning.register_bytes // p.bytes, 2 if steps > 2 else 4)
