"""Custom calls whose meaning is an operation of HLO, or none, become that.

XLA has such targets for what its passes or other devices look for: where a value lives, what a sharding is, topk before HLO had it.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction

_MARKERS = frozenset(
    ["Sharding", "annotate_device_placement", "MoveToHost", "MoveToDevice", "LayoutConstraint", "xla.sdy.FuncResultSharding"]
)


@register_pass("custom-call-expander")
@dataclasses.dataclass(frozen=True)
class CustomCallExpander(OpExpanderPass):
    """Markers become their operand, TopK becomes topk."""

    name: ClassVar[str] = "custom-call-expander"
    opcodes: ClassVar[frozenset[str]] = frozenset(["custom-call"])

    def matches(self, i: HloInstruction) -> bool:
        """Those targets, with operands and results of the operation."""
        if len(i.operands) != 1:
            return False
        before, after = i.operands[0].shape, i.shape
        if custom_call_target(i) in _MARKERS:
            return after.base is before.base
        if custom_call_target(i) != "TopK" or not before.is_array or not before.rank or before.element_type.is_complex:
            return False
        parts = after.tuple_shapes if after.is_tuple else ()
        whole = len(parts) == 2 and all(s.is_array and s.rank == before.rank for s in parts) and parts[1].element_type.name == "s32"
        return whole and parts[0].element_type is before.element_type

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """The operation."""
        [x] = values_of(b, i)
        return x if custom_call_target(i) in _MARKERS else b.topk(x, k=i.shape.tuple_shapes[0].dimensions[-1], largest=True)
