"""The policy of column reductions: accumulators of adjacent columns in registers or in memory."""

from __future__ import annotations

import math
from collections.abc import Callable

from xla_explorer.compiler.codegen.nest.directives import (
    CutLoop,
    InterchangeReduction,
    OverlapTail,
    Rfactor,
    Split,
    Unroll,
    Vectorize,
)
from xla_explorer.compiler.codegen.nest.ir import (
    Body,
    Combination,
    For,
    Load,
    LoopNest,
    Reduce,
    SelectRegion,
    walk,
)
from xla_explorer.compiler.codegen.nest.policies.base import (
    Plan,
    Tuning,
    accesses,
    calls_functions,
    has_masks,
    in_registers,
    statements_of,
    tail_may_overlap,
    widest,
)
from xla_explorer.compiler.codegen.nest.policies.elementwise import tail
from xla_explorer.compiler.codegen.nest.transformations import for_of
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, RuntimeValue

REGISTERS = 16  # of columns with accumulators in registers
TILE = 1024  # columns whose accumulators stay in L1
GRAIN = 16  # tiles are multiples of this number of columns, if possible
ROWS = 4  # added to the accumulators per pass ...
ROWS_OF_FEW = (
    8  # ... if accumulators of several rows do not fit into registers: more conflict in L1 sets ...
)
FEW_REGISTERS = 16  # ... of a machine with at most this number of registers
MOST_ROWS = 16  # summed before the accumulators in memory; 32 rows are more exact and take 1.6 times as long from L3
LEAST_CHUNK = 16  # rows of a partial sum
SMALL = 8  # elements up to which a reduction is unrolled ...
FEW_STEPS = 64  # ... but not calls of functions in so few iterations: each instance is code


