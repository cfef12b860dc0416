"""Directives of memory inside a kernel: `keep` computes once and reads again, `stage` copies a tile, `chain` joins loops along rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar, NamedTuple

from xla_explorer.compiler.codegen.nest.directives.base import MOST_SCRATCH, MOST_STAGED, Directive
from xla_explorer.compiler.codegen.nest.in_step import why_not_in_step
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    Array,
    AxisKind,
    Body,
    Choose,
    Compute,
    Constant,
    Definition,
    For,
    Iota,
    Load,
    LoopNest,
    Reduce,
    Space,
    Statement,
    Store,
    axes_of,
    bodies_of,
    elements_of,
    guards_replaced,
    ids_of,
    rewritten,
    walk,
    with_axes_replaced,
    with_bodies,
    with_loop_replaced,
)
from xla_explorer.compiler.codegen.nest.renumbering import (
    fresh_numbers,
    needed_of,
    renumbered,
    without_unused,
)
from xla_explorer.compiler.codegen.nest.transformations import for_of
from xla_explorer.compiler.codegen.nest.verifier import Fact, bounds_under, facts_of
from xla_explorer.foundation.reason import Predicate, Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, Guard, Place, Substitution, index, place_text
from xla_explorer.hlo.shape import array_shape


class _Occurrence(NamedTuple):
    """A statement inside a loop.

    axes: of the loops between that it depends on, outermost first. inside: all statements between.
    """

    statement: Definition
    axes: tuple[Axis, ...]
    inside: tuple[Statement, ...]
    place: Place

    def guards(self) -> list[Guard]:
        """Where alone it is computed."""
        return [g for s in self.inside if isinstance(s, For | Reduce) for g in s.guards]


class InLoop(Directive):
    """A change of what one step of a loop does."""

    def not_in_registers(self, nest: LoopNest) -> Reason | None:
        """Steps of the loop, and of those around, are neither copies nor lanes, which would share the memory."""
        around = (*nest.around(self.axis), for_of(nest, self.axis))
        bad = next(
            (
                b.axis
                for s in around
                for b in axes_of(s)
                if b.kind in (AxisKind.UNROLLED, AxisKind.VECTOR)
            ),
            None,
        )
        if bad is None:
            return None
        return refuse(
            "inside-registers",
            f"steps of {bad} are copies in registers, which cannot have memory of their own",
            axis=bad.name,
        )


@dataclass(frozen=True)
class Keep(InLoop):
    """What an HLO instruction computes several times in a step of a loop is computed once and read again.

    value: the instruction, as `%name`. axis: the loop. into: the result whose memory is used; else memory of the loop's own.
    """

    name: ClassVar[str] = "keep"
    value: str
    axis: str
    into: str = ""

    def checks(self) -> tuple[Predicate, ...]:
        """See `Directive.checks`."""
        found = (
            self.axis_exists,
            self.is_a_loop,
            self.computed_again,
            self.ranges_agree,
            self.not_in_registers,
        )
        return (*found, self.result_is_in_step) if self.into else (*found, self.fits_in_scratch)

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """See `Directive.facts`."""
        found = self.found(nest)
        return {
            **super().facts(nest),
            "times": len(found),
            "elements": prod([a.extent for a in found[0].axes]),
        }

    def found(self, nest: LoopNest) -> list[_Occurrence]:
        """Where the value is computed inside the loop, in the order of the text."""
        loop = for_of(nest, self.axis)
        numbers = {
            number for number, name in nest.names.items() if name == self.value.removeprefix("%")
        }
        found = []
        for s, around in walk(loop.body):
            if isinstance(s, Reduce) and s.each:
                continue  # whose values are there at its points alone
            if (
                isinstance(s, Definition)
                and s.origin is not None
                and s.origin.instruction in numbers
                and len(ids_of(s)) == 1
            ):
                used = frozenset().union(*[x.axes for x in s.origin.place])
                between = [b.axis for x in around for b in axes_of(x)]
                found.append(
                    _Occurrence(s, tuple([a for a in between if a in used]), around, s.origin.place)
                )
        return found

    def computed_again(self, nest: LoopNest) -> Reason | None:
        """A step computes the value in two places or more, one loop after the other, the first always."""
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
        if any(isinstance(s, Choose) for s in first.inside) or any(
            isinstance(x.statement, Reduce) for x in later
        ):
            return refuse(
                "not-in-step", f"{self.value} is not always computed where it is computed first"
            )
        return None

    def ranges_agree(self, nest: LoopNest) -> Reason | None:
        """Everywhere it is the same element, at the same step of loops of equal extents, and where the first is computed."""
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
                message = f"{self.value} is computed at {place_text(first.place)}, then at {place_text(other.place)}"
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
        """The memory is small enough for a thread's stack."""
        first = self.found(nest)[0]
        size = prod([a.extent for a in first.axes]) * elements_of(first.statement)[0].bytes
        if size <= MOST_SCRATCH:
            return None
        message = (
            f"{self.value} takes {size} bytes in a step of {self.axis}, the limit is {MOST_SCRATCH}"
        )
        return refuse("scratch-too-large", message, size=size, limit=MOST_SCRATCH)

    def result_is_in_step(self, nest: LoopNest) -> Reason | None:
        """The result has the same type, and gets the final value where the kept one is read last, for the same element."""
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
            f"%{self.into} does not get its values where {self.value} is read last",
            array=self.into,
        )

    def changed(self, nest: LoopNest) -> LoopNest:
        """See `Directive.changed`."""
        first, *later = self.found(nest)
        element = elements_of(first.statement)[0]
        if self.into:
            places = {id(x.statement): x.place for x in (first, *later)}
            array = next(a for a in nest.arrays if a.name == self.into)
        else:
            places = {id(x.statement): tuple([index(a) for a in x.axes]) for x in (first, *later)}
            shape = array_shape(element, tuple([a.extent for a in first.axes]))
            array = Array(f"kept_{ids_of(first.statement)[0]}", shape, True, Space.SCRATCH)
        again = {id(x.statement) for x in later}

        def change(s: Statement) -> Body | Statement | None:
            if s is first.statement:
                return s, Store(array.name, places[id(s)], ids_of(s)[0], first.statement.origin)
            if isinstance(s, Definition) and id(s) in again:
                return Load(ids_of(s)[0], element, array.name, places[id(s)], s.origin)
            return None

        return without_unused(
            _with_body(nest, self.axis, () if self.into else (Allocate(array),), change)
        )


