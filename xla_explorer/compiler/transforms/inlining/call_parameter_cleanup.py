"""Calls without parameters that the callee does not read, or returns as they are.

Source: xla/hlo/transforms/simplifiers/call_parameter_cleanup.cc.

============================================  ===============================================
handled by XLA                                here
============================================  ===============================================
unused parameters                             removed with the operands of every call
results of a tuple that are parameters        read from the operand; the element is removed
several calls of one callee                   changed together, if all are calls
callees that others apply (loops, reducers)   unchanged
a root that is a parameter                    unchanged: `call-inliner` removes such calls
============================================  ===============================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import remove_if_dead
from xla_explorer.hlo.analysis.call_graph import call_sites
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import tuple_shape


def passed_through(callee: HloComputation) -> dict[int, int]:
    """Return the elements of the result that are parameters, with the parameters' numbers."""
    root = callee.root
    if root.opcode.name != "tuple":
        return {}
    return {
        k: o.parameter_number for k, o in enumerate(root.operands) if o.opcode.name == "parameter"
    }


@register_pass()
@dataclasses.dataclass(frozen=True)
class CallParameterCleanup:
    """Drop what a call passes in vain, and what it returns unchanged."""

    name: ClassVar[str] = "call-parameter-cleanup"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit callees before callers."""
        changed = False
        for callee in module.post_order_computations():
            calls = call_sites(module).get(callee, [])
            if not calls or any(c.opcode.name != "call" for c in calls):
                continue
            forwarded = passed_through(callee)
            elements_only = all(
                u.opcode.name == "get-tuple-element" for c in calls for u in c.users
            ) and not any(c.is_root for c in calls)
            if forwarded and (elements_only or not calls[0].attributes.get("sharding")):
                changed |= self._shorten(callee, calls, forwarded, context)
            unused = [p for p in callee.parameters() if not p.users and not p.is_root]
            if unused:
                changed |= self._drop(callee, calls, unused, context)
        return changed

    def _shorten(
        self,
        callee: HloComputation,
        calls: list[HloInstruction],
        forwarded: dict[int, int],
        context: PassContext,
    ) -> bool:
        """Return only the elements that the callee computes."""
        if any(context.decide(self.name, (), (), call) is not None for call in calls):
            return False
        root = callee.root
        kept = [k for k in range(len(root.operands)) if k not in forwarded]
        parts = [root.operands[k] for k in kept]
        made = callee.add("tuple", tuple_shape([p.shape for p in parts]), parts)
        callee.set_root(made)
        callee.remove(root)
        for call in calls:
            self._read(call, kept, forwarded, made, context)
        return True

    def _read(
        self,
        call: HloInstruction,
        kept: list[int],
        forwarded: dict[int, int],
        made: HloInstruction,
        context: PassContext,
    ) -> None:
        """Replace a call by one with fewer results, and its result by a tuple of all."""
        computation = call.parent
        attributes = call.attributes.with_values(sharding=None)
        short = computation.add(
            call.opcode, made.shape, call.operands, attributes, called=call.called, name=call.name
        )
        context.rewrote(self.name, call, short, (short.id,), {"forwarded": len(forwarded)})
        parts = []
        for k, shape in enumerate(call.shape.tuple_shapes):
            if k in forwarded:
                parts.append(call.operands[forwarded[k]])
            else:
                index = attributes_of({"index": kept.index(k)})
                parts.append(computation.add("get-tuple-element", shape, (short,), index))
        for user in list(call.users):
            if user.opcode.name == "get-tuple-element":
                computation.replace(user, parts[int(user.attributes["index"])])
                computation.remove(user)
        if call.users or call.is_root:
            computation.replace(call, computation.add("tuple", call.shape, parts))
        computation.set_control_predecessors(short, call.control_predecessors)
        computation.set_control_predecessors(call, ())
        computation.remove(call)

    def _drop(
        self,
        callee: HloComputation,
        calls: list[HloInstruction],
        unused: list[HloInstruction],
        context: PassContext,
    ) -> bool:
        """Remove parameters without readers."""
        calls = call_sites(callee.module).get(callee, [])
        if any(context.decide(self.name, (), (), call) is not None for call in calls):
            return False
        gone = {p.parameter_number for p in unused}
        for parameter in unused:
            callee.remove(parameter)
        for number, parameter in enumerate(callee.parameters()):
            callee.set_payload(parameter, number)
        for call in calls:
            operands = call.operands
            call.parent.set_operands(call, [o for k, o in enumerate(operands) if k not in gone])
            context.rewrote(self.name, call, call, (), {"dropped": len(gone)})
            for operand in dict.fromkeys(operands):
                if operand.opcode.name != "parameter":
                    remove_if_dead(call.parent, operand)
        return True
