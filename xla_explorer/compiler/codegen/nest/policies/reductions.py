"""The policy of reductions: several accumulators in registers along rows; else by columns.

Other reductions keep plain loops, which LLVM unrolls or vectorises. They have short rows, strided
elements, select regions, inner reductions, or combiners of several operations.
"""

from __future__ import annotations

import itertools

from xla_explorer.compiler.codegen.nest.argmax import argmax_direction
from xla_explorer.compiler.codegen.nest.ir import (
    Combination,
    For,
    LoopNest,
    Reduce,
    Statement,
    Store,
)
from xla_explorer.compiler.codegen.nest.plan import AxisHandle, Plan
from xla_explorer.compiler.codegen.nest.policies.base import (
    accesses,
    calls_functions,
    collapses,
    has_masks,
    in_registers,
    statements_of,
    unrolled_registers,
)
from xla_explorer.compiler.codegen.nest.policies.columns import (
    SMALL,
    columns,
    count_of,
    is_contiguous_along,
    is_simple,
    lanes_of_body,
    sums_floats,
    unrolled_if_small,
)
from xla_explorer.compiler.codegen.nest.policies.partial_results import reduce_in_parts
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.transformations import inner_loop
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis

CHUNK = 4096  # elements of a partial sum: rounding errors grow with the chunk, not with the row
STREAMS = 4  # positions of one long sum that are read at once
NARROW = 2048  # minimum bytes of a row in a task of columns; else tasks have rows
GRAIN = 64  # minimum contiguous elements of a task
BALANCED = 4  # iterations of a task from which the difference between two does not matter
LEAST_ARGMAX = 32  # elements of a row with a vectorised argmax
LEAST_RUN = 256  # contiguous bytes from which columns are read in pieces of rows


def reduction_policy(nest: LoopNest, tuning: Tuning, tasks: int = 1) -> Schedule | Reason:
    """Return the schedule of a nest whose results are reductions.

    tasks: number of tasks for CPU threads, if possible.
    """
    plan = Plan(nest, tuning)
    kept = kept_loops(nest)
    if isinstance(kept, Reason):
        return kept
    for s in [s for s in _reductions(plan) if s.axes]:
        collapse_reduced(plan, s)
    reductions = _reductions(plan)
    along_rows = tuning.register_bytes > 0 and all(
        _row_axis(plan.nest, s) is not None for s in reductions
    )
    by_column = not along_rows and bool(kept) and _by_column(plan.nest, kept[-1].axis, reductions)
    collapse_kept(plan, 1 if by_column and _reads_long_runs(plan) else 0)
    cut = _partitioned_work(plan, tasks, by_column) if tasks > 1 else ""
    if cut == "reduced":
        _split(plan, tasks, by_column)
    found = [
        (s, around)
        for s, around in plan.nest.statements()
        if isinstance(s, Reduce) and all(isinstance(x, For) for x in around)
    ]
    if by_column:
        for column in dict.fromkeys([_innermost(plan, around) for _, around in found]):
            if (reason := columns(column, tasks if cut == "columns" else 1)) is not None:
                return reason
    else:
        for row in [plan.axis(s.axes[-1].axis) for s, _ in found if s.axes]:
            _rows(row) if along_rows else unrolled_if_small(plan, row.reduction)
        columns_of = kept_loops(plan.nest)
        if (
            not along_rows
            and not isinstance(columns_of, Reason)
            and columns_of
            and _are_interleaved(plan.nest, columns_of[-1])
        ):
            plan.axis(columns_of[-1].axis).unroll()
    if cut in ("results", "columns"):
        plan.parallelize(tasks)
    return plan.schedule()


def _are_interleaved(nest: LoopNest, loop: For) -> bool:
    """Return True if all columns of a row are reduced at once, because they are few.

    Common values are then computed once.
    """
    columns, shared = 0, 0
    for s in loop.body:
        if not isinstance(s, Reduce):
            continue
        if not s.axes or not is_simple(s):
            return False
        for _, offset in accesses(nest, s.body):
            columns += (
                offset.coefficient(loop.axis) == 1
                and offset.coefficient(s.axes[-1].axis) == loop.axis.extent
            )
            shared += not offset.coefficient(loop.axis)
    unrolled = max(
        [count_of(s) for s in loop.body if isinstance(s, Reduce) and count_of(s) <= SMALL],
        default=1,
    )
    return loop.axis.extent * unrolled <= SMALL and columns > 0 and shared > 0


