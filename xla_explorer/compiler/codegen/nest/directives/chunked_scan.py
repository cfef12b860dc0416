"""`chunk-scan`: a scan in chunks with independent steps, also known as reduce-then-scan.

The first pass reduces each chunk to its total. The second pass scans each chunk, from the combined
totals of the chunks before it. Source: Merrill and Grimshaw, "Parallel Scan for Stream
Architectures" (2009).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import ClassVar

from xla_explorer.compiler.codegen.nest.accesses import LINE_BYTES, MOST_SCRATCH
from xla_explorer.compiler.codegen.nest.directives.base import Directive
from xla_explorer.compiler.codegen.nest.directives.reduction_directive import (
    identity_of,
    too_large,
    why_not_repeated,
)
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    Body,
    BoundAxis,
    Combination,
    For,
    Load,
    LoopNest,
    NestArray,
    Reduce,
    Space,
    Statement,
    Store,
    all_ids,
    axes_of,
    uses_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.renumbering import with_ids, without_unused
from xla_explorer.compiler.codegen.nest.rewriting import rewritten, with_axes_replaced
from xla_explorer.compiler.codegen.nest.transformations import reduction_of
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, Guard, Place, Substitution, index
from xla_explorer.hlo.opcodes import OpcodeSpec
from xla_explorer.hlo.shape import array_shape


@dataclass(frozen=True)
class ChunkScan(Directive):
    """Two loops over the chunks of a scan: their totals, then their running values.

    axis: the first axis of the scan; its steps are the chunks. The loop <axis> stores the totals,
    over inner axes named <other>p. The loop <axis>p scans each chunk, after a reduction over the
    earlier totals with the axis <axis>b. by_result: the totals of a result of the loops around
    are adjacent in memory; these loops come twice, first with the axes <name>p.
    """

    name: ClassVar[str] = "chunk-scan"
    new_suffixes = "pba"
    check_names = (
        "axis_exists",
        "is_a_scan",
        "axis_is_serial",
        "is_first_axis",
        "stands_alone",
        "names_are_free",
        "fits_in_scratch",
    )
    axis: str
    by_result: bool = False

    def is_a_scan(self, nest: LoopNest) -> Reason | None:
        """Refuse if the axis is not one of a scan with a single operation."""
        s = nest.loop(self.axis)
        if not isinstance(s, Reduce) or not s.each:
            return refuse("not-reduced", f"{self.axis} is not an axis of a scan")
        if isinstance(s.combiner, Combination):
            return refuse(
                "order-must-be-kept",
                f"%{s.ids[0]} combines by several operations, in the order of {self.axis}",
            )
        return None

    def is_first_axis(self, nest: LoopNest) -> Reason | None:
        """Refuse if the axis is not the first of several axes of the scan."""
        s = reduction_of(nest, self.axis)
        if s.axes[0].axis.name == self.axis and len(s.axes) > 1:
            return None
        return refuse(
            "only-axis",
            f"{self.axis} must be the first of several axes of %{s.ids[0]}: split it first",
        )

    def stands_alone(self, nest: LoopNest) -> Reason | None:
        """Refuse loops around that cannot be repeated, or without `by_result`."""
        if nest.around(self.axis) and not self.by_result:
            return refuse(
                "not-outermost",
                f"the scan along {self.axis} must be outside of all loops: write by_result, which "
                "stores the totals of each result",
            )
        return why_not_repeated(nest, self.axis)

    def new_axes(self, nest: LoopNest) -> tuple[str, ...]:
        """Return the names of new axes, those inside the scan and of the loops around last."""
        s = reduction_of(nest, self.axis)
        inside = [*s.axes[1:], *[b for x, _ in walk(s.body) for b in axes_of(x)]]
        others = [*inside, *[b for x in nest.around(self.axis) for b in axes_of(x)]]
        return (*super().new_axes(nest), *[f"{b.axis.name}p" for b in others])

    def fits_in_scratch(self, nest: LoopNest) -> Reason | None:
        """Refuse if the totals, one cache line each, exceed a thread's stack."""
        if self.by_result:
            return None
        s = reduction_of(nest, self.axis)
        steps = nest.axes()[self.axis].axis.extent * (LINE_BYTES // s.elements[0].bytes)
        return too_large(f"the results of {self.axis}", steps, s, MOST_SCRATCH)

    def changed(self, nest: LoopNest) -> LoopNest:
        """Implement `Directive.changed`."""
        s, numbers = reduction_of(nest, self.axis), itertools.count(nest.fresh_id())
        assert isinstance(s.combiner, OpcodeSpec)
        (element,), (one, *rest) = s.elements, s.axes
        around = [x for x in nest.around(self.axis) if isinstance(x, For)]
        start = identity_of(next(numbers), s.combiner, element)
        # Threads write to different cache lines, unless totals are adjacent.
        results = tuple([x.axis for x in around])
        extents = (*[a.extent for a in results], one.axis.extent)
        array = NestArray(
            f"chunk_totals_{s.ids[0]}",
            array_shape(
                element, extents if self.by_result else (*extents, LINE_BYTES // element.bytes)
            ),
            True,
            Space.SCRATCH,
        )

        def place(chunk: Axis) -> Place:
            at = tuple([index(a) for a in (*results, chunk)])
            return at if self.by_result else (*at, index(0))

        total = replace(
            s, ids=(next(numbers),), initial=(start.id,), axes=tuple(rest), running=(), each=()
        )
        store = Store(array.name, place(one.axis), total.ids[0], s.origin)
        (first,) = self._before_all(around, s, (total, store))
        others = {
            b.axis: Axis(f"{b.axis.name}p", b.axis.extent)
            for x, _ in walk((first,))
            for b in axes_of(x)
            if b.axis != one.axis
        }
        ids = {n: next(numbers) for x, _ in walk((first,)) for n in all_ids(x)}
        along: Substitution = {old: index(new) for old, new in others.items()}
        (first,) = [with_ids(x, ids, others) for x in with_axes_replaced((first,), along)]
        now, before = Axis(f"{self.axis}p", one.axis.extent), Axis(f"{self.axis}b", one.axis.extent)
        until = self._combined_totals(
            s,
            Load(next(numbers), element, array.name, place(before), s.origin),
            (next(numbers),),
            (Guard(index(now) - index(before) - 1, now.extent),),
            before,
        )
        is_used = any(s.ids[0] in uses_of(x) for x, _ in nest.statements())
        last = (next(numbers),) if is_used else s.ids
        values: Substitution = {one.axis: index(now)}
        (scan,) = with_axes_replaced(
            (replace(s, ids=last, initial=until.ids, axes=tuple(rest)),), values
        )
        made: Body = (For(now, (until, scan)),)
        if is_used:
            after = Axis(f"{self.axis}a", one.axis.extent)
            load = Load(next(numbers), element, array.name, place(after), s.origin)
            made = (*made, self._combined_totals(s, load, s.ids, (), after))
        at = nest.body.index(around[0] if around else s)
        body = rewritten(nest.body, lambda x: made if x is s else None)
        before_all = (start, Allocate(array), first)
        return without_unused(replace(nest, body=(*body[:at], *before_all, *body[at:])))

    def _before_all(self, around: list[For], s: Reduce, body: Body) -> Body:
        """Return the loops around a scan with other statements for a chunk in its place."""
        inner: Statement = s
        made: Body = (For(s.axes[0].axis, body),)
        for loop in reversed(around):
            at = loop.body.index(inner)
            values = [x for x in loop.body[:at] if not isinstance(x, For | Store)]
            inner, made = loop, (replace(loop, body=(*values, *made)),)
        return made

    def _combined_totals(
        self, s: Reduce, load: Load, ids: tuple[int, ...], guards: tuple[Guard, ...], axis: Axis
    ) -> Reduce:
        """Return the reduction of the initial value with the totals of some chunks."""
        return Reduce(
            ids,
            s.elements,
            s.combiner,
            s.initial,
            (BoundAxis(axis),),
            (load,),
            (load.id,),
            guards,
            s.origin,
        )
