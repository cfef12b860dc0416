"""JAX's annotations of placement as those of XLA.

Source: xla/hlo/transforms/convert_memory_placement_to_internal_annotations.cc.

=============================================  ===============================================
handled by XLA                                 here
=============================================  ===============================================
annotate_device_placement of pinned_host or    MoveToHost
unpinned_host
of device                                      MoveToDevice
of device_sram or vmem, pinned_device          PinToDeviceSram, PinToDevice
other placements                               unchanged
=============================================  ===============================================
"""

from __future__ import annotations

import dataclasses
import re
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.compiler.transforms.host_offload.places import is_call_of
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction

_TARGETS = {
    "pinned_host": "MoveToHost",
    "unpinned_host": "MoveToHost",
    "device": "MoveToDevice",
    "pinned_device": "PinToDevice",
    "device_sram": "PinToDeviceSram",
    "vmem": "PinToDeviceSram",
}
_PLACEMENT = re.compile(r"_xla_buffer_placement=[\"']?(\w+)")


def internal_target(i: HloInstruction) -> str | None:
    """Return the target of XLA for an annotation, or None."""
    found = _PLACEMENT.search(str(i.attributes.get("frontend_attributes") or ""))
    return _TARGETS.get(found[1]) if found else None


@register_pass()
@dataclasses.dataclass(frozen=True)
class ConvertMemoryPlacementToInternalAnnotations(OpExpanderPass):
    """Replace annotate_device_placement by the custom calls that XLA's passes read."""

    name: ClassVar[str] = "convert-memory-placement-to-internal-annotations"
    opcodes: ClassVar[frozenset[str]] = frozenset(["custom-call"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for an annotation with a known placement."""
        return is_call_of(i, "annotate_device_placement") and internal_target(i) is not None

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the custom call of the same value."""
        attributes = attributes_of({"custom_call_target": f'"{internal_target(i)}"'})
        return HloValue(
            b, b.computation.add("custom-call", i.operands[0].shape, i.operands, attributes)
        )
