"""Interchange of a reduction with the loops around it, its accumulators in memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from xla_explorer.compiler.codegen.nest.accesses import MOST_SCRATCH
from xla_explorer.compiler.codegen.nest.directives.base import MOST_STAGED
from xla_explorer.compiler.codegen.nest.directives.reduction_directive import (
    ReductionDirective,
    identity_of,
    too_large,
)
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    AxisKind,
    Body,
    Compute,
    For,
    Load,
    LoopNest,
    NestArray,
    Reduce,
    Space,
    Statement,
    Store,
    ids_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.renumbering import (
    fresh_numbers,
    needed_of,
    renumbered,
)
from xla_explorer.compiler.codegen.nest.rewriting import with_axes_replaced, with_loop_replaced
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, Substitution, index
from xla_explorer.hlo.attributes import NO_ATTRIBUTES
from xla_explorer.hlo.opcodes import OpcodeSpec
from xla_explorer.hlo.shape import array_shape


@dataclass(frozen=True)
class InterchangeReduction(ReductionDirective):
    """The reduction becomes the outer loop, its accumulators for all inner steps are in memory.

    Each step of the inner loop has its own accumulator. For a scan these are the running values.

    axis: of the reduction. along: the loop around it, or an outer loop of a perfect nest down to
    that loop; all of these loops go inside.
    """

    name: ClassVar[str] = "interchange-reduction"
    takes_scans = True
    check_names = (
        "axis_exists", "along_exists", "axis_is_reduced", "axis_is_serial", "reduction_is_inside", "loops_are_free", "rest_has_identity",
        "starts_outside", "needs_no_other_work", "not_in_registers", "names_are_free", "fits_in_scratch",
    )  # fmt: skip
    axis: str
    along: str

    def fits_in_scratch(self, nest: LoopNest) -> Reason | None:
        """Refuse accumulators that exceed their memory.

        Those of one loop are on a thread's stack, those of several loops in memory that the kernel
        gets.
        """
        loops, s = self._parts(nest)
        limit = MOST_STAGED if len(loops) > 1 and nest.tasks == 1 else MOST_SCRATCH
        return too_large(
            f"the accumulators of {self.along}", math.prod([x.axis.extent for x in loops]), s, limit
        )

    def along_exists(self, nest: LoopNest) -> Reason | None:
        """Refuse a loop that the nest does not have."""
        return replace(self, axis=self.along).axis_exists(nest)

    def loops_are_free(self, nest: LoopNest) -> Reason | None:
        """Refuse unless the loops are serial and their steps independent."""
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
        """Refuse unless the loops down to the reduction are perfectly nested."""
        return None if self._found(nest) else self._no("it is not directly inside that loop")

    def starts_outside(self, nest: LoopNest) -> Reason | None:
        """Refuse if the loops compute the initial values."""
        loops, s = self._parts(nest)
        inside = {number for x, _ in walk(loops[-1].body) for number in ids_of(x)}
        return (
            None
            if inside.isdisjoint(s.initial)
            else self._no("its initial value is computed in that loop")
        )

    def needs_no_other_work(self, nest: LoopNest) -> Reason | None:
        """Refuse if the reduction needs more of the loop than loads and elementwise operations.

        The loads must not read what the loop stores.
        """
        loops, s = self._parts(nest)
        body = loops[-1].body
        needed = needed_of(body[: body.index(s)], (s,))
        moved = [x for x, _ in walk((*needed, *s.body))]  # the stores of a scan move with it
        stored = {x.array for x, _ in walk(body) if isinstance(x, Store)}
        if any(isinstance(x, Reduce | For) for x, _ in walk(needed)):
            return self._no("it needs the result of another loop inside that one")
        if any(isinstance(x, Store) for x in moved) or any(
            isinstance(x, Load) and x.array in stored for x in moved
        ):
            return self._no("that loop stores what the reduction needs")
        return None

    def not_in_registers(self, nest: LoopNest) -> Reason | None:
        """Refuse inside unrolled or vector axes, whose steps would share the memory."""
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
            f"{self.along} is inside {bad}, which is unrolled or vectorized",
            axis=bad.name,
        )

    def new_axes(self, nest: LoopNest) -> tuple[str, ...]:
        """Return the loops that clear the accumulators, then those that add to them."""
        return tuple([x.axis.name + letter for letter in "ct" for x in self._parts(nest)[0]])

    def changed(self, nest: LoopNest) -> LoopNest:
        """Implement `Directive.changed`."""
        loops, s = self._parts(nest)
        loop, number = loops[-1], nest.fresh_id()
        reduced = next(b.axis for b in s.axes if b.axis.name == self.axis)
        extents, place = (
            tuple([x.axis.extent for x in loops]),
            tuple([index(x.axis) for x in loops]),
        )
        accumulators = [
            NestArray(f"accumulators_{k}", array_shape(t, extents), True, Space.SCRATCH)
            for k, t in zip(s.ids, s.elements, strict=True)
        ]
        cleared = tuple(
            [
                Store(a.name, place, value, s.origin)
                for a, value in zip(accumulators, s.initial, strict=True)
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
        loaded = tuple([number + k for k in range(len(accumulators))])
        loads = [
            Load(n, t, a.name, place, s.origin)
            for n, t, a in zip(loaded, s.elements, accumulators, strict=True)
        ]
        number += len(accumulators)
        if rest and s.each:
            combined = tuple([loaded[0] - len(s.ids) + k for k in range(len(s.ids))])
            combining: Body = (replace(s, ids=combined, initial=loaded, axes=rest),)
        else:
            combining, combined = _combined(s, loaded, given, number)
        stores = [
            Store(a.name, place, value, s.origin)
            for a, value in zip(accumulators, combined, strict=True)
        ]
        follows = () if rest else renumbered(s.each, dict(zip(s.running, combined, strict=False)))
        taken = renumbered((*inner, *loads, *combining, *stores, *follows), numbers)
        taken = _in_loops(taken, [*loops[:-1], replace(loop, guards=guards)], "t")
        results = [
            Load(n, t, a.name, place, s.origin)
            for n, t, a in zip(s.ids, s.elements, accumulators, strict=True)
        ]
        last = (*loop.body[:at], *results, *loop.body[at + 1 :])
        if s.each and not any(isinstance(x, Store) for x, _ in walk(last)):
            last = ()
        for x in reversed(loops) if last else ():
            last = (replace(x, body=last),)
        unguarded = [replace(x, guards=()) for x in loops]
        body = (
            *[Allocate(a) for a in accumulators],
            *_in_loops(cleared, unguarded, "c"),
            For(reduced, taken, ordered=True),
            *last,
        )
        return with_loop_replaced(nest, self.along, lambda _: body)

    def _found(self, nest: LoopNest) -> tuple[list[For], Reduce] | None:
        """Return the loops from `along` to the one with the reduction, and the reduction."""
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
        message = f"the reduction over {self.axis} cannot be interchanged with {self.along}: {why}"
        return refuse("not-interchangeable", message, axis=self.axis, along=self.along)


def _in_loops(body: Body, loops: Sequence[For], suffix: str) -> Body:
    """Return the body in new loops with the guards of others; a suffix names them."""
    axes = {x.axis: Axis(f"{x.axis.name}{suffix}", x.axis.extent) for x in loops}
    for x in reversed(loops):
        body = (For(axes[x.axis], body, guards=x.guards),)
    along: Substitution = {old: index(new) for old, new in axes.items()}
    return with_axes_replaced(body, along)


def _combined(
    s: Reduce, left: tuple[int, ...], right: tuple[int, ...], number: int
) -> tuple[Body, tuple[int, ...]]:
    """Return statements that combine two lists of values, and the numbers of the results."""
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
