"""Custom calls whose meaning is an operation of HLO, or none, become that.

XLA has such targets for what its passes or other devices look for: where a value lives, what a sharding is, topk before HLO had it.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.hlo.analysis.call_signatures import MARKERS, signature_mismatch
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


@register_pass("custom-call-expander")
@dataclasses.dataclass(frozen=True)
class CustomCallExpander(OpExpanderPass):
    """Markers become their operand, TopK becomes topk."""

    name: ClassVar[str] = "custom-call-expander"
    opcodes: ClassVar[frozenset[str]] = frozenset(["custom-call"])

    def matches(self, i: HloInstruction) -> bool:
        """Those targets, with operands and results of the operation."""
        target = custom_call_target(i)
        if (target not in MARKERS and target != "TopK") or signature_mismatch(i) is not None:
            return False
        return target in MARKERS or not i.operands[0].shape.element_type.is_complex

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """The operation."""
        [x] = values_of(b, i)
        return (
            x
            if custom_call_target(i) in MARKERS
            else b.topk(x, k=i.shape.tuple_shapes[0].dimensions[-1], largest=True)
        )
