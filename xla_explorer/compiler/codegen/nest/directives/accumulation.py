"""Directives of reductions: `accumulate` keeps sums in memory while rows go by, `rfactor` makes partial results and combines them after."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from xla_explorer.compiler.codegen.nest.directives.base import (
    MOST_SCRATCH,
    MOST_STAGED,
    Directive,
    order_of_sums,
)
from xla_explorer.compiler.codegen.nest.extremes import (
    MOST_POSITIONS,
    direction_of_extreme,
    with_positions,
)
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    Array,
    AxisKind,
    Body,
    BoundAxis,
    Combination,
    Compute,
    Constant,
    For,
    Load,
    LoopNest,
    Reduce,
    Space,
    Statement,
    Store,
    all_ids,
    axes_of,
    ids_of,
    rewritten,
    walk,
    with_axes_replaced,
    with_loop_replaced,
)
from xla_explorer.compiler.codegen.nest.renumbering import (
    fresh_numbers,
    needed_of,
    renumbered,
    with_ids,
    without_unused,
)
from xla_explorer.compiler.codegen.nest.transformations import reduction_of
from xla_explorer.foundation.reason import Predicate, Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, Substitution, index
from xla_explorer.hlo.attributes import NO_ATTRIBUTES
from xla_explorer.hlo.identity_element import identity_element
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.opcodes import OpcodeSpec
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import array_shape

LINE = 64  # bytes of a cache line: partial results that threads write do not share one


class OfReduction(Directive):
    """A change of the reduction over an axis. takes_scans: also of a scan."""

    takes_scans: ClassVar[bool] = False

    def axis_is_reduced(self, nest: LoopNest) -> Reason | None:
        """The axis is one of a reduction's, which has one result."""
        s = nest.loop(self.axis)
        if isinstance(s, Reduce) and s.each and not self.takes_scans:
            return refuse(
                "order-must-be-kept",
                f"%{s.ids[0]} gives every running value along {self.axis}, in the order of its steps",
            )
        return (
            None
            if isinstance(s, Reduce)
            else refuse("not-reduced", f"nothing is reduced over {self.axis}")
        )

    def rest_has_identity(self, nest: LoopNest) -> Reason | None:
        """Partial results over the other axes can start from an identity element; those of a scan go on in order."""
        s = reduction_of(nest, self.axis)
        if s.each:
            first = s.axes[0].axis.name == self.axis
            return (
                None
                if first
                else refuse(
                    "order-must-be-kept",
                    f"{self.axis} must be the first axis of the scan %{s.ids[0]}",
                )
            )
        joins = (
            isinstance(s.combiner, Combination)
            and s.combiner.join is not None
            and getattr(self, "outermost", False)
        )
        if len(s.axes) > 1 and isinstance(s.combiner, Combination) and not joins:
            return refuse(
                "no-identity",
                f"%{s.ids[0]} combines by several operations: a partial result has no identity element",
            )
        return None

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """See `Directive.facts`."""
        return {**super().facts(nest), **order_of_sums(nest, self.axis)}


