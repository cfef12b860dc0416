"""`stage-padded`: a tile of an array is copied first, with zeros for elements outside of it.

Windows over the border then are products like all others, without conditions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

from xla_explorer.compiler.codegen.nest.directives.staging import Stage
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    Body,
    Combination,
    Compute,
    Constant,
    For,
    Load,
    LoopNest,
    NestArray,
    Origin,
    Reduce,
    Space,
    Statement,
    Store,
    axes_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.rewriting import rewritten
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import (
    ZERO,
    Axis,
    Guard,
    IndexExpression,
    Substitution,
    delinearize,
    index,
)
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.shape import Shape, array_shape


class _Range(NamedTuple):
    """An index of a load: its part from outer loops, and the limits of the rest."""

    outer: IndexExpression
    low: int
    high: int


@dataclass(frozen=True)
class StagePadded(Stage):
    """`Stage` with zeros where the guards of a sum of products leave out elements.

    The sum then adds zeros times the other factor. order: numbers of the copied dimensions,
    outermost in memory first, with dots between; by default as the array has them. New axes:
    <axis>f over the zeros, <axis>f and the number of a dimension over the copy.
    """

    name: ClassVar[str] = "stage-padded"
    check_names = (*Stage.check_names, "is_multiplied", "names_are_free")

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """Implement `Directive.facts`."""
        return {
            **super().facts(nest),
            "elements": self._tile(nest).element_count,
            "multiplies-zeros": bool(self._left_out(nest)),
        }

    def new_axes(self, nest: LoopNest) -> tuple[str, ...]:
        """Implement `Directive.new_axes`."""
        return (f"{self.axis}f", *[f"{self.axis}f{d}" for d in self._ranges(nest)])

    def is_multiplied(self, nest: LoopNest) -> Reason | None:
        """Refuse unless the load is a factor of the terms of one sum."""
        (found,) = self.found(nest)
        operands = {a.name for a in nest.arrays}
        s, load = found.inside[-1] if found.inside else None, found.statement
        one = (
            isinstance(s, Reduce)
            and not s.each
            and not isinstance(s.combiner, Combination)
            and s.combiner.name == "add"
        )
        if one and isinstance(s, Reduce) and isinstance(load, Load):
            terms = [x for x, _ in walk(s.body) if isinstance(x, Compute) and x.id in s.values]
            copied = any(isinstance(x, Load) and x.array not in operands for x, _ in walk(s.body))
            if (
                len(terms) == 1
                and terms[0].opcode.name == "multiply"
                and load.id in terms[0].operands
                and not (copied and s.guards)
            ):
                return None
        return refuse(
            "not-staged",
            f"{self.array} must be a factor of the terms of a sum, so that zeros around it add "
            "nothing",
        )

    def stays_inside(self, nest: LoopNest) -> Reason | None:
        """Accept loads outside of the array, which read zeros."""
        return None

    def order_has_all_axes(self, nest: LoopNest) -> Reason | None:
        """Refuse an order that does not name each copied dimension once."""
        names = [str(d) for d in self._dimensions(nest)]
        if not self.order or sorted(self.order.split(".")) == names:
            return None
        return refuse(
            "order-of-other-axes",
            f"the order must name {', '.join(names)}, dimensions of {self.array}, got {self.order}",
        )

    def fits(self, nest: LoopNest) -> Reason | None:
        """Refuse a tile that is too large."""
        return self.too_large(nest, self._tile(nest).byte_size)

    def changed(self, nest: LoopNest) -> LoopNest:
        """Implement `Directive.changed`."""
        (found,) = self.found(nest)
        load, number, ranges, left_out = (
            found.statement,
            nest.fresh_id(),
            self._ranges(nest),
            self._left_out(nest),
        )
        assert isinstance(load, Load)
        tile = NestArray(f"padded_{load.id}", self._tile(nest), True, Space(self.space))
        extents = self._operand(nest).shape.dimensions
        at, to, loops = (
            list(load.place),
            list[IndexExpression](),
            list[tuple[Axis, tuple[Guard, ...]]](),
        )
        others = [
            Guard(x, n)
            for d, (x, n) in enumerate(zip(load.place, extents, strict=True))
            if d not in ranges
        ]
        for d, (outer, low, high) in ranges.items():
            first, last = (low, high) if outer.terms else (max(low, 0), min(high, extents[d] - 1))
            axis = Axis(f"{self.axis}f{d}", max(last - first + 1, 0))
            at[d] = index(axis) + outer + first
            to.append(index(axis) + (first - low))
            loops.append(
                (
                    axis,
                    tuple([g for g in (*others, Guard(at[d], extents[d])) if not g.always_holds]),
                )
            )
            others = []
        origin = (
            Origin(load.origin.instruction, tuple(at) if load.origin.place == load.place else ())
            if load.origin is not None
            else None
        )
        copied: Body = (
            replace(load, id=number, place=tuple(at), origin=origin),
            Store(tile.name, tuple(to), number, origin),
        )
        for axis, guards in reversed(loops):
            copied = (For(axis, copied, guards=guards),) if axis.extent and copied else ()
        if any(guards for _, guards in loops) or [axis.extent for axis, _ in loops] != list(
            tile.shape.dimensions
        ):
            everywhere = Axis(f"{self.axis}f", tile.shape.element_count)
            zero = Constant(number + 1, literal_from_array(0, array_shape(load.element, ())))
            place = delinearize(index(everywhere), tile.shape.dimensions)
            copied = (zero, For(everywhere, (Store(tile.name, place, zero.id),)), *copied)
        read = replace(
            load,
            array=tile.name,
            place=tuple([load.place[d] - outer - low for d, (outer, low, _) in ranges.items()]),
        )

        def change(s: Statement) -> Body | Statement | None:
            if isinstance(s, Reduce) and any(x is read for x in s.body):
                return replace(s, guards=tuple([g for g in s.guards if g not in left_out]))
            if isinstance(s, For) and s.axis.name == self.axis:
                return replace(s, body=(Allocate(tile), *copied, *s.body))
            return read if s is load else None

        return replace(nest, body=rewritten(nest.body, change))

    def _operand(self, nest: LoopNest) -> NestArray:
        return next(a for a in nest.arrays if a.name == self.array.removeprefix("%"))

    def _left_out(self, nest: LoopNest) -> list[Guard]:
        """Return the guards of the sum that keep the load inside of its array."""
        (found,) = self.found(nest)
        inside = [
            Guard(x, n)
            for x, n in zip(found.place, self._operand(nest).shape.dimensions, strict=True)
        ]
        return [g for g in getattr(found.inside[-1], "guards", ()) if g in inside]

    def _dimensions(self, nest: LoopNest) -> list[int]:
        (found,) = self.found(nest)
        axes = {b.axis for s in found.inside for b in axes_of(s)}
        return [d for d, x in enumerate(found.place) if x.axes & axes]

    def _ranges(self, nest: LoopNest) -> dict[int, _Range]:
        """Return the range of each copied dimension by its number, outermost in memory first."""
        (found,) = self.found(nest)
        inner: Substitution = {b.axis: ZERO for s in found.inside for b in axes_of(s)}
        ranges = {}
        for d in map(int, self.order.split(".")) if self.order else self._dimensions(nest):
            x = found.place[d]
            outer = x.substitute(inner) - x.substitute(dict.fromkeys(x.axes, ZERO))
            ranges[d] = _Range(outer, *(x - outer).bounds)
        return ranges

    def _tile(self, nest: LoopNest) -> Shape:
        return array_shape(
            self._operand(nest).shape.element_type,
            tuple([high - low + 1 for _, low, high in self._ranges(nest).values()]),
        )
