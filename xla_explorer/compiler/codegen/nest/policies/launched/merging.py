"""Fusing the store of a result into the reduction over it, so that inputs are read once."""

from __future__ import annotations

from xla_explorer.compiler.codegen.nest.directives import FuseIntoReduction, FuseLoops
from xla_explorer.compiler.codegen.nest.ir import For, Load, LoopNest, Reduce, walk
from xla_explorer.compiler.codegen.nest.plan import Plan, collapse_all
from xla_explorer.compiler.codegen.nest.policies.launched.elementwise import loops_of
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.indexing import Axis, index


def with_merged_sweeps(nest: LoopNest, tuning: Tuning) -> Plan | None:
    """Fuse the only stored array into the only reduction over the same elements, or return None."""
    groups = [s for s in nest.body if isinstance(s, For | Reduce)]
    reducing = [s for s in groups if any(isinstance(x, Reduce) for x, _ in walk((s,)))]
    storing = [s for s in groups if isinstance(s, For) and s not in reducing]
    if len(reducing) != 1 or len(storing) != 1:
        return None
    stored = loops_of((storing[0],))
    around, reduction = _reduction_of(reducing[0])
    if isinstance(stored, Reason) or reduction is None:
        return None
    wanted = [*[loop.axis for loop in around], *[b.axis for b in reduction.axes]]
    order = _in_the_order_of(wanted, stored, reduction)
    if order is None:
        return None
    plan = Plan(nest, tuning)
    axes = [plan.axis(loop.axis) for loop in stored]

    def merge() -> bool:
        for place, axis in enumerate(order):  # by adjacent exchanges, outermost first
            at = axes.index(plan.axis(axis))
            while at > place:
                axes[at - 1].reorder(axes[at])
                axes[at - 1], axes[at] = axes[at], axes[at - 1]
                at -= 1
        for loop, other in zip(axes, around, strict=False):
            plan.do(FuseLoops(loop.name, other.axis.name))
        inner = collapse_all(axes[len(around) :])
        reduced = collapse_all([plan.axis(b.axis) for b in reduction.axes])
        assert inner is not None and reduced is not None
        plan.do(FuseIntoReduction(inner.name, reduced.name))
        return True

    return plan if plan.attempt(merge) else None


def _reduction_of(s: For | Reduce) -> tuple[list[For], Reduce | None]:
    """Return the loops around a reduction, and the reduction if no other loop is beside it."""
    around: list[For] = []
    while isinstance(s, For):
        around.append(s)
        inner = [x for x in s.body if isinstance(x, For | Reduce)]
        if len(inner) != 1:
            return around, None
        s = inner[0]
    return around, s


def _in_the_order_of(wanted: list[Axis], stored: list[For], reduction: Reduce) -> list[Axis] | None:
    """Return the stored loops' axes in the reduction's order.

    Axes are matched by the dimension that both read.
    """
    theirs = {s.array: s for s, _ in walk(reduction.body) if isinstance(s, Load)}
    for s in stored[-1].body:
        other = theirs.get(s.array) if isinstance(s, Load) else None
        if other is None or not isinstance(s, Load):
            continue
        pairs = {b: a for a, b in zip(s.place, other.place, strict=True)}
        found = [pairs.get(index(axis)) for axis in wanted]
        axes = {index(loop.axis): loop.axis for loop in stored}
        if all(x in axes for x in found) and len({*found}) == len(stored):
            return [axes[x] for x in found if x is not None]
    return None