def kept_loops(nest: LoopNest) -> list[For] | Reason:
    """Return the loops over the results, outermost first; the last has the reductions."""
    found: list[For] = []
    body = nest.body
    while inner := [s for s in body if isinstance(s, For)]:
        if len(inner) > 1 or [s for s in body if isinstance(s, (Reduce, Store))]:
            return refuse("no-policy", f"@{nest.name} must be a reduction, in separate loops")
        found, body = [*found, inner[0]], inner[0].body
    if not any(isinstance(s, Reduce) for s in body):
        return refuse("no-policy", f"@{nest.name} must be a reduction, in separate loops")
    return found


def _loops(plan: Plan) -> list[For]:
    found = kept_loops(plan.nest)
    assert not isinstance(found, Reason)
    return found


def _reductions(plan: Plan) -> list[Reduce]:
    kept = _loops(plan)
    return [s for s in (kept[-1].body if kept else plan.nest.body) if isinstance(s, Reduce)]


def _innermost(plan: Plan, around: tuple[Statement, ...]) -> AxisHandle:
    loop = around[-1]
    assert isinstance(loop, For)
    return plan.axis(loop.axis)


def collapse_kept(plan: Plan, spared: int) -> None:
    """Collapse loops over results where memory treats them as one.

    spared: number of innermost loops to leave.
    """

    def are_one(outer: For, inner: For) -> bool:
        names = outer.axis.name, inner.axis.name
        return inner_loop(plan.nest, *names) is not None and collapses(
            plan.nest, inner.body, outer.axis, inner.axis
        )

    while True:
        loops = _loops(plan)
        pair = next(
            ((a, b) for a, b in itertools.pairwise(loops[: len(loops) - spared]) if are_one(a, b)),
            None,
        )
        if pair is None:
            return
        plan.axis(pair[0].axis).collapse(plan.axis(pair[1].axis))


def collapse_reduced(plan: Plan, s: Reduce) -> None:
    """Collapse reduced axes where memory treats them as one."""
    axes = [b.axis for b in s.axes]
    while len(axes) > 1:
        k = next(
            (k for k in range(len(axes) - 1) if collapses(plan.nest, s.body, axes[k], axes[k + 1])),
            None,
        )
        if k is None:
            return
        s = plan.axis(axes[k]).collapse(plan.axis(axes[k + 1])).reduction
        axes = [b.axis for b in s.axes]


def _row_axis(nest: LoopNest, s: Reduce) -> Axis | None:
    """Return the last axis of a reduction if all its loads are contiguous along it."""
    axis = s.axes[-1].axis if s.axes else None
    combines = is_simple(s) or (is_simple(s, several=True) and argmax_direction(s) is not None)
    return (
        axis if axis is not None and combines and is_contiguous_along(nest, s.body, axis) else None
    )


# -- rows ------------------------------------------------------------------------------------------
def _rows(row: AxisHandle) -> None:
    plan, s, extent = row.plan, row.reduction, row.extent
    lanes = lanes_of_body((s,), plan.tuning)
    if unrolled_if_small(plan, s) or extent < lanes:
        return
    if isinstance(s.combiner, Combination):
        if extent >= LEAST_ARGMAX:
            if s.combiner.join is None:
                row.reassociate()
            if len(s.axes) == 1:
                row_in_registers(row, lanes, 2)
            else:  # the remainder of a split would be after later elements
                row.split(lanes).inner.vectorize()
        return
    interleave = 2 if calls_functions(statements_of(s.body)) else plan.tuning.interleave
    if sums_floats(s) and extent >= 16 * CHUNK and len(s.axes) == 1:
        _streams(row, lanes)
    elif sums_floats(s) and extent >= 2 * CHUNK:
        chunks = _whole_blocks(row, CHUNK, lanes, interleave).split(CHUNK)
        chunks.outer.rfactor()
        row_in_registers(chunks.inner, lanes, interleave)
    else:
        row_in_registers(row, lanes, interleave)