def lanes_of_body(body: Body, tuning: Tuning) -> int:
    """Return the lanes of a register of the widest values."""
    return max(tuning.register_bytes // widest(statements_of(body)), 2)


def is_simple(s: Reduce, several: bool = False, guarded: bool = False) -> bool:
    """Return True for a reduction by one operation of straight-line values.

    No select regions, inner loops or data-dependent addresses. several: several operations are
    allowed. guarded: guards are allowed.
    """
    if (isinstance(s.combiner, Combination) and not several) or (s.guards and not guarded):
        return False
    for x, _ in walk(s.body):
        if isinstance(x, (SelectRegion, Reduce, For)):
            return False
        if isinstance(x, Load) and any(
            isinstance(atom, RuntimeValue) for place in x.place for atom in place.atoms()
        ):
            return False
    return True


def is_contiguous_along(nest: LoopNest, body: Body, axis: Axis) -> bool:
    """Return True if accesses along an axis are contiguous or to one element.

    Some must be contiguous, and all stores.
    """
    found = [(s, offset.coefficient(axis)) for s, offset in accesses(nest, body)]
    return any(step == 1 for _, step in found) and all(
        step == 1 or (step == 0 and isinstance(s, Load)) for s, step in found
    )


def count_of(s: Reduce) -> int:
    """Return the number of elements that are reduced to a result."""
    return math.prod([b.axis.extent for b in s.axes])


def unrolled_if_small(plan: Plan, s: Reduce) -> bool:
    """Unroll a reduction over a few elements."""
    steps = math.prod([bound.axis.extent for bound in plan.nest.axes().values()])
    if (
        count_of(s) > SMALL
        or not is_simple(s)
        or (steps <= FEW_STEPS and calls_functions(statements_of(s.body)))
    ):
        return False
    for bound in s.axes:
        if bound.axis.extent > 1:
            plan.do(Unroll(bound.axis.name))
    return True


def sums_floats(s: Reduce) -> bool:
    """Return True if a reduction is a sum of single floats."""
    return (
        not isinstance(s.combiner, Combination)
        and s.combiner.name == "add"
        and s.elements[0].is_float
    )


def in_chunks(plan: Plan, s: Reduce) -> None:
    """Sum a long column in chunks.

    Rounding errors then grow with the chunk and the number of chunks, not with the column.
    """
    chunk = _chunk(s)
    if not sums_floats(s) or chunk < LEAST_CHUNK:
        return
    first = s.axes[0].axis
    inner = count_of(s) // first.extent
    if inner < chunk:
        rows = chunk // inner
        whole = first.extent - first.extent % rows
        name = first.name
        if whole < first.extent:
            plan.do(CutLoop(name, whole))
            name = f"{name}m"
        plan.do(Split(name, rows))
        plan.do(Rfactor(f"{name}o"))
    else:
        plan.do(Rfactor(first.name))


def _chunk(s: Reduce) -> int:
    """Return a power of 2 near the square root of the number of elements."""
    return 1 << (math.isqrt(max(count_of(s), 1)).bit_length() - 1)


def columns(
    plan: Plan, name: str, tasks: int = 1, most: int = TILE, rows: int = ROWS
) -> Reason | None:
    """Schedule the columns along an axis, or return a refusal.

    tasks: number of tasks for the tiles. most: columns of a tile. rows: number of rows per pass.
    """
    loop = for_of(plan.nest, name)
    reductions = [s for s in loop.body if isinstance(s, Reduce)]
    lanes, extent = lanes_of_body(loop.body, plan.tuning), loop.axis.extent
    simple = (
        plan.tuning.register_bytes > 0
        and all(is_simple(s) for s in reductions)
        and is_contiguous_along(plan.nest, loop.body, loop.axis)
    )
    if simple and all(count_of(s) <= SMALL for s in reductions):
        for s in reductions:
            unrolled_if_small(plan, s)
        vectors(plan, name, lanes, 1)
        return None
    if simple and tasks == 1 and _fits_registers(plan, loop, lanes, len(reductions)):
        for s in reductions:
            in_chunks(plan, s)
        if extent & (extent - 1) == 0 and extent <= lanes:
            plan.do(Vectorize(name))
        else:
            plan.do(Split(name, lanes))
            plan.do(Unroll(f"{name}o"))
            plan.do(Vectorize(f"{name}i"))
        return None
    (first, *others) = reductions
    if others:
        return refuse(
            "no-policy",
            f"@{plan.nest.name} has sums of {extent} columns, more than registers hold",
        )
    if len(first.axes) > 1 and isinstance(first.combiner, Combination):
        return None
    in_tiles(
        plan,
        name,
        tasks,
        most,
        lambda along: _accumulated(plan, along, lanes if simple else 1, rows),
    )
    return None


def in_tiles(
    plan: Plan, name: str, tasks: int, most: int, accumulated: Callable[[str], None]
) -> None:
    """Split columns into tiles with accumulators in memory, and a tail.

    accumulated: schedules the loop over the columns of a tile.
    """
    extent = plan.nest.axes()[name].axis.extent
    tile = _tile(extent, tasks, most)
    if tile < extent:
        whole = extent - extent % tile
        if whole < extent:
            plan.do(CutLoop(name, whole))
            plan.do(
                Split(f"{name}r", extent - whole)
            )  # a loop of one iteration, which owns the accumulators
            accumulated(f"{name}ri")
            name = f"{name}m"
        plan.do(Split(name, tile))
        name = f"{name}i"
    accumulated(name)


def vectors(plan: Plan, name: str, lanes: int, interleave: int) -> None:
    """Split a loop into whole registers and a tail."""
    axis = plan.nest.axes()[name].axis
    while interleave > 1 and interleave * lanes > axis.extent:
        interleave //= 2
    whole = axis.extent - axis.extent % (lanes * interleave)
    if 0 < whole < axis.extent and interleave == 1 and tail_may_overlap(plan, name):
        plan.do(OverlapTail(name, lanes))
        plan.do(Vectorize(f"{name}i"))
        return
    if 0 < whole < axis.extent:
        plan.do(CutLoop(name, whole))
        tail(plan, f"{name}r", lanes)
        name = f"{name}m"
    if whole:
        in_registers(plan, name, lanes, interleave)
    else:
        tail(plan, name, lanes)


def _fits_registers(plan: Plan, loop: For, lanes: int, reductions: int) -> bool:
    extent = loop.axis.extent
    if -(-extent // lanes) > REGISTERS // reductions:
        return False
    return (
        extent % lanes == 0
        or (extent < lanes and extent & (extent - 1) == 0)
        or has_masks(plan, loop.body)
    )


def _tile(extent: int, tasks: int, limit: int) -> int:
    """Return the columns of a tile: a divisor of all columns, if possible of whole vectors."""
    per_task = extent // tasks
    most = min(per_task, limit)
    divisors = [tile for tile in range(most, most // 4, -1) if extent % (tile * tasks) == 0]
    if divisors:
        return next((tile for tile in divisors if tile % GRAIN == 0), divisors[0])
    return max(most // GRAIN * GRAIN, min(GRAIN, extent))


def _accumulated(plan: Plan, along: str, lanes: int, rows: int) -> None:
    """Move the loop over rows outside, several per pass; accumulators are in memory."""
    loop = for_of(plan.nest, along)
    s = next(s for s in loop.body if isinstance(s, Reduce))
    row, inner, interleave = s.axes[0].axis.name, "", 1
    if (
        len(s.axes) == 1
        and s.axes[0].axis.extent >= 2 * rows
        and not isinstance(s.combiner, Combination)
    ):
        chunk = min(max(_chunk(s), rows), MOST_ROWS) if sums_floats(s) else rows
        if (
            rows * plan.tuning.interleave >= plan.tuning.registers
            and plan.tuning.registers <= FEW_REGISTERS
        ):
            chunk = rows = max(rows, min(chunk, ROWS_OF_FEW))
        plan.do(Split(row, chunk))
        row, inner = f"{row}o", f"{row}i"
        if chunk > rows:
            plan.do(Split(inner, rows))
            inner, interleave = f"{inner}i", plan.tuning.interleave
    plan.do(InterchangeReduction(row, along))
    if inner:
        plan.do(Unroll(inner))
    if lanes > 1:
        for name, side_by_side in (
            (f"{along}c", plan.tuning.interleave),
            (f"{along}t", interleave),
            (along, 1),
        ):
            vectors(plan, name, lanes, side_by_side)
