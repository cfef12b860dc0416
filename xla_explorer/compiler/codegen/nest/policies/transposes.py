"""Loops that read along one axis and write along another: squares transposed in registers."""

from __future__ import annotations

from collections.abc import Iterator

from xla_explorer.compiler.codegen.nest.accesses import LINE_BYTES
from xla_explorer.compiler.codegen.nest.directives.splits import is_repeatable
from xla_explorer.compiler.codegen.nest.ir import Compute, Constant, For, Iota, Load, LoopNest
from xla_explorer.compiler.codegen.nest.plan import AxisHandle, Plan
from xla_explorer.compiler.codegen.nest.policies.base import accesses, statements_of
from xla_explorer.hlo.analysis.indexing import Axis, IndexExpression

LARGEST_SQUARE = 16  # lanes
TOGETHER = 4  # adjacent squares in a streamed result: a few lines are stored at a time


def read_across(nest: LoopNest, loop: For) -> tuple[list[For], Axis] | None:
    """Return nested loops, and the one along which strided loads are contiguous, or None.

    The loads are strided along the innermost loop.
    """
    line = list(line_of(loop))
    if len(line) < 2:
        return None
    inner, found = line[-1].axis, set[Axis]()
    for s, offset in accesses(nest, line[0].body):
        step = offset.coefficient(inner)
        if step in (0, 1):
            continue
        along = read_along(offset, [x.axis for x in line])
        if step is None or not isinstance(s, Load) or along is None:
            return None
        found.add(along)
    return (line, found.pop()) if len(found) == 1 else None


def read_along(offset: IndexExpression, axes: list[Axis]) -> Axis | None:
    """Return the axis of a contiguous dimension that the innermost axis reads with a stride."""
    if not axes or offset.coefficient(axes[-1]) in (0, 1):
        return None
    return next((a for a in axes[:-1] if offset.coefficient(a) == 1), None)


def line_of(loop: For) -> Iterator[For]:
    """Yield loops that each contain only the next loop and values."""
    yield loop
    inner = [s for s in loop.body if isinstance(s, For)]
    if (
        len(inner) == 1
        and not loop.guards
        and all(isinstance(s, (For, Load, Constant, Iota, Compute)) for s in loop.body)
    ):
        yield from line_of(inner[0])


def in_squares(plan: Plan, line: list[For], across: Axis, lanes: int, streamed: bool) -> bool:
    """Tile the loops by squares of lanes; tiles at the edges overlap others.

    Return False if the extents or the code do not allow it.
    """
    inner = line[-1].axis
    statements = [s for x in line for s in x.body if not isinstance(s, For)] + statements_of(
        line[-1].body
    )
    side = min(lanes, LARGEST_SQUARE, 1 << (min(across.extent, inner.extent).bit_length() - 1))
    uneven = bool(across.extent % side or inner.extent % side)
    overlaps_tails = plan.tuning.overlaps_tails and all(
        is_repeatable(plan.nest, axis.name) for axis in (across, inner)
    )
    if (
        side < 2
        or side * len(statements) > plan.tuning.most_statements
        or (uneven and not overlaps_tails)
    ):
        return False
    axes = [plan.axis(x.axis) for x in line]
    for axis in axes[:-1]:
        axis.sink()
    rows, columns = plan.axis(across), axes[-1]
    rows.reorder(*axes[axes.index(rows) + 1 : -1])
    array = plan.nest.array(_strided_array(columns))
    assert array is not None
    by_lines = (
        overlaps_tails
        and across.extent % side == 0
        and side * array.shape.element_type.bytes == LINE_BYTES
    )
    row_blocks = rows.split(side, "shift", array.name) if by_lines else rows.split(side, "overlap")
    column_blocks = columns.split(side, "overlap")
    row_blocks.inner.reorder(column_blocks.outer)
    if streamed:
        _in_runs(row_blocks.outer, column_blocks.outer)
    row_blocks.inner.unroll()
    column_blocks.inner.vectorize()
    return True


def _strided_array(column: AxisHandle) -> str:
    """Return the first array with strided accesses along an axis."""
    return next(
        s.array
        for s, offset in accesses(column.plan.nest, column.body)
        if offset.coefficient(column.axis) not in (0, 1)
    )


def _in_runs(rows: AxisHandle, columns: AxisHandle) -> None:
    """Order the loops over squares.

    A small result stays in the cache, so columns are inside. A streamed one is stored a few lines
    at a time, so rows are inside.
    """
    if columns.extent % TOGETHER == 0:
        columns = columns.split(TOGETHER).outer
    rows.reorder(columns)
