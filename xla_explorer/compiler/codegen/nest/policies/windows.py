"""The policy of windows (pooling, depthwise convolutions): channels in lanes, the window unrolled where all of it lies inside the array.

Where padding begins, the loops over the results are cut: only at the border are elements looked at before they are read.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.nest.directives import Cut, Split, Unroll
from xla_explorer.compiler.codegen.nest.ir import For, Load, LoopNest, Reduce, walk
from xla_explorer.compiler.codegen.nest.policies.base import Plan, Tuning
from xla_explorer.compiler.codegen.nest.policies.columns import count_of, is_simple, lanes_of_body, runs_along, vectors
from xla_explorer.compiler.codegen.nest.policies.reductions import kept_loops
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.transformations import loop_of
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import ZERO, Axis

MOST_UNROLLED = 25  # elements of a window
SIDE_BY_SIDE = (4, 3, 2)  # results that take the same weights, which are read once: as many as come out even


def slides(nest: LoopNest) -> bool:
    """Whether a reduction reads windows: an index counts results and what is reduced."""
    for s, _ in walk(nest.body):
        if isinstance(s, Reduce):
            own = {b.axis for b in s.axes}
            indices = [x for inner, _ in walk(s.body) if isinstance(inner, Load) for x in inner.place]
            if any(own & x.axes and x.axes - own for x in indices):
                return True
    return False


def window_policy(nest: LoopNest, tuning: Tuning, parts: int = 1) -> Schedule | Reason:
    """The schedule of a nest whose result is a reduction over windows. parts: shares for threads, where that is possible."""
    kept = kept_loops(nest)
    if isinstance(kept, Reason):
        return kept
    plan = Plan(nest, tuning)
    reductions = [s for s in (kept[-1].body if kept else nest.body) if isinstance(s, Reduce)]
    if not kept or len(reductions) > 1 or not is_simple(reductions[0], guarded=True):
        return refuse("family-not-moved", f"@{nest.name} combines windows by several operations, or of values that are not elementwise")
    channel = kept[-1].axis
    if not tuning.register_bytes or not runs_along(nest, kept[-1].body, channel):
        return refuse("not-along-memory", f"@{nest.name} has windows along {channel}: results side by side overlap")
    if count_of(reductions[0]) <= MOST_UNROLLED:
        _unroll_inside(plan, [loop.axis.name for loop in kept[:-1]], channel.name)
    for name in [s.axis.name for s, _ in walk(plan.nest.body) if isinstance(s, For) and any(isinstance(x, Reduce) for x in s.body)]:
        loop = loop_of(plan.nest, name)
        assert isinstance(loop, For)
        vectors(plan, name, lanes_of_body(loop.body, tuning), 1)
    plan.share(parts)
    return plan.schedule()


def _unroll_inside(plan: Plan, outer: list[str], channel: str) -> None:
    """Cut the loops over results so that all windows of one piece are inside the array; unroll them there."""
    loop = loop_of(plan.nest, outer[0]) if outer else loop_of(plan.nest, channel)
    assert isinstance(loop, For)
    position: Axis | None = None  # along which windows slide, of the loop around the channels
    while True:
        inside = _steps_inside(loop.axis, _window_of(loop))
        if inside is None:
            return
        first, end = inside
        name, extent = loop.axis.name, loop.axis.extent
        if first > 0:
            plan.do(Cut(name, first))
            name, extent, end = f"{name}r", extent - first, end - first
        if end < extent:
            plan.do(Cut(name, end))
            name = f"{name}m"
        found = loop_of(plan.nest, name)
        assert isinstance(found, For)
        inner = next((s for s in found.body if isinstance(s, For)), None)
        if inner is None:
            break
        loop, position = inner, found.axis
    window = _window_of(found)
    for bound in window.axes:
        if bound.axis.extent > 1:
            plan.do(Unroll(bound.axis.name))
    if position is not None and _reads_again(position, window):
        count = next((n for n in SIDE_BY_SIDE if position.extent % n == 0), 1)
        if count > 1:
            plan.do(Split(position.name, count))
            plan.do(Unroll(f"{position.name}i"))


def _reads_again(axis: Axis, s: Reduce) -> bool:
    """Whether windows at all steps of a loop read some elements: the weights of a convolution."""
    return any(all(axis not in x.axes for x in load.place) for load, _ in walk(s.body) if isinstance(load, Load))


def _window_of(loop: For) -> Reduce:
    return next(s for s, _ in walk((loop,)) if isinstance(s, Reduce))


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
