"""`rfactor` makes partial results of a reduction; `reassociate` lets those of an argmax combine."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import ClassVar

from xla_explorer.compiler.codegen.nest.argmax import (
    MOST_POSITIONS,
    argmax_direction,
    with_positions,
)
from xla_explorer.compiler.codegen.nest.directives.reduction_directive import (
    ReductionDirective,
    identity_of,
    too_large,
)
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    AxisKind,
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
    walk,
)
from xla_explorer.compiler.codegen.nest.renumbering import (
    with_ids,
    without_unused,
)
from xla_explorer.compiler.codegen.nest.rewriting import (
    rewritten,
    with_axes_replaced,
    with_loop_replaced,
)
from xla_explorer.compiler.codegen.nest.transformations import reduction_of
from xla_explorer.foundation.reason import Predicate, Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, Substitution, index
from xla_explorer.hlo.opcodes import OpcodeSpec
from xla_explorer.hlo.shape import array_shape

LINE = 64  # bytes of a cache line; threads write partial results to different lines


@dataclass(frozen=True)
class Rfactor(ReductionDirective):
    """A partial result for each step of one reduced axis, then a reduction of the partial results.

    stored: all partial results are made first, in memory. By default each is combined at once.
    outermost: a loop over the axis, before all loops around the reduction, makes the partial
    results of all results.
    """

    name: ClassVar[str] = "rfactor"
    new_suffixes = "p"
    axis: str
    stored: bool = False
    outermost: bool = False

    def checks(self) -> tuple[Predicate, ...]:
        """Implement `Directive.checks`."""
        found = (
            self.axis_exists,
            self.axis_is_reduced,
            self.axis_is_serial,
            self.has_other_axes,
            self.rest_has_identity,
        )
        return (
            (*found, self.names_are_free, self.stands_alone, self.fits_in_scratch)
            if self.stored
            else found
        )

    def fits_in_scratch(self, nest: LoopNest) -> Reason | None:
        """Refuse partial results that exceed a thread's stack."""
        s = reduction_of(nest, self.axis)
        return (
            None
            if self.outermost
            else too_large(
                f"the partial results of {self.axis}", nest.axes()[self.axis].axis.extent, s
            )
        )

    def stands_alone(self, nest: LoopNest) -> Reason | None:
        """Refuse unless the loops around are serial and unconditional.

        They must not read what the kernel stores.
        """
        around = nest.around(self.axis) if self.outermost else ()
        names = {f"{b.axis.name}p" for s in around for b in axes_of(s)} & nest.axes().keys()
        if names:
            return refuse("name-taken", f"the nest has an axis {min(names)} already")
        stored = {s.array for s, _ in nest.statements() if isinstance(s, Store)}
        reads = any(isinstance(s, Load) and s.array in stored for s, _ in walk(around[:1]))
        if not reads and all(
            isinstance(s, For) and s.kind is AxisKind.SERIAL and not s.guards and not s.ordered
            for s in around
        ):
            return None
        return refuse(
            "not-outermost",
            f"the reduction over {self.axis} must be inside serial loops that do not read what "
            "they store",
        )

    def has_other_axes(self, nest: LoopNest) -> Reason | None:
        """Refuse if no other axis is left to reduce."""
        s = reduction_of(nest, self.axis)
        return (
            None
            if len(s.axes) > 1
            else refuse(
                "only-axis", f"%{s.ids[0]} is reduced over {self.axis} alone: split it first"
            )
        )

    def changed(self, nest: LoopNest) -> LoopNest:
        """Implement `Directive.changed`."""
        s = reduction_of(nest, self.axis)
        if self.outermost:
            return self._before_all(nest, s)
        assert isinstance(s.combiner, OpcodeSpec)
        number, (element,) = nest.fresh_id(), s.elements
        one = next(b for b in s.axes if b.axis.name == self.axis)
        start = identity_of(number, s.combiner, element)
        partial = replace(
            s, ids=(number + 1,), initial=(number,), axes=tuple([b for b in s.axes if b is not one])
        )
        made: Body
        if self.stored:
            after = Axis(f"{self.axis}p", one.axis.extent)
            array = NestArray(
                f"partial_{s.ids[0]}", array_shape(element, (after.extent,)), True, Space.SCRATCH
            )
            each = For(
                one.axis,
                (start, partial, Store(array.name, (index(one.axis),), number + 1, s.origin)),
            )
            load = Load(number + 2, element, array.name, (index(after),), s.origin)
            whole = replace(
                s, axes=(BoundAxis(after),), body=(load,), values=(number + 2,), guards=()
            )
            made = (Allocate(array), each, whole)
        else:
            made = (
                replace(s, axes=(one,), body=(start, partial), values=(number + 1,), guards=()),
            )
        return with_loop_replaced(nest, self.axis, lambda _: made)

    def _before_all(self, nest: LoopNest, s: Reduce) -> LoopNest:
        """Return the nest with the loops twice: for partial results, and to combine them.

        The first loops have axes named <name>p.
        """
        around = [x for x in nest.around(self.axis) if isinstance(x, For)]
        one = next(b for b in s.axes if b.axis.name == self.axis)
        after = Axis(f"{self.axis}p", one.axis.extent)
        numbers = itertools.count(nest.fresh_id())
        start: Body = ()
        combiner, initial = s.combiner, s.initial
        if isinstance(combiner, Combination):
            assert combiner.join is not None
            combiner = combiner.join
        else:
            identity = identity_of(next(numbers), combiner, s.elements[0])
            start, initial = (identity,), (identity.id,)
        partial = replace(
            s,
            ids=tuple([next(numbers) for _ in s.ids]),
            initial=initial,
            axes=tuple([b for b in s.axes if b is not one]),
        )
        inside = tuple([index(x.axis) for x in around]) or (index(0),)
        arrays = []
        for k, t in zip(s.ids, s.elements, strict=True):
            extents = tuple([x.axis.extent for x in around]) or (LINE // t.bytes,)
            arrays.append(
                NestArray(
                    f"partial_{k}", array_shape(t, (one.axis.extent, *extents)), True, Space.SCRATCH
                )
            )
        stores = [
            Store(a.name, (index(one.axis), *inside), k, s.origin)
            for a, k in zip(arrays, partial.ids, strict=True)
        ]
        made: Body = (partial, *stores)
        for loop, inner in reversed(list(zip(around, (*around, s)[1:], strict=True))):
            made = (replace(loop, body=(*loop.body[: loop.body.index(inner)], *made)),)
        ids = {n: next(numbers) for x, _ in walk(made) for n in all_ids(x)}
        axes = {x.axis: Axis(f"{x.axis.name}p", x.axis.extent) for x in around}
        along: Substitution = {old: index(new) for old, new in axes.items()}
        made = tuple([with_ids(x, ids, axes) for x in with_axes_replaced(made, along)])
        loads = [
            Load(next(numbers), t, a.name, (index(after), *inside), s.origin)
            for a, t in zip(arrays, s.elements, strict=True)
        ]
        whole = replace(
            s,
            combiner=combiner,
            axes=(BoundAxis(after),),
            body=tuple(loads),
            values=tuple([x.id for x in loads]),
            guards=(),
        )
        combined = rewritten(nest.body, lambda x: whole if x is s else None)
        at = nest.body.index(around[0] if around else s)
        first = (*start, *[Allocate(a) for a in arrays], For(one.axis, made))
        return without_unused(replace(nest, body=(*combined[:at], *first, *combined[at:])))


@dataclass(frozen=True)
class Reassociate(ReductionDirective):
    """An argmax or argmin whose partial results combine in any order.

    The reduction carries the position of its value as a third result.
    """

    name: ClassVar[str] = "reassociate"
    check_names = ("axis_exists", "axis_is_reduced", "axis_is_serial", "is_argmax_or_argmin")
    axis: str

    def is_argmax_or_argmin(self, nest: LoopNest) -> Reason | None:
        """Refuse other combiners, and more elements than 32 bits count."""
        s = reduction_of(nest, self.axis)
        if (
            argmax_direction(s) is not None
            and math.prod([b.axis.extent for b in s.axes]) < MOST_POSITIONS
        ):
            return None
        return refuse(
            "order-must-be-kept",
            f"%{s.ids[0]} must be an argmax or argmin: the largest or smallest value and its index",
        )

    def changed(self, nest: LoopNest) -> LoopNest:
        """Implement `Directive.changed`."""
        s = reduction_of(nest, self.axis)
        return with_positions(nest, s)
