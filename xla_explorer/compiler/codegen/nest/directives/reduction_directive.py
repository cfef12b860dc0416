"""The base of directives of reductions."""

from __future__ import annotations

from typing import Any, ClassVar

from xla_explorer.compiler.codegen.nest.accesses import MOST_SCRATCH
from xla_explorer.compiler.codegen.nest.directives.base import Directive, order_of_sums
from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    Combination,
    Constant,
    For,
    Load,
    LoopNest,
    Reduce,
    Store,
    axes_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.transformations import reduction_of
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.identity_element import identity_element
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.opcodes import OpcodeSpec
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import array_shape


class ReductionDirective(Directive):
    """A directive for the reduction over an axis.

    takes_scans: it applies to scans too.
    """

    takes_scans: ClassVar[bool] = False

    def axis_is_reduced(self, nest: LoopNest) -> Reason | None:
        """Refuse an axis that no reduction has, and that of a scan unless `takes_scans`."""
        s = nest.loop(self.axis)
        if isinstance(s, Reduce) and s.each and not self.takes_scans:
            return refuse(
                "order-must-be-kept",
                f"%{s.ids[0]} gives every running value along {self.axis}, in the order of its "
                "steps",
            )
        return (
            None
            if isinstance(s, Reduce)
            else refuse("not-reduced", f"nothing is reduced over {self.axis}")
        )

    def rest_has_identity(self, nest: LoopNest) -> Reason | None:
        """Refuse if partial results over the other axes have no identity element to begin with.

        The axis of a scan must be its first, because running values are made in order.
        """
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
                f"%{s.ids[0]} combines by several operations: a partial result has no identity "
                "element",
            )
        return None

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """Implement `Directive.facts`."""
        return {**super().facts(nest), **order_of_sums(nest, self.axis)}


def why_not_repeated(nest: LoopNest, axis: str) -> Reason | None:
    """Refuse a reduction unless the loops around can be repeated before it.

    They must be serial and unconditional, and must not read what the kernel stores. Their second
    axes are named <axis>p.
    """
    around, s = nest.around(axis), reduction_of(nest, axis)
    names = {f"{b.axis.name}p" for x in around for b in axes_of(x)} & nest.axes().keys()
    if names:
        return refuse("name-taken", f"the nest has an axis {min(names)} already")
    stored = {x.array for x, _ in nest.statements() if isinstance(x, Store)}
    repeated = around[:1] or (s.body if s.each else ())
    reads = any(isinstance(x, Load) and x.array in stored for x, _ in walk(repeated))
    if not reads and all(
        isinstance(x, For) and x.kind is AxisKind.SERIAL and not x.guards and not x.ordered
        for x in around
    ):
        return None
    return refuse(
        "not-outermost",
        f"the reduction over {axis} must be inside serial loops that do not read what they store",
    )


def too_large(what: str, steps: int, s: Reduce, limit: int = MOST_SCRATCH) -> Reason | None:
    """Refuse memory for a reduction's results at every step if it exceeds a limit.

    what: the subject of the message.
    """
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


def identity_of(number: int, combiner: OpcodeSpec, element: PrimitiveType) -> Constant:
    """Return a constant: the identity element of a combiner."""
    return Constant(
        number,
        literal_from_array(identity_element(combiner.name, element), array_shape(element, ())),
    )
