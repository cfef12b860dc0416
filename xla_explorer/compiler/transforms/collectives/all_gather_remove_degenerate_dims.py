"""All-gathers without dimensions of size one.

Source: xla/hlo/transforms/collectives/all_gather_remove_degenerate_dims.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.compiler.transforms.collectives.gather_dimensions import (
    gathered,
    has_free_layout,
    without_ones,
)
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


@register_pass()
@dataclasses.dataclass(frozen=True)
class AllGatherRemoveDegenerateDims(OpExpanderPass):
    """Gather along fewer dimensions: those of size one are removed before and added after."""

    name: ClassVar[str] = "all-gather-remove-degenerate-dims"
    opcodes: ClassVar[frozenset[str]] = frozenset(["all-gather"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for one operand with a dimension of size one that is not gathered."""
        axis = i.attributes.value("dimensions")[0]
        return (
            len(i.operands) == 1
            and i.shape.is_array
            and has_free_layout(i)
            and i.shape.dimensions[axis] != 1
            and any(n == 1 for d, n in enumerate(i.shape.dimensions) if d != axis)
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the reshaped all-gather of the reshaped operand."""
        (x,), axis = values_of(b, i), i.attributes.value("dimensions")[0]
        dimensions, place = without_ones(x.instruction.shape.dimensions, axis)
        made = gathered(i, x.reshape(*dimensions).instruction, place)
        return HloValue(b, made).reshape(*i.shape.dimensions)
