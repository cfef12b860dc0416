"""Custom calls that equal an HLO operation, or the identity, as this operation.

XLA has such targets as markers for its passes or other devices: the memory of a value, a sharding,
topk before HLO had it.
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
    """Replace markers by their operand, and TopK by topk."""

    name: ClassVar[str] = "custom-call-expander"
    opcodes: ClassVar[frozenset[str]] = frozenset(["custom-call"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for a marker or TopK with operands and results of the operation."""
        target = custom_call_target(i)
        if (target not in MARKERS and target != "TopK") or signature_mismatch(i) is not None:
            return False
        return target in MARKERS or not i.operands[0].shape.element_type.is_complex

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the operation."""
        [x] = values_of(b, i)
        return (
            x
            if custom_call_target(i) in MARKERS
            else b.topk(x, k=i.shape.tuple_shapes[0].dimensions[-1], largest=True)
        )
