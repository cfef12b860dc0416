"""Transfers between host and device as asynchronous starts and dones.

Source: xla/service/host_memory_transfer_asyncifier.cc.

=============================================  ===============================================
handled by XLA                                 here
=============================================  ===============================================
copies between the memories                    copy-start and copy-done
dynamic-slices from host to device             async-start of the slice
dynamic-update-slices from device to host      async-start of the update
transfers within one memory                    unchanged
the memory space of the host                   host_memory_space
=============================================  ===============================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import order_callees_first, substitute
from xla_explorer.compiler.transforms.host_offload.places import HOST
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import U32
from xla_explorer.hlo.shape import array_shape, tuple_shape

_DEVICE = 0


def _ends(i: HloInstruction) -> tuple[int, int] | None:
    """Return the memory spaces that an instruction moves a value from and to, or None."""
    name = i.opcode.name
    if not i.shape.is_array or name not in ("copy", "dynamic-slice", "dynamic-update-slice"):
        return None
    source = i.operands[1] if name == "dynamic-update-slice" else i.operands[0]
    if name == "dynamic-update-slice" and (
        i.operands[0].shape.layout.memory_space != i.shape.layout.memory_space
    ):
        return None
    return source.shape.layout.memory_space, i.shape.layout.memory_space


@register_pass()
@dataclasses.dataclass(frozen=True)
class HostMemoryTransferAsyncifier:
    """Start transfers to and from the host, and wait for them where the value is read."""

    name: ClassVar[str] = "host-memory-transfer-asyncifier"
    host_memory_space: int = HOST

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every copy, slice and update."""
        host = self.host_memory_space
        wanted = {
            "copy": ((_DEVICE, host), (host, _DEVICE)),
            "dynamic-slice": ((host, _DEVICE),),
            "dynamic-update-slice": ((_DEVICE, host),),
        }
        changed = False
        for computation in list(module.computations.values()):
            for i in list(computation.post_order()):
                ends = _ends(i)
                if ends is None or ends not in wanted[i.opcode.name]:
                    continue
                if context.decide(self.name, (), (), i) is None:
                    before = module.next_instruction_id
                    made = _copy(i) if i.opcode.name == "copy" else _wrapped(i)
                    context.rewrote(self.name, i, made, (made.id,))
                    substitute(i, made, before)
                    changed = True
        if changed:
            order_callees_first(module)
        return changed


def _copy(i: HloInstruction) -> HloInstruction:
    """Add copy-start and copy-done, and return the done."""
    computation, [x] = i.parent, i.operands
    shape = tuple_shape([i.shape, x.shape, array_shape(U32, ())])
    start = computation.add("copy-start", shape, (x,), metadata=i.metadata)
    return computation.add("copy-done", i.shape, (start,), metadata=i.metadata)


def _wrapped(i: HloInstruction) -> HloInstruction:
    """Add an async-start of the instruction and its done, and return the done."""
    computation = i.parent
    body = computation.module.add_computation(f"async_{i.opcode.name}")
    given = [body.add_parameter(k, o.shape) for k, o in enumerate(i.operands)]
    body.set_root(body.add(i.opcode, i.shape, given, i.attributes, metadata=i.metadata))
    operands = tuple_shape([o.shape for o in i.operands])
    shape = tuple_shape([operands, i.shape, array_shape(U32, ())])
    start = computation.add("async-start", shape, i.operands, called=(body,))
    return computation.add("async-done", i.shape, (start,))
