"""The schedule of independent elements: all loops collapsed, contiguous elements per thread."""

from __future__ import annotations

import math

from xla_explorer.compiler.codegen.nest.ir import (
    Body,
    Compute,
    For,
    Iota,
    Load,
    LoopNest,
    Reduce,
    SelectRegion,
    Store,
    walk,
)
from xla_explorer.compiler.codegen.nest.launch_dimensions import (
    SMALL_BLOCK,
    LaunchArchitecture,
    LaunchDimensions,
    counted,
    launch_dimensions,
)
from xla_explorer.compiler.codegen.nest.plan import AxisHandle, Plan, collapse_all
from xla_explorer.compiler.codegen.nest.policies.base import is_sum_of_products
from xla_explorer.compiler.codegen.nest.policies.launched.widths import (
    contiguous_lanes,
    keeps_runs,
    stores_are_aligned,
    width_of_runs,
)
from xla_explorer.compiler.codegen.nest.policies.select_regions import boundaries
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.compiler.codegen.vector_math.recipe_cost import operation_cost
from xla_explorer.compiler.target import WARP_SIZE
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis

_INDEX_WORK = 2  # instructions of a load, an index or a choice


def elementwise_schedule(
    nest: LoopNest, architecture: LaunchArchitecture, tuning: Tuning
) -> Schedule | Reason:
    """Collapse the loops of each group of results.

    A thread has up to 16 contiguous bytes, fewer if the device would not be full.
    """
    plan = Plan(nest, tuning)
    plan.sink()
    moves = any(a.aliases for a in nest.arrays) or not any(
        isinstance(s, Compute | SelectRegion) for s, _ in walk(nest.body)
    )
    return distributed(plan, architecture, WARP_SIZE if moves else SMALL_BLOCK)


def concatenation_schedule(
    nest: LoopNest, architecture: LaunchArchitecture, tuning: Tuning
) -> Schedule | Reason:
    """Return the schedule of a concatenation, split where an operand ends (index-set splitting).

    No element then tests which operand it comes from. The pieces have their own loops over the
    threads of one launch.
    """
    plan = Plan(nest, tuning)
    plan.sink()
    loops = loops_of(tuple([s for s in plan.nest.body if isinstance(s, For)]))
    if isinstance(loops, Reason):
        return loops
    axes = [loop.axis for loop in loops]
    along, cuts = next(((a, found) for a in axes if (found := _cuts(plan.nest, a))), (None, []))
    if along is not None:
        _cut([plan.axis(a) for a in axes], axes.index(along), cuts)
    return distributed(plan, architecture, WARP_SIZE)


def _cuts(nest: LoopNest, axis: Axis) -> list[int]:
    """Return the steps of an axis at which a select region changes."""
    regions = [s for s, _ in walk(nest.body) if isinstance(s, SelectRegion)]
    found = [boundaries(g) for s in regions for case in s.cases for g in case.guards]
    return sorted({at for x in found if x is not None and x[0] == axis for at in x[1]})


def _cut(axes: list[AxisHandle], at: int, cuts: list[int]) -> None:
    """Move the pieces of an axis outermost, each with loops in the memory order of the result."""
    along, begin = axes[at], 0
    for other in reversed(axes[:at]):
        other.reorder(along)
    for end in cuts:
        _, along = along.cut(end - begin)
        begin = end
    for piece in along.plan.outermost():
        loops = loops_of((piece.loop,))
        assert not isinstance(loops, Reason)
        piece.reorder(*[piece.plan.axis(loop.axis) for loop in loops[1 : at + 1]])


