"""The schedule of a column reduction.

Lanes take adjacent columns for coalesced reads, and threads above one another take different
rows; they combine in shared memory. Too few columns for the device are split over several blocks.
Source: see `rows`.
"""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.argmax import why_not_associative
from xla_explorer.compiler.codegen.nest.ir import Body, For, LoopNest, Reduce
from xla_explorer.compiler.codegen.nest.launch import STATIC_SHARED_BYTES
from xla_explorer.compiler.codegen.nest.launch_dimensions import (
    LaunchArchitecture,
)
from xla_explorer.compiler.codegen.nest.plan import AxisHandle, Plan, collapse_all
from xla_explorer.compiler.codegen.nest.policies.base import unroll_steps
from xla_explorer.compiler.codegen.nest.policies.launched.rows import loops_around
from xla_explorer.compiler.codegen.nest.policies.launched.splitting import (
    halves_of,
    in_two_kernels,
    may_be_cut,
    size_of_parts,
)
from xla_explorer.compiler.codegen.nest.policies.launched.widths import (
    common_length,
    contiguous_lanes,
    is_contiguous_along,
    is_short,
    width_of_access,
)
from xla_explorer.compiler.codegen.nest.policies.partial_results import reduce_in_parts
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.compiler.target import WARP_SIZE
from xla_explorer.foundation.reason import Reason, refuse


