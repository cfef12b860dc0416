"""The policy of column reductions: accumulators of adjacent columns in registers or in memory."""

from __future__ import annotations

import math
from collections.abc import Callable

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
from xla_explorer.compiler.codegen.nest.plan import AxisHandle, Plan
from xla_explorer.compiler.codegen.nest.policies.base import (
    accesses,
    calls_functions,
    has_masks,
    in_registers,
    statements_of,
    tail_may_overlap,
    unrolled_registers,
    widest,
)
from xla_explorer.compiler.codegen.nest.policies.elementwise import tail
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, RuntimeValue

REGISTERS = 16  # of columns with accumulators in registers
TILE = 1 / 32  # columns for a byte of L1, where their accumulators stay
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
            plan.axis(bound.axis).unroll()
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
    first = plan.axis(s.axes[0].axis)
    inner = count_of(s) // first.extent
    if inner < chunk:
        first.split(chunk // inner, "cut").outer.rfactor()
    else:
        first.rfactor()


def _chunk(s: Reduce) -> int:
    """Return a power of 2 near the square root of the number of elements."""
    return 1 << (math.isqrt(max(count_of(s), 1)).bit_length() - 1)


def columns(
    column: AxisHandle, tasks: int = 1, most: int | None = None, rows: int = ROWS
) -> Reason | None:
    """Schedule the columns along an axis, or return a refusal.

    tasks: number of tasks for the tiles. most: columns of a tile, None for a part of L1. rows:
    number of rows per pass.
    """
    plan, loop = column.plan, column.loop
    most = most or int(TILE * plan.tuning.first_cache.bytes)
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
        vectors(column, lanes, 1)
        return None
    if simple and tasks == 1 and _fits_registers(plan, loop, lanes, len(reductions)):
        for s in reductions:
            in_chunks(plan, s)
        if extent & (extent - 1) == 0 and extent <= lanes:
            column.vectorize()
        else:
            unrolled_registers(column, lanes).vectorize()
        return None
    (first, *others) = reductions
    if others:
        return refuse(
            "no-policy",
            f"@{plan.nest.name} has sums of {extent} columns, more than registers hold",
        )
    if len(first.axes) > 1 and isinstance(first.combiner, Combination):
        return None
    in_tiles(column, tasks, most, lambda tile: _accumulated(tile, lanes if simple else 1, rows))
    return None


def in_tiles(
    column: AxisHandle, tasks: int, most: int, accumulated: Callable[[AxisHandle], None]
) -> None:
    """Split columns into tiles with accumulators in memory, and a tail.

    accumulated: schedules the loop over the columns of a tile.
    """
    tile = _tile(column.extent, tasks, most)
    if tile < column.extent:
        whole = column.extent - column.extent % tile
        if whole < column.extent:
            column, rest = column.cut(whole)
            # a loop of one iteration, which owns the accumulators
            accumulated(rest.split(rest.extent).inner)
        column = column.split(tile).inner
    accumulated(column)


def vectors(axis: AxisHandle, lanes: int, interleave: int) -> None:
    """Split a loop into whole registers and a tail."""
    while interleave > 1 and interleave * lanes > axis.extent:
        interleave //= 2
    whole = axis.extent - axis.extent % (lanes * interleave)
    if 0 < whole < axis.extent:
        if interleave == 1 and tail_may_overlap(axis):
            axis.split(lanes, "overlap").inner.vectorize()
            return
        axis, rest = axis.cut(whole)
        tail(rest, lanes)
    if whole:
        in_registers(axis, lanes, interleave)
    else:
        tail(axis, lanes)


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


def _accumulated(column: AxisHandle, lanes: int, rows: int) -> None:
    """Move the loop over rows outside, several per pass; accumulators are in memory."""
    plan, tuning = column.plan, column.plan.tuning
    s = next(s for s in column.body if isinstance(s, Reduce))
    row, interleave = plan.axis(s.axes[0].axis), 1
    inner: AxisHandle | None = None
    if len(s.axes) == 1 and row.extent >= 2 * rows and not isinstance(s.combiner, Combination):
        chunk = min(max(_chunk(s), rows), MOST_ROWS) if sums_floats(s) else rows
        if rows * tuning.interleave >= tuning.registers and tuning.registers <= FEW_REGISTERS:
            chunk = rows = max(rows, min(chunk, ROWS_OF_FEW))
        row, inner, _ = row.split(chunk)
        if chunk > rows:
            inner, interleave = inner.split(rows).inner, tuning.interleave
    made = row.interchange(column)
    if inner is not None:
        inner.unroll()
    if lanes > 1:
        vectors(made.clear[column], lanes, tuning.interleave)
        vectors(made.add[column], lanes, interleave)
        vectors(column, lanes, 1)