def _streams(row: AxisHandle, lanes: int) -> None:
    """Read a long sum at several positions at once, each in chunks."""
    row = _whole_blocks(row, STREAMS * CHUNK, lanes, row.plan.tuning.interleave)
    stream, inside, _ = row.split(row.extent // STREAMS)
    chunks = inside.split(CHUNK)
    chunks.outer.rfactor()
    in_registers(chunks.inner, lanes, 1)
    stream.unroll()


def _whole_blocks(row: AxisHandle, block: int, lanes: int, interleave: int) -> AxisHandle:
    """Return the axis of whole blocks; a remainder is vectorised."""
    whole = _whole(row.extent, block, lanes)
    if whole < row.extent:
        row, rest = row.cut(whole)
        row_in_registers(rest, lanes, interleave)
    return row


def row_in_registers(row: AxisHandle, lanes: int, interleave: int) -> None:
    """Vectorise one axis: whole blocks, then a remainder in as few registers as possible."""
    while interleave > 1 and interleave * lanes > row.extent:
        interleave //= 2
    whole = _whole(row.extent, lanes * interleave, lanes)
    if 0 < whole < row.extent:
        row, rest = row.cut(whole)
        _rest(rest, lanes)
    if whole:
        in_registers(row, lanes, interleave)
    else:
        _rest(row, lanes)


def _rest(row: AxisHandle, lanes: int) -> None:
    """Vectorise fewer elements than a block."""
    extent = row.extent
    if extent % lanes and not has_masks(row.plan, (row.statement,)):
        if extent > lanes:
            _rest(row.cut(extent - extent % lanes)[0], lanes)
        return
    if extent > 1:
        unrolled_registers(row, lanes).vectorize()


def _whole(extent: int, block: int, least: int) -> int:
    """Return the elements of whole blocks.

    The last block joins a remainder that would be less than a register.
    """
    whole = extent - extent % block
    return whole - block if 0 < extent - whole < least else whole


# -- columns ---------------------------------------------------------------------------------------
def _by_column(nest: LoopNest, column: Axis, reductions: list[Reduce]) -> bool:
    """Return True if loads along the innermost result loop have better locality.

    Fewer are strided than along the reduced axes; at a tie, more are contiguous. Few columns share
    cache lines, so only contiguity counts.
    """

    def distances(steps: list[int | None]) -> tuple[int, int]:
        return sum([step not in (0, 1) for step in steps if column.extent > SMALL]), -steps.count(1)

    steps = [offset.coefficient(column) for s in reductions for _, offset in accesses(nest, s.body)]
    inner = [
        offset.coefficient(s.axes[-1].axis)
        for s in reductions
        if s.axes
        for _, offset in accesses(nest, s.body)
    ]
    return distances(steps) < distances(inner)


def _reads_long_runs(plan: Plan) -> bool:
    """Return True if the innermost loop has enough columns to read rows in pieces."""
    bytes_of_run = _loops(plan)[-1].axis.extent * max(
        [a.shape.element_type.bytes for a in plan.nest.arrays]
    )
    return bytes_of_run >= LEAST_RUN and all(is_simple(s) for s in _reductions(plan))


# -- threads ---------------------------------------------------------------------------------------
def _partitioned_work(plan: Plan, tasks: int, by_column: bool) -> str:
    """Return the work that threads share: "results", "columns", "reduced" or nothing."""
    loops, reductions = _loops(plan), _reductions(plan)
    if loops and not (by_column and len(loops) == 1) and loops[0].axis.extent >= tasks:
        return "results"
    if by_column and len(loops) == 1:
        extent = loops[0].axis.extent
        wide = (
            extent * max([a.shape.element_type.bytes for a in plan.nest.arrays]) >= NARROW * tasks
        )
        small = all(count_of(s) <= SMALL for s in reductions)
        if extent >= GRAIN * tasks and (wide or small):
            return "columns"
    (first, *others) = reductions
    least = BALANCED * (GRAIN if not by_column and len(first.axes) == 1 else 1) * tasks
    may_be = is_simple(first) or (
        not by_column and len(first.axes) == 1 and _row_axis(plan.nest, first) is not None
    )
    return (
        "reduced"
        if not others and may_be and first.axes and first.axes[0].axis.extent >= least
        else ""
    )


def _split(plan: Plan, tasks: int, by_column: bool) -> None:
    """Divide the reduced elements among tasks; the results are combined after a barrier.

    A remainder is reduced at the combination.
    """
    (s,) = _reductions(plan)
    axis, grain = plan.axis(s.axes[0].axis), 1 if by_column or len(s.axes) > 1 else GRAIN
    size = axis.extent // tasks // grain * grain
    if isinstance(s.combiner, Combination):
        axis.reassociate()
    reduce_in_parts([axis], size, tasks).parallel(tasks)
