"""Memory spaces of values as those of the parameters and results of fusions.

Source: xla/service/memory_space_propagation.cc.

=============================================  ===============================================
handled by XLA                                 here
=============================================  ===============================================
operands of a fusion                           the parameter, and what it is inside nested
                                               fusions, tuples, bitcasts and updates in place
results of a fusion                            the root, and the elements of a root tuple
other memory attributes of tiles               unchanged
=============================================  ===============================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.host_offload.places import Place, set_space
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_SAME_BUFFER = frozenset(["bitcast", "get-tuple-element"])


def _spread(i: HloInstruction, space: int) -> bool:
    """Place a value and those that are the same buffer; return True if anything changed."""
    changed = i.shape.is_array and set_space(Place(i), space)
    for user in i.users:
        if user.opcode.name in _SAME_BUFFER and user.shape.is_array:
            changed |= _spread(user, space)
        elif user.opcode.name == "fusion":
            for number, operand in enumerate(user.operands):
                if operand is i:
                    changed |= _spread(user.called[0].parameters()[number], space)
    return changed


def _spread_up(i: HloInstruction, space: int) -> bool:
    """Place a result and what it is made of in place."""
    changed = i.shape.is_array and set_space(Place(i), space)
    if i.opcode.name == "fusion" and i.shape.is_array:
        changed |= _spread_up(i.called[0].root, space)
    if i.opcode.name == "bitcast" or i.opcode.name == "dynamic-update-slice":
        changed |= _spread_up(i.operands[0], space)
    return changed


@register_pass()
@dataclasses.dataclass(frozen=True)
class MemorySpacePropagation:
    """Carry the memory spaces around a fusion into it."""

    name: ClassVar[str] = "memory-space-propagation"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit fusions, callers first."""
        changed = False
        for computation in reversed(module.post_order_computations()):
            for i in list(computation.post_order()):
                if i.opcode.name == "fusion" and self._propagate(i):
                    context.rewrote(self.name, i, i)
                    changed = True
        return changed

    @staticmethod
    def _propagate(fusion: HloInstruction) -> bool:
        body = fusion.called[0]
        changed = False
        for parameter, operand in zip(body.parameters(), fusion.operands, strict=True):
            if operand.shape.is_array and parameter.shape.is_array:
                changed |= _spread(parameter, operand.shape.layout.memory_space)
        if fusion.shape.is_array:
            changed |= _spread_up(body.root, fusion.shape.layout.memory_space)
        elif body.root.opcode.name == "tuple":
            for shape, result in zip(fusion.shape.tuple_shapes, body.root.operands, strict=True):
                if shape.is_array:
                    changed |= _spread_up(result, shape.layout.memory_space)
            body.set_shape(body.root, fusion.shape)
        return changed
