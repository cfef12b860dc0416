"""`compute-at`: a value is computed once in a step of a loop, and later uses load it."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from xla_explorer.compiler.codegen.nest.accesses import MOST_SCRATCH
from xla_explorer.compiler.codegen.nest.directives.step_directive import (
    Occurrence,
    StepDirective,
    with_loop_body,
)
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    Body,
    Definition,
    Load,
    LoopNest,
    NestArray,
    Reduce,
    SelectRegion,
    Space,
    Statement,
    Store,
    axes_of,
    elements_of,
    ids_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.renumbering import (
    without_unused,
)
from xla_explorer.compiler.codegen.nest.rewriting import guards_replaced
from xla_explorer.compiler.codegen.nest.transformations import for_of
from xla_explorer.foundation.reason import Predicate, Reason, refuse
from xla_explorer.hlo.analysis.indexing import Substitution, index, place_text
from xla_explorer.hlo.shape import array_shape


@dataclass(frozen=True)
class ComputeAt(StepDirective):
    """A value that a loop step computes several times is computed once and stored.

    Halide calls it `compute_at`. value: the HLO instruction, as `%name`. axis: the loop. into: a
    result whose memory holds the value; by default the directive allocates memory.
    """

    name: ClassVar[str] = "compute-at"
    value: str
    axis: str
    into: str = ""

    def checks(self) -> tuple[Predicate, ...]:
        """Implement `Directive.checks`."""
        found = (
            self.axis_exists,
            self.is_a_loop,
            self.computed_again,
            self.ranges_agree,
            self.not_in_registers,
        )
        return (*found, self.result_is_in_step) if self.into else (*found, self.fits_in_scratch)

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """Implement `Directive.facts`."""
        found = self.found(nest)
        return {
            **super().facts(nest),
            "times": len(found),
            "elements": prod([a.extent for a in found[0].axes]),
        }

    def found(self, nest: LoopNest) -> list[Occurrence]:
        """Return the statements in the loop that compute the value, in the order of the text."""
        loop = for_of(nest, self.axis)
        numbers = {
            number for number, name in nest.names.items() if name == self.value.removeprefix("%")
        }
        found = []
        for s, around in walk(loop.body):
            if isinstance(s, Reduce) and s.each:
                continue  # its values exist only at its own points
            if (
                isinstance(s, Definition)
                and s.origin is not None
                and s.origin.instruction in numbers
                and len(ids_of(s)) == 1
            ):
                used = frozenset().union(*[x.axes for x in s.origin.place])
                between = [b.axis for x in around for b in axes_of(x)]
                found.append(
                    Occurrence(s, tuple([a for a in between if a in used]), around, s.origin.place)
                )
        return found

    def computed_again(self, nest: LoopNest) -> Reason | None:
        """Refuse unless several loops, one after the other, compute the value.

        The first of them must compute it unconditionally.
        """
        found = self.found(nest)
        if len(found) < 2:
            return refuse(
                "computed-once",
                f"{self.value} is computed {len(found)} times inside {self.axis}",
                times=len(found),
            )
        first, *later = found
        starts = [(x.inside or (x.statement,))[0] for x in found]
        if any(start is starts[0] for start in starts[1:]):
            return refuse(
                "not-in-step",
                f"{self.value} is computed again before the loop that computes it first has ended",
            )
        if any(isinstance(s, SelectRegion) for s in first.inside) or any(
            isinstance(x.statement, Reduce) for x in later
        ):
            return refuse(
                "not-in-step",
                f"the first computation of {self.value} is conditional, or a later one is a "
                "reduction",
            )
        return None

    def ranges_agree(self, nest: LoopNest) -> Reason | None:
        """Refuse unless all computations are of the same elements, over loops of equal extents."""
        first, *later = self.found(nest)
        for other in later:
            extents = [[a.extent for a in x.axes] for x in (first, other)]
            if extents[0] != extents[1] or elements_of(first.statement) != elements_of(
                other.statement
            ):
                return refuse(
                    "ranges-differ",
                    f"{self.value} is computed over {_ranges(first)}, then over {_ranges(other)}",
                )
            along: Substitution = {
                old: index(new) for old, new in zip(other.axes, first.axes, strict=True)
            }
            place = tuple([x.substitute(along) for x in other.place])
            if place != first.place:
                message = (
                    f"{self.value} is computed at {place_text(first.place)}, then at "
                    f"{place_text(other.place)}"
                )
                return refuse(
                    "ranges-differ",
                    message,
                    first=place_text(first.place),
                    then=place_text(other.place),
                )
            if not set(first.guards()) <= set(guards_replaced(tuple(other.guards()), along)):
                return refuse(
                    "ranges-differ",
                    f"{self.value} is computed first under conditions that later do not hold",
                )
        return None

    def fits_in_scratch(self, nest: LoopNest) -> Reason | None:
        """Refuse memory that exceeds a thread's stack."""
        first = self.found(nest)[0]
        size = prod([a.extent for a in first.axes]) * elements_of(first.statement)[0].bytes
        if size <= MOST_SCRATCH:
            return None
        message = (
            f"{self.value} takes {size} bytes in a step of {self.axis}, the limit is {MOST_SCRATCH}"
        )
        return refuse("scratch-too-large", message, size=size, limit=MOST_SCRATCH)

    def result_is_in_step(self, nest: LoopNest) -> Reason | None:
        """Refuse unless the result is stored where the value is read last.

        Its type and its element must be those of the value.
        """
        array = next((a for a in nest.arrays if a.name == self.into and a.written), None)
        if array is None:
            return refuse("no-such-result", f"@{nest.name} has no result %{self.into}")
        found = self.found(nest)
        stores = [
            (s, around)
            for s, around in nest.statements()
            if isinstance(s, Store) and s.array == self.into
        ]
        same = (
            len(stores) == 1
            and stores[0][0].place == found[-1].place
            and stores[0][1][-len(found[-1].inside) :] == found[-1].inside
        )
        if (
            same
            and found[-1].inside
            and array.shape.element_type is elements_of(found[0].statement)[0]
        ):
            return None
        return refuse(
            "not-in-step",
            f"%{self.into} is not stored where {self.value} is read last",
            array=self.into,
        )

    def changed(self, nest: LoopNest) -> LoopNest:
        """Implement `Directive.changed`."""
        first, *later = self.found(nest)
        element = elements_of(first.statement)[0]
        if self.into:
            places = {id(x.statement): x.place for x in (first, *later)}
            array = next(a for a in nest.arrays if a.name == self.into)
        else:
            places = {id(x.statement): tuple([index(a) for a in x.axes]) for x in (first, *later)}
            shape = array_shape(element, tuple([a.extent for a in first.axes]))
            array = NestArray(f"stored_{ids_of(first.statement)[0]}", shape, True, Space.SCRATCH)
        again = {id(x.statement) for x in later}

        def change(s: Statement) -> Body | Statement | None:
            if s is first.statement:
                return s, Store(array.name, places[id(s)], ids_of(s)[0], first.statement.origin)
            if isinstance(s, Definition) and id(s) in again:
                return Load(ids_of(s)[0], element, array.name, places[id(s)], s.origin)
            return None

        return without_unused(
            with_loop_body(nest, self.axis, () if self.into else (Allocate(array),), change)
        )


def _ranges(x: Occurrence) -> str:
    return " x ".join([str(a.extent) for a in x.axes]) or "one element"
