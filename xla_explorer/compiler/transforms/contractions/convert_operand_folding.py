"""Dots and convolutions read narrow operands as they are. Source: xla/service/convert_operand_folding.cc."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.expanders.op_expander_pass import OpExpanderPass, own_attributes
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


def _widens(i: HloInstruction) -> bool:
    if i.opcode.name != "convert":
        return False
    a, b = i.operands[0].shape.element_type, i.shape.element_type
    if a.is_integer and b.is_float:
        return a.bits < b.bits
    integers = a.is_integer and b.is_integer and a.bits <= b.bits and (a.is_unsigned or b.is_signed)
    return integers or (a.is_float and b.is_float and a.bits < b.bits)


@register_pass()
@dataclasses.dataclass(frozen=True)
class ConvertOperandFolding(OpExpanderPass):
    """dot(convert(x), y) becomes dot(x, y) of the same result type, when the conversion widens and the result is as wide."""

    name: ClassVar[str] = "convert_operand_folding"
    opcodes: ClassVar[frozenset[str]] = frozenset(["dot", "convolution"])

    def matches(self, i: HloInstruction) -> bool:
        """An operand is such a conversion."""
        return any(_widens(o) for o in i.operands)

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """The operation on what was converted."""
        operands = [HloValue(b, o.operands[0] if _widens(o) else o) for o in i.operands]
        return b.emit(i.opcode.name, operands, own_attributes(i), shape=i.shape)