@dataclass(frozen=True)
class Stage(InLoop):
    """What a step of a loop reads of an array is copied to memory of its own first.

    array: as `%name` or `name`. axis: the loop. space: scratch or shared. pitch: elements from row to row of the tile, if more than it has.
    order: the axes inside, outermost in memory first, with dots between them; by default as the array has them. read: which read of the
    array, in the order of the text; -1 for the only one.
    """

    name: ClassVar[str] = "stage"
    asks: ClassVar[tuple[str, ...]] = (
        "axis_exists", "is_a_loop", "space_is_known", "read_at_one_place", "stays_inside", "order_has_all_axes", "fits", "not_in_registers",
    )  # fmt: skip
    array: str
    axis: str
    space: str
    pitch: int = 0
    order: str = ""
    read: int = -1

    def space_is_known(self, nest: LoopNest) -> Reason | None:
        """The space is one that a nest allocates."""
        known = [space.value for space in Space if space is not Space.PARAMETER]
        return (
            None
            if self.space in known
            else refuse(
                "no-such-space", f"the space must be one of {', '.join(known)}, got {self.space}"
            )
        )

    def found(self, nest: LoopNest) -> list[_Occurrence]:
        """The loads of the array inside the loop."""
        loop = for_of(nest, self.axis)
        found = []
        for s, around in walk(loop.body):
            if isinstance(s, Load) and s.array == self.array.removeprefix("%"):
                between = [b.axis for x in around for b in axes_of(x)]
                ordered = dict.fromkeys(
                    [a for read in [x.axes for x in s.place] for a in between if a in read]
                )
                names = self.order.split(".")
                wanted = sorted(
                    ordered, key=lambda a: names.index(a.name) if a.name in names else -1
                )
                found.append(_Occurrence(s, tuple(wanted), around, s.place))
        return found if self.read < 0 else found[self.read : self.read + 1]

    def order_has_all_axes(self, nest: LoopNest) -> Reason | None:
        """An order is one of the axes that the array is read along."""
        (found,) = self.found(nest)
        names = [a.name for a in found.axes]
        if not self.order or sorted(self.order.split(".")) == sorted(names):
            return None
        return refuse(
            "order-of-other-axes",
            f"the order must name {', '.join(names)}, along which {self.array} is read, got {self.order}",
        )

    def read_at_one_place(self, nest: LoopNest) -> Reason | None:
        """One load inside the loop reads the array, along loops inside; nothing writes it."""
        found = self.found(nest)
        array = next(
            (a for a in nest.arrays if a.name == self.array.removeprefix("%") and not a.written),
            None,
        )
        if array is None:
            return refuse("no-such-operand", f"@{nest.name} has no operand {self.array}")
        if len(found) != 1 or not found[0].axes:
            message = f"{self.array} must be read at one place along loops inside {self.axis}, or `read` say at which, got {len(found)}"
            return refuse("not-staged", message)
        return None

    def stays_inside(self, nest: LoopNest) -> Reason | None:
        """The load stays inside of the array without a choice, which comes after the copy."""
        found, array = self.found(nest), nest.array(self.array.removeprefix("%"))
        assert array is not None
        outside = (*nest.around(self.axis), for_of(nest, self.axis))
        facts = facts_of(
            [*_Occurrence(found[0].statement, (), outside, ()).guards(), *_guards_of_copy(found[0])]
        )
        if leaves(array, found[0].place, facts):
            return refuse(
                "not-staged",
                f"{self.array} is read under a condition without which its index leaves the array",
            )
        return None

    def fits(self, nest: LoopNest) -> Reason | None:
        """The tile is small enough, and the pitch not below its rows."""
        (found,) = self.found(nest)
        shape, element = self._shape(found), elements_of(found.statement)[0]
        size = element.bytes * prod(shape)
        if self.pitch and self.pitch < found.axes[-1].extent:
            text = f"the pitch must be at least {found.axes[-1].extent}, the elements of a row of the tile, got {self.pitch}"
            return refuse("pitch-too-small", text)
        return self.too_large(nest, size)

    def too_large(self, nest: LoopNest, size: int) -> Reason | None:
        """Refuses a tile of so many bytes that are too many."""
        limit = (
            MOST_STAGED if self.space == Space.SCRATCH.value and nest.shares == 1 else MOST_SCRATCH
        )
        if size > limit:
            return refuse(
                "scratch-too-large",
                f"the tile takes {size} bytes, the limit is {limit}",
                size=size,
                limit=limit,
            )
        return None

    def _shape(self, found: _Occurrence) -> tuple[int, ...]:
        extents = [a.extent for a in found.axes]
        return (*extents[:-1], self.pitch or extents[-1])

    def changed(self, nest: LoopNest) -> LoopNest:
        """See `Directive.changed`."""
        (found,) = self.found(nest)
        load, number = found.statement, nest.fresh_id()
        assert isinstance(load, Load)
        tile = Array(
            f"tile_{ids_of(load)[0]}",
            array_shape(load.element, self._shape(found)),
            True,
            Space(self.space),
        )
        suffix = "s"
        while [
            1 for a in found.axes for name in nest.axes() if name.startswith(a.name + suffix)
        ]:  # or parts of it, after a split
            suffix += "s"
        copies = {a: Axis(f"{a.name}{suffix}", a.extent) for a in found.axes}
        along: Substitution = {old: index(new) for old, new in copies.items()}
        guards = _guards_of_copy(found)
        store = Store(tile.name, tuple([index(a) for a in found.axes]), number, load.origin)
        path = [
            x
            for around in (for_of(nest, self.axis), *found.inside)
            for body in bodies_of(around)
            for x in body
        ]
        needed = needed_of(
            tuple([x for x in path if isinstance(x, Constant | Iota | Compute)]), (load,)
        )
        copied = renumbered(
            (*needed, replace(load, id=number), store), fresh_numbers(needed, number + 1), along
        )
        for k, axis in enumerate(reversed(list(copies.values()))):
            copied = (For(axis, copied, guards=guards_replaced(guards, along) if k == 0 else ()),)
        read = replace(load, array=tile.name, place=tuple([index(a) for a in found.axes]))
        return _with_body(
            nest, self.axis, (Allocate(tile), *copied), lambda s: read if s is load else None
        )


