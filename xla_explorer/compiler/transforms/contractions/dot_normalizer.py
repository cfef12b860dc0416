"""Dots without contracting dimensions, with one of size 1.

Source: xla/hlo/transforms/simplifiers/... dot_normalizer.cc (xla/backends/gpu/transforms).

===========================================  =================================================
handled by XLA                               here
===========================================  =================================================
no contracting dimensions                    a last dimension of size 1 in both operands
contracting dimensions                       unchanged
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
class DotNormalizer(OpExpanderPass):
    """Give every dot a dimension to contract."""

    name: ClassVar[str] = "dot_normalizer"
    opcodes: ClassVar[frozenset[str]] = frozenset(["dot"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for a dot without contracting dimensions."""
        return not i.attributes.value("lhs_contracting_dims")

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the dot of operands with a last dimension of size 1."""
        computation = b.computation
        operands = [
            computation.add("reshape", x.shape.base.with_dimensions((*x.shape.dimensions, 1)), (x,))
            for x in i.operands
        ]
        attributes = i.attributes.with_values(
            lhs_contracting_dims=(i.operands[0].shape.rank,),
            rhs_contracting_dims=(i.operands[1].shape.rank,),
        )
        made = computation.add(i.opcode, i.shape, operands, attributes, metadata=i.metadata)
        return HloValue(b, made)
