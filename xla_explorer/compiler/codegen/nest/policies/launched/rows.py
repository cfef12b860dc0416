"""The schedule of row reductions with results per row or element (sums, softmax, layer norm).

A group of threads takes a row, each thread some contiguous elements at a time. A row that fits into
registers is read once: the sweeps over it are equal straight-line code, whose loads LLVM merges. A
longer row is read again, with several independent loads at a time. If there are too few rows for
the device, they are split over several blocks, and a second kernel combines the parts. Source:
xla/backends/gpu/codegen/emitters/reduction.cc for the shapes; the numbers are ours.
"""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.argmax import why_not_associative
from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    Body,
    For,
    LoopNest,
    Reduce,
    Statement,
    walk,
)
from xla_explorer.compiler.codegen.nest.launch_dimensions import (
    LaunchArchitecture,
)
from xla_explorer.compiler.codegen.nest.plan import AxisHandle, Plan, collapse_all
from xla_explorer.compiler.codegen.nest.policies.base import unroll_steps
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


class Rows(NamedTuple):
    """A nest by rows.

    rows: loops around a row. sweeps: axes of each sweep over it. body: statements of a row.
    """

    rows: tuple[str, ...]
    sweeps: tuple[tuple[str, ...], ...]
    body: Body


def row_schedule(
    nest: LoopNest,
    architecture: LaunchArchitecture,
    tuning: Tuning,
    contiguous_only: bool = True,
    may_split: bool = True,
) -> Schedule | Reason:
    """Return a schedule with threads along rows, or a refusal.

    contiguous_only: only rows that are contiguous in memory.
    """
    plan = Plan(nest, tuning)
    plan.sink()
    found = rows_of(plan.nest)
    if isinstance(found, Reason):
        return found
    row = collapse_all(list(map(plan.axis, found.rows)))
    sweeps = [collapse_all(list(map(plan.axis, axes))) for axes in found.sweeps]
    length, count = common_length(sweeps, "row", tuning), row.extent if row is not None else 1
    if isinstance(length, Reason) or count == 0:
        return length if isinstance(length, Reason) else is_short("row", length)
    along = [axis for axis in sweeps if axis is not None]
    if contiguous_only and not all(map(is_contiguous_along, along)):
        return refuse("not-contiguous", "the loops over a row must be contiguous in memory")
    width = width_of_access(along, tuning.most_elements)
    by = plan_rows(count, length, width, architecture, tuning, may_split and may_be_cut(found.body))
    if by.splits > 1:
        size = size_of_parts(length, by.splits, by.threads * width, width)
        reduce_in_parts(along, size, length // size, by_result=True)
        return in_two_kernels(
            halves_of(plan.nest), by.reasoning, lambda n: row_schedule(n, architecture, tuning, contiguous_only, False),
            lambda n: row_schedule(n, architecture, tuning, False, False), architecture, tuning,
        )  # fmt: skip
    for axis in along:
        _sweep(axis, width, by)
    if row is not None and count <= by.rows:
        row.thread()
    elif row is not None and by.rows > 1:
        rows = row.split(by.rows)
        rows.outer.block()
        rows.inner.thread()
    elif row is not None:
        row.block()
    return plan.schedule("row-reduction", by.reasoning)


def rows_of(nest: LoopNest) -> Rows | Reason:
    """Return a nest's rows, sweeps and body, or a refusal."""
    found = loops_around(nest)
    if isinstance(found, Reason):
        return found
    rows, body = [loop.axis.name for loop in found[0]], found[1]
    reductions = [s for s in body if isinstance(s, Reduce)]
    if not reductions:
        return refuse("no-reduction", "nothing is reduced")
    sweeps: list[tuple[str, ...]] = []
    for s in body:
        if isinstance(s, Reduce):
            if (reason := why_not_associative(s)) is not None:
                return reason
        if isinstance(s, Reduce | For):
            axes = _chain(s)
            if axes is None:
                return refuse("several-loops", "a loop over a row must not contain loops")
            sweeps.append(axes)
    return Rows(tuple(rows), tuple(sweeps), body)


def loops_around(nest: LoopNest) -> tuple[list[For], Body] | Reason:
    """Return the perfect loops around reductions or several loops, and their body, or a refusal."""
    loops: list[For] = []
    body: Body = nest.body
    while True:
        inner = [s for s in body if isinstance(s, For)]
        if any(isinstance(s, Reduce) for s in body) or len(inner) != 1:
            return loops, body
        if inner[0].kind is AxisKind.UNROLLED:  # each thread has all of its steps
            return loops, inner[0].body
        if loops and len(body) > 1:
            return refuse(
                "several-loops",
                f"a value is computed once for each {loops[-1].axis}, outside of the inner loops",
            )
        loops, body = [*loops, inner[0]], inner[0].body


def _chain(s: Statement) -> tuple[str, ...] | None:
    """Return the axes of a sweep; None if it is not a perfect nest."""
    if isinstance(s, Reduce):
        inside = [x for x, _ in walk(s.body) if isinstance(x, For | Reduce)]
        return None if inside else tuple([b.axis.name for b in s.axes])
    assert isinstance(s, For)
    if any(isinstance(x, For | Reduce) for x in s.body):
        if len(s.body) > 1:
            return None
        inner = _chain(s.body[0]) if isinstance(s.body[0], For) else None
        return None if inner is None else (s.axis.name, *inner)
    return (s.axis.name,)


def _sweep(row: AxisHandle, width: int, by: RowPlan) -> None:
    """Schedule a sweep: lanes, threads, and steps in registers or with parallel loads."""
    row = contiguous_lanes(row, width)
    if by.threads > 1 and by.steps > 1:
        row, thread, _ = row.split(by.threads)
        thread.thread()
    elif by.threads > 1:
        row.thread()
        return
    tuning = row.plan.tuning
    all_of_them = by.steps * width <= tuning.in_registers
    if all_of_them or by.steps > tuning.interleave:
        unroll_steps(row, by.steps if all_of_them else tuning.interleave)


class RowPlan(NamedTuple):
    """Plan of rows.

    threads: per row, a power of two. rows: per block. steps: vectors of a thread. splits: blocks
    that share a row.
    """

    threads: int
    rows: int
    steps: int
    splits: int
    reasoning: str


def plan_rows(
    count: int,
    length: int,
    width: int,
    architecture: LaunchArchitecture,
    tuning: Tuning,
    may_split: bool,
) -> RowPlan:
    """Return the dimensions for `count` rows of `length` elements."""
    chunks = length // width
    splits = 1
    if may_split and count < architecture.multiprocessors and length >= 2 * tuning.least_per_split:
        splits = min(
            2 * architecture.multiprocessors // count,
            length // tuning.least_per_split,
            tuning.largest_group,
        )
        chunks = -(-chunks // splits)
        splits = -(-(length // width) // chunks)
    threads = min(1 << (chunks.bit_length() - 1), tuning.largest_group)
    # More work per thread while the device stays full: fewer shuffles, more loads in parallel.
    while (
        threads > WARP_SIZE
        and threads * count * splits >= 2 * architecture.resident_threads
        and chunks < tuning.interleave * threads
    ):
        threads //= 2
    block = max(threads, tuning.block)
    while (
        block > max(threads, WARP_SIZE)
        and -(-count * splits * threads // block) < architecture.multiprocessors
    ):
        block //= 2
    rows = block // threads
    if splits > 1:
        rows = max(WARP_SIZE // threads, 1)
    steps = -(-chunks // threads)
    why = (
        f"{count} rows of {length} elements: {threads} threads a row, {steps} steps of {width} "
        f"elements each; {rows} rows a block"
    )
    if splits > 1:
        why += (
            f"; each row is cut into {splits} parts, since {count} rows leave multiprocessors idle"
        )
    return RowPlan(threads, rows, steps, splits, why)
