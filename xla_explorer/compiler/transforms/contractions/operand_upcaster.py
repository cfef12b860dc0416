"""Operands of dots and convolutions in the type of the computation.

Source: xla/service/operand_upcaster.cc.
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
class OperandUpcaster(OpExpanderPass):
    """Convert operands narrower than the result to its type."""

    name: ClassVar[str] = "operand_upcaster"
    opcodes: ClassVar[frozenset[str]] = frozenset(["dot", "convolution"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True if operand and result types differ, and no operand is wider."""
        kind = i.shape.element_type
        return any(o.shape.element_type is not kind for o in i.operands) and width(
            inferred_type(i)
        ) <= width(kind)

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the operation on converted operands."""
        kind = i.shape.element_type
        return b.emit(
            i.opcode.name,
            [b.convert(x, kind) for x in values_of(b, i)],
            own_attributes(i),
            shape=i.shape,
        )
