"""Schedules to try for a nest: the combinations of a few parameters, ranked by the estimate.

Directives that are refused are left out of a schedule. Measurements happen elsewhere.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.accesses import Access, accesses_of
from xla_explorer.compiler.codegen.nest.directives import Collapse, ComputeAt, TileLoops
from xla_explorer.compiler.codegen.nest.estimate import Estimate, estimate, register_bytes
from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    For,
    LoopNest,
    Reduce,
    axes_of,
    elements_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.plan import AxisHandle, Plan
from xla_explorer.compiler.codegen.nest.policies.base import in_registers
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.compiler.target import HOST_LIKE, Target

_CONTIGUOUS = Tuning(gathers=False)
MOST_INSTANCES = 600  # statements times unrolled instances, so that code stays small


class ScheduleParameters(NamedTuple):
    """One combination of parameters.

    Attributes
    ----------
    lanes : int
        Of a vector.
    interleave : int
        Vectors of each value.
    rows : int
        Steps of the loop around, or of a reduction, in one iteration.
    collapsed : bool
        The outer loops are collapsed.
    stored : bool
        Values that are computed several times are stored.
    interchanged : bool
        Accumulators of columns are in memory while rows are added.
    tile : int
        The side of tiles of the two outermost loops, 0 for none.
    """

    lanes: int
    interleave: int
    rows: int
    collapsed: bool = False
    stored: bool = False
    interchanged: bool = False
    tile: int = 0


class Candidate(NamedTuple):
    """A schedule and its estimate."""

    schedule: Schedule
    estimate: Estimate


def candidates(
    nest: LoopNest,
    target: Target = HOST_LIKE,
    tasks: int = 1,
    further: Iterable[Schedule] = (),
    stop: Callable[[], bool] = lambda: False,
) -> list[Candidate]:
    """Return different schedules of a nest, the best estimate first.

    Parameters
    ----------
    target : Target
        The machine of the estimate.
    tasks : int
        The number of tasks of the outermost loop.
    further : iterable of Schedule
        More schedules to rank.
    stop : callable
        Called before each combination; True ends the search.
    """
    found: dict[str, Candidate] = {}
    combinations = itertools.takewhile(lambda _: not stop(), _parameters(nest, target))
    for made in itertools.chain(
        further, (_schedule(nest, parameters, tasks) for parameters in combinations)
    ):
        if str(made) not in found and _instances(made.nest) <= MOST_INSTANCES:
            found[str(made)] = Candidate(made, estimate(made.nest, target))
    return sorted(found.values(), key=lambda c: c.estimate.nanoseconds)


def _parameters(nest: LoopNest, target: Target) -> Iterator[ScheduleParameters]:
    """Yield the combinations that may make a difference for this nest."""
    widths = [element.bits // 8 for s, _ in nest.statements() for element in elements_of(s)]
    lanes = max(register_bytes(target) // max([4, *widths]), 2)
    collapsed = [False, True] if any(_pairs(nest)) else [False]
    stored = [False, True] if _recomputed(nest) else [False]
    reduced = any(isinstance(s, Reduce) for s, _ in nest.statements())
    columns = reduced and any(
        _column_axis(nest, s) for s, _ in nest.statements() if isinstance(s, Reduce)
    )
    interchanged = [False, True] if columns else [False]
    tile = (
        [0, 16, 64]
        if any(a.pattern.startswith("every") for a in accesses_of(nest)) and not reduced
        else [0]
    )
    rows = [1, 2, 4, 8] if reduced else [1, 2, 4]
    for numbers in itertools.product(
        [lanes, 2 * lanes], [1, 2, 4, 8], rows, collapsed, stored, interchanged, tile
    ):
        yield ScheduleParameters(*numbers)


def _schedule(nest: LoopNest, parameters: ScheduleParameters, tasks: int) -> Schedule:
    """Return the schedule of a combination, without the directives that are refused."""
    plan = Plan(nest, _CONTIGUOUS)
    if parameters.collapsed:
        for outer, inner in _pairs(nest):
            plan.attempt(partial(plan.do, Collapse(outer, inner)))
    if parameters.stored:
        for value, loop in _recomputed(nest):
            plan.attempt(partial(plan.do, ComputeAt(f"%{value}", loop)))
    if parameters.tile:
        for outer, inner in _pairs(plan.nest):
            tile = TileLoops(outer, inner, parameters.tile, parameters.tile)
            plan.attempt(partial(plan.do, tile))
    for axis, around, column in _innermost(plan.nest):
        if column:
            _with_column(plan.axis(axis), plan.axis(column), parameters)
        else:
            _along(plan.axis(axis), plan.axis(around) if around else None, parameters)
    if tasks > 1 and (loops := plan.outermost()):
        plan.attempt(partial(loops[0].parallel, min(tasks, loops[0].extent)))
    return plan.schedule()


def _along(axis: AxisHandle, around: AxisHandle | None, parameters: ScheduleParameters) -> None:
    """Vectorize an innermost axis, interleaved, and unroll rows of the loop around."""
    extent, lanes, interleave = axis.extent, parameters.lanes, parameters.interleave
    while lanes > extent and lanes > 2:
        lanes //= 2
    while lanes * interleave > extent and interleave > 1:
        interleave //= 2
    axis.plan.attempt(partial(in_registers, axis, lanes, interleave))
    if around is not None and _is_unrollable(around, parameters.rows):
        axis.plan.attempt(partial(_unrolled, around, parameters.rows))


def _is_unrollable(axis: AxisHandle, rows: int) -> bool:
    """Return True for a serial axis with at least `rows` steps, several of them.

    An earlier innermost loop may have split the axis.
    """
    bound = axis.plan.nest.axes().get(axis.name)
    return bound is not None and 1 < rows <= bound.axis.extent and bound.kind is AxisKind.SERIAL


def _unrolled(axis: AxisHandle, rows: int) -> AxisHandle:
    """Unroll some steps of an axis; return the outer loop."""
    blocks = axis.split(rows)
    blocks.inner.unroll()
    return blocks.outer


def _with_column(axis: AxisHandle, column: AxisHandle, parameters: ScheduleParameters) -> None:
    """Vectorize the loop around a reduction whose operand is not contiguous along its axis.

    Several steps of the reduction are in one iteration.
    """
    plan, lanes, interleave = axis.plan, parameters.lanes, parameters.interleave
    unrolled = partial(_unrolled, axis, parameters.rows)
    if parameters.interchanged:
        row = (plan.attempt(unrolled) if parameters.rows > 1 else None) or axis
        made = plan.attempt(partial(row.interchange, column))
        loops = (made.clear[column], made.add[column], column) if made is not None else (column,)
        for loop in loops:
            plan.attempt(partial(in_registers, loop, lanes, 1))
        return
    around = plan.nest.around(column.name)
    if interleave == 1 or lanes * interleave > column.extent:
        lanes, interleave = min(lanes, 1 << column.extent.bit_length() - 1), 1
    plan.attempt(partial(in_registers, column, lanes, interleave))
    if parameters.rows == 1:
        return
    # rows of the outer loop in registers, else steps of the reduction
    outer = around[-1] if around else None
    tiled = None
    if isinstance(outer, For) and outer.kind is AxisKind.SERIAL:
        tiled = plan.attempt(partial(_unrolled, plan.axis(outer.axis), parameters.rows))
    if tiled is None:
        plan.attempt(unrolled)


def _pairs(nest: LoopNest) -> list[tuple[str, str]]:
    """Return the two outermost loops if they are perfectly nested."""
    loops = [s for s in nest.body if isinstance(s, For)]
    pairs = [(s, s.body[0]) for s in loops if len(s.body) == 1]
    return [(outer.axis.name, inner.axis.name) for outer, inner in pairs if isinstance(inner, For)]


def _innermost(nest: LoopNest) -> list[tuple[str, str, str]]:
    """Return (axis, loop around, column) for each innermost loop or reduction.

    column: the loop around along which memory is contiguous if it is not along the axis, or empty.
    """
    found = []
    for s, around in nest.statements():
        if isinstance(s, For | Reduce) and not any(
            isinstance(inner, For | Reduce) for inner, _ in walk(s.body)
        ):
            bound = axes_of(s)[-1]
            outer = next((x.axis.name for x in reversed(around) if isinstance(x, For)), "")
            if bound.kind is AxisKind.SERIAL:
                found.append(
                    (bound.axis.name, outer, _column_axis(nest, s) if isinstance(s, Reduce) else "")
                )
    return found


def _column_axis(nest: LoopNest, s: Reduce) -> str:
    """Return the loop around a reduction along which its loads are contiguous, or an empty name."""
    inner = axes_of(s)[-1].axis
    mine = [a for a in accesses_of(nest) if not a.written and any(b.axis == inner for b in a.path)]
    if not mine or all(_runs(a, inner) for a in mine):
        return ""
    around = [b.axis for a in mine for b in a.path if b.axis not in [x.axis for x in s.axes]]
    return next(
        (
            axis.name
            for axis in reversed(list(dict.fromkeys(around)))
            if all(a.step(axis) in (0, 1) for a in mine)
        ),
        "",
    )


def _runs(a: Access, axis: object) -> bool:
    return next((a.step(b.axis) in (0, 1) for b in a.path if b.axis == axis), True)


def _recomputed(nest: LoopNest) -> list[tuple[str, str]]:
    """Return (instruction, outermost loop) for values that a step computes several times."""
    seen: dict[tuple[int, str], int] = {}
    for s, around in nest.statements():
        origin = getattr(s, "origin", None)
        if (
            origin is not None
            and elements_of(s)
            and around
            and isinstance(around[0], For)
            and getattr(s, "opcode", None) is not None
        ):
            key = origin.instruction, around[0].axis.name
            seen[key] = seen.get(key, 0) + 1
    last = [
        (nest.names[number], loop)
        for (number, loop), times in seen.items()
        if times > 1 and number in nest.names
    ]
    return last[-1:]


def _instances(nest: LoopNest) -> int:
    """Return the number of statements, each times the steps of the unrolled axes around it."""
    total = 0
    for _, around in nest.statements():
        axes = [b for x in around for b in axes_of(x)]
        total += math.prod([b.axis.extent for b in axes if b.kind is AxisKind.UNROLLED])
    return total
