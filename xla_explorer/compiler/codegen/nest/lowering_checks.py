"""What loop nests are lowered for, and which axes their values depend on."""

from __future__ import annotations

from xla_explorer.compiler.codegen.nest import elementwise
from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    Body,
    Choose,
    Combination,
    Compute,
    Constant,
    For,
    Iota,
    Load,
    LoopNest,
    Reduce,
    Statement,
    Store,
    axes_of,
    elements_of,
    ids_of,
    walk,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, IndexExpression, Quotient, Remainder, linearize
from xla_explorer.hlo.primitive_type import PrimitiveType


def why_not_lowered(nest: LoopNest) -> Reason | None:
    """None where `lower` has all that a nest consists of."""
    types: dict[int, PrimitiveType] = {}
    for s, around in walk(nest.body):
        types.update(zip(ids_of(s), elements_of(s), strict=True))
        kinds = {b.axis: b.kind for x in (*around, s) for b in axes_of(x)}
        launched = next((axis for axis, kind in kinds.items() if kind.is_launched), None)
        if launched is not None:
            return refuse("axis-of-a-launch", f"{launched} is @{kinds[launched].value}: a CPU has no launch")
        vector = next((axis for axis, kind in kinds.items() if kind is AxisKind.VECTOR), None)
        bad = next((t for t in elements_of(s) if t.name not in elementwise.TYPES), None)
        if bad is not None:
            return refuse("not-lowered", f"values of {bad} are not written for loop nests yet", element=bad.name)
        if isinstance(s, Reduce):
            name = "several operations" if isinstance(s.combiner, Combination) else s.combiner.name
            if isinstance(s.combiner, Combination) or (s.elements[0].is_pred and name not in ("and", "or")):
                return refuse("not-lowered", f"%{s.ids[0]}: {name} of {s.elements[0]} as a combiner is not written for loop nests yet")
        if isinstance(s, Compute) and (reason := elementwise.why_not_written(s, [types[o] for o in s.operands])) is not None:
            return reason
        for x in _expressions(nest, s):
            if any(isinstance(atom, Quotient | Remainder) and atom.dividend.bounds[0] < 0 for atom in x.atoms()):
                return refuse("not-lowered", f"the index {x} divides what may be negative")
            if vector is not None and x.coefficient(vector) is None:
                return refuse("not-lowered", f"the index {x} is not affine in the lanes of {vector}")
    return None


def _expressions(nest: LoopNest, s: Statement) -> list[IndexExpression]:
    """The offsets and guards of a statement."""
    if isinstance(s, Load | Store):
        array = nest.array(s.array)
        assert array is not None
        return [linearize(s.place, array.shape.strides)]
    if isinstance(s, Iota):
        return [s.index]
    guards = s.guards if isinstance(s, For | Reduce) else [g for case in s.cases for g in case.guards] if isinstance(s, Choose) else ()
    return [g.expression for g in guards]


def dependencies(nest: LoopNest) -> dict[int, frozenset[Axis]]:
    """The axes that each value depends on."""
    found: dict[int, frozenset[Axis]] = {}

    def visit(body: Body) -> None:
        for s in body:
            if isinstance(s, For):
                visit(s.body)
            elif isinstance(s, Load):
                found[s.id] = frozenset().union(*[x.axes for x in s.place])
            elif isinstance(s, Constant):
                found[s.id] = frozenset()
            elif isinstance(s, Iota):
                found[s.id] = s.index.axes
            elif isinstance(s, Compute):
                found[s.id] = frozenset().union(*[found[o] for o in s.operands])
            elif isinstance(s, Choose):
                for case in s.cases:
                    visit(case.body)
                guards = [g.expression.axes for case in s.cases for g in case.guards]
                found[s.id] = frozenset().union(*[found[case.value] for case in s.cases], *guards)
            elif isinstance(s, Reduce):
                visit(s.body)
                inner = frozenset().union(*[found[v] for v in s.values], *[g.expression.axes for g in s.guards])
                made = (inner - {b.axis for b in s.axes}).union(*[found[v] for v in s.initial])
                found.update(dict.fromkeys(s.ids, made))

    visit(nest.body)
    return found
