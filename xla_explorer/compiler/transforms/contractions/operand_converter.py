"""Dots whose operands have two types, with one type.

Source: xla/backends/gpu/transforms/dot_operand_converter.cc.

===========================================  =================================================
handled by XLA                               here
===========================================  =================================================
operands of two types                        the narrower one is converted to the wider one
two f8 types                                 unchanged: libraries take the mix
equal types                                  unchanged
===========================================  =================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


@register_pass()
@dataclasses.dataclass(frozen=True)
class DotOperandConverter(OpExpanderPass):
    """Convert the operand of the narrower type."""

    name: ClassVar[str] = "operand_converter"
    opcodes: ClassVar[frozenset[str]] = frozenset(["dot"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for operands of two types, unless both are f8."""
        left, right = [o.shape.element_type for o in i.operands[:2]]
        both_f8 = left.is_float and right.is_float and left.bits == right.bits == 8
        return left is not right and not both_f8

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the dot of one converted operand."""
        computation, operands = b.computation, list(i.operands)
        kinds = [o.shape.element_type for o in operands[:2]]
        # a float is the wider type beside an integer
        narrow = min((0, 1), key=lambda k: (kinds[k].is_float, kinds[k].bits))
        shape = operands[narrow].shape.with_element_type(kinds[1 - narrow])
        operands[narrow] = computation.add("convert", shape, (operands[narrow],))
        made = computation.add(
            i.opcode, i.shape, operands, i.attributes, name=i.name, metadata=i.metadata
        )
        return HloValue(b, made)