@dataclass(frozen=True)
class Accumulate(OfReduction):
    """A reduction goes outside of the loop that has it: the results of all steps of that loop are accumulated side by side in memory. Of a
    scan these are the running values.

    along: that loop, or one around it that consists of nothing but loops down to it: all of them go inside.
    """

    name: ClassVar[str] = "accumulate"
    takes_scans = True
    asks = (
        "axis_exists", "along_exists", "axis_is_reduced", "axis_is_serial", "reduction_is_inside", "loops_are_free", "rest_has_identity",
        "starts_outside", "needs_no_other_work", "not_in_registers", "names_are_free", "fits_in_scratch",
    )  # fmt: skip
    axis: str
    along: str

    def fits_in_scratch(self, nest: LoopNest) -> Reason | None:
        """The sums of all steps of a loop are on a thread's stack, those of several loops in memory that the kernel is given."""
        loops, s = self._parts(nest)
        limit = MOST_STAGED if len(loops) > 1 and nest.shares == 1 else MOST_SCRATCH
        return too_large(
            f"the sums of {self.along}", math.prod([x.axis.extent for x in loops]), s, limit
        )

    def along_exists(self, nest: LoopNest) -> Reason | None:
        """The loop is one of the nest's."""
        return replace(self, axis=self.along).axis_exists(nest)

    def loops_are_free(self, nest: LoopNest) -> Reason | None:
        """The loops have no kind yet, and their steps are independent."""
        others = [replace(self, axis=x.axis.name) for x in self._parts(nest)[0]]
        return next(
            (
                found
                for x in others
                if (found := x.axis_is_serial(nest) or x.steps_are_independent(nest)) is not None
            ),
            None,
        )

    def reduction_is_inside(self, nest: LoopNest) -> Reason | None:
        """The reduction stands directly in the loop, or in loops that are all that the loop has."""
        return (
            None
            if self._found(nest)
            else self._no("the reduction does not stand directly in that loop")
        )

    def starts_outside(self, nest: LoopNest) -> Reason | None:
        """The initial values are known before the loop."""
        loops, s = self._parts(nest)
        inside = {number for x, _ in walk(loops[-1].body) for number in ids_of(x)}
        return (
            None
            if inside.isdisjoint(s.initial)
            else self._no("its initial value is computed in that loop")
        )

    def needs_no_other_work(self, nest: LoopNest) -> Reason | None:
        """What the reduction takes from the loop are loads and elementwise operations, of memory that the loop leaves alone."""
        loops, s = self._parts(nest)
        body = loops[-1].body
        needed = needed_of(body[: body.index(s)], (s,))
        moved = [
            x for x, _ in walk((*needed, *s.body))
        ]  # what a scan stores, it stores where it goes
        stored = {x.array for x, _ in walk(body) if isinstance(x, Store)}
        if any(isinstance(x, Reduce | For) for x, _ in walk(needed)):
            return self._no("it takes the result of another loop inside that one")
        if any(isinstance(x, Store) for x in moved) or any(
            isinstance(x, Load) and x.array in stored for x in moved
        ):
            return self._no("that loop stores what the reduction needs")
        return None

    def not_in_registers(self, nest: LoopNest) -> Reason | None:
        """No axis around is copies or lanes, which would share the memory."""
        outermost = self._parts(nest)[0][0]
        around = nest.around(outermost.axis.name)
        bad = next(
            (
                x.axis
                for x in around
                if isinstance(x, For) and x.kind in (AxisKind.UNROLLED, AxisKind.VECTOR)
            ),
            None,
        )
        if bad is None:
            return None
        return refuse(
            "inside-registers",
            f"{self.along} is inside {bad}, whose steps are copies in registers",
            axis=bad.name,
        )

    def new_names(self, nest: LoopNest) -> set[str]:
        """See `Directive.new_names`."""
        return {x.axis.name + letter for x in self._parts(nest)[0] for letter in "ct"}

    def changed(self, nest: LoopNest) -> LoopNest:
        """See `Directive.changed`."""
        loops, s = self._parts(nest)
        loop, number = loops[-1], nest.fresh_id()
        reduced = next(b.axis for b in s.axes if b.axis.name == self.axis)
        extents, place = (
            tuple([x.axis.extent for x in loops]),
            tuple([index(x.axis) for x in loops]),
        )
        sums = [
            Array(f"sums_{k}", array_shape(t, extents), True, Space.SCRATCH)
            for k, t in zip(s.ids, s.elements, strict=True)
        ]
        cleared = tuple(
            [
                Store(a.name, place, value, s.origin)
                for a, value in zip(sums, s.initial, strict=True)
            ]
        )
        at = loop.body.index(s)
        needed = needed_of(loop.body[:at], (s,))
        numbers = fresh_numbers(needed, number)
        number += len(numbers)
        rest = tuple([b for b in s.axes if b.axis != reduced])
        inner: Body
        guards = loop.guards
        if rest and s.each:
            inner, given, number = needed, s.ids, number + len(s.ids)
        elif rest:
            assert isinstance(s.combiner, OpcodeSpec)
            start = identity_of(number, s.combiner, s.elements[0])
            partial = replace(s, ids=(number + 1,), initial=(number,), axes=rest)
            inner, given, number = (*needed, start, partial), partial.ids, number + 2
        else:
            inner, given, guards = (*needed, *s.body), s.values, (*guards, *s.guards)
        loaded = tuple([number + k for k in range(len(sums))])
        loads = [
            Load(n, t, a.name, place, s.origin)
            for n, t, a in zip(loaded, s.elements, sums, strict=True)
        ]
        number += len(sums)
        if rest and s.each:
            combined = tuple([loaded[0] - len(s.ids) + k for k in range(len(s.ids))])
            combining: Body = (replace(s, ids=combined, initial=loaded, axes=rest),)
        else:
            combining, combined = _combined(s, loaded, given, number)
        stores = [
            Store(a.name, place, value, s.origin) for a, value in zip(sums, combined, strict=True)
        ]
        follows = () if rest else renumbered(s.each, dict(zip(s.running, combined, strict=False)))
        taken = renumbered((*inner, *loads, *combining, *stores, *follows), numbers)
        taken = _in_loops(taken, [*loops[:-1], replace(loop, guards=guards)], "t")
        results = [
            Load(n, t, a.name, place, s.origin)
            for n, t, a in zip(s.ids, s.elements, sums, strict=True)
        ]
        last = (*loop.body[:at], *results, *loop.body[at + 1 :])
        if s.each and not any(isinstance(x, Store) for x, _ in walk(last)):
            last = ()
        for x in reversed(loops) if last else ():
            last = (replace(x, body=last),)
        unguarded = [replace(x, guards=()) for x in loops]
        body = (
            *[Allocate(a) for a in sums],
            *_in_loops(cleared, unguarded, "c"),
            For(reduced, taken, ordered=True),
            *last,
        )
        return with_loop_replaced(nest, self.along, lambda _: body)

    def _found(self, nest: LoopNest) -> tuple[list[For], Reduce] | None:
        """The loops from `along` to the one with the reduction."""
        loop: Statement | None = nest.loop(self.along)
        loops: list[For] = []
        while isinstance(loop, For):
            loops.append(loop)
            for s in loop.body:
                if isinstance(s, Reduce) and self.axis in [b.axis.name for b in s.axes]:
                    return loops, s
            loop = loop.body[0] if len(loop.body) == 1 else None
        return None

    def _parts(self, nest: LoopNest) -> tuple[list[For], Reduce]:
        found = self._found(nest)
        assert found is not None
        return found

    def _no(self, why: str) -> Reason:
        message = f"the reduction over {self.axis} cannot go outside of {self.along}: {why}"
        return refuse("no-reduction-first", message, axis=self.axis, along=self.along)


