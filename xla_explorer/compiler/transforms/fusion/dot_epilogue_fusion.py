"""The pass `dot-epilogue-fusion`: epilogues of products run on tiles before the store.

Elementwise operations on a dot's result (bias, activation, residual) are fused into the dot's
kernel if our register tiles support it; a library has no such hook. Only a result that is stored in
any case is fused: one that a library call or a caller reads. A value that each loop recomputes
gains nothing. Source: xla/service/gpu/transforms/gemm_rewriter.cc (FuseVectorBiasAdd,
FuseReluActivation), xla/backends/cpu (YNN's fusions around dots).
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.codegen.kernels.products.dot_epilogue import belongs_into_epilogue
from xla_explorer.compiler.codegen.kernels.products.dot_plan import (
    plan_dot,
)
from xla_explorer.compiler.decisions.formatters import described
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.target import Target
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.building import build_fusion, order_callees_first
from xla_explorer.compiler.transforms.fusion.epilogue_policy import (
    EpilogueCandidate,
    chain_is_free_to_move,
    is_stored,
    result_is_stored_anyway,
    stores_nothing_more,
    user_allows_it,
)
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_OUTPUT = attributes_of({"kind": "kOutput"})


@register_pass()
@dataclasses.dataclass(frozen=True)
class DotEpilogueFusion:
    """Fuse elementwise epilogues into dots. max_operations: of one epilogue."""

    name: ClassVar[str] = "dot-epilogue-fusion"
    max_operations: int = 8

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every dot of every computation that control flow runs."""
        target = context.target
        changed = False
        for computation in sequential_computations(module):
            pinned = fusible.control_successors(computation)
            for dot in [i for i in computation.post_order() if i.opcode.name == "dot"]:
                changed |= self._around(computation, dot, target, pinned, context)
        if changed:
            order_callees_first(module)
        return changed

    def _around(
        self,
        computation: HloComputation,
        dot: HloInstruction,
        target: Target,
        pinned: set[HloInstruction],
        context: PassContext,
    ) -> bool:
        chain = _chain(dot, self.max_operations)
        if len(chain) < 2:
            return False
        # The longest part of the chain that is stored anyway; without one, the whole chain is
        # refused with its reason.
        ends = [end for end in chain[1:] if is_stored(end)] or [chain[-1]]
        end = ends[-1]
        inside = chain[: chain.index(end) + 1]
        candidate = EpilogueCandidate(
            tuple(inside), tuple(_members(inside)), pinned, context.control, target
        )
        reason = context.decide(
            "dot-epilogue-fusion",
            LEGALITY,
            PROFITABILITY,
            dot,
            end,
            candidate=candidate,
            facts=candidate.facts,
        )
        if reason is not None:
            return False
        build_fusion(computation, end, candidate.members, name=candidate.name(), kind=_OUTPUT)
        return True


def _estimates(candidate: EpilogueCandidate) -> str:
    dot, target = candidate.dot, candidate.target
    assert target is not None
    plan = plan_dot(dot, target)
    if isinstance(plan, Reason):
        return described(dot)
    return f"tiles of {plan.tile.rows}x{plan.tile.columns}, {plan.cycles:,.0f} cycles"


@value_formatter(_estimates)
def has_register_tiles(candidate: EpilogueCandidate) -> Reason | None:
    """Require a product that register tiles support."""
    dot, target = candidate.dot, candidate.target
    assert target is not None
    plan = plan_dot(dot, target)
    if isinstance(plan, Reason):
        return refuse("no-register-tile", f"%{dot.name}: {plan.message}", because=plan.code)
    return None


LEGALITY = (has_register_tiles, chain_is_free_to_move, user_allows_it)
PROFITABILITY = (result_is_stored_anyway, stores_nothing_more)


def _chain(dot: HloInstruction, most: int) -> list[HloInstruction]:
    """Return the dot and the operations on its result, each the only reader of the one before."""
    chain = [dot]
    if not dot.shape.is_array or not dot.shape.layout.is_default or not dot.shape.rank:
        return chain
    while len(chain) <= most:
        here = chain[-1]
        if here.is_root or len(here.users) != 1:
            break
        following = next(iter(here.users))
        if (
            following.opcode is fusible.BROADCAST
            or belongs_into_epilogue(following, dot) is not None
        ):
            break
        others = [o for o in following.operands if o is not here]
        if any(
            o.opcode is fusible.BROADCAST and belongs_into_epilogue(o, dot) is not None
            for o in others
        ):
            break
        if any(o.shape.dimensions != dot.shape.dimensions for o in others):
            break
        chain.append(following)
    return chain


def _members(inside: list[HloInstruction]) -> list[HloInstruction]:
    """Return the chain, users first, with the broadcasts and scalar constants that it reads."""
    members = dict.fromkeys(reversed(inside))
    for i in inside[1:]:
        for o in i.operands:
            if o.opcode is fusible.BROADCAST:
                members[o] = None
    for member in list(members):
        if member.opcode is fusible.BROADCAST and fusible.is_small_constant(member.operands[0]):
            members[member.operands[0]] = None
    return list(members)
