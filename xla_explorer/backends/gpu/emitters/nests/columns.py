"""The schedule of a column reduction.

Lanes take adjacent columns for coalesced reads, and threads above one another take different
rows; they combine in shared memory. Too few columns for the device are split over several blocks.
Source: see `rows`.
"""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import STATIC_SHARED_BYTES, GpuArchitecture
from xla_explorer.backends.gpu.emitters.kernel_descriptors import NestSchedule
from xla_explorer.backends.gpu.emitters.nests.applied import Applied, is_short
from xla_explorer.backends.gpu.emitters.nests.questions import why_not_associative
from xla_explorer.backends.gpu.emitters.nests.splitting import (
    cut,
    in_two_kernels,
    may_be_cut,
    size_of_parts,
)
from xla_explorer.backends.gpu.emitters.nests.tuning import GpuTuning
from xla_explorer.backends.gpu.launch_dimensions import LaunchDimensions
from xla_explorer.compiler.codegen.nest.directives import Pad, Reorder, Split, Unroll
from xla_explorer.compiler.codegen.nest.directives.gpu_directives import (
    BindBlocks,
    BindThreads,
    BindWarpLanes,
)
from xla_explorer.compiler.codegen.nest.ir import For, LoopNest, Reduce
from xla_explorer.compiler.codegen.nest.launch import LANES
from xla_explorer.foundation.reason import Reason, refuse


def column_schedule(
    nest: LoopNest,
    architecture: GpuArchitecture,
    tuning: GpuTuning,
    may_split: bool = True,
    skinny: str = "",
) -> NestSchedule | Reason:
    """Return a schedule with threads along and down columns, or a refusal.

    skinny: the last but one loop, whose few iterations each thread has all.
    """
    applied = Applied(nest)
    applied.sink()
    loops: list[For] = []
    body = applied.nest.body
    while len(inner := [s for s in body if isinstance(s, For)]) == 1 and not any(
        isinstance(s, Reduce) for s in body
    ):
        if loops and len(body) > 1:
            return refuse(
                "several-loops",
                f"a value is computed once for each {loops[-1].axis}, outside of the reduction",
            )
        loops, body = [*loops, inner[0]], inner[0].body
    reductions = [s for s in body if isinstance(s, Reduce)]
    if not reductions or not loops or inner:
        return refuse(
            "several-loops", "a value that depends on a reduced column needs another loop over it"
        )
    for s in reductions:
        if (reason := why_not_associative(s)) is not None:
            return reason
    outer = applied.joined(
        tuple([loop.axis.name for loop in loops[:-1] if loop.axis.name != skinny])
    )
    column = loops[-1].axis.name
    sweeps = [applied.joined(tuple([b.axis.name for b in s.axes])) for s in reductions]
    length = applied.length(sweeps, "column", tuning)
    if isinstance(length, Reason) or 0 in [
        applied.extent(name) for name in (outer, column) if name
    ]:
        return length if isinstance(length, Reason) else is_short("column", length)
    if not applied.is_contiguous_along(column):
        return refuse("not-contiguous", "columns must be adjacent in memory")
    width = applied.width([column], tuning, tuning.most_columns)
    outers = applied.extent(outer) if outer else 1
    held = sum([element.bytes for s in reductions for element in s.elements]) * (
        applied.extent(skinny) if skinny else 1
    )
    plan = plan_columns(
        outers,
        length,
        applied.extent(column),
        width,
        held,
        architecture,
        tuning,
        may_split and may_be_cut(body),
    )
    if plan.splits > 1:
        size = size_of_parts(length, plan.splits, plan.above, 1)
        halves = cut(
            applied, tuple([name for name in (outer, skinny, column) if name]), sweeps, size, True
        )
        return in_two_kernels(
            halves, plan.launch.reasoning, lambda n: column_schedule(n, architecture, tuning, False, skinny),
            lambda n: column_schedule(n, architecture, tuning, False), architecture, tuning,
        )  # fmt: skip
    plan = plan._replace(above=min(plan.above, 1 << (length.bit_length() - 1)))
    if plan.above * plan.across < LANES:
        return is_short("column", length)
    if plan.across > applied.extent(column) // plan.width:
        applied.then(Pad(column, plan.across * plan.width))
    if skinny:
        applied.then(Reorder(skinny, column), Unroll(skinny))
    _apply(applied, outer, column, sweeps, plan, tuning, bool(skinny))
    return applied.schedule("column-reduction", plan.launch.reasoning)


def _apply(
    applied: Applied,
    outer: str,
    column: str,
    sweeps: list[str],
    plan: ColumnPlan,
    tuning: GpuTuning,
    in_runs: bool,
) -> None:
    """Apply a column plan.

    in_runs: a thread's rows are adjacent, so that loads along them, for each iteration of the
    skinny loop, are one access.
    """
    column = applied.contiguous_lanes(column, plan.width)
    if outer:
        applied.then(BindBlocks(outer))
    if applied.extent(column) > plan.across:
        applied.then(Split(column, plan.across), BindBlocks(f"{column}o"))
        column = f"{column}i"
    if plan.across > 1 and applied.extent(column) > 1:
        applied.then(BindWarpLanes(column))
    for name in sweeps:
        run = tuning.memory_parallelism
        if in_runs and plan.above > 1 and applied.extent(name) % (run * plan.above) == 0:
            applied.then(Split(name, run), Unroll(f"{name}i"))
            name, run = f"{name}o", 1
        if plan.above > 1:
            if applied.extent(name) > plan.above:
                applied.then(Split(name, plan.above), BindThreads(f"{name}i"))
                name = f"{name}o"
            else:
                applied.then(BindThreads(name))
                continue
        if run > 1:
            applied.overlap_loads(name, run)


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
    launch: LaunchDimensions


def plan_columns(
    outer: int,
    length: int,
    columns: int,
    width: int,
    held: int,
    architecture: GpuArchitecture,
    tuning: GpuTuning,
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
        w: min(outer * -(-columns // (w * LANES)), architecture.multiprocessors) for w in widths
    }
    width = next(
        w
        for w in widths
        if blocks_of[w] == blocks_of[1]
        and (w == 1 or tuning.block * w * held <= STATIC_SHARED_BYTES)
    )
    chunks = columns // width
    across = min(LANES, 1 << (chunks - 1).bit_length())
    tiles = -(-chunks // across)
    block, most = tuning.block, STATIC_SHARED_BYTES // (held * width)
    while block > most and block > LANES:
        block //= 2
    while outer * tiles < architecture.multiprocessors and 2 * block <= min(
        tuning.lone_block, most
    ):
        block *= 2
    above = min(block // across, 1 << (length.bit_length() - 1))
    above = max(above, LANES // across)
    steps = -(-length // above)
    splits = 1
    wanted = architecture.resident_threads // (across * above)
    if may_split and outer * tiles < wanted // 4 and steps >= 4 * tuning.least_steps:
        splits = min(-(-wanted // (outer * tiles)), steps // tuning.least_steps)
        steps = -(-steps // splits)
        splits = -(-length // (steps * above))
    blocks = outer * tiles * splits
    threads = across * above
    why = (f"{outer} x {columns} columns of {length} elements: {across} x {above} threads, {width} columns and {steps} rows each; "
           f"{outer * tiles} blocks cover the columns")  # fmt: skip
    if splits > 1:
        why += f", which would leave multiprocessors idle, so the rows are cut into {splits} parts"
    return ColumnPlan(
        across,
        above,
        width,
        tiles,
        splits,
        LaunchDimensions(blocks, threads, blocks * threads, why),
    )
