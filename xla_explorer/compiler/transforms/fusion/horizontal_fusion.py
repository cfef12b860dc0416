"""The passes `horizontal-loop-fusion` and `horizontal-input-fusion`: small independent kernels share one launch.

An optimiser updates each parameter in a kernel of its own; each takes longer to start than to run and fills little of the device. Kernels
that feed the same consumer and do not need one another become one kernel with all their results. Loops of different sizes keep their own
indices: a thread beyond the end of one has nothing to do there (XLA pads and concatenates instead). Sources:
xla/service/gpu/transforms/horizontal_loop_fusion.cc, horizontal_input_fusion.cc.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from typing import Any, ClassVar

from xla_explorer.compiler.costs.gpu_description import GpuDescription
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.building import INPUT, LOOP, order_callees_first
from xla_explorer.compiler.transforms.fusion.contracted_order import ContractedOrder
from xla_explorer.compiler.transforms.fusion.gpu_cost_model import GpuCostModel, KernelEstimate, estimate_facts
from xla_explorer.compiler.transforms.fusion.merging import LoopCluster, is_taken_apart, merge_cluster
from xla_explorer.compiler.transforms.fusion.wishes import kept_apart
from xla_explorer.foundation.reason import Predicate, Reason, refuse
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.attributes import Attributes
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import FUSION, TUPLE

_AT_MOST_CONSIDERED = 256  # kernels that feed one consumer


@dataclasses.dataclass(frozen=True)
class _HorizontalFusion:
    """max_arrays: read and written by one kernel. max_emitted: LLVM instructions of a thread, about. max_elements: of a kernel that is
    small enough to share its launch."""

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
    """Loop fusions, of any sizes. See `_HorizontalFusion` for the options."""

    name: ClassVar[str] = "horizontal-loop-fusion"


@register_pass("gpu_horizontal_input_fusion")
@dataclasses.dataclass(frozen=True)
class HorizontalInputFusion(_HorizontalFusion):
    """Reductions of the same dimensions of arrays of the same dimensions. See `_HorizontalFusion` for the options."""

    name: ClassVar[str] = "horizontal-input-fusion"
    max_elements: int = 1 << 16


class _Planner:
    def __init__(self, computation: HloComputation, context: PassContext, options: _HorizontalFusion, reductions: bool) -> None:
        self.computation, self.context, self.options = computation, context, options
        self.kind: Attributes = INPUT if reductions else LOOP
        self.order = ContractedOrder(computation)
        self.place = self.order.place
        self.pinned = fusible.control_successors(computation)
        self.cost = GpuCostModel(GpuDescription.from_context(context))
        self.cluster_of: dict[HloInstruction, LoopCluster] = {}
        self.bodies = Counter([i.called[0] for i in computation.module.instructions() if i.opcode is FUSION])
        shape_of_code: tuple[Predicate, ...] = (self.both_are_reduces, self.dimensions_agree) if reductions else (self.both_are_loops,)
        self.legality: tuple[Predicate, ...] = (
            *shape_of_code,
            self.both_are_free_to_move,
            self.neither_reads_the_other,
            self.arrays_within_limit,
            self.code_within_limit,
            self.creates_no_cycle,
        )
        if context.control.forbid:
            self.legality += (self.user_allows_it,)
        self.profitability: tuple[Predicate, ...] = (self.small_enough_to_share, self.faster_when_fused)

    def plan(self) -> list[LoopCluster]:
        """Clusters of at least two kernels."""
        only = self.both_are_reduces if self.kind is INPUT else self.both_are_loops
        for consumer in list(self.place):
            kernels = [k for k in self._feeding(consumer) if k not in self.cluster_of or len(self.cluster_of[k].members) == 1]
            kernels = [k for k in kernels if only(k, k) is None]
            # Equals first, so that neighbours in the list fit together best.
            kernels.sort(key=lambda k: (-_elements(k), self.place[k]))
            for k in kernels:
                self.cluster_of.setdefault(k, LoopCluster(k))
            for number, second in enumerate(kernels):
                open_clusters = dict.fromkeys([self.cluster_of[k] for k in kernels[:number]])
                for cluster in list(open_clusters)[-2:]:  # the latest; earlier ones are full or of another kind
                    first = cluster.members[0]
                    facts = functools.partial(self._facts, first, second)
                    if self.context.decide(self.options.name, self.legality, self.profitability, first, second, facts=facts) is None:
                        self.order.join(first, second)
                        mine = self.cluster_of[second]
                        cluster.take(mine)
                        for member in mine.members:
                            self.cluster_of[member] = cluster
                        break
        return [c for c in dict.fromkeys(self.cluster_of.values()) if len(c.members) > 1]

    def _feeding(self, consumer: HloInstruction) -> list[HloInstruction]:
        """The kernels that a consumer reads, through get-tuple-elements, bitcasts and tuples."""
        found: dict[HloInstruction, None] = {}
        stack = list(consumer.operands)
        if len(stack) < 2 or (consumer.opcode is TUPLE and len(consumer.users) == 1):
            return []  # (a tuple that somebody reads: asked there)
        while stack and len(found) < _AT_MOST_CONSIDERED:
            i = stack.pop()
            if i.opcode is FUSION:
                if self.bodies[i.called[0]] == 1:
                    found[i] = None
            elif i.opcode.name in ("get-tuple-element", "bitcast", "reshape", "tuple"):
                stack += i.operands
        return list(found)

    # -- checks (first: of the cluster, second: alone) ---------------------------------------------------------------
    def both_are_loops(self, first: HloInstruction, second: HloInstruction) -> Reason | None:
        """Are both loop fusions that update nothing in place?"""
        for i in (first, second):
            roots = _roots(i)
            if i.attributes.get("kind") != "kLoop" or not is_taken_apart(i) or any(
                r.opcode is fusible.DYNAMIC_UPDATE_SLICE or r.opcode not in fusible.PRODUCERS or not r.shape.is_array for r in roots
            ):
                return refuse("not-a-loop", f"%{i.name} ({roots[0].opcode.name} at its root) does not share its launch")
        return None

    def both_are_reduces(self, first: HloInstruction, second: HloInstruction) -> Reason | None:
        """Are both reductions of one array?"""
        for i in (first, second):
            if not is_taken_apart(i) or any(r.opcode is not fusible.REDUCE or not r.shape.is_array for r in _roots(i)):
                return refuse("not-a-reduce", f"%{i.name} ({_roots(i)[0].opcode.name} at its root) is not a reduction of an array")
        return None

    def dimensions_agree(self, first: HloInstruction, second: HloInstruction) -> Reason | None:
        """Do both reduce the same dimensions of arrays of the same dimensions?"""
        a, b = _roots(first)[0], _roots(second)[0]
        if a.operands[0].shape.dimensions != b.operands[0].shape.dimensions or a.attribute("dimensions") != b.attribute("dimensions"):
            return refuse("dimensions-differ", f"%{first.name} reduces {a.operands[0].shape}, %{second.name} {b.operands[0].shape}")
        return None

    def both_are_free_to_move(self, first: HloInstruction, second: HloInstruction) -> Reason | None:
        """Does anything fix the place of one?"""
        for i in (first, second):
            if i.control_predecessors or i in self.pinned:
                return refuse("control-dependency", f"%{i.name} has control dependencies")
        return None

    def neither_reads_the_other(self, first: HloInstruction, second: HloInstruction) -> Reason | None:
        """Does one read the other's result? (Through something else: that would be a cycle.)"""
        for a in self.cluster_of[first].members:
            if second in a.operands or a in second.operands:
                return refuse("depends-on-the-other", f"%{a.name} and %{second.name} run one after the other", other=a.name)
        return None

    def arrays_within_limit(self, first: HloInstruction, second: HloInstruction) -> Reason | None:
        """Does the kernel touch a bounded number of arrays?"""
        a, b = self.cluster_of[first], self.cluster_of[second]
        count = len(a.reads | b.reads) + sum([len(_roots(m)) for m in (*a.members, *b.members)])
        if count > self.options.max_arrays:
            return refuse("too-many-arrays", f"together they would touch {count} arrays (limit {self.options.max_arrays})", arrays=count)
        return None

    def code_within_limit(self, first: HloInstruction, second: HloInstruction) -> Reason | None:
        """Does the code of a thread stay short?"""
        size = self.cluster_of[first].emitted + self.cluster_of[second].emitted
        if size > self.options.max_emitted:
            message = f"together about {size} instructions a thread (limit {self.options.max_emitted})"
            return refuse("fused-computation-too-large", message, instructions=size)
        return None

    def creates_no_cycle(self, first: HloInstruction, second: HloInstruction) -> Reason | None:
        """Is there no way from one to the other through something else?"""
        return self.order.why_not_join(first, second)

    def user_allows_it(self, first: HloInstruction, second: HloInstruction) -> Reason | None:
        """Does the user want something of one in another kernel than something of the other?"""
        return kept_apart(self.context.control, self.cluster_of[first].members, self.cluster_of[second].members)

    def small_enough_to_share(self, first: HloInstruction, second: HloInstruction) -> Reason | None:
        """Is each small?"""
        for i in (first, second):
            if _elements(i) > self.options.max_elements:
                message = f"%{i.name} has {_elements(i)} elements (kernels of up to {self.options.max_elements} share a launch)"
                return refuse("too-large-to-share", message, elements=_elements(i), limit=self.options.max_elements)
        return None

    def faster_when_fused(self, first: HloInstruction, second: HloInstruction) -> Reason | None:
        """Does the estimate speak for one launch?"""
        together, apart = self._estimates(first, second)
        saved = sum([k.nanoseconds for k in apart]) - together.nanoseconds
        if saved <= 0:
            return refuse(
                "slower-when-fused",
                f"%{first.name} and %{second.name} take {-saved / 1e3:.3g} us more in one kernel",
                **estimate_facts("fused", [together]),
                **estimate_facts("unfused", apart),
            )
        return None

    def _estimates(self, first: HloInstruction, second: HloInstruction) -> tuple[KernelEstimate, list[KernelEstimate]]:
        a, b = self.cluster_of[first].members, self.cluster_of[second].members
        return self.cost.fusions([*a, *b]), [self.cost.fusions(a), self.cost.fusions(b)]

    def _facts(self, first: HloInstruction, second: HloInstruction) -> dict[str, Any]:
        together, apart = self._estimates(first, second)
        kernels = len(self.cluster_of[first].members) + len(self.cluster_of[second].members)
        return {**estimate_facts("fused", [together]), **estimate_facts("unfused", apart), "kernels": kernels}


def _roots(fusion: HloInstruction) -> tuple[HloInstruction, ...]:
    root = fusion.called[0].root
    return root.operands if root.opcode is TUPLE else (root,)


def _elements(fusion: HloInstruction) -> int:
    """Elements of work: of the largest result, of a reduction of what it reads."""
    roots = _roots(fusion)
    return max([(r.operands[0] if r.opcode is fusible.REDUCE else r).shape.element_count for r in roots])
