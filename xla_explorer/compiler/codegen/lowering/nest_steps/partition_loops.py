"""The step `partition-loops`: the last iteration has code of its own if only it needs guards.

All other iterations then have no guards. A reduction becomes two, of which the second continues
with the result of the first. Halide calls this loop partitioning. A window of few steps that may be
outside of the array is written out. Each step then has a guard of its own, and no branch if it is
always inside.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from xla_explorer.compiler.codegen.function_writer import UNROLLED_ITERATIONS
from xla_explorer.compiler.codegen.lowering.nest_step import INSTANCES, NestStep
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    AxisKind,
    Body,
    Combination,
    For,
    LoopNest,
    Reduce,
    Statement,
    all_ids,
    axes_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.launch import crosses_threads, opened_axes
from xla_explorer.compiler.codegen.nest.renumbering import with_ids
from xla_explorer.compiler.codegen.nest.rewriting import (
    guards_replaced,
    rewritten,
    with_axes_replaced,
)
from xla_explorer.hlo.analysis.indexing import Axis, Guard, Substitution, index


def with_partitioned_loops(nest: LoopNest) -> LoopNest:
    """Return the nest whose loops have guards only in their last iteration, where possible."""
    numbers = itertools.count(nest.fresh_id())
    forms = {
        axis.name: nest.form(axis)._replace(written_out=True)
        for s, around in nest.statements()
        if isinstance(s, Reduce)
        for axis in _written_out(s, around)
    }
    body = rewritten(nest.body, partial(_partitioned, numbers=numbers, written_out=set(forms)))
    changed = nest if body is nest.body else replace(nest, body=body)
    return changed.with_forms(forms) if forms else changed


def _written_out(s: Reduce, around: Sequence[Statement]) -> list[Axis]:
    """Return the serial axes of few steps that guards skip, if no other thread takes part."""
    if isinstance(s.combiner, Combination) or any(map(crosses_threads, (*around, s))):
        return []
    axes = frozenset().union(*[g.expression.axes for g in s.guards])
    if not axes.isdisjoint([b.axis for b in opened_axes(around, s) if b.kind in INSTANCES]):
        return []
    found = [axis for axis, kind in s.axes if kind is AxisKind.SERIAL and axis in axes]
    few = math.prod([axis.extent for axis in found]) <= UNROLLED_ITERATIONS
    return found if few else []


def _partitioned(s: Statement, numbers: Iterator[int], written_out: set[str]) -> Body | None:
    """Return all iterations but the last of the outermost serial axis, then the last."""
    axis = next((b.axis for b in axes_of(s) if b.kind is AxisKind.SERIAL), None)
    if not isinstance(s, For | Reduce) or axis is None or axis.extent < 2:
        return None
    if any(b.axis.name in written_out for b in axes_of(s)):
        return None
    inside = [x for x, _ in walk((s,))]
    guards = [g for x in inside if isinstance(x, For | Reduce) for g in x.guards]
    if any(
        isinstance(x, Allocate) or (isinstance(x, Reduce) and x.each) for x in inside
    ) or not _last_needs_guards(axis, guards):
        return None
    shorter = Axis(axis.name, axis.extent - 1)
    others = {b.axis: _last_of(b.axis) for x in inside for b in axes_of(x) if b.axis != axis}
    first: Substitution = {axis: index(shorter)}
    last: Substitution = {
        a: index(axis.extent - 1) if a == axis else index(others[a]) for a in (axis, *others)
    }
    ids = {n: next(numbers) for x in inside if x is not s for n in all_ids(x)}
    body = tuple([with_ids(x, ids, others) for x in with_axes_replaced(s.body, last)])
    if isinstance(s, For):
        head = replace(s, axis=shorter, body=with_axes_replaced(s.body, first))
        tail = replace(s, axis=_last_of(Axis(axis.name, 1)), body=body)
        return (
            replace(head, guards=guards_replaced(s.guards, first)),
            replace(tail, guards=guards_replaced(s.guards, last)),
        )
    before = replace(
        s,
        ids=tuple([next(numbers) for _ in s.ids]),
        axes=tuple([b._replace(axis=shorter) if b.axis == axis else b for b in s.axes]),
        body=with_axes_replaced(s.body, first),
        guards=guards_replaced(s.guards, first),
    )
    after = replace(
        s,
        initial=before.ids,
        axes=tuple([b._replace(axis=others[b.axis]) for b in s.axes if b.axis != axis]),
        body=body,
        values=tuple([ids.get(n, n) for n in s.values]),
        guards=guards_replaced(s.guards, last),
    )
    return before, after


def _last_of(axis: Axis) -> Axis:
    """Return the axis of the last iteration's code that stands for another one."""
    return Axis(f"{axis.name}l", axis.extent)


def _last_needs_guards(axis: Axis, guards: Sequence[Guard]) -> bool:
    """Return True if some guards may fail, but only in the last step of an axis."""
    shorter: Substitution = {axis: index(Axis(axis.name, axis.extent - 1))}
    concerned = [g for g in guards if axis in g.expression.axes and not g.always_holds]
    return bool(concerned) and not guards_replaced(tuple(concerned), shorter)


PARTITION_LOOPS = NestStep(
    "partition-loops",
    "Give the last iteration code of its own if only it needs guards.",
    with_partitioned_loops,
    for_cpus=False,
)
