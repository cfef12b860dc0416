"""The policy of windows (pooling, small convolutions): vectorised channels, unrolled windows.

Windows are unrolled in the interior. The loops over the results are split where padding begins, so
that only the border has guards. In convolutions with groups, the features of a group are the lanes.
Nests without contiguous accesses keep plain loops.
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
INTERLEAVED = (
    4,
    3,
    2,
)  # results with common weights, which are loaded once: a divisor of all


def has_overlapping_windows(nest: LoopNest) -> bool:
    """Return True if a reduction reads windows: an index has result axes and reduced axes."""
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
    """Return the schedule of a nest whose result is a reduction over windows.

    tasks: number of tasks for CPU threads, if possible.
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
    """Return the loops that contain reductions."""
    return [
        s.axis.name
        for s, _ in plan.nest.statements()
        if isinstance(s, For) and any(isinstance(x, Reduce) for x in s.body)
    ]


def _several_groups(plan: Plan, groups: Axis, most: int) -> None:
    """Interleave accumulators of several groups, if one group would be latency-bound."""
    count = next((n for n in INTERLEAVED if n <= most and groups.extent % n == 0), 1)
    if count > 1:
        plan.do(Split(groups.name, count))
        plan.do(Unroll(f"{groups.name}i"))


def _group(loop: For) -> int:
    """Return the number of results along a loop that read the same features, 1 for one or all."""
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
    """Split the loops over results by interior and border; unroll the interior."""
    loop = for_of(plan.nest, outer[0] if outer else channel)
    position: Axis | None = None  # along which windows overlap, of the loop around the channels
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
        count = next((n for n in INTERLEAVED if position.extent % n == 0), 1)
        if count > 1:
            plan.do(Split(position.name, count))
            plan.do(Unroll(f"{position.name}i"))


def _reads_again(axis: Axis, s: Reduce) -> bool:
    """Return True if all windows of a loop read common elements, such as weights."""
    return any(
        all(axis not in x.axes for x in load.place)
        for load, _ in walk(s.body)
        if isinstance(load, Load)
    )


def _window_of(loop: For) -> Reduce | None:
    """Return the reduction in a loop.

    None if a split has proved that its windows are outside the array.
    """
    return next((s for s, _ in walk((loop,)) if isinstance(s, Reduce)), None)


def _steps_inside(axis: Axis, s: Reduce) -> tuple[int, int] | None:
    """Return the iterations for which all guards on an axis are true, or None."""
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
