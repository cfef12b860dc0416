"""Reductions whose rows or columns are split over several blocks.

One nest leaves partial results in scratch memory; another combines them in a fixed order.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.ir import (
    Body,
    BoundAxis,
    Combination,
    Constant,
    For,
    Load,
    LoopNest,
    NestArray,
    Reduce,
    Statement,
    Store,
    uses_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.launch_dimensions import LaunchArchitecture
from xla_explorer.compiler.codegen.nest.plan import AxisHandle
from xla_explorer.compiler.codegen.nest.policies.launched.elementwise import elementwise_schedule
from xla_explorer.compiler.codegen.nest.renumbering import without_unused
from xla_explorer.compiler.codegen.nest.rewriting import (
    guards_replaced,
    rewritten,
    with_axes_replaced,
)
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.indexing import Axis, Substitution, index
from xla_explorer.hlo.identity_element import identity_element
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.shape import array_shape


class Halves(NamedTuple):
    """A split reduction.

    partial: a nest that leaves partial results. combining: a nest that combines them. scratch: the
    arrays of partial results.
    """

    partial: LoopNest
    combining: LoopNest
    scratch: tuple[NestArray, ...]


Policy = Callable[[LoopNest], Schedule | Reason]


def may_be_cut(body: Body) -> bool:
    """Return whether a step only reduces, by single operations, and reductions are independent."""
    reductions = [s for s in body if isinstance(s, Reduce)]
    made = {number for s in reductions for number in s.ids}
    taken = {number for s in reductions for x, _ in walk((s,)) for number in uses_of(x)}
    simple = not any(isinstance(s.combiner, Combination) for s in reductions)
    return simple and not made & taken and not any(isinstance(s, For) for s in body)


def size_of_parts(length: int, parts: int, step: int, unit: int) -> int:
    """Return the size of about `parts` parts: a multiple of `step`, else of `unit`.

    A size that divides the length comes first; otherwise there is a remainder.
    """
    for multiple in (step, unit):
        least, most = -(-length // (parts * multiple)), -(-2 * length // (parts * multiple))
        size = next(
            (k * multiple for k in range(least, most) if length % (k * multiple) == 0), None
        )
        if size is not None:
            return size
    return max(length // (parts * step) * step, length // (parts * unit) * unit)


def cut(
    loops: Sequence[AxisHandle], sweeps: Sequence[AxisHandle], size: int, parts_outside: bool
) -> Halves:
    """Split reductions over some axes into parts; the second kernel adds the remainder."""
    whole = []
    for axis in sweeps:
        rest = axis.extent % size
        whole.append(axis.cut(axis.extent - rest)[0] if rest else axis)
    around, names = [axis.loop for axis in loops], [axis.name for axis in whole]
    return cut_reductions(sweeps[0].plan.nest, around, names, size, parts_outside)


def cut_reductions(
    nest: LoopNest, loops: Sequence[For], names: Sequence[str], size: int, parts_outside: bool
) -> Halves:
    """Split one reduction for each axis into parts of a size that divides it.

    loops: around the reductions. parts_outside: parts are the outermost loop, and the outermost
    dimension of partial results.
    """
    body = loops[-1].body if loops else nest.body
    sizes = {s.axes[0].axis.name: s.axes[0].axis.extent for s in body if isinstance(s, Reduce)}
    last = max(
        [k for k, s in enumerate(body) if isinstance(s, Reduce) and s.axes[0].axis.name in names]
    )
    parts = sizes[names[0]] // size
    numbers = itertools.count(nest.fresh_id())
    kept = [loop.axis for loop in loops]
    part = Axis(f"{names[0]}p", parts)
    dimensions = [part, *kept] if parts_outside else [*kept, part]
    arrays: list[NestArray] = []
    first: list[Statement] = []
    second: list[Statement] = list(body[last + 1 :])
    combining: list[Statement] = []
    for s in body[: last + 1]:
        if not isinstance(s, Reduce) or s.axes[0].axis.name not in names:
            first += [] if isinstance(s, Reduce) else [s]
            combining.append(s)
            continue
        (element,), (number,), old = s.elements, s.ids, s.axes[0].axis
        assert not isinstance(s.combiner, Combination)
        whole = index(part) * size + index(Axis(f"{old.name}q", size))
        values: Substitution = {old: whole}
        guards = guards_replaced(s.guards, values)
        start = Constant(
            next(numbers),
            literal_from_array(
                identity_element(s.combiner.name, element), array_shape(element, ())
            ),
        )
        array = NestArray(
            f"partial_{number}", array_shape(element, tuple([a.extent for a in dimensions])), True
        )
        arrays.append(array)
        axes = (BoundAxis(Axis(f"{old.name}q", size)),)
        made = replace(
            s,
            initial=(start.id,),
            axes=axes,
            body=with_axes_replaced(s.body, values),
            guards=guards,
        )
        first += [
            start,
            made,
            Store(array.name, tuple([index(a) for a in dimensions]), number, s.origin),
        ]
        again = Axis(f"{old.name}r", parts)
        load = Load(
            next(numbers),
            element,
            array.name,
            tuple([index(again if a == part else a) for a in dimensions]),
            s.origin,
        )
        combining.append(
            replace(s, axes=(BoundAxis(again),), body=(load,), values=(load.id,), guards=())
        )
    partial = with_body(
        nest, loops, (For(part, tuple(first)),) if not parts_outside else tuple(first)
    )
    if parts_outside:
        head = [s for s in partial.body if s is not _outermost(partial, loops)] if loops else []
        inner = (_outermost(partial, loops),) if loops else partial.body
        partial = replace(partial, body=(*head, For(part, inner)))
    inputs, results = (
        [a for a in nest.arrays if not a.written],
        [a for a in nest.arrays if a.written],
    )
    read = [replace(a, written=False) for a in arrays]
    stored = (
        results
        if any(isinstance(s, Store) for r in body if isinstance(r, Reduce) for s in r.body)
        else ()
    )  # by the sweep itself
    partial = without_unused(replace(partial, arrays=(*inputs, *stored, *arrays)))
    combined = replace(
        with_body(nest, loops, (*combining, *second)), arrays=(*inputs, *results, *read)
    )
    return Halves(partial, without_unused(combined), tuple(arrays))


def with_body(nest: LoopNest, loops: Sequence[For], body: Body) -> LoopNest:
    """Return the nest with another body inside of some loops."""
    if not loops:
        return replace(nest, body=body)
    axis = loops[-1].axis
    return replace(
        nest,
        body=rewritten(
            nest.body,
            lambda s: replace(s, body=body) if isinstance(s, For) and s.axis == axis else None,
        ),
    )


def _outermost(nest: LoopNest, loops: Sequence[For]) -> Statement:
    return next(s for s in nest.body if isinstance(s, For) and s.axis == loops[0].axis)


def in_two_kernels(
    halves: Halves,
    reasoning: str,
    first: Policy,
    second: Policy,
    architecture: LaunchArchitecture,
    tuning: Tuning,
) -> Schedule | Reason:
    """Return the schedules of both nests; few parts are combined by one thread, more by several."""
    made, combined = first(halves.partial), second(halves.combining)
    if isinstance(combined, Reason):
        combined = elementwise_schedule(halves.combining, architecture, tuning)
    if isinstance(made, Reason) or isinstance(combined, Reason):
        return made if isinstance(made, Reason) else combined
    return replace(made, reasoning=reasoning, following=combined, scratch=halves.scratch)


def groups_of_results(nest: LoopNest) -> list[LoopNest]:
    """Return a nest for each group of results of the same dimensions."""
    inside = tuple([s for s in nest.body if not isinstance(s, For)])
    values = tuple([s for s in inside if not isinstance(s, Store)])
    bodies = [(*values, s) for s in nest.body if isinstance(s, For)] + (
        [inside] if len(values) < len(inside) else []
    )
    return [without_unused(replace(nest, body=body)) for body in bodies]


def one_after_the_other(schedules: Sequence[Schedule]) -> Schedule:
    """Chain the schedules of independent kernels, launched in order."""
    first, *rest = schedules
    if not rest:
        return first
    after = one_after_the_other(rest)
    chained = after if first.following is None else replace(first.following, following=after)
    return replace(first, following=chained, scratch=(*first.scratch, *after.scratch))
