"""Integer comparisons for float comparisons in total order.

Source: xla/hlo/transforms/expanders/comparison_expander.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES


def ordered_bits(b: HloBuilder, x: HloValue) -> HloValue:
    """Return signed integers in the floats' total order: sign and magnitude to two's complement."""
    width = x.dtype.bits
    bits = b.bitcast_convert(x, PRIMITIVE_TYPES[f"s{width}"])
    largest = b.constant((1 << (width - 1)) - 1, bits.dtype)
    zero = b.constant(0, bits.dtype)
    dimensions = x.shape.dimensions
    return b.select(
        bits < b.broadcast(zero, dimensions, ()), b.broadcast(largest, dimensions, ()) ^ bits, bits
    )


@register_pass()
@dataclasses.dataclass(frozen=True)
class ComparisonExpander(OpExpanderPass):
    """Replace compare(a, b), type=TOTALORDER by a comparison of the bits as integers.

    The bits of negative numbers are mirrored.
    """

    name: ClassVar[str] = "comparison-expander"
    opcodes: ClassVar[frozenset[str]] = frozenset(["compare"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for the total order of floats whose width has an integer type."""
        kind = i.operands[0].shape.element_type
        return (
            i.attributes.get("type") == "TOTALORDER"
            and kind.is_float
            and f"s{kind.bits}" in PRIMITIVE_TYPES
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the comparison of both sides as integers."""
        left, right = [ordered_bits(b, x) for x in values_of(b, i)]
        return b.compare(left, right, i.attributes["direction"])
