"""The pass `reshape-decomposer`: between row-major layouts a reshape moves nothing, so it becomes a bitcast.

Source: xla/hlo/transforms/expanders/reshape_decomposer.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import opcode

BITCAST = opcode("bitcast")
RESHAPE = opcode("reshape")


def why_not_bitcast(i: HloInstruction) -> Reason | None:
    """None when a reshape keeps the order of its operand's bytes."""
    for side in (i, i.operands[0]):
        if side.shape.base is not side.shape:
            return refuse("layout-differs", f"%{side.name} has layout {side.shape.layout}, so its bytes are not in row-major order")
        if True in side.shape.dynamic:
            return refuse("dynamic-dimension", f"%{side.name} has a dynamic dimension: {side.shape}")
    return None


@register_pass()
@dataclasses.dataclass(frozen=True)
class ReshapeDecomposer:
    """Runs after layout-assignment. A bitcast that changes nothing, and a bitcast of a bitcast, vanish."""

    name: ClassVar[str] = "reshape-decomposer"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """In every computation."""
        changed = False
        for computation in module.computations.values():
            for i in list(computation.post_order()):
                if i.opcode is not RESHAPE and i.opcode is not BITCAST:
                    continue
                if i.opcode is RESHAPE and context.decide("reshape-is-bitcast", (why_not_bitcast,), (), i) is not None:
                    continue
                source = i.operands[0]
                while source.opcode is BITCAST and source.shape.base is source.shape:
                    source = source.operands[0]
                if source.shape is i.shape:
                    computation.replace(i, source)
                    computation.remove(i)
                elif i.opcode is RESHAPE:
                    bitcast = computation.add(BITCAST, i.shape, (source,), name=i.name, metadata=i.metadata)
                    bitcast.line = i.line
                    computation.replace(i, bitcast)
                    computation.remove(i)
                elif source is not i.operands[0]:
                    computation.replace_operand(i, 0, source)
                else:
                    continue
                changed = True
            for i in reversed(list(computation.post_order())):
                if i.opcode is BITCAST and not i.users and i is not computation.root:
                    computation.remove(i)
                    changed = True
        return changed
