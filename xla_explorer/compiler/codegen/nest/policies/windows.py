"""The policy of windows (pooling, small convolutions): channels in lanes, the window unrolled where all of it lies inside the array.

Where padding begins, the loops over the results are cut: only at the border are elements looked at
before they are read. Of convolutions in groups, the features of a group are the lanes. What does
not run along memory keeps its plain loops.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.nest.directives import CutLoop, Split, Unroll
from xla_explorer.compiler.codegen.nest.ir import Combination, For, Load, LoopNest, Reduce, walk
from xla_explorer.compiler.codegen.nest.policies.base import Plan, Tuning
from xla_explorer.compiler.codegen.nest.policies.columns import (
    count_of,
    is_contiguous_along,
    is_simple,
    lanes_of_body,
    vectors,
)
from xla_explorer.compiler.codegen.nest.policies.reductions import kept_loops
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.transformations import for_of
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.indexing import ZERO, Axis, Quotient, index

MOST_UNROLLED = 25  # elements of a window
SIDE_BY_SIDE = (
    4,
    3,
    2,
)  # results that take the same weights, which are read once: as many as come out even


def has_overlapping_windows(nest: LoopNest) -> bool:
    """Whether a reduction reads windows: an index counts results and what is reduced."""
    for s, _ in nest.statements():
        if isinstance(s, Reduce):
            own = {b.axis for b in s.axes}
            indices = [
                x for inner, _ in walk(s.body) if isinstance(inner, Load) for x in inner.place
            ]
            if any(own & x.axes and x.axes - own for x in indices):
                return True
    return False


def window_policy(nest: LoopNest, tuning: Tuning, tasks: int = 1) -> Schedule | Reason:
    """The schedule of a nest whose result is a reduction over windows.

    tasks: how many tasks for CPU threads, if possible.
    """
    plan = Plan(nest, tuning)
    kept = kept_loops(nest)
    group = _group(kept[-1]) if not isinstance(kept, Reason) and kept else 1
    if group > 1 and not isinstance(kept, Reason):
        plan.do(Split(kept[-1].axis.name, group))
        kept = kept_loops(plan.nest)
    if isinstance(kept, Reason):
        return kept
    reductions = [s for s in (kept[-1].body if kept else nest.body) if isinstance(s, Reduce)]
    if kept and len(reductions) == 1 and is_simple(reductions[0], several=True, guarded=True):
        in_lanes = tuning.register_bytes > 0 and is_contiguous_along(
            plan.nest, kept[-1].body, kept[-1].axis
        )
        interleave = tuning.interleave
        if count_of(reductions[0]) <= MOST_UNROLLED and not isinstance(
            reductions[0].combiner, Combination
        ):
            _unroll_inside(plan, [loop.axis.name for loop in kept[:-1]], kept[-1].axis.name)
            interleave = 1
        elif in_lanes and group > 1:
            _several_groups(
                plan, kept[-2].axis, interleave * lanes_of_body(kept[-1].body, tuning) // group
            )
        for name in _innermost(plan) if in_lanes else ():
            loop = for_of(plan.nest, name)
            vectors(plan, name, lanes_of_body(loop.body, tuning), interleave)
    plan.parallelize(tasks)
    return plan.schedule()


def _innermost(plan: Plan) -> list[str]:
    """The loops that reductions stand in."""
    return [
        s.axis.name
        for s, _ in plan.nest.statements()
        if isinstance(s, For) and any(isinstance(x, Reduce) for x in s.body)
    ]


def _several_groups(plan: Plan, groups: Axis, most: int) -> None:
    """Accumulators of some groups side by side, where one of them has so few that they would wait for one another."""
    count = next((n for n in SIDE_BY_SIDE if n <= most and groups.extent % n == 0), 1)
    if count > 1:
        plan.do(Split(groups.name, count))
        plan.do(Unroll(f"{groups.name}i"))


def _group(loop: For) -> int:
    """How many results along a loop see the same features of a convolution's operand; 1 where that is one, or all."""
    atoms = [
        atom
        for s, _ in walk(loop.body)
        if isinstance(s, Load)
        for x in s.place
        for atom in x.atoms()
    ]
    found = {
        atom.divisor
        for atom in atoms
        if isinstance(atom, Quotient) and atom.dividend == index(loop.axis)
    }
    return next((n for n in found if loop.axis.extent % n == 0), 1)


def _unroll_inside(plan: Plan, outer: list[str], channel: str) -> None:
    """Cut the loops over results so that all windows of one piece are inside the array; unroll them there."""
    loop = for_of(plan.nest, outer[0] if outer else channel)
    position: Axis | None = None  # along which windows slide, of the loop around the channels
    while True:
        sliding = _window_of(loop)
        inside = _steps_inside(loop.axis, sliding) if sliding else None
        if inside is None:
            return
        first, end = inside
        name, extent = loop.axis.name, loop.axis.extent
        if first > 0:
            plan.do(CutLoop(name, first))
            name, extent, end = f"{name}r", extent - first, end - first
        if end < extent:
            plan.do(CutLoop(name, end))
            name = f"{name}m"
        found = for_of(plan.nest, name)
        inner = next((s for s in found.body if isinstance(s, For)), None)
        if inner is None:
            break
        loop, position = inner, found.axis
    window = _window_of(found)
    for bound in window.axes if window else ():
        if bound.axis.extent > 1:
            plan.do(Unroll(bound.axis.name))
    if window and position is not None and _reads_again(position, window):
        count = next((n for n in SIDE_BY_SIDE if position.extent % n == 0), 1)
        if count > 1:
            plan.do(Split(position.name, count))
            plan.do(Unroll(f"{position.name}i"))


def _reads_again(axis: Axis, s: Reduce) -> bool:
    """Whether windows at all steps of a loop read some elements: the weights of a convolution."""
    return any(
        all(axis not in x.axes for x in load.place)
        for load, _ in walk(s.body)
        if isinstance(load, Load)
    )


def _window_of(loop: For) -> Reduce | None:
    """Return the reduction in a loop; None if a cut has proved that no element of the array is in any of its windows."""
    return next((s for s, _ in walk((loop,)) if isinstance(s, Reduce)), None)


def _steps_inside(axis: Axis, s: Reduce) -> tuple[int, int] | None:
    """The steps of a loop from one to before another for which all guards on its axis hold, wherever in the window; None where none are."""
    first, end = 0, axis.extent
    for g in s.guards:
        factor = g.expression.coefficient(axis)
        if factor == 0:
            continue
        if factor is None or factor < 0:
            return None
        low, high = g.expression.substitute({axis: ZERO}).bounds
        first, end = max(first, -(low // factor)), min(end, (g.bound - 1 - high) // factor + 1)
    return (first, end) if first < end else None
