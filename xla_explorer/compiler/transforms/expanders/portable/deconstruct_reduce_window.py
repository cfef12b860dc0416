"""Windows over a whole dimension as one reduction. Source: xla/service/despecializer.cc.

XLA: DeconstructReduceWindowToReduceBroadcast. Strides, dilations, several dimensions and other
shapes stay, as in XLA.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import broadcast, with_dimensions
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.hlo.attributes.values import Window, WindowDimension
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


def whole_dimension(i: HloInstruction) -> int | None:
    """Return the dimension that every window of a reduce-window holds as a whole, or None."""
    window: Window | None = i.attributes.get("window")
    if window is None or len(i.operands) != 2 or i.operands[0].shape is not i.shape:
        return None
    reduced = [d for d, row in enumerate(window.dimensions) if row.size != 1]
    if len(reduced) != 1:
        return None
    n = i.shape.dimensions[reduced[0]]
    wanted = [WindowDimension(1)] * i.shape.rank
    wanted[reduced[0]] = WindowDimension(2 * n - 1, 1, n - 1, n - 1)
    return reduced[0] if list(window.dimensions) == wanted else None


@register_pass()
@dataclasses.dataclass(frozen=True)
class DeconstructReduceWindow(OpExpanderPass):
    """Reduce a dimension once and broadcast the result, if every window holds all of it."""

    name: ClassVar[str] = "deconstruct-reduce-window-to-reduce-broadcast"
    opcodes: ClassVar[frozenset[str]] = frozenset(["reduce-window"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for windows that hold all elements of one dimension."""
        return whole_dimension(i) is not None

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue | None:
        """Return the broadcast of a reduce."""
        dimension, computation = whole_dimension(i), b.computation
        if dimension is None:
            return None
        kept = [d for d in range(i.shape.rank) if d != dimension]
        reduced = computation.add(
            "reduce",
            i.shape.with_dimensions([i.shape.dimensions[d] for d in kept]),
            i.operands,
            with_dimensions([dimension]),
            called=i.called,
            metadata=i.metadata,
        )
        return HloValue(b, broadcast(computation, reduced, i.shape, kept))