def distributed(plan: Plan, architecture: LaunchArchitecture, least: int) -> Schedule | Reason:
    """Distribute every group of loops over the threads of one launch, or refuse.

    least: threads of each multiprocessor before a thread gets more elements.
    """
    groups = groups_of(plan.nest.body)
    if isinstance(groups, Reason):
        return groups
    sums = [s for s, _ in walk(plan.nest.body) if isinstance(s, Reduce)]
    adds = bool(sums) and all(map(is_sum_of_products, sums))
    _unroll_short(plan)
    axes: list[AxisHandle] = []
    widest, why = 1, "each combines several values" if sums else "there is one"
    largest = max([math.prod([loop.axis.extent for loop in loops]) for loops in groups], default=1)
    for loops in groups:
        axis, width = collapse_all([plan.axis(loop.axis) for loop in loops]), 1
        assert axis is not None
        if adds:
            width = width_of_runs(axis)
            why = "contiguous in all arrays" if width > 1 else why
        elif not sums:
            width, why = _width(axis, loops[-1].axis, architecture, largest // least)
        axes.append(contiguous_lanes(axis, width))
        widest = max(width, widest)
    if not axes:
        return plan.schedule("loop", "one element")
    counts = [axis.extent for axis in axes]
    launch = launch_dimensions(max(counts), architecture)
    steps = max(counts) if launch.blocks == 1 else launch.blocks * launch.threads_per_block
    for axis, count in zip(axes, counts, strict=True):
        if 1 < count < max(counts):
            axis.pad(steps)
        if count > 1:
            distribute(axis, launch)
    reasoning = f"{counted(widest, 'element')} a thread ({why}); {launch.reasoning}"
    return plan.schedule("vector-loop" if widest > 1 else "loop", reasoning)


def distribute(axis: AxisHandle, launch: LaunchDimensions) -> None:
    """Split one axis into blocks and threads."""
    if launch.blocks == 1:
        axis.thread()
        return
    parts = axis.split(launch.threads_per_block)
    parts.outer.block()
    parts.inner.thread()


def _unroll_short(plan: Plan) -> None:
    """Unroll reductions over few elements.

    Accumulators of products without guards stay a loop, because LLVM then keeps their order. Axes
    with guards, as in windows over the edge, are not unrolled.
    """
    for s, _ in walk(plan.nest.body):
        if not isinstance(s, Reduce):
            continue
        axes = [b.axis for b in s.axes if not any(b.axis in g.expression.axes for g in s.guards)]
        if math.prod([axis.extent for axis in axes]) <= plan.tuning.short and bool(
            s.guards
        ) >= is_sum_of_products(s):
            for axis in axes:
                plan.axis(axis).unroll()


def groups_of(body: Body) -> list[list[For]] | Reason:
    """Return the perfect loop nests of each group of results, or a refusal.

    A group has results of the same dimensions.
    """
    found: list[list[For]] = []
    for s in body:
        if isinstance(s, For):
            loops = loops_of((s,))
            if isinstance(loops, Reason):
                return loops
            found.append(loops)
    if found and any(isinstance(s, Reduce) for s in body):
        return refuse(
            "several-loops", "all elements depend on a reduction, which each thread would repeat"
        )
    return found


def loops_of(body: Body) -> list[For] | Reason:
    """Return the loops of a perfect nest with element statements inside, or a refusal."""
    found: list[For] = []
    while any(isinstance(s, For) for s in body):
        inner = [s for s in body if isinstance(s, For)]
        if len(inner) > 1 or any(isinstance(s, Store) for s in body):
            return refuse("several-loops", "the nest has results of different dimensions")
        found += inner
        if len(found) > 1 and len(body) > 1:
            return refuse(
                "several-loops",
                f"a value is computed once for each {found[-2].axis}, outside of the inner loop",
            )
        body = inner[0].body
    return found


def work_of(nest: LoopNest) -> int:
    """Return the approximate number of machine instructions of an element."""
    return sum(
        [
            operation_cost(s.opcode.name, s.element.component, 1).instructions
            if isinstance(s, Compute)
            else _INDEX_WORK
            for s, _ in walk(nest.body)
            if isinstance(s, Compute | Load | Iota | SelectRegion)
        ]
    )


def _width(
    axis: AxisHandle,
    minor: Axis,
    architecture: LaunchArchitecture,
    work_items: int,
) -> tuple[int, str]:
    """Return the elements of a thread, and the reason against more.

    Contiguous elements must have a constant stride in every array, or stay in a row of the result.
    work_items: pieces of work to spread over the multiprocessors.
    """
    nest, tuning = axis.plan.nest, axis.plan.tuning
    accessed = {s.array for s, _ in walk(nest.body) if isinstance(s, Load | Store)}
    widest = max(
        [a.shape.element_type.bytes for a in nest.arrays if a.name in accessed and a.shape.rank],
        default=4,
    )
    width = min(max(tuning.register_bytes // widest, 1), tuning.most_elements)
    work = work_of(nest)
    whole = width * widest >= tuning.register_bytes
    why = (
        f"{width} elements of the widest type ({widest} bytes) are {tuning.register_bytes} bytes"
        if whole
        else f"{width} at most"
    )
    while width > 1 and width * work > tuning.most_work:
        width //= 2
        why = f"an element is about {work} instructions, so only {width} elements a thread"
    while width > 1 and minor.extent % width and not keeps_runs(axis, width):
        width //= 2
        why = f"rows of {minor.extent} elements are not a multiple of {2 * width}"
    while width > 1 and not stores_are_aligned(axis, width):
        width //= 2
        why = f"results are not aligned to {2 * width} elements"
    while width > 1 and work_items // width < architecture.multiprocessors:
        width //= 2
        why = f"more would leave some of {architecture.multiprocessors} multiprocessors idle"
    return width, why
