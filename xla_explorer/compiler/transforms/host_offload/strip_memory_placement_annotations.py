"""Programs without annotations of memory, for targets with one memory.

Source: xla/hlo/transforms/memory_space... strip_memory_placement_annotations.cc.

=============================================  ===============================================
handled by XLA                                 here
=============================================  ===============================================
MoveToHost, MoveToDevice, annotations of       replaced by their operands
placement on device and host
=============================================  ===============================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.host_offload.host_offloader import remove_annotation
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.module import HloModule

_ANNOTATIONS = frozenset(
    ["MoveToHost", "MoveToDevice", "annotate_device_placement", "PinToDevice", "PinToDeviceSram"]
)


@register_pass()
@dataclasses.dataclass(frozen=True)
class StripMemoryPlacementAnnotations:
    """Remove custom calls that only name a memory."""

    name: ClassVar[str] = "strip-memory-placement-annotations"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every custom call."""
        changed = False
        for i in list(module.instructions()):
            if i.opcode.name == "custom-call" and custom_call_target(i) in _ANNOTATIONS:
                context.rewrote(self.name, i, i.operands[0])
                remove_annotation(i)
                changed = True
        return changed
