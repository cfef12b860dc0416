"""Removal of conversions to a narrower float and back.

Source: xla/hlo/transforms/simplifiers/simplify_fp_conversions.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


@register_pass()
@dataclasses.dataclass(frozen=True)
class SimplifyFPConversions(OpExpanderPass):
    """Merge convert(convert(x)) between floats, as excess precision allows.

    Equal types need no conversion.
    """

    name: ClassVar[str] = "simplify-fp-conversions"
    opcodes: ClassVar[frozenset[str]] = frozenset(["convert"])
    in_fusions: ClassVar[bool] = True

    def matches(self, i: HloInstruction) -> bool:
        """Return True for a conversion of a conversion, floats throughout."""
        inner = i.operands[0]
        if inner.opcode.name != "convert":
            return False
        return all(x.shape.element_type.is_float for x in (i, inner, inner.operands[0]))

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return a conversion directly from the first type to the last."""
        [x] = values_of(b, i.operands[0])
        return b.convert(x, i.shape.element_type)
