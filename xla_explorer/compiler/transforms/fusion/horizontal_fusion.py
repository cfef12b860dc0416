"""The passes `horizontal-loop-fusion` and `horizontal-input-fusion`: one launch for small kernels.

An optimiser updates each parameter in its own kernel, which takes longer to start than to run and
uses little of the device. Independent kernels with a common consumer become one kernel with all
their results. Loops of different sizes keep their own indices: a thread beyond the end of a loop is
idle there (XLA pads and concatenates instead). Sources:
xla/service/gpu/transforms/horizontal_loop_fusion.cc, horizontal_input_fusion.cc.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion import horizontal_policy as policy
from xla_explorer.compiler.transforms.fusion.building import INPUT, LOOP, order_callees_first
from xla_explorer.compiler.transforms.fusion.gpu_cost_model import GpuCostModel
from xla_explorer.compiler.transforms.fusion.merging import LoopCluster, merge_cluster
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.analysis.contracted_order import ContractedOrder
from xla_explorer.hlo.attributes import Attributes
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import FUSION, TUPLE

_AT_MOST_CONSIDERED = 256  # kernels that one consumer reads


@dataclasses.dataclass(frozen=True)
class _HorizontalFusion:
    """The base of both passes.

    max_arrays: read and written by one kernel. max_emitted: approximate LLVM instructions of a
    thread. max_elements: of a kernel that is small enough to share its launch.
    """

    name: ClassVar[str] = ""
    max_arrays: int = 64
    max_emitted: int = 800
    max_elements: int = 1 << 20

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Merge in every computation that is a program."""
        changed = False
        for computation in sequential_computations(module):
            planner = _Planner(computation, context, self, self.name == HorizontalInputFusion.name)
            for cluster in planner.plan():
                merge_cluster(computation, cluster, planner.place, planner.kind)
                changed = True
        if changed:
            order_callees_first(module)
        return changed


@register_pass("gpu_horizontal_loop_fusion")
@dataclasses.dataclass(frozen=True)
class HorizontalLoopFusion(_HorizontalFusion):
    """Merge loop fusions of any sizes into one launch, as `_HorizontalFusion` describes."""

    name: ClassVar[str] = "horizontal-loop-fusion"


@register_pass("gpu_horizontal_input_fusion")
@dataclasses.dataclass(frozen=True)
class HorizontalInputFusion(_HorizontalFusion):
    """Merge reductions of equal dimensions into one launch, as `_HorizontalFusion` describes."""

    name: ClassVar[str] = "horizontal-input-fusion"
    max_elements: int = 1 << 16


class _Planner:
    def __init__(
        self,
        computation: HloComputation,
        context: PassContext,
        options: _HorizontalFusion,
        reductions: bool,
    ) -> None:
        self.context, self.options = context, options
        self.kind: Attributes = INPUT if reductions else LOOP
        self.why_other_kind = policy.why_no_reduce if reductions else policy.why_no_loop
        self.order = ContractedOrder(computation)
        self.place = self.order.place
        self.pinned = fusible.control_successors(computation)
        self.cost = GpuCostModel(context.target)
        self.cluster_of: dict[HloInstruction, LoopCluster] = {}
        self.bodies = Counter(
            [i.called[0] for i in computation.module.instructions() if i.opcode is FUSION]
        )
        self.legality = policy.OF_REDUCES if reductions else policy.OF_LOOPS

    def plan(self) -> list[LoopCluster]:
        """Return the clusters of at least two kernels."""
        for consumer in list(self.place):
            kernels = [
                k
                for k in self._feeding(consumer)
                if k not in self.cluster_of or len(self.cluster_of[k].members) == 1
            ]
            kernels = [k for k in kernels if self.why_other_kind(k) is None]
            # Equal kernels first, so that adjacent ones in the list fit best.
            kernels.sort(key=lambda k: (-policy.elements_of_work(k), self.place[k]))
            for k in kernels:
                self.cluster_of.setdefault(k, LoopCluster(k))
            for number, second in enumerate(kernels):
                open_clusters = dict.fromkeys([self.cluster_of[k] for k in kernels[:number]])
                for cluster in list(open_clusters)[
                    -2:
                ]:  # the latest; earlier ones are full or of another kind
                    if self._decide(cluster, second) is None:
                        self._join(cluster, second)
                        break
        return [c for c in dict.fromkeys(self.cluster_of.values()) if len(c.members) > 1]

    def _decide(self, cluster: LoopCluster, second: HloInstruction) -> Reason | None:
        first, context = cluster.members[0], self.context
        theirs = self.cluster_of[second]
        pair = policy.KernelPair(
            first,
            second,
            cluster,
            theirs,
            self.order,
            self.pinned,
            self.cost,
            self.options,
            context.control,
        )
        return context.decide(
            self.options.name,
            self.legality,
            policy.PROFITABILITY,
            first,
            second,
            candidate=pair,
            facts=pair.facts,
        )

    def _join(self, cluster: LoopCluster, second: HloInstruction) -> None:
        self.order.join(cluster.members[0], second)
        mine = self.cluster_of[second]
        cluster.take(mine)
        for member in mine.members:
            self.cluster_of[member] = cluster

    def _feeding(self, consumer: HloInstruction) -> list[HloInstruction]:
        """Return the kernels that a consumer reads, perhaps through tuples and bitcasts."""
        found: dict[HloInstruction, None] = {}
        stack = list(consumer.operands)
        if len(stack) < 2 or (consumer.opcode is TUPLE and len(consumer.users) == 1):
            return []  # for a tuple with a reader: visited from the reader
        while stack and len(found) < _AT_MOST_CONSIDERED:
            i = stack.pop()
            if i.opcode is FUSION:
                if self.bodies[i.called[0]] == 1:
                    found[i] = None
            elif i.opcode.name in ("get-tuple-element", "bitcast", "reshape", "tuple"):
                stack += i.operands
        return list(found)
