"""Loops of a fixed count, and calls without effect for communication: programs to time alone.

Source: xla/tools/hlo_control_flow_flattening.cc.

===============================================  =============================================
handled by XLA                                   here
===============================================  =============================================
while loops                                      a counter of their own: the known trip count
                                                 or the default, at most max_loop_count (the
                                                 outermost loop: max_outer_loop_count)
infeed, outfeed, send, recv, host transfers      calls of NopCustomCall of the same shape
collectives and their starts and dones           the same; dones take the start's call
partition-id, replica-id                         zero
conditionals (flatten_conditional)               one branch: conditional_value
loops of a scheduled module                      the schedule is dropped
asynchronous computations with collectives       hole: they stay
===============================================  =============================================

The values of the program change: the pass is for measuring.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import scalar_constant
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.compiler.transforms.loops.loop_state import (
    element,
    initial_parts,
    own_computations,
    parameter_of,
    replace_loop,
)
from xla_explorer.hlo.analysis.backend_config import known_trip_count
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import PRED, S32
from xla_explorer.hlo.shape import array_shape, tuple_shape

NOP = '"NopCustomCall"'  # as text, with quotes
NOP_TOKEN = '"NopReturnTokenCustomCall"'
_FEEDS = frozenset(["infeed", "outfeed"])
_HOST = frozenset(["send", "recv", "send-done", "recv-done"])
_IDS = frozenset(["partition-id", "replica-id"])
_COLLECTIVES = (
    "all-reduce",
    "all-gather",
    "all-to-all",
    "collective-permute",
    "collective-broadcast",
    "reduce-scatter",
    "ragged-all-to-all",
)
_COMMUNICATION = frozenset(
    [f"{name}{end}" for name in _COLLECTIVES for end in ("", "-start", "-done")]
)


@register_pass()
@dataclasses.dataclass(frozen=True)
class ControlFlowFlattening:
    """Give every loop a fixed count and remove communication, so that one device runs the program.

    while_execution_count: the count of a loop without a known one.
    """

    name: ClassVar[str] = "control-flow-flattening"
    while_execution_count: int = 1
    max_outer_loop_count: int = 1
    max_loop_count: int = 1
    remove_infeed_outfeed: bool = True
    flatten_while_loop: bool = True
    remove_comm: bool = True
    remove_host_transfer: bool = False
    remove_id: bool = False
    flatten_conditional: bool = False
    conditional_value: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every instruction."""
        changed = False
        removed = self._removed()
        for computation in module.post_order_computations():
            for i in list(computation.post_order()):
                name = i.opcode.name
                if i.id not in computation.instructions:
                    continue
                if name in removed and context.decide(self.name, (), (), i) is None:
                    context.rewrote(self.name, i, None)
                    _without(i)
                    changed = True
                elif name == "while" and self.flatten_while_loop and i.shape.is_tuple:
                    changed |= self._flatten(i, context)
                elif name == "conditional" and self.flatten_conditional:
                    changed |= self._choose(i, context)
            if changed and computation.schedule is not None:
                computation.set_schedule(None)
        return changed

    def _removed(self) -> frozenset[str]:
        chosen = (
            (self.remove_infeed_outfeed, _FEEDS),
            (self.remove_comm, _COMMUNICATION),
            (self.remove_host_transfer, _HOST),
            (self.remove_id, _IDS),
        )
        return frozenset([name for wanted, names in chosen if wanted for name in names])

    def _flatten(self, loop: HloInstruction, context: PassContext) -> bool:
        """Count the loop's iterations in a further element of its state."""
        if context.decide(self.name, (), (), loop) is not None:
            return False
        limit = self.max_outer_loop_count if loop.parent.is_entry else self.max_loop_count
        count = min(known_trip_count(loop) or self.while_execution_count, max(limit, 1))
        own_computations(loop)
        condition, body = loop.called
        number = array_shape(S32, ())
        old = len(loop.shape.tuple_shapes)
        state = tuple_shape([*loop.shape.tuple_shapes, number])
        for computation in (condition, body):
            parameter = parameter_of(computation)
            _keep_whole_readers(parameter)
            computation.set_shape(parameter, state)
        body_parts = _elements(body, body.root)
        counter = element(body, parameter_of(body), old)
        next_ = body.add("add", number, (counter, scalar_constant(body, number, 1)))
        body.set_root(body.add("tuple", state, [*body_parts, next_]))
        counter = element(condition, parameter_of(condition), old)
        end = scalar_constant(condition, number, count)
        less = attributes_of({"direction": "LT"})
        condition.set_root(condition.add("compare", array_shape(PRED, ()), (counter, end), less))
        start = scalar_constant(loop.parent, number, 0)
        parts = [*initial_parts(loop), start]
        context.rewrote(self.name, loop, None, (), {"iterations": count})
        replace_loop(loop, parts, lambda made, k: element(made.parent, made, k), same_numbers=True)
        return True

    def _choose(self, i: HloInstruction, context: PassContext) -> bool:
        """Call one branch."""
        if len(i.called) != 2 or context.decide(self.name, (), (), i) is not None:
            return False
        number = 0 if self.conditional_value else 1
        before = i.parent.module.next_instruction_id
        made = i.parent.add("call", i.shape, (i.operands[number + 1],), called=(i.called[number],))
        context.rewrote(self.name, i, made, (made.id,), {"branch": number})
        substitute(i, made, before)
        return True


def _elements(computation: HloComputation, whole: HloInstruction) -> list[HloInstruction]:
    if whole.opcode.name == "tuple":
        return list(whole.operands)
    return [element(computation, whole, k) for k in range(len(whole.shape.tuple_shapes))]


def _keep_whole_readers(parameter: HloInstruction) -> None:
    """Give readers of the whole state a tuple of its elements."""
    computation = parameter.parent
    readers = [u for u in parameter.users if u.opcode.name != "get-tuple-element"]
    if not readers and not parameter.is_root:
        return
    count = len(parameter.shape.tuple_shapes)
    parts = [element(computation, parameter, k) for k in range(count)]
    whole = computation.add("tuple", parameter.shape, parts)
    for reader in readers:
        operands = [whole if o is parameter else o for o in reader.operands]
        computation.set_operands(reader, operands)
    if parameter.is_root:
        computation.set_root(whole)


def _without(i: HloInstruction) -> None:
    """Replace an instruction by a call without effect, or a device number by zero."""
    computation = i.parent
    before = computation.module.next_instruction_id
    if i.opcode.name in _IDS:
        made = scalar_constant(computation, i.shape, 0)
    else:
        target = NOP if i.shape.is_tuple or i.shape.is_array else NOP_TOKEN
        attributes = attributes_of({"custom_call_target": target})
        made = computation.add("custom-call", i.shape, i.operands, attributes, name=i.name)
    substitute(i, made, before)
