"""The step `order-instances`: many unrolled instances of a reduction are written one by one.

Each operand is then loaded just before it is combined. Written statement by statement, all operands
would be in registers at once.
"""

from __future__ import annotations

import math

from xla_explorer.compiler.codegen.lowering.lowering_checks import dependencies
from xla_explorer.compiler.codegen.lowering.nest_step import NestStep
from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    Combination,
    LoopNest,
    Reduce,
    axes_of,
    bodies_of,
)
from xla_explorer.hlo.analysis.indexing import Axis

FEW_INSTANCES = 8  # their operands fit the registers


def with_ordered_instances(nest: LoopNest) -> LoopNest:
    """Return the nest whose reductions of many instances are marked."""
    unrolled = [b.axis for b in nest.axes().values() if b.kind is AxisKind.UNROLLED]
    if math.prod([a.extent for a in unrolled]) <= FEW_INSTANCES:
        return nest
    depends = dependencies(nest)
    forms = {}
    for s, around in nest.statements():
        if not isinstance(s, Reduce) or s.each or any(bodies_of(x) for x in s.body):
            continue
        needed = _axes_of_instances(s, depends)
        outer = [
            b.axis
            for x in around
            for b in axes_of(x)
            if b.kind is AxisKind.UNROLLED and b.axis in needed
        ]
        if math.prod([a.extent for a in outer]) > FEW_INSTANCES:
            name = s.axes[0].axis.name
            forms[name] = nest.form(s.axes[0].axis)._replace(one_by_one=True)
    return nest.with_forms(forms) if forms else nest


def _axes_of_instances(s: Reduce, depends: dict[int, frozenset[Axis]]) -> frozenset[Axis]:
    """Return the axes for whose steps a reduction has accumulators of its own."""
    values = (*s.values, *s.initial) if isinstance(s.combiner, Combination) else s.values
    guards = [g.expression.axes for g in s.guards]
    return frozenset().union(*[depends[v] for v in values], *guards)


ORDER_INSTANCES = NestStep(
    "order-instances",
    "Write many unrolled instances of a reduction one by one, to save registers.",
    with_ordered_instances,
    for_launches=False,
)
