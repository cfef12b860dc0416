"""Contracted dimensions of dots in memory order.

Source: xla/service/gpu/transforms/dot_dimension_sorter.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import (
    OpExpanderPass,
    own_attributes,
    values_of,
)
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


def lists_as_many(i: HloInstruction) -> bool:
    """Return True for several contracted dimensions."""
    return len(i.attributes.value("lhs_contracting_dims")) > 1


@register_pass()
@dataclasses.dataclass(frozen=True)
class DotDimensionSorter(OpExpanderPass):
    """List adjacent contracted dimensions in ascending order, so that no transpose is needed."""

    name: ClassVar[str] = "dot_dimension_sorter"
    opcodes: ClassVar[frozenset[str]] = frozenset(["dot"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True if they are adjacent on one side, but not in order."""
        return lists_as_many(i) and self._order(i) is not None

    def _order(self, i: HloInstruction) -> list[int] | None:
        sides = [i.attributes.value(f"{side}_contracting_dims") for side in ("lhs", "rhs")]
        contiguous = [max(dims) - min(dims) + 1 == len(dims) for dims in sides]
        ordered = [list(dims) == sorted(dims) for dims in sides]
        if (
            not any(contiguous)
            or (ordered[0] and contiguous[0])
            or (ordered[1] and contiguous[1] and not contiguous[0])
        ):
            return None
        leading = sides[0] if contiguous[0] else sides[1]
        return sorted(range(len(leading)), key=lambda n: leading[n])

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the same dot with its contracted dimensions reordered."""
        order = self._order(i)
        assert order is not None
        moved = {
            f"{s}_contracting_dims": tuple(
                [i.attributes.value(f"{s}_contracting_dims")[n] for n in order]
            )
            for s in ("lhs", "rhs")
        }
        return b.emit("dot", values_of(b, i), {**own_attributes(i), **moved}, shape=i.shape)
