"""The policy of windows (pooling, small convolutions): vectorised channels, unrolled windows.

Windows are unrolled in the interior. The loops over the results are split where padding begins, so
that only the border has guards. In convolutions with groups, the features of a group are the lanes.
Nests without contiguous accesses keep plain loops.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.nest.ir import Combination, For, Load, LoopNest, Reduce, walk
from xla_explorer.compiler.codegen.nest.plan import AxisHandle, Plan
from xla_explorer.compiler.codegen.nest.policies.columns import (
    count_of,
    is_contiguous_along,
    is_simple,
    lanes_of_body,
    vectors,
)
from xla_explorer.compiler.codegen.nest.policies.reductions import kept_loops
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.tuning import Tuning
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
        plan.axis(kept[-1].axis).split(group)
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
            _unroll_inside(plan.axis(kept[0].axis))
            interleave = 1
        elif in_lanes and group > 1:
            _interleave(
                plan.axis(kept[-2].axis),
                interleave * lanes_of_body(kept[-1].body, tuning) // group,
            )
        for axis in _innermost(plan) if in_lanes else ():
            vectors(axis, lanes_of_body(axis.body, tuning), interleave)
    plan.parallelize(tasks)
    return plan.schedule()


def _innermost(plan: Plan) -> list[AxisHandle]:
    """Return the loops that contain reductions."""
    return [
        plan.axis(s.axis)
        for s, _ in plan.nest.statements()
        if isinstance(s, For) and any(isinstance(x, Reduce) for x in s.body)
    ]


def _interleave(results: AxisHandle, most: int = INTERLEAVED[0]) -> None:
    """Unroll some steps of a loop, a divisor of all, if there is one."""
    count = next((n for n in INTERLEAVED if n <= most and results.extent % n == 0), 1)
    if count > 1:
        results.split(count).inner.unroll()


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


def _unroll_inside(axis: AxisHandle) -> None:
    """Split the loops over results by interior and border; unroll the interior.

    axis: the outermost of these loops.
    """
    position: AxisHandle | None = None  # along which windows overlap, around the channels
    while True:
        sliding = _window_of(axis.loop)
        inside = _steps_inside(axis.axis, sliding) if sliding else None
        if inside is None:
            return
        first, end = inside
        if first > 0:
            _, axis = axis.cut(first)
        if end - first < axis.extent:
            axis, _ = axis.cut(end - first)
        if not any(isinstance(s, For) for s in axis.body):
            break
        axis, position = axis.inner(), axis
    window = _window_of(axis.loop)
    for bound in window.axes if window else ():
        if bound.axis.extent > 1:
            axis.plan.axis(bound.axis).unroll()
    if window and position is not None and _reads_again(position.axis, window):
        _interleave(position)


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
