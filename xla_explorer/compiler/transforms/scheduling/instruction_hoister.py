"""Parameters, constants, tuples and bitcasts early in the schedule.

Source: xla/hlo/transforms/simplifiers/instruction_hoister.cc.

===========================================  =================================================
handled by XLA                               here
===========================================  =================================================
parameters and constants                     at the start, in their order
bitcasts, and elements of tuples             right behind their operand
control edges                                kept: a step waits for its predecessors
modules without a schedule                   unchanged
===========================================  =================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


@register_pass()
@dataclasses.dataclass(frozen=True)
class InstructionHoister:
    """Schedule steps without work as early as their operands allow.

    Each option names the opcodes that move.
    """

    name: ClassVar[str] = "instruction-hoister"
    hoist_parameters: bool = True
    host_constants: bool = True
    hoist_bitcasts: bool = False
    hoist_tuples: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Reorder every scheduled computation."""
        changed = False
        for computation in list(module.computations.values()):
            if computation.schedule is not None:
                order = self._order(computation)
                if order != list(computation.schedule):
                    first = order[0]
                    if context.decide(self.name, (), (), first) is None:
                        context.rewrote(self.name, first, first)
                        computation.set_schedule(order)
                        changed = True
        return changed

    def _order(self, computation: HloComputation) -> list[HloInstruction]:
        chosen = (
            (self.hoist_parameters, ("parameter",)),
            (self.host_constants, ("constant",)),
            (self.hoist_bitcasts, ("bitcast",)),
            (self.hoist_tuples, ("tuple", "get-tuple-element")),
        )
        opcodes = {name for wanted, names in chosen if wanted for name in names}
        schedule = list(computation.schedule or ())
        ready = [
            i
            for i in schedule
            if i.opcode.name in opcodes and not i.operands and not i.control_predecessors
        ]
        order, done = list(ready), set(ready)
        moving = [i for i in schedule if i.opcode.name in opcodes and i not in done]
        for i in schedule:
            if i in done:
                continue
            order.append(i)
            done.add(i)
            free = True
            while free:
                free = False
                for m in moving:
                    waits = (*m.operands, *m.control_predecessors)
                    if m not in done and all(w in done for w in waits):
                        order.append(m)
                        done.add(m)
                        free = True
        return order
