"""`rfactor` makes partial results of a reduction; `reassociate` lets those of an argmax combine."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from xla_explorer.compiler.codegen.nest.argmax import (
    MOST_POSITIONS,
    argmax_direction,
    with_positions,
)
from xla_explorer.compiler.codegen.nest.directives.reduction_directive import (
    ReductionDirective,
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
    Store,
    all_ids,
    ids_of,
    uses_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.renumbering import (
    needed_of,
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
    results of all results. together: axes of other reductions beside this one, with dots between;
    the same loop makes their partial results. by_result: that loop is inside the loops around, and
    the partial results of a result are adjacent in memory.
    """

    name: ClassVar[str] = "rfactor"
    axis: str
    stored: bool = False
    outermost: bool = False
    together: str = ""
    by_result: bool = False

    def checks(self) -> tuple[Predicate, ...]:
        """Implement `Directive.checks`."""
        found = (
            self.axis_exists,
            self.axis_is_reduced,
            self.axis_is_serial,
            self.has_other_axes,
            self.rest_has_identity,
        )
        if not self.stored:
            return found
        stored = (*found, self.names_are_free, self.stands_alone, self.fits_in_scratch)
        return (*stored, self.others_are_alike) if self.together else stored

    def new_axes(self, nest: LoopNest) -> tuple[str, ...]:
        """Return the axes over the partial results, one of each reduction."""
        return tuple([f"{name}p" for name in self._axes()])

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
        """Refuse unless the loops around can be repeated."""
        return why_not_repeated(nest, self.axis) if self.outermost else None

    def others_are_alike(self, nest: LoopNest) -> Reason | None:
        """Refuse other reductions with other loops around, other steps, or a use of one another."""
        names = self._axes()
        found = [nest.loop(name) for name in names]
        alike = self.outermost and all(
            isinstance(s, Reduce)
            and not s.each
            and not isinstance(s.combiner, Combination)
            and len(s.axes) > 1
            and nest.around(name) == nest.around(self.axis)
            and nest.axes()[name].axis.extent == nest.axes()[self.axis].axis.extent
            for name, s in zip(names, found, strict=True)
        )
        if alike:
            reductions = tuple([s for s in found if s is not None])
            made = {number for s in reductions for number in ids_of(s)}
            if not made & {number for s, _ in walk(reductions) for number in uses_of(s)}:
                return None
        return refuse(
            "ranges-differ",
            f"{', '.join(names)} must be axes of independent reductions in the same loops, with "
            "equally many steps",
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
            return self._before_all(nest)
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

    def _axes(self) -> list[str]:
        """Return the names of the axes, one of each reduction."""
        return [self.axis, *filter(None, self.together.split("."))]

    def _before_all(self, nest: LoopNest) -> LoopNest:
        """Return the nest with the loops twice: for partial results, and to combine them.

        The first loops have axes named <name>p.
        """
        around = [x for x in nest.around(self.axis) if isinstance(x, For)]
        one, numbers = nest.axes()[self.axis].axis, itertools.count(nest.fresh_id())
        parts = {
            reduction_of(nest, name): self._part(nest, name, around, numbers)
            for name in self._axes()
        }
        beside = around[-1].body if around else nest.body
        first, *_, last = sorted([beside.index(s) for s in (*parts, *parts)])
        needed = needed_of(
            tuple([x for x in beside[0 if around else first : last] if x not in parts]),
            tuple(parts),
        )
        made: Body = tuple([x for part in parts.values() for x in (*part.partial, *part.stores)])
        if around:
            made = (*needed, *made)
        made = (For(one, made),) if self.by_result else made
        for loop, inner in reversed(list(zip(around, (*around[1:], None), strict=False))):
            before = loop.body[: loop.body.index(inner)] if inner is not None else ()
            made = (replace(loop, body=(*before, *made)),)
        made = made if self.by_result else (For(one, made),)
        ids = {n: next(numbers) for x, _ in walk(made) for n in all_ids(x)}
        axes = {x.axis: Axis(f"{x.axis.name}p", x.axis.extent) for x in around}
        along: Substitution = {old: index(new) for old, new in axes.items()}
        made = tuple([with_ids(x, ids, axes) for x in with_axes_replaced(made, along)])
        wholes = {id(s): part.whole for s, part in parts.items()}
        combined = rewritten(nest.body, lambda x: wholes.get(id(x)))
        at, moved = nest.body.index(around[0]) if around else first, () if around else needed
        starts = [x for part in parts.values() for x in part.start]
        arrays = [Allocate(a) for part in parts.values() for a in part.arrays]
        rest = [x for x in combined[at:] if x not in moved]
        return without_unused(
            replace(nest, body=(*combined[:at], *moved, *starts, *arrays, *made, *rest))
        )

    def _part(self, nest: LoopNest, name: str, around: list[For], numbers: Iterator[int]) -> _Part:
        """Return the statements for the partial results of a reduction over an axis."""
        s, one = reduction_of(nest, name), nest.axes()[self.axis].axis
        after = Axis(f"{name}p", one.extent)
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
            axes=tuple([b for b in s.axes if b.axis.name != name]),
        )
        if name != self.axis:
            same: Substitution = {nest.axes()[name].axis: index(one)}
            (changed,) = with_axes_replaced((partial,), same)
            assert isinstance(changed, Reduce)
            partial = changed
        arrays, stores, loads = [], [], []
        for k, number, t in zip(s.ids, partial.ids, s.elements, strict=True):
            results = [x.axis.extent for x in around]
            place = tuple([index(x.axis) for x in around])
            if not self.by_result and not around:  # threads write to different cache lines
                results, place = [LINE // t.bytes], (index(0),)
            extents = (*results, one.extent) if self.by_result else (one.extent, *results)
            array = NestArray(f"partial_{k}", array_shape(t, extents), True, Space.SCRATCH)
            at, again = (
                (*place, index(x)) if self.by_result else (index(x), *place) for x in (one, after)
            )
            arrays.append(array)
            stores.append(Store(array.name, at, number, s.origin))
            loads.append(Load(next(numbers), t, array.name, again, s.origin))
        whole = replace(
            s,
            combiner=combiner,
            axes=(BoundAxis(after),),
            body=tuple(loads),
            values=tuple([x.id for x in loads]),
            guards=(),
        )
        return _Part(start, tuple(arrays), (partial,), tuple(stores), whole)


class _Part(NamedTuple):
    """The statements of one reduction in parts.

    start: the constant with which a part begins. arrays: of partial results. partial, stores: of a
    part. whole: the reduction of the partial results.
    """

    start: Body
    arrays: tuple[NestArray, ...]
    partial: Body
    stores: Body
    whole: Reduce


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
