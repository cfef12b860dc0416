"""The step `stride-loops`: loops count in the factor that all indices have in common.

With an axis `i` of 64 steps whose indices are all multiples of `16 * i`, the loop counts 0, 16, ...
1008, so that addresses need no multiplication.
"""

from __future__ import annotations

from math import gcd

from xla_explorer.compiler.codegen.lowering.nest_step import NestStep
from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    Compute,
    For,
    Iota,
    Load,
    LoopNest,
    Reduce,
    SelectRegion,
    Statement,
    Store,
)
from xla_explorer.hlo.analysis.indexing import ZERO, Axis, IndexExpression, RuntimeValue


def with_strides(nest: LoopNest) -> LoopNest:
    """Return the nest with the strides of its serial and parallel loops."""
    factors = common_factors(nest)
    forms = {
        s.axis.name: nest.form(s.axis)._replace(stride=factors[s.axis])
        for s, _ in nest.statements()
        if isinstance(s, For)
        and s.kind in (AxisKind.SERIAL, AxisKind.PARALLEL)
        and factors.get(s.axis, 1) > 1
    }
    return nest.with_forms(forms) if forms else nest


def _expressions(nest: LoopNest, s: Statement) -> list[IndexExpression]:
    """Return the indices of a statement."""
    if isinstance(s, (Load, Store)):
        return [nest.offset_of(s)]
    if isinstance(s, Iota):
        return [s.index]
    guards = (
        s.guards
        if isinstance(s, (For, Reduce))
        else [g for case in s.cases for g in case.guards]
        if isinstance(s, SelectRegion)
        else ()
    )
    return [g.expression for g in guards]


def common_factors(nest: LoopNest) -> dict[Axis, int]:
    """Return the greatest common factor of each axis in all indices.

    Its loop counts in steps of that factor.
    """
    found: dict[Axis, int] = {}
    for s in [s for s, _ in nest.statements() if not isinstance(s, Compute)]:
        for x in _expressions(nest, s):
            if not x.is_affine:  # runtime values are computed already, whatever their own index was
                x = x.substitute(
                    {atom: ZERO for atom in x.atoms() if isinstance(atom, RuntimeValue)}
                )
            for atom, factor in x.terms:
                if isinstance(atom, Axis):
                    found[atom] = gcd(found.get(atom, 0), factor)
                else:
                    found.update(dict.fromkeys(IndexExpression(((atom, 1),)).axes, 1))
    return found


STRIDE_LOOPS = NestStep(
    "stride-loops",
    "Count loops in the factor that all indices have in common.",
    with_strides,
    for_launches=False,
)