def column_schedule(
    nest: LoopNest,
    architecture: LaunchArchitecture,
    tuning: Tuning,
    may_split: bool = True,
    skinny: str = "",
) -> Schedule | Reason:
    """Return a schedule with threads along and down columns, or a refusal.

    skinny: the last but one loop, whose few iterations each thread has all.
    """
    plan = Plan(nest, tuning)
    plan.sink()
    found = _columns_of(plan.nest)
    if isinstance(found, Reason):
        return found
    loops, body = found
    reductions = [s for s in body if isinstance(s, Reduce)]
    column, few = plan.axis(loops[-1].axis), plan.axis(skinny) if skinny else None
    around = [plan.axis(loop.axis) for loop in loops[:-1]]
    outer = collapse_all([axis for axis in around if axis != few])
    sweeps = [collapse_all([plan.axis(b.axis) for b in s.axes]) for s in reductions]
    length = common_length(sweeps, "column", tuning)
    if isinstance(length, Reason) or 0 in [
        axis.extent for axis in (outer, column) if axis is not None
    ]:
        return length if isinstance(length, Reason) else is_short("column", length)
    if not is_contiguous_along(column):
        return refuse("not-contiguous", "columns must be adjacent in memory")
    width = width_of_access([column], tuning.most_columns)
    along = [axis for axis in sweeps if axis is not None]
    held = sum([element.bytes for s in reductions for element in s.elements]) * (
        few.extent if few is not None else 1
    )
    by = plan_columns(
        outer.extent if outer is not None else 1,
        length,
        column.extent,
        width,
        held,
        architecture,
        tuning,
        may_split and may_be_cut(body),
    )
    if by.splits > 1:
        size = size_of_parts(length, by.splits, by.above, 1)
        reduce_in_parts(along, size, length // size)
        few_parts = f"{skinny}p" if skinny else ""  # the name in the loops over the parts
        return in_two_kernels(
            halves_of(plan.nest), by.reasoning, lambda n: column_schedule(n, architecture, tuning, False, few_parts),
            lambda n: column_schedule(n, architecture, tuning, False), architecture, tuning,
        )  # fmt: skip
    by = by._replace(above=min(by.above, 1 << (length.bit_length() - 1)))
    if by.above * by.across < WARP_SIZE:
        return is_short("column", length)
    if by.across > column.extent // by.width:
        column.pad(by.across * by.width)
    if few is not None:
        few.reorder(column)
        few.unroll()
    _distribute_columns(column, outer, by)
    for row in along:
        _distribute_rows(row, by, few is not None)
    return plan.schedule("column-reduction", by.reasoning)


def _columns_of(nest: LoopNest) -> tuple[list[For], Body] | Reason:
    """Return the loops around the reductions of a column, and their body, or a refusal."""
    found = loops_around(nest)
    if isinstance(found, Reason):
        return found
    loops, body = found
    reductions = [s for s in body if isinstance(s, Reduce)]
    if not reductions or not loops or any(isinstance(s, For) for s in body):
        return refuse(
            "several-loops", "a value that depends on a reduced column needs another loop over it"
        )
    for s in reductions:
        if (reason := why_not_associative(s)) is not None:
            return reason
    return loops, body


def _distribute_columns(column: AxisHandle, outer: AxisHandle | None, by: ColumnPlan) -> None:
    """Give columns to the lanes of a warp, and to blocks."""
    column = contiguous_lanes(column, by.width)
    if outer is not None:
        outer.block()
    if column.extent > by.across:
        tiles, column, _ = column.split(by.across)
        tiles.block()
    if by.across > 1 and column.extent > 1:
        column.warp()


def _distribute_rows(row: AxisHandle, by: ColumnPlan, in_runs: bool) -> None:
    """Give rows to threads above one another.

    in_runs: a thread's rows are adjacent, so that loads along them, for each iteration of the
    skinny loop, are one access.
    """
    run = row.plan.tuning.interleave
    if in_runs and by.above > 1 and row.extent % (run * by.above) == 0:
        row, adjacent, _ = row.split(run)
        adjacent.unroll()
        run = 1
    if by.above > 1:
        if row.extent <= by.above:
            row.thread()
            return
        row, above, _ = row.split(by.above)
        above.thread()
    if run > 1:
        unroll_steps(row, run)


class ColumnPlan(NamedTuple):
    """Plan of a column reduction.

    across: threads along a row, each with `width` columns. above: threads down a column. tiles,
    splits: blocks along and down.
    """

    across: int
    above: int
    width: int
    tiles: int
    splits: int
    reasoning: str


def plan_columns(
    outer: int,
    length: int,
    columns: int,
    width: int,
    held: int,
    architecture: LaunchArchitecture,
    tuning: Tuning,
    may_split: bool,
) -> ColumnPlan:
    """Return dimensions for `outer` matrices of `length` rows and `columns` columns.

    width: maximum columns of a thread. held: bytes of a column's accumulators, which threads
    exchange in shared memory.
    """
    # Threads on more multiprocessors give more memory-level parallelism than wide accesses; threads
    # of the same block do not.
    widths = [width >> k for k in range(width.bit_length())]
    blocks_of = {
        w: min(outer * -(-columns // (w * WARP_SIZE)), architecture.multiprocessors) for w in widths
    }
    width = next(
        w
        for w in widths
        if blocks_of[w] == blocks_of[1]
        and (w == 1 or tuning.block * w * held <= STATIC_SHARED_BYTES)
    )
    chunks = columns // width
    across = min(WARP_SIZE, 1 << (chunks - 1).bit_length())
    tiles = -(-chunks // across)
    block, most = tuning.block, STATIC_SHARED_BYTES // (held * width)
    while block > most and block > WARP_SIZE:
        block //= 2
    while outer * tiles < architecture.multiprocessors and 2 * block <= min(
        tuning.lone_block, most
    ):
        block *= 2
    above = min(block // across, 1 << (length.bit_length() - 1))
    above = max(above, WARP_SIZE // across)
    steps = -(-length // above)
    splits = 1
    wanted = architecture.resident_threads // (across * above)
    if may_split and outer * tiles < wanted // 4 and steps >= 4 * tuning.least_steps:
        splits = min(-(-wanted // (outer * tiles)), steps // tuning.least_steps)
        steps = -(-steps // splits)
        splits = -(-length // (steps * above))
    why = (f"{outer} x {columns} columns of {length} elements: {across} x {above} threads, "
    f"{width} columns and {steps} rows each; "
           f"{outer * tiles} blocks cover the columns")  # fmt: skip
    if splits > 1:
        why += f", which would leave multiprocessors idle, so the rows are cut into {splits} parts"
    return ColumnPlan(across, above, width, tiles, splits, why)
