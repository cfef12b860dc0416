"""Rows shorter than a register: contiguous rows become one loop.

The loop has periods, at whose ends rows and registers end together.
"""

from __future__ import annotations

from math import lcm

from xla_explorer.compiler.codegen.nest.ir import For, LoopNest
from xla_explorer.compiler.codegen.nest.plan import AxisHandle, Plan
from xla_explorer.compiler.codegen.nest.policies.base import (
    accesses,
    is_looked_up,
    lanes_for,
    statements_of,
    tail_may_overlap,
    vectorize_interleaved,
)
from xla_explorer.compiler.codegen.nest.policies.transposes import line_of
from xla_explorer.compiler.codegen.nest.tuning import Tuning

SHORT_ROW = 16  # iterations of an inner loop that is mostly a remainder of registers
WHOLE_ROW = (
    4  # iterations, if a power of two, that are a narrow register for rows that are not contiguous
)
LEAST_PERIODS = 16  # periods from which the code of a period pays
MOST_LANES = 16  # of registers in a period: more would unroll more


def short_rows(nest: LoopNest, loop: For, tuning: Tuning) -> tuple[list[For], int] | None:
    """Return the nested loops and the lanes if the innermost loop is shorter than a register.

    None for long rows.
    """
    line = list(line_of(loop))
    statements = statements_of(loop.body)
    lanes, extent = lanes_for(nest, statements, tuning), line[-1].axis.extent
    if len(line) < 2 or extent == 1 or any(isinstance(s, For) for s in line[-1].body):
        return None
    if extent >= lanes and (extent >= SHORT_ROW or extent % lanes == 0):
        return None
    if extent >= WHOLE_ROW and extent & (extent - 1) == 0 and not _are_contiguous_rows(nest, line):
        return None
    lanes = min(lanes, MOST_LANES)
    few = line[-2].axis.extent * extent < LEAST_PERIODS * lcm(lanes, extent)
    return None if few or is_looked_up(line[-1].body) else (line, lanes)


def _are_contiguous_rows(nest: LoopNest, line: list[For]) -> bool:
    """Return True if rows of every array are contiguous, one row, or one element a row."""
    outer, inner = line[-2].axis, line[-1].axis
    found = [
        (offset.coefficient(outer), offset.coefficient(inner))
        for _, offset in accesses(nest, line[0].body)
    ]
    return all(b is not None and (a == b * inner.extent or 0 in (a, b)) for a, b in found)


def in_repeated_rows(plan: Plan, line: list[For], lanes: int) -> None:
    """Vectorise the registers of one period at once.

    Each lane is then at a fixed position of a row.
    """
    *_, outer, inner = [plan.axis(x.axis) for x in line]
    outer.sink()
    rows = lcm(lanes, inner.extent) // inner.extent
    if outer.extent % rows and not tail_may_overlap(outer):
        outer, rest = outer.cut(outer.extent - outer.extent % rows)
        _in_narrowing_registers(rest.collapse(rest.inner(), repeating=True), lanes)
    period = outer.split(rows, "overlap").inner.collapse(inner, repeating=True)
    vectorize_interleaved(period, lanes, period.extent // lanes)


def _in_narrowing_registers(axis: AxisHandle, lanes: int) -> None:
    """Vectorise fewer rows than a period, in narrower and narrower registers."""
    while axis.extent > 1:
        now = min(lanes, 1 << (axis.extent.bit_length() - 1))
        if now == axis.extent:
            axis.vectorize()
            return
        register, axis = axis.cut(now)
        register.vectorize()
