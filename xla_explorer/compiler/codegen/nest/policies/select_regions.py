"""Index-set splitting of loops at the boundaries of select regions (pads, concatenates)."""

from __future__ import annotations

from xla_explorer.compiler.codegen.nest.ir import For, SelectRegion
from xla_explorer.compiler.codegen.nest.plan import Plan
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, Guard

MOST_SPLITS = 256  # of loops: a remaining select region reads all of its cases for every element
FEW_PIECES = 12  # are split off one by one


def split_select_regions(plan: Plan) -> Reason | None:
    """Split loops at the boundaries of select regions until no region is left.

    A region with many cases is halved: each split rewrites the code after it, and adds a letter to
    the names of axes.
    """
    splits = 0
    while regions := [s for s, _ in plan.nest.statements() if isinstance(s, SelectRegion)]:
        region = max(regions, key=lambda s: len(s.cases) // FEW_PIECES)
        found = [boundaries(g) for case in region.cases for g in case.guards]
        changes = [(x[0], x[1][0]) for x in found if x is not None and x[1]]
        splits += 1
        if (
            not changes
            or splits > MOST_SPLITS
            or not isinstance(plan.nest.loop(changes[0][0].name), For)
        ):
            return refuse(
                "no-policy",
                f"@{plan.nest.name} selects what it reads; such kernels are not made from nests "
                "yet",
            )
        axis, first = changes[0]
        places = sorted({place for other, place in changes if other is axis})
        plan.axis(axis).cut(first if len(places) <= FEW_PIECES else places[len(places) // 2])
    return None


def boundaries(g: Guard) -> tuple[Axis, list[int]] | None:
    """Return the axis of a guard, and the steps inside the axis at which the guard changes."""
    if len(g.expression.terms) != 1:
        return None
    ((axis, factor),) = g.expression.terms
    if not isinstance(axis, Axis) or abs(factor) != 1:
        return None
    below, above = -g.expression.constant * factor, (g.bound - g.expression.constant) * factor
    steps = (below, above) if factor == 1 else (above + 1, below + 1)
    return axis, [step for step in steps if 0 < step < axis.extent]
