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
from xla_explorer.compiler.codegen.nest.directives.reduction_directive import identity_of, too_large
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
    Store,
    all_ids,
    axes_of,
    uses_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.renumbering import with_ids
from xla_explorer.compiler.codegen.nest.rewriting import guards_replaced, with_axes_replaced
from xla_explorer.compiler.codegen.nest.transformations import reduction_of
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, Guard, Substitution, index
from xla_explorer.hlo.opcodes import OpcodeSpec
from xla_explorer.hlo.shape import array_shape


@dataclass(frozen=True)
class ChunkScan(Directive):
    """Two loops over the chunks of a scan: their totals, then their running values.

    axis: the first axis of the scan; its steps are the chunks. The loop <axis> stores the totals,
    over inner axes named <other>p. The loop <axis>p scans each chunk, after a reduction over the
    earlier totals with the axis <axis>b.
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
        """Refuse if the scan is inside a loop or reads what the kernel stores."""
        s = reduction_of(nest, self.axis)
        stored = {x.array for x, _ in nest.statements() if isinstance(x, Store)}
        reads = any(isinstance(x, Load) and x.array in stored for x, _ in walk(s.body))
        if nest.around(self.axis) or reads:
            return refuse(
                "not-outermost",
                f"the scan along {self.axis} must be outside of all loops, and read nothing that "
                "the kernel stores",
            )
        return None

    def new_axes(self, nest: LoopNest) -> tuple[str, ...]:
        """Return the names of new axes, including those inside the scan."""
        s = reduction_of(nest, self.axis)
        inside = [*s.axes[1:], *[b for x, _ in walk(s.body) for b in axes_of(x)]]
        return (*super().new_axes(nest), *[f"{b.axis.name}p" for b in inside])

    def fits_in_scratch(self, nest: LoopNest) -> Reason | None:
        """Refuse if the totals, one cache line each, exceed a thread's stack."""
        s = reduction_of(nest, self.axis)
        steps = nest.axes()[self.axis].axis.extent * (LINE_BYTES // s.elements[0].bytes)
        return too_large(f"the results of {self.axis}", steps, s, MOST_SCRATCH)

    def changed(self, nest: LoopNest) -> LoopNest:
        """Implement `Directive.changed`."""
        s, numbers = reduction_of(nest, self.axis), itertools.count(nest.fresh_id())
        assert isinstance(s.combiner, OpcodeSpec)
        (element,), (one, *rest) = s.elements, s.axes
        start = identity_of(next(numbers), s.combiner, element)
        array = NestArray(
            f"chunk_totals_{s.ids[0]}",
            array_shape(element, (one.axis.extent, LINE_BYTES // element.bytes)),
            True,
            Space.SCRATCH,
        )
        others = {
            b.axis: Axis(f"{b.axis.name}p", b.axis.extent)
            for b in [*rest, *[b for x, _ in walk(s.body) for b in axes_of(x)]]
        }
        ids = {n: next(numbers) for x, _ in walk(s.body) for n in all_ids(x)}
        along: Substitution = {old: index(new) for old, new in others.items()}
        body = tuple([with_ids(x, ids, others) for x in with_axes_replaced(s.body, along)])
        partial = Reduce((next(numbers),), s.elements, s.combiner, (start.id,), tuple([b._replace(axis=others[b.axis]) for b in rest]),
                         body, tuple([ids.get(n, n) for n in s.values]), guards_replaced(s.guards, along), s.origin)  # fmt: skip
        first = For(
            one.axis,
            (partial, Store(array.name, (index(one.axis), index(0)), partial.ids[0], s.origin)),
        )
        now, before = Axis(f"{self.axis}p", one.axis.extent), Axis(f"{self.axis}b", one.axis.extent)
        until = self._combined_totals(
            s,
            array,
            before,
            next(numbers),
            (next(numbers),),
            (Guard(index(now) - index(before) - 1, now.extent),),
        )
        values: Substitution = {one.axis: index(now)}
        (scan,) = with_axes_replaced(
            (replace(s, ids=(next(numbers),), initial=until.ids, axes=tuple(rest)),), values
        )
        second = For(now, (until, scan))
        made: Body = (start, Allocate(array), first, second)
        if any(s.ids[0] in uses_of(x) for x, _ in nest.statements()):
            made = (
                *made,
                self._combined_totals(
                    s, array, Axis(f"{self.axis}a", one.axis.extent), next(numbers), s.ids, ()
                ),
            )
        at = nest.body.index(s)
        return replace(nest, body=(*nest.body[:at], *made, *nest.body[at + 1 :]))

    def _combined_totals(
        self,
        s: Reduce,
        array: NestArray,
        axis: Axis,
        loaded: int,
        ids: tuple[int, ...],
        guards: tuple[Guard, ...],
    ) -> Reduce:
        """Return the reduction of the initial value with the totals of some chunks."""
        load = Load(loaded, s.elements[0], array.name, (index(axis), index(0)), s.origin)
        return Reduce(
            ids,
            s.elements,
            s.combiner,
            s.initial,
            (BoundAxis(axis),),
            (load,),
            (loaded,),
            guards,
            s.origin,
        )
