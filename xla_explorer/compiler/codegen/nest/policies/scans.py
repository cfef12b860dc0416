"""The policy of scans: vectorised columns, or rows register by register.

Threads take columns, rows, or chunks. Strided elements, short rows, and rows with several combining
operations keep a running value in plain loops.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.nest.ir import LoopNest, Reduce, Store, walk
from xla_explorer.compiler.codegen.nest.plan import AxisHandle, Plan
from xla_explorer.compiler.codegen.nest.policies.base import (
    accesses,
    has_masks,
    in_registers,
    tail_may_overlap,
    unrolled_registers,
)
from xla_explorer.compiler.codegen.nest.policies.columns import (
    in_tiles,
    is_contiguous_along,
    is_simple,
    lanes_of_body,
    vectors,
)
from xla_explorer.compiler.codegen.nest.policies.elementwise import tail
from xla_explorer.compiler.codegen.nest.policies.reductions import (
    collapse_kept,
    kept_loops,
    row_in_registers,
)
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.indexing import Axis

IN_REGISTERS = 16  # registers of columns with running values in registers
TILE = (
    1 / 8
)  # columns for a byte of L1, with running values in memory: rows are read in long pieces
LEAST_ROW = 32  # minimum elements of a row with a vectorised scan
LEAST_SCAN_CHUNK = 1024  # minimum elements of a chunk


def scan_policy(nest: LoopNest, tuning: Tuning, tasks: int = 1) -> Schedule | Reason:
    """Return the schedule of a nest with one scan.

    tasks: number of tasks for CPU threads, if possible.
    """
    plan = Plan(nest, tuning)
    if isinstance(found := kept_loops(nest), Reason):
        return found
    if found:
        collapse_kept(plan, 0)
    found = kept_loops(plan.nest)
    assert not isinstance(found, Reason)
    body = found[-1].body if found else plan.nest.body
    s = next(s for s in body if isinstance(s, Reduce))
    axis, lanes = plan.axis(s.axes[0].axis), lanes_of_body(body, tuning)
    loops = [plan.axis(loop.axis) for loop in found]
    if (
        loops
        and tuning.register_bytes
        and is_simple(s, several=True)
        and is_contiguous_along(plan.nest, body, loops[-1].axis)
    ):
        _columns(loops, lanes, tasks)
    elif (
        tuning.register_bytes
        and is_simple(s)
        and axis.extent >= LEAST_ROW
        and _is_contiguous(plan.nest, s, axis.axis)
    ):
        size = axis.extent // tasks // lanes * lanes
        if tasks > 1 and not loops and size >= LEAST_SCAN_CHUNK:
            _scan_in_chunks(axis, size, lanes, tasks)
            return plan.schedule()
        _in_registers(axis, lanes)
    plan.parallelize(tasks)
    return plan.schedule()


def _is_contiguous(nest: LoopNest, s: Reduce, axis: Axis) -> bool:
    """Return True if all accesses of a scan are contiguous along its axis, in either direction."""
    return {offset.coefficient(axis) for _, offset in accesses(nest, (s,))} - {0} in ({1}, {-1})


def _is_narrow(axis: AxisHandle) -> bool:
    """Return True if all values stored along an axis are narrower than computed."""
    s = axis.reduction
    arrays = [axis.plan.nest.array(x.array) for x, _ in walk(s.each) if isinstance(x, Store)]
    return all(
        array is not None and array.shape.element_type.bytes < s.elements[0].bytes
        for array in arrays
    )


def _columns(loops: list[AxisHandle], lanes: int, tasks: int) -> None:
    """Vectorise columns; running values are in registers if all fit, else in memory."""
    *outer, column = loops
    extent = column.extent
    if outer and loops[0].extent < tasks <= extent:
        for around in reversed(outer):
            around.reorder(column)
        vectors(column, lanes, 1)
    elif extent > lanes * IN_REGISTERS or (tasks > 1 and not outer):
        most = int(TILE * column.plan.tuning.first_cache.bytes)
        in_tiles(column, 1 if outer else tasks, most, lambda tile: _in_memory(tile, lanes))
    else:
        width = min(lanes, 1 << (extent.bit_length() - 1))
        if extent % width and not tail_may_overlap(column):
            vectors(column, lanes, 1)
            return
        unrolled_registers(column, width, "overlap").vectorize()


def _in_memory(column: AxisHandle, lanes: int) -> None:
    """Move the loop over rows outside; running values of all columns are in memory."""
    s = next(s for s in column.body if isinstance(s, Reduce))
    made = column.plan.axis(s.axes[0].axis).interchange(column)
    interleave = column.plan.tuning.interleave
    block = lanes * interleave
    for axis in (made.clear[column], made.add[column]):
        if 0 < axis.extent - axis.extent % block < axis.extent:
            axis, rest = axis.cut(axis.extent - axis.extent % block)
            tail(rest, lanes, in_order=False)
        elif axis.extent < block:
            tail(axis, lanes, in_order=False)
            continue
        in_registers(axis, lanes, interleave)


def _in_registers(row: AxisHandle, lanes: int) -> None:
    """Vectorise a row; the remainder is masked, or in narrower and narrower registers."""
    interleave = row.plan.tuning.interleave
    rest: AxisHandle | None = row
    if row.extent >= lanes * interleave and _is_narrow(row):
        # stored registers are packed from several
        blocks = row.split(lanes * interleave, "cut")
        registers = blocks.inner.split(lanes)
        registers.inner.vectorize()
        registers.outer.unroll()
        rest = blocks.rest
    while rest is not None and (left := rest.extent) > 1:
        lanes = min(lanes, 1 << (left - 1).bit_length())
        if lanes > left and not has_masks(row.plan, (rest.statement,)):
            lanes //= 2
        whole = max(left - left % lanes, min(left, lanes))
        now, rest = rest.cut(whole) if whole < left else (rest, None)
        (now if whole == lanes else now.split(lanes).inner).vectorize()


def _scan_in_chunks(row: AxisHandle, size: int, lanes: int, tasks: int) -> None:
    """Divide a row into chunks, one per thread: a chunked two-pass scan.

    Each thread first reduces its chunk; the last chunk continues with the remainder.
    """
    if size * tasks < row.extent:
        row, rest = row.cut(size * tasks)
        _in_registers(rest, lanes)
    chunks, inside, _ = row.split(size)
    again, _, _, totals, *_ = chunks.chunk_scan()
    row_in_registers(totals, lanes, row.plan.tuning.interleave)
    _in_registers(inside, lanes)
    chunks.parallel(tasks)
    again.parallel(tasks)
