"""Conditionals whose branch is known at compile time. Source: xla/service/conditional_simplifier.cc."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.patterns import uniform_value
from xla_explorer.compiler.rewriting.removal import control_targets
from xla_explorer.compiler.transforms.inlining.call_inliner import CALL, inline_call
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_unreachable_computations
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import opcode

CONDITIONAL = opcode("conditional")


def known_branch(conditional: HloInstruction) -> int | Reason:
    """The branch that runs: the only one, or the one that a constant selector names (out of range: the last)."""
    branches = conditional.called
    if len(branches) == 1:
        return 0
    selector = conditional.operands[0]
    value = uniform_value(selector) if selector.shape.is_scalar else None
    if value is None:
        return refuse("selector-not-constant", f"%{selector.name} is no constant")
    if selector.shape.element_type.is_pred:
        return 0 if value else 1
    return int(value) if 0 <= value < len(branches) else len(branches) - 1


def has_no_control_edges(conditional: HloInstruction) -> Reason | None:
    """Control edges would be lost; a scheduling group is kept together."""
    if "_scheduling_group_id" in (conditional.attributes.get("frontend_attributes") or ""):
        return refuse("scheduling-group", f"%{conditional.name} belongs to a scheduling group")
    if conditional.control_predecessors or conditional in control_targets(conditional.parent):
        return refuse("control-dependency", f"%{conditional.name} has control edges")
    return None


@register_pass("conditional-simplifier")
@dataclasses.dataclass(frozen=True)
class ConditionalSimplifier:
    """A conditional with a constant selector, or with one branch, becomes that branch, inlined."""

    name: ClassVar[str] = "simplify-conditional"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Simplify every conditional, callees first."""
        changed = False
        for computation in module.post_order_computations():
            for conditional in [i for i in computation.instructions.values() if i.opcode is CONDITIONAL]:
                branch = known_branch(conditional)
                if isinstance(branch, Reason):
                    context.refused("known-branch", conditional, branch)
                    continue
                if context.decide("branch-removal", (has_no_control_edges,), (), conditional) is not None:
                    continue
                call = computation.add(
                    CALL,
                    conditional.shape,
                    (conditional.operands[branch + 1],),
                    called=(conditional.called[branch],),
                    metadata=conditional.metadata,
                )
                computation.replace(conditional, call)
                computation.remove(conditional)
                inline_call(call)
                changed = True
        if changed:
            remove_unreachable_computations(module)
        return changed
