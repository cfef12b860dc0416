"""Merging of equal collectives that are near each other in the schedule.

A merged result lives until its last use, so distant ones would keep memory. Source:
xla/service/spmd/schedule_aware_collective_ops_cse.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Final

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.compiler.transforms.collectives.gather_dimensions import same_exchange
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_OPCODES: Final = frozenset(["all-gather", "collective-permute"])


@register_pass()
@dataclasses.dataclass(frozen=True)
class ScheduleAwareCollectiveCse:
    """Exchange once what several all-gathers or collective-permutes bring.

    Operands may be equal reshapes of one value. distance_threshold: instructions between the two,
    in the order of the schedule.
    """

    name: ClassVar[str] = "schedule-aware-collective-cse"
    distance_threshold: int = 1_000_000

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every computation."""
        changed = False
        for computation in list(module.computations.values()):
            changed |= self._visit(computation, context)
        return changed

    def _visit(self, computation: HloComputation, context: PassContext) -> bool:
        changed, kept = False, dict[HloInstruction, int]()
        order = list(computation.schedule or computation.post_order())
        for position, i in enumerate(order):
            if i.opcode.name not in _OPCODES:
                continue
            earlier = next(
                (
                    k
                    for k, at in kept.items()
                    if position - at <= self.distance_threshold and _brings_the_same(k, i)
                ),
                None,
            )
            if earlier is None or i.control_predecessors:
                kept[i] = position
                continue
            before = computation.module.next_instruction_id
            context.rewrote(self.name, i, earlier, ())
            substitute(i, earlier, before)
            changed = True
        return changed


def _brings_the_same(a: HloInstruction, b: HloInstruction) -> bool:
    return (
        a.shape is b.shape
        and len(a.operands) == len(b.operands)
        and all(_same_value(x, y) for x, y in zip(a.operands, b.operands, strict=True))
        and same_exchange(a, b)
    )


def _same_value(a: HloInstruction, b: HloInstruction) -> bool:
    """Return True for one value, or reshapes of one value to one shape."""
    while a is not b:
        if a.shape is not b.shape or a.opcode.name != "reshape" or b.opcode.name != "reshape":
            return False
        a, b = a.operands[0], b.operands[0]
    return True
