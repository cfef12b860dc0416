"""The schedule of a scan: threads along rows, or a thread down each column.

The threads of a row take contiguous elements, tile by tile. Few long rows or columns are split into
chunks: a first kernel leaves the total of each chunk in scratch memory, and the second starts every
chunk with the totals before it (reduce-then-scan). Source: Blelloch, "Prefix sums and their
applications", 1990; Sengupta, Harris, Garland, "Efficient parallel scan algorithms for GPUs".
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.ir import Combination, LoopNest, Reduce
from xla_explorer.compiler.codegen.nest.launch_dimensions import LaunchArchitecture
from xla_explorer.compiler.codegen.nest.plan import AxisHandle, Plan, collapse_all
from xla_explorer.compiler.codegen.nest.policies.launched.rows import loops_around
from xla_explorer.compiler.codegen.nest.policies.launched.splitting import halves_of
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.compiler.target import WARP_SIZE
from xla_explorer.foundation.reason import Reason, refuse

BLOCK = 256
EACH = 4  # elements of a thread in a tile
LEAST_PER_CHUNK = 4096  # elements of a row that are worth a block
COLUMN_CHUNK = 64  # elements of a column that are worth a thread


class ScanPlan(NamedTuple):
    """Plan of a scan.

    rows: before the dimension. columns: after it. length: along it. group: threads of a row (of a
    column: one). chunks: of a row or column. chunk: elements of a chunk.
    """

    rows: int
    columns: int
    length: int
    group: int
    chunks: int
    chunk: int

    @property
    def reasoning(self) -> str:
        """The plan as a sentence."""
        why = f"{self.rows * self.columns} running reductions of {self.length} elements"
        why += (
            f", {self.group} threads each with {EACH} contiguous elements"
            if self.columns == 1
            else ", a thread down each column"
        )
        return why + (f"; {self.chunks} chunks of {self.chunk}" if self.chunks > 1 else "")


def plan_scan(
    rows: int, length: int, columns: int, architecture: LaunchArchitecture, splits: bool = True
) -> ScanPlan:
    """Return the plan. splits: long rows and columns may be split into chunks."""
    chunks, step, group = 1, 1, 1
    if columns == 1:
        group = min(1 << max(-(-length // EACH) - 1, 0).bit_length(), BLOCK)
        step = group * EACH
        if splits and rows < architecture.multiprocessors and length >= 2 * LEAST_PER_CHUNK:
            most = 2 * architecture.multiprocessors // rows
            chunks = min(most, length // LEAST_PER_CHUNK, BLOCK)
    elif splits and length >= 2 * COLUMN_CHUNK:
        threads = architecture.multiprocessors * BLOCK
        if rows * columns < threads:
            chunks = min(threads // (rows * columns), length // COLUMN_CHUNK)
    chunk = -(-length // (chunks * step)) * step
    return ScanPlan(rows, columns, length, group, -(-length // chunk), chunk)


def scan_schedule(
    nest: LoopNest, architecture: LaunchArchitecture, tuning: Tuning, columns: int
) -> Schedule | Reason:
    """Return the schedule of a nest with one scan.

    columns: how many elements of the result are between two of a scan.
    """
    plan = Plan(nest, tuning)
    plan.sink()
    found = loops_around(plan.nest)
    if isinstance(found, Reason):
        return found
    loops, body = [plan.axis(loop.axis) for loop in found[0]], found[1]
    s = next((s for s in body if isinstance(s, Reduce)), None)
    if s is None or not s.each or isinstance(s.combiner, Combination):
        return refuse("no-scan", f"@{nest.name} is not a scan by one operation")
    count = 1
    for loop in loops:
        count *= loop.extent
    by = plan_scan(count // columns, s.axes[0].axis.extent, columns, architecture)
    if by.chunks > 1:
        _, before, *_ = plan.axis(s.axes[0].axis).split(by.chunk).outer.chunk_scan(by_result=True)
        if by.group > before.extent:
            before.pad(by.group)
        halves = halves_of(plan.nest)
        made = _of_chunks(halves.partial, by, tuning)
        scan = _of_chunks(halves.combining, by, tuning)
        return replace(made, following=scan, scratch=halves.scratch)
    _distribute(plan, loops, by)
    return plan.schedule("scan", by.reasoning)


def _of_chunks(nest: LoopNest, by: ScanPlan, tuning: Tuning) -> Schedule:
    """Return the schedule of a nest by chunks, each a row or column of its own."""
    plan = Plan(nest, tuning)
    plan.sink()
    found = loops_around(plan.nest)
    assert not isinstance(found, Reason)
    loops = [plan.axis(loop.axis) for loop in found[0]]
    _distribute(plan, loops, by)
    return plan.schedule("scan", by.reasoning)


def _distribute(plan: Plan, loops: list[AxisHandle], by: ScanPlan) -> None:
    """Give rows or columns to blocks and threads, and the elements of a row to threads."""
    found = loops_around(plan.nest)
    assert not isinstance(found, Reason)
    if by.columns > 1 and by.chunks > 1:
        loops = _with_columns_inside(loops, by)
    for s in [s for s in found[1] if isinstance(s, Reduce)]:
        axis = plan.axis(s.axes[0].axis)
        if by.columns > 1:
            if axis.extent % EACH == 0 and axis.extent > EACH and not s.guards:
                axis.split(EACH).inner.unroll()
        elif axis.extent == by.group and not s.each and by.group > 1:
            axis.thread()
        else:
            _along_row(axis, by.group)
    one = collapse_all(loops)
    if one is not None:
        _over_threads(one, by)


def _with_columns_inside(loops: list[AxisHandle], by: ScanPlan) -> list[AxisHandle]:
    """Move the loops over columns into that over chunks, so that threads read neighbours."""
    *_, chunk = loops
    number, at = 1, len(loops) - 1
    while number < by.columns:
        at -= 1
        number *= loops[at].extent
    for loop in reversed(loops[at:-1]):
        loop.reorder(chunk)
    return [*loops[:at], chunk, *loops[at:-1]]


def _over_threads(rows: AxisHandle, by: ScanPlan) -> None:
    """Give rows or columns to blocks, several to a block."""
    if by.columns > 1:
        together = min(BLOCK, rows.extent)
    elif by.chunks > 1:
        together = 1
    else:  # whole warps, so that no thread fills one
        threads = max(1 << (min(BLOCK, by.group * rows.extent) - 1).bit_length(), WARP_SIZE)
        together = threads // by.group
    if together > rows.extent:
        rows.pad(together)
    if together == rows.extent:
        rows.thread()
    elif together == 1:
        rows.block()
    else:
        blocks = rows.split(together)
        blocks.outer.block()
        blocks.inner.thread()


def _along_row(axis: AxisHandle, group: int) -> None:
    """Give the elements of a row to threads, tile by tile."""
    if axis.extent > group * EACH:
        axis = axis.split(group * EACH).inner
    elif axis.extent < group * EACH:
        axis.pad(group * EACH)
    if group > 1:
        blocks = axis.split(EACH)
        blocks.outer.thread()
        axis = blocks.inner
    axis.unroll()
