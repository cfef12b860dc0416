"""Reductions in narrow floats, reported or refused.

Source: xla/service/debug/unstable_reduction_detector.cc.

===========================================  =================================================
handled by XLA                               here
===========================================  =================================================
sums and products of f16, bf16 and f8 over   reported: a warning, or an error
more than one element
reduce, reduce-window, all-reduce, reduce-   the same
scatter
wider types, minimum, maximum                stable
names by metadata                            op_name, else the instruction's name
===========================================  =================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.warning import warn
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_REDUCTIONS = frozenset(["reduce", "reduce-window", "all-reduce", "reduce-scatter"])
_ROUNDING = frozenset(["add", "multiply", "subtract"])


def is_unstable(i: HloInstruction) -> bool:
    """Return True for a reduction that rounds to a narrow float after each step."""
    if i.opcode.name not in _REDUCTIONS or not i.called:
        return False
    rounds = any(
        x.opcode.name in _ROUNDING
        and x.shape.is_array
        and x.shape.element_type.is_float
        and x.shape.element_type.bits < 32
        for x in i.called[0].instructions.values()
    )
    if i.opcode.name == "reduce":
        sizes = i.operands[0].shape.dimensions
        return rounds and any(sizes[d] > 1 for d in i.attributes["dimensions"])
    return rounds


@register_pass()
@dataclasses.dataclass(frozen=True)
class UnstableReductionDetector:
    """Report reductions whose result depends strongly on rounding.

    mode: `none`, `warning` or `fail`.
    """

    name: ClassVar[str] = "unstable-reduction-detector"
    mode: str = "warning"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every reduction; the module stays as it is."""
        found = [i for i in module.instructions() if is_unstable(i)] if self.mode != "none" else []
        if not found:
            return False
        named = [str(i.op_metadata.op_name) for i in found if i.metadata and i.op_metadata.op_name]
        others = [i.name for i in found if not (i.metadata and i.op_metadata.op_name)]
        text = f"{len(found)} unstable reductions found. "
        if named:
            text += f"op names: {', '.join(named)}. "
        if others:
            text += f"{len(others)} op names without metadata: {', '.join(others)}"
        if self.mode == "fail":
            raise XlaExplorerError(text, "reduce in f32, and convert the result")
        warn(text, UserWarning)
        return False