@dataclass(frozen=True)
class Rfactor(OfReduction):
    """The reduction over the other axes becomes a partial result for each step of this one, and these are combined.

    stored: all partial results are made first, in memory; else each is combined when it is there. outermost: they are made for all results,
    by a loop over this axis that stands before all loops around the reduction.
    """

    name: ClassVar[str] = "rfactor"
    adds = "p"
    axis: str
    stored: bool = False
    outermost: bool = False

    def checks(self) -> tuple[Predicate, ...]:
        """See `Directive.checks`."""
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
        """The partial results of one reduction are on a thread's stack."""
        s = reduction_of(nest, self.axis)
        return (
            None
            if self.outermost
            else too_large(
                f"the partial results of {self.axis}", nest.axes()[self.axis].axis.extent, s
            )
        )

    def stands_alone(self, nest: LoopNest) -> Reason | None:
        """No loop around has a kind or a condition, and none reads what the kernel stores."""
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
            f"the reduction over {self.axis} must stand in serial loops that read nothing they store",
        )

    def has_other_axes(self, nest: LoopNest) -> Reason | None:
        """Something is left to reduce in a step."""
        s = reduction_of(nest, self.axis)
        return (
            None
            if len(s.axes) > 1
            else refuse(
                "only-axis", f"%{s.ids[0]} is reduced over {self.axis} alone: split it first"
            )
        )

    def changed(self, nest: LoopNest) -> LoopNest:
        """See `Directive.changed`."""
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
            array = Array(
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
        """The loops twice: around the partial results, with an axis `<name>p` for each, and around what combines these."""
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
                Array(
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
class Unordered(OfReduction):
    """A reduction that finds an extreme value and its index carries the position of the value too: partial results combine in any order."""

    name: ClassVar[str] = "unordered"
    asks = ("axis_exists", "axis_is_reduced", "axis_is_serial", "finds_an_extreme")
    axis: str

    def finds_an_extreme(self, nest: LoopNest) -> Reason | None:
        """The combiner is that of argmax or argmin, over elements that a position of 32 bits counts."""
        s = reduction_of(nest, self.axis)
        if (
            direction_of_extreme(s) is not None
            and math.prod([b.axis.extent for b in s.axes]) < MOST_POSITIONS
        ):
            return None
        return refuse(
            "order-must-be-kept",
            f"%{s.ids[0]} must find an extreme value and its index in a fixed order",
        )

    def changed(self, nest: LoopNest) -> LoopNest:
        """See `Directive.changed`."""
        s = reduction_of(nest, self.axis)
        return with_positions(nest, s)


def too_large(what: str, steps: int, s: Reduce, limit: int = MOST_SCRATCH) -> Reason | None:
    """Why there is no memory for an element of each result of a reduction for every step."""
    size = max([t.bytes for t in s.elements]) * steps
    return (
        None
        if size <= limit
        else refuse(
            "scratch-too-large",
            f"{what} take {size} bytes, the limit is {limit}",
            size=size,
            limit=limit,
        )
    )


def _in_loops(body: Body, loops: Sequence[For], suffix: str) -> Body:
    """The body in loops of their own, with their guards, whose names end in a suffix."""
    axes = {x.axis: Axis(f"{x.axis.name}{suffix}", x.axis.extent) for x in loops}
    for x in reversed(loops):
        body = (For(axes[x.axis], body, guards=x.guards),)
    along: Substitution = {old: index(new) for old, new in axes.items()}
    return with_axes_replaced(body, along)


def identity_of(number: int, combiner: OpcodeSpec, element: PrimitiveType) -> Constant:
    """The identity element of a combiner."""
    return Constant(
        number,
        literal_from_array(identity_element(combiner.name, element), array_shape(element, ())),
    )


def _combined(
    s: Reduce, left: tuple[int, ...], right: tuple[int, ...], number: int
) -> tuple[Body, tuple[int, ...]]:
    """The statements that combine values, numbered from `number` on, and their results."""
    if isinstance(s.combiner, OpcodeSpec):
        return (
            Compute(number, s.elements[0], s.combiner, (*left, *right), NO_ATTRIBUTES, s.origin),
        ), (number,)
    c = s.combiner
    numbers = {
        **dict(zip((*c.left, *c.right), (*left, *right), strict=True)),
        **fresh_numbers(c.body, number),
    }
    return renumbered(c.body, numbers), tuple([numbers[k] for k in c.results])