@dataclass(frozen=True)
class Chain(Directive):
    """A loop and a later one of the same body become one loop: each step does the work of both."""

    name: ClassVar[str] = "chain"
    asks = ("axis_exists", "loops_follow", "rows_agree", "steps_stay_independent")
    axis: str
    following: str

    def loops_follow(self, nest: LoopNest) -> Reason | None:
        """Both are loops of one body, and what stands between them may stand before both."""
        if self._pair(nest) is None:
            return refuse(
                "not-in-sequence",
                f"{self.following} does not follow {self.axis} directly",
                first=self.axis,
                then=self.following,
            )
        return None

    def rows_agree(self, nest: LoopNest) -> Reason | None:
        """Both have the same steps, which are independent, and no kind yet."""
        found = self._pair(nest)
        assert found is not None
        first, second = found
        along: Substitution = {second.axis: index(first.axis)}
        if (
            first.axis.extent != second.axis.extent
            or guards_replaced(second.guards, along) != first.guards
        ):
            message = f"{self.axis} has {first.axis.extent} steps, {self.following} has {second.axis.extent}, or their conditions differ"
            return refuse("rows-differ", message)
        for loop in found:
            if loop.ordered or loop.kind is not AxisKind.SERIAL:
                return refuse(
                    "rows-differ", f"{loop.axis} must be a serial loop of independent steps"
                )
        return None

    def steps_stay_independent(self, nest: LoopNest) -> Reason | None:
        """A step touches nothing that another one stores."""
        return next(iter(why_not_in_step(self.changed(nest))), None)

    def _pair(self, nest: LoopNest) -> tuple[For, For] | None:
        first, second = nest.loop(self.axis), nest.loop(self.following)
        if not isinstance(first, For) or not isinstance(second, For):
            return None
        body = next((b for b in _bodies(nest) if first in b), ())
        if second not in body or body.index(second) < body.index(first):
            return None
        between = body[body.index(first) + 1 : body.index(second)]
        written = {s.array for s, _ in walk((first,)) if isinstance(s, Store)}
        read = {s.array for s, _ in walk(between) if isinstance(s, Load)}
        return (
            (first, second)
            if not written & read and all(isinstance(s, Allocate | Definition) for s in between)
            else None
        )

    def changed(self, nest: LoopNest) -> LoopNest:
        """See `Directive.changed`."""
        found = self._pair(nest)
        assert found is not None
        first, second = found
        joined = replace(
            first,
            body=(*first.body, *with_axes_replaced(second.body, {second.axis: index(first.axis)})),
        )

        def in_body(body: Body) -> Body:
            a, b = body.index(first), body.index(second)
            return (*body[:a], *body[a + 1 : b], joined, *body[b + 1 :])

        if first in nest.body:
            return replace(nest, body=in_body(nest.body))

        def change(s: Statement) -> Statement | None:
            return (
                replace(s, body=in_body(s.body))
                if isinstance(s, For | Reduce) and first in s.body
                else None
            )

        return replace(nest, body=rewritten(nest.body, change))


