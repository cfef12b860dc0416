"""Inlining of calls. Source: xla/service/call_inliner.cc."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_unreachable_computations
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import PARAMETER, opcode

CALL = opcode("call")


def inline_call(call: HloInstruction) -> dict[HloInstruction, HloInstruction]:
    """Copy the callee's instructions to where the call stands and remove the call. Returns callee instruction -> copy.

    Works for a `call` and a `fusion`. Names are kept where they are free. Control predecessors of the call come
    before every
    copied instruction that has no operands among the copies.
    """
    caller, callee = call.parent, call.called[0]
    copies: dict[HloInstruction, HloInstruction] = {}
    for i in list(callee.post_order()):
        if i.opcode is PARAMETER:
            copies[i] = call.operands[int(i.payload)]
            continue
        copy = copies[i] = caller.add(
            i.opcode,
            i.shape,
            [copies[o] for o in i.operands],
            i.attributes,
            called=i.called,
            payload=i.payload,
            name=i.name,
            metadata=i.metadata if i.metadata is not None else call.metadata,
        )
        copy.line = i.line
        predecessors = [copies[p] for p in i.control_predecessors] + list(call.control_predecessors)
        if predecessors:
            caller.set_control_predecessors(copy, predecessors)
    result = copies[callee.root]
    for target in [t for t in caller.instructions.values() if call in t.control_predecessors]:
        others = [p for p in target.control_predecessors if p is not call]
        caller.set_control_predecessors(target, [*others, result])
    caller.replace(call, result)
    if call.control_predecessors:
        caller.set_control_predecessors(call, ())
    caller.remove(call)
    return copies


def not_a_composite(call: HloInstruction) -> Reason | None:
    """A composite call stands for one operation that a backend may know."""
    return (
        refuse("composite", f"%{call.name} stands for one composite operation")
        if call.attributes.get("is_composite")
        else None
    )


def wanted_inline(call: HloInstruction) -> Reason | None:
    """Frontend attributes may forbid inlining."""
    text = call.attributes.get("frontend_attributes") or ""
    if 'inlineable="false"' in text:
        return refuse("not-inlineable", f"%{call.name} is marked inlineable=false")
    return None


LEGALITY = (wanted_inline,)
PROFITABILITY = (not_a_composite,)


@register_pass()
@dataclasses.dataclass(frozen=True)
class CallInliner:
    """Calls become the body of what they call.

    single_call_site: only computations that are called once.
    """

    name: ClassVar[str] = "call-inliner"
    single_call_site: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Inline, callees first, so that a chain of calls is flattened in one walk."""
        changed = False
        call_sites: dict[HloComputation, int] = {}
        for i in module.instructions():
            for computation in i.called:
                call_sites[computation] = call_sites.get(computation, 0) + 1
        for computation in module.post_order_computations():
            calls = [i for i in computation.instructions.values() if i.opcode is CALL]
            for call in sorted(calls, key=lambda i: i.id):
                if self.single_call_site and call_sites[call.called[0]] > 1:
                    continue
                if context.decide("inlining", LEGALITY, PROFITABILITY, call) is None:
                    inline_call(call)
                    changed = True
        if changed:
            remove_unreachable_computations(module)
        return changed
