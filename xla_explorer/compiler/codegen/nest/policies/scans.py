"""The policy of scans: vectorised columns, or rows register by register.

Threads take columns, rows, or chunks. Strided elements, short rows, and rows with several combining
operations keep a running value in plain loops.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.nest.directives import (
    ChunkScan,
    CutLoop,
    InterchangeReduction,
    Parallel,
    Reorder,
    Split,
    Unroll,
    Vectorize,
)
from xla_explorer.compiler.codegen.nest.ir import LoopNest, Reduce, Store, walk
from xla_explorer.compiler.codegen.nest.policies.base import (
    Plan,
    Tuning,
    accesses,
    has_masks,
    in_blocks,
    in_registers,
    tail_may_overlap,
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
from xla_explorer.compiler.codegen.nest.transformations import for_of, reduction_of
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.indexing import Axis

IN_REGISTERS = 16  # registers of columns with running values in registers
TILE = 4096  # columns with running values in memory: rows are read in long pieces
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
    axis, lanes, loops = s.axes[0].axis, lanes_of_body(body, tuning), [loop.axis for loop in found]
    if (
        loops
        and tuning.register_bytes
        and is_simple(s, several=True)
        and is_contiguous_along(plan.nest, body, loops[-1])
    ):
        _columns(plan, loops, lanes, tasks)
    elif (
        tuning.register_bytes
        and is_simple(s)
        and axis.extent >= LEAST_ROW
        and _is_contiguous(plan.nest, s, axis)
    ):
        size = axis.extent // tasks // lanes * lanes
        if tasks > 1 and not loops and size >= LEAST_SCAN_CHUNK:
            _scan_in_chunks(plan, axis, size, lanes, tasks)
            return plan.schedule()
        _in_registers(plan, axis, lanes)
    plan.parallelize(tasks)
    return plan.schedule()


def _is_contiguous(nest: LoopNest, s: Reduce, axis: Axis) -> bool:
    """Return True if all accesses of a scan are contiguous along its axis, in either direction."""
    return {offset.coefficient(axis) for _, offset in accesses(nest, (s,))} - {0} in ({1}, {-1})


def _is_narrow(nest: LoopNest, axis: Axis) -> bool:
    """Return True if all values stored along an axis are narrower than computed."""
    s = reduction_of(nest, axis.name)
    arrays = [nest.array(x.array) for x, _ in walk(s.each) if isinstance(x, Store)]
    return all(
        array is not None and array.shape.element_type.bytes < s.elements[0].bytes
        for array in arrays
    )


def _columns(plan: Plan, loops: list[Axis], lanes: int, tasks: int) -> None:
    """Vectorise columns; running values are in registers if all fit, else in memory."""
    *outer, name = [axis.name for axis in loops]
    extent = loops[-1].extent
    if outer and loops[0].extent < tasks <= extent:
        for around in reversed(outer):
            plan.do(Reorder(around, name))
        vectors(plan, name, lanes, 1)
    elif extent > lanes * IN_REGISTERS or (tasks > 1 and not outer):
        in_tiles(
            plan, name, 1 if outer else tasks, TILE, lambda along: _in_memory(plan, along, lanes)
        )
    else:
        width = min(lanes, 1 << (extent.bit_length() - 1))
        if extent % width and not tail_may_overlap(plan, name):
            vectors(plan, name, lanes, 1)
            return
        plan.do(in_blocks(plan, name, width))
        plan.do(Unroll(f"{name}o"))
        plan.do(Vectorize(f"{name}i"))


def _in_memory(plan: Plan, along: str, lanes: int) -> None:
    """Move the loop over rows outside; running values of all columns are in memory."""
    s = next(s for s in for_of(plan.nest, along).body if isinstance(s, Reduce))
    plan.do(InterchangeReduction(s.axes[0].axis.name, along))
    for name in (f"{along}c", f"{along}t"):
        extent, block = plan.nest.axes()[name].axis.extent, lanes * plan.tuning.interleave
        if 0 < extent - extent % block < extent:
            plan.do(CutLoop(name, extent - extent % block))
            tail(plan, f"{name}r", lanes, in_order=False)
            name += "m"
        if extent < block:
            tail(plan, name, lanes, in_order=False)
        else:
            in_registers(plan, name, lanes, plan.tuning.interleave)


def _in_registers(plan: Plan, axis: Axis, lanes: int) -> None:
    """Vectorise a row; the remainder is masked, or in narrower and narrower registers."""
    name, left = axis.name, axis.extent
    block = lanes * plan.tuning.interleave
    if left >= block and _is_narrow(plan.nest, axis):  # stored registers are packed from several
        if left % block:
            plan.do(CutLoop(name, left - left % block))
        main = f"{name}m" if left % block else name
        for directive in (
            Split(main, block),
            Split(f"{main}i", lanes),
            Vectorize(f"{main}ii"),
            Unroll(f"{main}io"),
        ):
            plan.do(directive)
        name, left = f"{name}r", left % block
    while left > 1:
        s = plan.nest.loop(name)
        assert isinstance(s, Reduce)
        lanes = min(lanes, 1 << (left - 1).bit_length())
        if lanes > left and not has_masks(plan, (s,)):
            lanes //= 2
        whole = max(left - left % lanes, min(left, lanes))
        if whole < left:
            plan.do(CutLoop(name, whole))
        now = f"{name}m" if whole < left else name
        if whole != lanes:
            plan.do(Split(now, lanes))
            now += "i"
        plan.do(Vectorize(now))
        name, left = f"{name}r", left - whole


def _scan_in_chunks(plan: Plan, axis: Axis, size: int, lanes: int, tasks: int) -> None:
    """Divide a row into chunks, one per thread: a chunked two-pass scan.

    Each thread first reduces its chunk; the last chunk continues with the remainder.
    """
    name = axis.name
    if size * tasks < axis.extent:
        plan.do(CutLoop(name, size * tasks))
        rest = plan.nest.axes()[f"{name}r"].axis
        _in_registers(plan, rest, lanes)
        name += "m"
    plan.do(Split(name, size))
    plan.do(ChunkScan(f"{name}o"))
    row_in_registers(plan, f"{name}ip", size, lanes, plan.tuning.interleave)
    _in_registers(plan, plan.nest.axes()[f"{name}i"].axis, lanes)
    plan.do(Parallel(f"{name}o", tasks))
    plan.do(Parallel(f"{name}op", tasks))
