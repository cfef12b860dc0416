"""`stage`: a tile of an array is copied to memory of the loop step first (TVM's `cache_read`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar

from xla_explorer.compiler.codegen.nest.accesses import MOST_SCRATCH
from xla_explorer.compiler.codegen.nest.directives.base import MOST_STAGED
from xla_explorer.compiler.codegen.nest.directives.step_directive import (
    Occurrence,
    StepDirective,
    with_loop_body,
)
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    Compute,
    Constant,
    For,
    Iota,
    Load,
    LoopNest,
    NestArray,
    Space,
    Store,
    axes_of,
    bodies_of,
    elements_of,
    ids_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.renumbering import (
    fresh_numbers,
    needed_of,
    renumbered,
)
from xla_explorer.compiler.codegen.nest.rewriting import guards_replaced
from xla_explorer.compiler.codegen.nest.transformations import for_of
from xla_explorer.compiler.codegen.nest.verifier import Fact, bounds_under, facts_of
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, Guard, Place, Substitution, index
from xla_explorer.hlo.shape import array_shape


@dataclass(frozen=True)
class Stage(StepDirective):
    """A tile of the elements that a loop step reads of an array is copied first.

    Parameters
    ----------
    array : str
        The operand, as `%name` or `name`.
    axis : str
        The loop whose step owns the tile.
    space : str
        `scratch` or `shared`.
    pitch : int
        Elements from row to row of the tile, if more than a row has.
    order : str
        The inner axes with dots between them, outermost in memory first; by default as the array
        has them.
    read : int
        Which load of the array is staged, in the order of the text; -1 for the only one.
    """

    name: ClassVar[str] = "stage"
    check_names: ClassVar[tuple[str, ...]] = (
        "axis_exists", "is_a_loop", "space_is_known", "read_at_one_place", "stays_inside", "order_has_all_axes", "fits", "not_in_registers",
    )  # fmt: skip
    array: str
    axis: str
    space: str
    pitch: int = 0
    order: str = ""
    read: int = -1

    def space_is_known(self, nest: LoopNest) -> Reason | None:
        """Refuse a space in which a nest cannot allocate."""
        known = [space.value for space in Space if space is not Space.PARAMETER]
        return (
            None
            if self.space in known
            else refuse(
                "no-such-space", f"the space must be one of {', '.join(known)}, got {self.space}"
            )
        )

    def found(self, nest: LoopNest) -> list[Occurrence]:
        """Return the loads of the array inside the loop."""
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
                found.append(Occurrence(s, tuple(wanted), around, s.place))
        return found if self.read < 0 else found[self.read : self.read + 1]

    def new_axes(self, nest: LoopNest) -> tuple[str, ...]:
        """Return the loops of the copy, outermost first."""
        (found,), suffix = self.found(nest), "s"
        while [
            1 for a in found.axes for name in nest.axes() if name.startswith(a.name + suffix)
        ]:  # or axes that a split made of it
            suffix += "s"
        return tuple([f"{a.name}{suffix}" for a in found.axes])

    def order_has_all_axes(self, nest: LoopNest) -> Reason | None:
        """Refuse an order that does not name each axis of the load once."""
        (found,) = self.found(nest)
        names = [a.name for a in found.axes]
        if not self.order or sorted(self.order.split(".")) == sorted(names):
            return None
        return refuse(
            "order-of-other-axes",
            f"the order must name {', '.join(names)}, along which {self.array} is read, got "
            f"{self.order}",
        )

    def read_at_one_place(self, nest: LoopNest) -> Reason | None:
        """Refuse unless one load inside the loop reads the array and nothing writes it."""
        found = self.found(nest)
        array = next(
            (a for a in nest.arrays if a.name == self.array.removeprefix("%") and not a.written),
            None,
        )
        if array is None:
            return refuse("no-such-operand", f"@{nest.name} has no operand {self.array}")
        if len(found) != 1 or not found[0].axes:
            message = (
                f"{self.array} must be read at one place along loops inside {self.axis}, or "
                f"`read` must choose one, got {len(found)}"
            )
            return refuse("not-staged", message)
        return None

    def stays_inside(self, nest: LoopNest) -> Reason | None:
        """Refuse a load that stays inside its array only within a select region."""
        found, array = self.found(nest), nest.array(self.array.removeprefix("%"))
        assert array is not None
        outside = (*nest.around(self.axis), for_of(nest, self.axis))
        facts = facts_of(
            [*Occurrence(found[0].statement, (), outside, ()).guards(), *_guards_of_copy(found[0])]
        )
        if leaves(array, found[0].place, facts):
            return refuse(
                "not-staged",
                f"{self.array} is read under a condition that keeps its index in bounds, "
                "which a tile does not check",
            )
        return None

    def fits(self, nest: LoopNest) -> Reason | None:
        """Refuse a tile that is too large, or a pitch below its rows."""
        (found,) = self.found(nest)
        shape, element = self._shape(found), elements_of(found.statement)[0]
        size = element.bytes * prod(shape)
        if self.pitch and self.pitch < found.axes[-1].extent:
            text = (
                f"the pitch must be at least {found.axes[-1].extent}, the elements of a row of "
                f"the tile, got {self.pitch}"
            )
            return refuse("pitch-too-small", text)
        return self.too_large(nest, size)

    def too_large(self, nest: LoopNest, size: int) -> Reason | None:
        """Refuse a tile of `size` bytes if that exceeds its memory."""
        limit = (
            MOST_STAGED if self.space == Space.SCRATCH.value and nest.tasks == 1 else MOST_SCRATCH
        )
        if size > limit:
            return refuse(
                "scratch-too-large",
                f"the tile takes {size} bytes, the limit is {limit}",
                size=size,
                limit=limit,
            )
        return None

    def _shape(self, found: Occurrence) -> tuple[int, ...]:
        extents = [a.extent for a in found.axes]
        return (*extents[:-1], self.pitch or extents[-1])

    def changed(self, nest: LoopNest) -> LoopNest:
        """Implement `Directive.changed`."""
        (found,) = self.found(nest)
        load, number = found.statement, nest.fresh_id()
        assert isinstance(load, Load)
        tile = NestArray(
            f"tile_{ids_of(load)[0]}",
            array_shape(load.element, self._shape(found)),
            True,
            Space(self.space),
        )
        names = self.new_axes(nest)
        copies = {a: Axis(name, a.extent) for a, name in zip(found.axes, names, strict=True)}
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
        return with_loop_body(
            nest, self.axis, (Allocate(tile), *copied), lambda s: read if s is load else None
        )


def leaves(array: NestArray, place: Place, facts: tuple[Fact, ...] = ()) -> bool:
    """Return True if an index may be outside of its array, where only `facts` hold.

    A copy is made before any select region, so conditions of these do not count.
    """
    ranges = [
        (*bounds_under(x, facts), n) for x, n in zip(place, array.shape.dimensions, strict=True)
    ]
    return any(low < 0 or high >= n for low, high, n in ranges)


def _guards_of_copy(found: Occurrence) -> tuple[Guard, ...]:
    """Return the guards that the loops of a copy keep."""
    others = {b.axis for s in found.inside for b in axes_of(s)} - set(found.axes)
    return tuple([g for g in found.guards() if not g.expression.axes & others])
