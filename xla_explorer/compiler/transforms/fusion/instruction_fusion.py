"""The pass `fusion`: producers are computed inside the loops of their consumers, so their results never touch memory."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.fusion.building import build_fusion, order_callees_first
from xla_explorer.compiler.transforms.fusion.planning import plan_fusions
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.module import HloModule


@register_pass("cpu-instruction-fusion")
@dataclasses.dataclass(frozen=True)
class InstructionFusion:
    """Fuses elementwise and data movement chains into loop fusions, and their results into reduces.

    max_operands: arrays that one kernel may read. max_emitted: LLVM instructions per element, about. max_evaluations: copies of
    one producer in the code of one element. tiny_reduce: reduces of at most so many elements are repeated in their consumers.
    code_price: nanoseconds per execution that a repeated instruction must save.
    """

    name: ClassVar[str] = "fusion"
    max_operands: int = 64
    max_emitted: int = 800
    max_evaluations: int = 15
    tiny_reduce: int = 8
    code_price: float = 400.0

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Fuse in the entry and in every computation that while, conditional and call run."""
        changed = False
        for computation in sequential_computations(module):
            for group in plan_fusions(computation, context, max_operands=self.max_operands, max_emitted=self.max_emitted,
                                      max_evaluations=self.max_evaluations, tiny_reduce=self.tiny_reduce,
                                      code_price=self.code_price):
                build_fusion(computation, group.root, group.members)
                changed = True
        if changed:
            order_callees_first(module)
        return changed
