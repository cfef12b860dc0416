"""Loops that read along one axis and write along another: squares transposed in registers."""

from __future__ import annotations

from collections.abc import Iterator

from xla_explorer.compiler.codegen.nest.accesses import LINE_BYTES
from xla_explorer.compiler.codegen.nest.directives import (
    OverlapTail,
    Reorder,
    Sink,
    Split,
    Unroll,
    Vectorize,
)
from xla_explorer.compiler.codegen.nest.ir import Compute, Constant, For, Iota, Load, LoopNest
from xla_explorer.compiler.codegen.nest.policies.base import (
    Plan,
    accesses,
    in_blocks,
    statements_of,
)
from xla_explorer.hlo.analysis.indexing import Axis

LARGEST_SQUARE = 16  # lanes
TOGETHER = 4  # adjacent squares in a streamed result: a few lines are stored at a time


def read_across(nest: LoopNest, loop: For) -> tuple[list[For], Axis] | None:
    """Return nested loops, and the one along which strided loads are contiguous, or None.

    The loads are strided along the innermost loop.
    """
    line = list(line_of(loop))
    if len(line) < 2:
        return None
    inner, found = line[-1].axis, set[Axis]()
    for s, offset in accesses(nest, line[0].body):
        step = offset.coefficient(inner)
        if step in (0, 1):
            continue
        along = [x.axis for x in line[:-1] if offset.coefficient(x.axis) == 1]
        if step is None or not isinstance(s, Load) or not along:
            return None
        found.add(along[0])
    return (line, found.pop()) if len(found) == 1 else None


def line_of(loop: For) -> Iterator[For]:
    """Yield loops that each contain only the next loop and values."""
    yield loop
    inner = [s for s in loop.body if isinstance(s, For)]
    if (
        len(inner) == 1
        and not loop.guards
        and all(isinstance(s, (For, Load, Constant, Iota, Compute)) for s in loop.body)
    ):
        yield from line_of(inner[0])


def in_squares(plan: Plan, line: list[For], across: Axis, lanes: int, streamed: bool) -> bool:
    """Tile the loops by squares of lanes; tiles at the edges overlap others.

    Return False if the extents or the code do not allow it.
    """
    inner = line[-1].axis
    statements = [s for x in line for s in x.body if not isinstance(s, For)] + statements_of(
        line[-1].body
    )
    side = min(lanes, LARGEST_SQUARE, 1 << (min(across.extent, inner.extent).bit_length() - 1))
    uneven = bool(across.extent % side or inner.extent % side)
    overlaps_tails = plan.tuning.overlaps_tails and all(
        OverlapTail(axis.name, side).steps_are_repeatable(plan.nest) is None
        for axis in (across, inner)
    )
    if (
        side < 2
        or side * len(statements) > plan.tuning.most_statements
        or (uneven and not overlaps_tails)
    ):
        return False
    names = [x.axis.name for x in line]
    for name in names[:-1]:
        loop = plan.nest.loop(name)  # after the changes of the outer loop
        if loop is not None and len(loop.body) > 1:
            plan.do(Sink(name))
    at = names.index(across.name)
    for other in names[at + 1 : -1]:
        plan.do(Reorder(across.name, other))
    inside = names[-1]
    array = plan.nest.array(_strided_array(plan.nest, line[-1], inside))
    assert array is not None
    by_lines = (
        overlaps_tails
        and across.extent % side == 0
        and side * array.shape.element_type.bytes == LINE_BYTES
    )
    plan.do(
        OverlapTail(across.name, side, array.name)
        if by_lines
        else in_blocks(plan, across.name, side)
    )
    plan.do(in_blocks(plan, inside, side))
    plan.do(Reorder(f"{across.name}i", f"{inside}o"))
    if streamed:
        _in_runs(plan, f"{across.name}o", f"{inside}o")
    plan.do(Unroll(f"{across.name}i"))
    plan.do(Vectorize(f"{inside}i"))
    return True


def _strided_array(nest: LoopNest, loop: For, axis: str) -> str:
    """Return the first array with strided accesses along an axis."""
    return next(
        s.array
        for s, offset in accesses(nest, loop.body)
        if offset.coefficient(nest.axes()[axis].axis) not in (0, 1)
    )


def _in_runs(plan: Plan, rows: str, columns: str) -> None:
    """Order the loops over squares.

    A small result stays in the cache, so columns are inside. A streamed one is stored a few lines
    at a time, so rows are inside.
    """
    if plan.nest.axes()[columns].axis.extent % TOGETHER == 0:
        plan.do(Split(columns, TOGETHER))
        columns += "o"
    plan.do(Reorder(rows, columns))
