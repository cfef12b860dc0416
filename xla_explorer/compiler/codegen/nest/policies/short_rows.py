"""Rows shorter than a register: those that follow one another are one loop, of periods in which rows and registers end together."""

from __future__ import annotations

from math import lcm

from xla_explorer.compiler.codegen.nest.directives import Collapse, Cut, Sink, Split, Unroll, Vectorize
from xla_explorer.compiler.codegen.nest.ir import For, LoopNest
from xla_explorer.compiler.codegen.nest.policies.base import Plan, Tuning, accesses, lanes_for, statements_of
from xla_explorer.compiler.codegen.nest.policies.transposes import line_of

SHORT_ROW = 16  # steps of an inner loop that is mostly what registers leave over
WHOLE_ROW = 4  # steps, if a power of two, that are a narrow register of their own where rows do not follow one another
MOST_LANES = 16  # of registers that rows repeat in: more would take more copies


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
    return line, min(lanes, MOST_LANES)


def _follow_one_another(nest: LoopNest, line: list[For]) -> bool:
    """Whether rows of every array are neighbours in memory, or one row, or one element a row."""
    outer, inner = line[-2].axis, line[-1].axis
    found = [(offset.coefficient(outer), offset.coefficient(inner)) for _, offset in accesses(nest, line[0].body)]
    return all(b is not None and (a == b * inner.extent or 0 in (a, b)) for a, b in found)


def in_repeated_rows(plan: Plan, line: list[For], lanes: int) -> None:
    """As many registers at once as rows end with: each of their lanes is at the same place of a row every time."""
    *_, outer, inner = [x.axis for x in line]
    if len(line[-2].body) > 1:
        plan.do(Sink(outer.name))
    plan.do(Collapse(outer.name, inner.name, repeating=True))
    name, total, period = outer.name + inner.name, outer.extent * inner.extent, lcm(lanes, inner.extent)
    whole = total - total % period
    if whole == total:
        _repeated(plan, name, period, lanes)
        return
    if whole:
        plan.do(Cut(name, whole))
        _repeated(plan, f"{name}m", period, lanes)
        name = f"{name}r"
    while (left := plan.nest.axes()[name].axis.extent) > 1:
        now = min(lanes, 1 << (left.bit_length() - 1))
        if now < left:
            plan.do(Cut(name, now))
        plan.do(Vectorize(f"{name}m" if now < left else name))
        if now == left:
            return
        name = f"{name}r"


def _repeated(plan: Plan, name: str, period: int, lanes: int) -> None:
    """A loop of whole periods, each in copies of a register."""
    if period == lanes:
        plan.do(Split(name, lanes))
        plan.do(Vectorize(f"{name}i"))
        return
    plan.do(Split(name, period))
    plan.do(Split(f"{name}i", lanes))
    plan.do(Unroll(f"{name}io"))
    plan.do(Vectorize(f"{name}ii"))
