"""Rewrite integer dots so that the CPU's dot-product instructions apply (VNNI, Arm dotprod).

XLA has no such pass. `plan_dot_instruction` decides which element types the instructions support.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.codegen.kernels.products.dot_instruction_plan import (
    DotInstructionPlan,
    plan_dot_instruction,
)
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, own_attributes
from xla_explorer.compiler.target import Target
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32

SUM_BITS = 32  # bits of the accumulators of the instructions


def narrow_source(i: HloInstruction) -> HloInstruction:
    """Return the operand of a lossless integer widening; for any other instruction, itself."""
    if i.opcode.name != "convert":
        return i
    before, after = i.operands[0].shape.element_type, i.shape.element_type
    integer = not (before.is_float or before.is_complex or before.is_pred)
    keeps = integer and before.bits < after.bits and (after.is_signed or not before.is_signed)
    return i.operands[0] if keeps else i


def has_dot_product_instruction(dot: HloInstruction, target: Target) -> bool:
    """Return True if the target has dot-product instructions for the operands before widening."""
    t = dot.shape.element_type
    if t.is_float or t.is_complex or t.is_pred or t.bits > SUM_BITS:
        return False
    factors = tuple([narrow_source(o).shape.element_type for o in dot.operands])
    return isinstance(plan_dot_instruction(dot, target, factors), DotInstructionPlan)


@register_pass()
@dataclasses.dataclass(frozen=True)
class DotProductInstructions(OpExpanderPass):
    """Compute dots of widened integers by the CPU's dot-product instructions on narrow ones.

    The sums have 32 bits. Sums modulo 2^32 are also correct modulo a smaller power of two, so a
    narrower result is converted from them.
    """

    name: ClassVar[str] = "dot-product-instructions"
    opcodes: ClassVar[frozenset[str]] = frozenset(["dot"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True if an operand is a widening, or the result has fewer than 32 bits."""
        return i.shape.element_type.bits < SUM_BITS or any(
            narrow_source(o) is not o for o in i.operands
        )

    def _visit(self, computation: HloComputation, i: HloInstruction, context: PassContext) -> bool:
        return has_dot_product_instruction(i, context.target) and super()._visit(
            computation, i, context
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Emit a dot of the narrow operands, and a convert if the result has fewer than 32 bits."""
        t = i.shape.element_type
        given = own_attributes(i)
        given.pop("operand_precision", None)
        wide = i.shape.with_element_type(t if t.bits == SUM_BITS else S32)
        made = b.emit(
            "dot", tuple([HloValue(b, narrow_source(o)) for o in i.operands]), given, shape=wide
        )
        return made if t.bits == SUM_BITS else b.convert(made, t)
