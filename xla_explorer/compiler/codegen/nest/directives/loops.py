"""Directives that change loops and their order: collapse, reorder, sink, tile."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from xla_explorer.compiler.codegen.nest import transformations
from xla_explorer.compiler.codegen.nest.directives.base import (
    Directive,
    is_collapsible,
    offsets_of,
    order_of_sums,
)
from xla_explorer.compiler.codegen.nest.directives.splits import Split
from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    Compute,
    Constant,
    For,
    Iota,
    Load,
    Loop,
    LoopNest,
    SelectRegion,
)
from xla_explorer.compiler.codegen.nest.rewriting import with_loop_replaced
from xla_explorer.compiler.codegen.nest.transformations import inner_loop
from xla_explorer.foundation.reason import Predicate, Reason, refuse


@dataclass(frozen=True)
class Pair(Directive):
    """A directive for two axes, one directly inside the other."""

    axis: str
    inner: str

    def axes_are_nested(self, nest: LoopNest) -> Reason | None:
        """Refuse unless the outer loop contains the inner one and nothing else."""
        if self.inner in nest.axes() and inner_loop(nest, self.axis, self.inner) is not None:
            return None
        return refuse(
            "not-perfectly-nested",
            f"{self.axis} must contain {self.inner} and nothing else",
            outer=self.axis,
            inner=self.inner,
        )

    def both_are_serial(self, nest: LoopNest) -> Reason | None:
        """Refuse unless both axes are serial."""
        return self.axis_is_serial(nest) or replace(self, axis=self.inner).axis_is_serial(nest)

    def neither_is_ordered(self, nest: LoopNest) -> Reason | None:
        """Refuse if steps of either loop read what earlier steps stored."""
        pair = inner_loop(nest, self.axis, self.inner) or ()
        ordered = any(isinstance(loop, For) and loop.ordered for loop in pair)
        return (
            refuse(
                "ordered-steps",
                f"steps of {self.axis} or {self.inner} read what earlier steps have stored",
            )
            if ordered
            else None
        )


@dataclass(frozen=True)
class Collapse(Pair):
    """One axis in place of two nested ones.

    repeating: allow indices that then need quotients and remainders.
    """

    name: ClassVar[str] = "collapse"
    repeating: bool = False

    def checks(self) -> tuple[Predicate, ...]:
        """Implement `Directive.checks`."""
        names = (
            self.axis_exists,
            self.axes_are_nested,
            self.both_are_serial,
            self.neither_is_ordered,
            self.names_are_free,
        )
        return names if self.repeating else (*names, self.accesses_collapse)

    def changed(self, nest: LoopNest) -> LoopNest:
        """Implement `Directive.changed`."""
        return transformations.collapse(nest, self.axis, self.inner)

    def new_axes(self, nest: LoopNest) -> tuple[str, ...]:
        """Implement `Directive.new_axes`."""
        return (self.axis + self.inner,)

    def accesses_collapse(self, nest: LoopNest) -> Reason | None:
        """Refuse if an access is not linear in the collapsed axis."""
        outer, inner = [nest.axes()[name].axis for name in (self.axis, self.inner)]
        if all(
            is_collapsible(offset, outer, inner) for _, _, offset in offsets_of(nest, self.axis)
        ):
            return None
        after = self.changed(nest)
        one = after.axes()[self.axis + self.inner].axis
        for _, what, offset in offsets_of(after, one.name):
            if offset.coefficient(one) is None:
                message = f"{what} would be at {offset}, which is not linear in the collapsed axis"
                return refuse("access-does-not-collapse", message, offset=str(offset))
        return None


@dataclass(frozen=True)
class Reorder(Pair):
    """Loop interchange: two nested axes change places."""

    name: ClassVar[str] = "reorder"
    check_names = (
        "axis_exists",
        "axes_are_nested",
        "neither_is_ordered",
        "steps_are_independent",
        "stays_outermost",
    )

    def changed(self, nest: LoopNest) -> LoopNest:
        """Implement `Directive.changed`."""
        return transformations.reorder(nest, self.axis, self.inner)

    def stays_outermost(self, nest: LoopNest) -> Reason | None:
        """Refuse to move a parallel loop inside."""
        shared = nest.axes()[self.axis].kind is AxisKind.PARALLEL
        return (
            refuse(
                "parallel-not-outermost",
                f"{self.axis} is parallel and must stay the outermost loop",
            )
            if shared
            else None
        )

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """Implement `Directive.facts`."""
        return {**super().facts(nest), **order_of_sums(nest, self.axis)}


@dataclass(frozen=True)
class Sink(Directive):
    """Values computed beside an inner loop move into it: the loops are perfectly nested then.

    The code stays the same, because lowering hoists what does not depend on the inner axis.
    """

    name: ClassVar[str] = "sink"
    check_names = ("axis_exists", "only_computes")
    axis: str

    def changed(self, nest: LoopNest) -> LoopNest:
        """Implement `Directive.changed`."""

        def change(s: Loop) -> Loop:
            (inner,) = [x for x in s.body if isinstance(x, For)]
            return replace(
                s,
                body=(replace(inner, body=(*[x for x in s.body if x is not inner], *inner.body)),),
            )

        return with_loop_replaced(nest, self.axis, change)

    def only_computes(self, nest: LoopNest) -> Reason | None:
        """Refuse unless the loop contains only values and one loop."""
        loop = nest.loop(self.axis)
        inner = [s for s in loop.body if isinstance(s, For)] if isinstance(loop, For) else []
        if (
            len(inner) == 1
            and loop is not None
            and all(
                isinstance(s, For | Load | Constant | Iota | Compute | SelectRegion)
                for s in loop.body
            )
        ):
            return None
        return refuse(
            "not-perfectly-nested", f"{self.axis} must contain values and one loop, nothing else"
        )


@dataclass(frozen=True)
class TileLoops(Pair):
    """Two nested axes become tiles of rows * columns: both are split, the outer axes go outside."""

    name: ClassVar[str] = "tile"
    check_names = (
        "axis_exists",
        "axes_are_nested",
        "both_are_serial",
        "neither_is_ordered",
        "steps_are_independent",
        "parts_are_legal",
    )
    rows: int
    columns: int

    def parts_are_legal(self, nest: LoopNest) -> Reason | None:
        """Refuse if either split is refused."""
        for part in self._splits:
            if (reason := part.factor_fits(nest) or part.names_are_free(nest)) is not None:
                return reason
        return None

    def changed(self, nest: LoopNest) -> LoopNest:
        """Implement `Directive.changed`."""
        _, inner_row, outer_column, _ = self.new_axes(nest)
        for part in self._splits:
            nest = part.changed(nest)
        return transformations.reorder(nest, inner_row, outer_column)

    def new_axes(self, nest: LoopNest) -> tuple[str, ...]:
        """Return the outer and inner axis of rows, then those of columns."""
        rows, columns = self._splits
        return (*rows.new_axes(nest), *columns.new_axes(nest))

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """Implement `Directive.facts`."""
        return {"rows": self.rows, "columns": self.columns, **order_of_sums(nest, self.axis)}

    @property
    def _splits(self) -> tuple[Split, Split]:
        return Split(self.axis, self.rows), Split(self.inner, self.columns)
