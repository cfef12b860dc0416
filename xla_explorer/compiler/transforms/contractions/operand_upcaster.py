"""Dots and convolutions read operands of the type in which they compute. Source: xla/service/operand_upcaster.cc."""

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
    """Operands narrower than the result are converted to its type."""

    name: ClassVar[str] = "operand_upcaster"
    opcodes: ClassVar[frozenset[str]] = frozenset(["dot", "convolution"])

    def matches(self, i: HloInstruction) -> bool:
        """An operand has another type than the result, and neither is wider."""
        kind = i.shape.element_type
        return any(o.shape.element_type is not kind for o in i.operands) and width(
            inferred_type(i)
        ) <= width(kind)

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Converts in front."""
        kind = i.shape.element_type
        return b.emit(
            i.opcode.name,
            [b.convert(x, kind) for x in values_of(b, i)],
            own_attributes(i),
            shape=i.shape,
        )
