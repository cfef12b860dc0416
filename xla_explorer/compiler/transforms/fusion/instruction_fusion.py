"""The pass `fusion`: producers run inside the loops of consumers, without a result in memory."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal

from xla_explorer.compiler.costs.cpu_costs import FusionCostModel
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.explaining import evaluated_decision, not_an_operand
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.fusion import fusible, policy, xla_policy
from xla_explorer.compiler.transforms.fusion.building import LOOP, build_fusion, order_callees_first
from xla_explorer.compiler.transforms.fusion.candidate import FusionSetting
from xla_explorer.compiler.transforms.fusion.planning import lone_candidate, plan_fusions
from xla_explorer.compiler.transforms.fusion.xla_planning import XlaFusionPlanner
from xla_explorer.foundation.decision import Decision
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


@register_pass("cpu-instruction-fusion")
@dataclasses.dataclass(frozen=True)
class InstructionFusion:
    """Fuse chains of elementwise operations and data movement into loops and reduces.

    max_operands: arrays that one kernel may read. max_emitted: approximate LLVM instructions per
    element. max_evaluations: instances of one producer in the code of one element. tiny_reduce:
    reduces of at most so many elements are repeated in their consumers. code_price: nanoseconds per
    execution that a repeated instruction must save. policy: `time` compares times as above; `xla`
    fuses like XLA:CPU, by its rules and in its order, whatever the times.
    """

    name: ClassVar[str] = "fusion"
    kinds: ClassVar[tuple[str, ...]] = ("fusion",)
    max_operands: int = 64
    max_emitted: int = 800
    max_evaluations: int = 15
    tiny_reduce: int = 8
    code_price: float = 400.0
    policy: Literal["time", "xla"] = "time"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Fuse in the entry and in every computation that while, conditional and call run."""
        changed = False
        for computation in sequential_computations(module):
            if self.policy == "xla":
                for kernel in XlaFusionPlanner(computation, context).plan():
                    build_fusion(
                        computation, kernel.root, kernel.members, name=kernel.name, kind=LOOP
                    )
                    changed = True
                continue
            for group in plan_fusions(computation, context, self):
                build_fusion(computation, group.root, group.members)
                changed = True
        if changed:
            order_callees_first(module)
        return changed

    def evaluate(
        self, kind: str, subjects: tuple[HloInstruction, ...], context: PassContext
    ) -> Decision | None:
        """Return the policy's checks of two instructions, as if each user were its own kernel."""
        if len(subjects) != 2:
            return None
        producer, consumer = subjects
        if producer not in consumer.operands:
            return not_an_operand(kind, producer, consumer)
        if self.policy == "xla":
            state = XlaFusionPlanner(consumer.parent, context).state
            return evaluated_decision(
                kind,
                subjects,
                (*xla_policy.LEGALITY, *xla_policy.PROFITABILITY),
                state.candidate(producer, consumer),
            )
        pinned = fusible.control_successors(consumer.parent)
        setting = FusionSetting(FusionCostModel(context.target), self, pinned, context.control)
        return evaluated_decision(
            kind,
            subjects,
            (*policy.LEGALITY, *policy.PROFITABILITY),
            lone_candidate(producer, consumer, setting),
        )
