"""Wide computation of dots and convolutions with narrow results.

Source: xla/service/result_caster.cc.
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
from xla_explorer.hlo.analysis.product_types import inferred_type, width
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


@register_pass()
@dataclasses.dataclass(frozen=True)
class ResultCaster(OpExpanderPass):
    """Compute narrow results in the wider type of the operands, and convert them."""

    name: ClassVar[str] = "result_caster"
    opcodes: ClassVar[frozenset[str]] = frozenset(["dot", "convolution"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True if the operands are wider than the result."""
        return width(inferred_type(i)) > width(i.shape.element_type)

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the wide operation and a conversion."""
        wide = b.emit(
            i.opcode.name,
            values_of(b, i),
            own_attributes(i),
            shape=i.shape.with_element_type(inferred_type(i)),
        )
        return b.convert(wide, i.shape.element_type)