def _bodies(nest: LoopNest) -> list[Body]:
    return [nest.body, *[s.body for s, _ in nest.statements() if isinstance(s, For | Reduce)]]


def _rewritten_once(body: Body, change: Callable[[Statement], Statement | Body | None]) -> Body:
    """`rewritten` where statements with bodies are asked as they stand: `change` knows them by identity."""
    found: list[Statement] = []
    for s in body:
        new = change(s)
        if new is None:
            new = with_bodies(s, lambda body: _rewritten_once(body, change))
        found += new if isinstance(new, tuple) else [new]
    return tuple(found)


def _with_body(
    nest: LoopNest, axis: str, head: Body, change: Callable[[Statement], Statement | Body | None]
) -> LoopNest:
    """The nest with statements at the beginning of a loop, and others replaced in it."""
    return with_loop_replaced(
        nest, axis, lambda loop: replace(loop, body=(*head, *_rewritten_once(loop.body, change)))
    )


def leaves(array: Array, place: Place, facts: tuple[Fact, ...] = ()) -> bool:
    """Whether an index may lie outside of its array where nothing but some facts is known: a copy is made before any choice."""
    ranges = [
        (*bounds_under(x, facts), n) for x, n in zip(place, array.shape.dimensions, strict=True)
    ]
    return any(low < 0 or high >= n for low, high, n in ranges)


def _guards_of_copy(found: _Occurrence) -> tuple[Guard, ...]:
    """The conditions that the loops of a copy take over."""
    others = {b.axis for s in found.inside for b in axes_of(s)} - set(found.axes)
    return tuple([g for g in found.guards() if not g.expression.axes & others])


def _ranges(x: _Occurrence) -> str:
    return " x ".join([str(a.extent) for a in x.axes]) or "one element"
