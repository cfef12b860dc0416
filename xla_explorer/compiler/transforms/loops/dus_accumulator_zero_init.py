"""Arrays that a loop overwrites whole, without their initial zeros.

Source: xla/backends/gpu/transforms/dus_accumulator_zero_init_elimination.cc.

===========================================  =================================================
handled by XLA                               here
===========================================  =================================================
elements that start as broadcast zeros and   an AllocateBuffer starts them
are written by one dynamic-update-slice
the counter as first start index, zeros as   required
others; updates of one row
as many iterations as rows, from 0 by 1      required
other readers of the element in the loop     unchanged
===========================================  =================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.patterns import uniform_value
from xla_explorer.compiler.rewriting.removal import remove_if_dead
from xla_explorer.compiler.transforms.loops.induction import find_induction
from xla_explorer.compiler.transforms.loops.loop_state import readers_of
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import as_integer
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_BUFFER = '"AllocateBuffer"'


def overwritten(loop: HloInstruction) -> list[int]:
    """Return the elements of a loop's state that start as zeros and are overwritten whole."""
    start, body = loop.operands[0], loop.called[1]
    counter = find_induction(loop)
    if (
        start.opcode.name != "tuple"
        or body.root.opcode.name != "tuple"
        or isinstance(counter, Reason)
        or counter.first != 0
        or counter.step != 1
    ):
        return []
    found = []
    for number, (value, made) in enumerate(zip(start.operands, body.root.operands, strict=True)):
        if value.opcode.name != "broadcast" or uniform_value(value) != 0:
            continue
        if made.opcode.name != "dynamic-update-slice" or len(made.users) != 1:
            continue
        whole, update, first, *others = made.operands
        readers = readers_of(body, number)
        rows = whole.shape.dimensions[0]
        if (
            readers == [whole]
            and list(whole.users) == [made]
            and not readers_of(loop.called[0], number)
            and first in readers_of(body, counter.element)
            and all(as_integer(o) == 0 for o in others)
            and update.shape.dimensions == (1, *whole.shape.dimensions[1:])
            and counter.trip_count == rows
        ):
            found.append(number)
    return found


@register_pass()
@dataclasses.dataclass(frozen=True)
class DusAccumulatorZeroInitElimination:
    """Start an array that a loop fills row by row without zeros."""

    name: ClassVar[str] = "dus-accumulator-zero-init-elimination"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every loop."""
        changed = False
        for computation in list(module.computations.values()):
            for loop in [i for i in computation.post_order() if i.opcode.name == "while"]:
                for number in overwritten(loop):
                    if context.decide(self.name, (), (), loop) is None:
                        buffer = _start_without_zeros(loop, number)
                        context.rewrote(self.name, loop, buffer, (buffer.id,))
                        changed = True
        return changed


def _start_without_zeros(loop: HloInstruction, number: int) -> HloInstruction:
    computation, start = loop.parent, loop.operands[0]
    zeros = start.operands[number]
    target = attributes_of({"custom_call_target": _BUFFER})
    buffer = computation.add("custom-call", zeros.shape, (), target)
    parts = [buffer if k == number else o for k, o in enumerate(start.operands)]
    made = computation.add("tuple", start.shape, parts)
    computation.set_operands(loop, (made,))
    remove_if_dead(computation, start)
    return buffer
