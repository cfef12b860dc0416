"""Graphs of annotated values in the form that `host-offloader` follows.

Source: xla/hlo/transforms/host_offload_legalize.cc.

=============================================  ===============================================
handled by XLA                                 here
=============================================  ===============================================
broadcasts that several annotated updates      one for each update
write
a copy between a value of the host and         moved behind MoveToDevice, past bitcasts and
MoveToDevice                                   reshapes of the same elements
copies before slices, in loops and across      hole: they stay
tuples
copies with other readers                      unchanged
=============================================  ===============================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.host_offload.entry_layout import entry_layout
from xla_explorer.compiler.transforms.host_offload.places import (
    HOST,
    MOVE_TO_DEVICE,
    MOVE_TO_HOST,
    is_call_of,
)
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def annotated_update(i: HloInstruction) -> bool:
    """Return True for a dynamic-update-slice of a value that is moved to the host."""
    if i.opcode.name != "dynamic-update-slice":
        return False
    update = i.operands[1]
    while update.opcode.name in ("bitcast", "reshape", "copy"):
        update = update.operands[0]
    return is_call_of(update, MOVE_TO_HOST)


def _chain_to_device(copy: HloInstruction) -> list[HloInstruction] | None:
    """Return the bitcasts and reshapes from a copy to MoveToDevice, which is last; or None."""
    chain: list[HloInstruction] = []
    i = copy
    while len(i.users) == 1 and not i.is_root:
        [i] = i.users
        chain.append(i)
        if is_call_of(i, MOVE_TO_DEVICE):
            return chain
        if i.opcode.name not in ("bitcast", "reshape"):
            return None
    return None


@register_pass()
@dataclasses.dataclass(frozen=True)
class HostOffloadLegalize:
    """Give each annotated update its own buffer, and copy on the device."""

    name: ClassVar[str] = "host-offload-legalize"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Copy broadcasts, then move copies."""
        changed = False
        streamed = {
            parameter
            for parameter, shape in zip(
                module.entry.parameters(), entry_layout(module).parameters, strict=True
            )
            if shape.is_array and shape.layout.memory_space == HOST
        }
        for computation in list(module.computations.values()):
            for i in list(computation.post_order()):
                if i.id not in computation.instructions:
                    continue
                if i.opcode.name == "broadcast":
                    changed |= self._split(i, context)
                elif i.opcode.name == "copy":
                    source = i.operands[0]
                    if source in streamed or is_call_of(source, MOVE_TO_HOST):
                        changed |= self._move(i, context)
        return changed

    def _split(self, broadcast: HloInstruction, context: PassContext) -> bool:
        computation = broadcast.parent
        updates = [u for u in broadcast.users if annotated_update(u)]
        shared = len(broadcast.users) > 1 or broadcast.is_root
        if not updates or not shared or context.decide(self.name, (), (), broadcast) is not None:
            return False
        for update in updates:
            made = computation.add(
                "broadcast", broadcast.shape, broadcast.operands, broadcast.attributes
            )
            context.rewrote(self.name, broadcast, made, (made.id,))
            operands = [made if o is broadcast else o for o in update.operands]
            computation.set_operands(update, operands)
        return True

    def _move(self, copy: HloInstruction, context: PassContext) -> bool:
        chain = _chain_to_device(copy)
        if chain is None or context.decide(self.name, (), (), copy) is not None:
            return False
        computation, source, end = copy.parent, copy.operands[0], chain[-1]
        moved = computation.add(
            end.opcode, source.shape, (source,), end.attributes, metadata=end.metadata
        )
        value = computation.add("copy", copy.shape, (moved,), copy.attributes)
        for i in chain[:-1]:
            value = computation.add(i.opcode, i.shape, (value,), i.attributes)
        context.rewrote(self.name, copy, value, (moved.id, value.id))
        computation.replace(end, value)
        for old in (*reversed(chain), copy):
            computation.remove(old)
        return True
