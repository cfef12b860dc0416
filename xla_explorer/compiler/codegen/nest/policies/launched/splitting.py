"""Reductions whose rows or columns are split over several blocks.

One nest leaves partial results in scratch memory; another combines them in a fixed order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    Body,
    Combination,
    For,
    LoopNest,
    NestArray,
    Reduce,
    Space,
    Statement,
    Store,
    uses_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.launch_dimensions import LaunchArchitecture
from xla_explorer.compiler.codegen.nest.policies.launched.elementwise import elementwise_schedule
from xla_explorer.compiler.codegen.nest.renumbering import without_unused
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.tuning import Tuning
from xla_explorer.foundation.reason import Reason


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


def halves_of(nest: LoopNest) -> Halves:
    """Divide a nest into two kernels, after the loop that leaves partial results in scratch."""
    arrays = {s.array.name: replace(s.array, space=Space.PARAMETER)
              for s in nest.body if isinstance(s, Allocate)}  # fmt: skip
    first = next(s for s in nest.body if isinstance(s, For) and not _stored(s).isdisjoint(arrays))
    rest = tuple([s for s in nest.body if s is not first and not isinstance(s, Allocate)])
    values = tuple([s for s in rest if not isinstance(s, For | Store)])
    inputs = [a for a in nest.arrays if not a.written]
    results = [a for a in nest.arrays if a.written]
    by_sweep = results if _stored(first) - arrays.keys() else []
    scratch = tuple(arrays.values())
    return Halves(
        without_unused(replace(nest, body=(*values, first), arrays=(*inputs, *by_sweep, *scratch))),
        without_unused(
            replace(
                nest,
                body=rest,
                arrays=(*inputs, *results, *[replace(a, written=False) for a in scratch]),
            )
        ),
        scratch,
    )


def _stored(s: Statement) -> set[str]:
    """Return the arrays that a statement stores to."""
    return {x.array for x, _ in walk((s,)) if isinstance(x, Store)}


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
