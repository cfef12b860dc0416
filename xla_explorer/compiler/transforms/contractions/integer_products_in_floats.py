"""Products of small integers in floats, if every sum is exact. No pass of XLA's."""

from __future__ import annotations

import dataclasses
from math import prod
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, own_attributes
from xla_explorer.compiler.transforms.contractions.dot_product_instructions import (
    has_dot_product_instruction,
    narrow_source,
)
from xla_explorer.foundation.measured import at_most
from xla_explorer.foundation.reason import Predicate, Reason, refuse, value_formatter
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32, S32

EXACT = 1 << 24  # integers up to here are exact in f32
SKINNY = 4  # rows or columns of a skinny product, which does not repay copies of its operands


@register_pass()
@dataclasses.dataclass(frozen=True)
class IntegerProductsInFloats(OpExpanderPass):
    """Compute dots and convolutions of 8-bit integers in f32, with fused multiply-adds.

    Dots only if the CPU has no dot-product instructions for them (`dot-product-instructions`). Each
    product and each partial sum is an integer below 2^24 in magnitude, so that no order of
    summation rounds. Operands that are widened before the product count with their narrow type.
    """

    name: ClassVar[str] = "integer-products-in-floats"
    opcodes: ClassVar[frozenset[str]] = frozenset(["dot", "convolution"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for integers throughout, and neither operand skinny."""
        types = [i.shape.element_type, *[o.shape.element_type for o in i.operands]]
        if any(t.is_float or t.is_complex or t.is_pred for t in types):
            return False
        depth = _depth(i)
        return depth >= SKINNY and all(o.shape.element_count >= SKINNY * depth for o in i.operands)

    def _visit(self, computation: HloComputation, i: HloInstruction, context: PassContext) -> bool:
        by_instruction = i.opcode.name == "dot" and has_dot_product_instruction(i, context.target)
        return not by_instruction and super()._visit(computation, i, context)

    def legality(self) -> tuple[Predicate, ...]:
        """Return the check that sums are exact."""
        return (sums_are_exact,)

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return conversions, the product, and a conversion."""
        operands = [b.convert(HloValue(b, narrow_source(o)), F32) for o in i.operands]
        given = own_attributes(i)
        given.pop("operand_precision", None)
        made = b.emit(i.opcode.name, tuple(operands), given, shape=i.shape.with_element_type(F32))
        return b.convert(b.convert(made, S32), i.shape.element_type)


def _depth(i: HloInstruction) -> int:
    """Return the number of products in one sum."""
    lhs, rhs = i.operands
    if i.opcode.name == "dot":
        contracted: list[int] = [
            lhs.shape.dimensions[d] for d in i.attribute("lhs_contracting_dims")
        ]
        return prod(contracted)
    output_features: int = rhs.shape.dimensions[i.attribute("dim_labels").kernel_output_feature]
    return rhs.shape.element_count // max(1, output_features)


def _largest_sum(i: HloInstruction) -> int:
    largest = _depth(i)
    for t in [narrow_source(o).shape.element_type for o in i.operands]:
        largest *= 1 << (t.bits - t.is_signed)
    return largest


@value_formatter(lambda i: at_most("largest sum", _largest_sum(i), EXACT))
def sums_are_exact(i: HloInstruction) -> Reason | None:
    """Require that the largest sum of magnitudes is an exact float."""
    largest = _largest_sum(i)
    if largest > EXACT:
        return refuse(
            "sums-not-exact",
            f"sums of %{i.name} may reach {largest}; floats hold integers up to {EXACT}",
            largest=largest,
        )
    return None
