"""Rows shorter than a register: those that follow one another are one loop, of periods in which rows and registers end together."""

from __future__ import annotations

from math import lcm

from xla_explorer.compiler.codegen.nest.directives import Collapse, CutLoop, Sink, Vectorize
from xla_explorer.compiler.codegen.nest.ir import For, LoopNest
from xla_explorer.compiler.codegen.nest.policies.base import (
    Plan,
    Tuning,
    accesses,
    in_blocks,
    is_looked_up,
    lanes_for,
    statements_of,
    tail_may_overlap,
    vectorize_interleaved,
)
from xla_explorer.compiler.codegen.nest.policies.transposes import line_of

SHORT_ROW = 16  # steps of an inner loop that is mostly what registers leave over
WHOLE_ROW = 4  # steps, if a power of two, that are a narrow register of their own where rows do not follow one another
LEAST_PERIODS = 16  # in which rows and registers end together, from which the registers of a period pay for their code
MOST_LANES = 16  # of registers that rows repeat in: more would unroll more


def short_rows(nest: LoopNest, loop: For, tuning: Tuning) -> tuple[list[For], int] | None:
    """(loops around one another, lanes) where the innermost loop has fewer steps than a register; None where rows are long."""
    line = list(line_of(loop))
    statements = statements_of(loop.body)
    lanes, extent = lanes_for(nest, statements, tuning), line[-1].axis.extent
    if len(line) < 2 or extent == 1 or any(isinstance(s, For) for s in line[-1].body):
        return None
    if extent >= lanes and (extent >= SHORT_ROW or extent % lanes == 0):
        return None
    if extent >= WHOLE_ROW and extent & (extent - 1) == 0 and not _follow_one_another(nest, line):
        return None
    lanes = min(lanes, MOST_LANES)
    few = line[-2].axis.extent * extent < LEAST_PERIODS * lcm(lanes, extent)
    return None if few or is_looked_up(line[-1].body) else (line, lanes)


def _follow_one_another(nest: LoopNest, line: list[For]) -> bool:
    """Whether rows of every array are neighbours in memory, or one row, or one element a row."""
    outer, inner = line[-2].axis, line[-1].axis
    found = [
        (offset.coefficient(outer), offset.coefficient(inner))
        for _, offset in accesses(nest, line[0].body)
    ]
    return all(b is not None and (a == b * inner.extent or 0 in (a, b)) for a, b in found)


def in_repeated_rows(plan: Plan, line: list[For], lanes: int) -> None:
    """As many registers at once as rows end with: each of their lanes is at the same place of a row every time."""
    *_, outer, inner = [x.axis for x in line]
    if len(line[-2].body) > 1:
        plan.do(Sink(outer.name))
    rows, name = lcm(lanes, inner.extent) // inner.extent, outer.name
    if outer.extent % rows and not tail_may_overlap(plan, name):
        plan.do(CutLoop(name, outer.extent - outer.extent % rows))
        rest = plan.nest.loop(f"{name}r")
        assert isinstance(rest, For) and isinstance(rest.body[0], For)
        _one_after_the_other(
            plan, rest.axis.name, rest.body[0].axis.name, lanes
        )  # the inner axis of a copy has a name of its own
        name += "m"
    plan.do(in_blocks(plan, name, rows))
    plan.do(Collapse(f"{name}i", inner.name, repeating=True))
    vectorize_interleaved(plan, f"{name}i{inner.name}", lanes, rows * inner.extent // lanes)


def _one_after_the_other(plan: Plan, outer: str, inner: str, lanes: int) -> None:
    """Fewer rows than those of a period, in ever narrower registers."""
    plan.do(Collapse(outer, inner, repeating=True))
    name = outer + inner
    while (left := plan.nest.axes()[name].axis.extent) > 1:
        now = min(lanes, 1 << (left.bit_length() - 1))
        if now < left:
            plan.do(CutLoop(name, now))
        plan.do(Vectorize(f"{name}m" if now < left else name))
        if now == left:
            return
        name = f"{name}r"
