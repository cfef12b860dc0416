"""Fusions of one slice or update that are copies of memory at an offset.

Source: xla/backends/gpu/transforms/fusion_dynamic_memcpy_rewriter.cc.

==============================================  ==============================================
handled by XLA                                  here
==============================================  ==============================================
loop fusions of a dynamic-slice of a parameter, marked as __dynamic_memcpy in the backend
or of an update of a parameter by a parameter   config
contiguous parts in row-major arrays            required
annotated offsets (dynamic_slice_config)        required of each slice and update
an update that is a slice itself                if its slice is annotated, too
bitcasts around                                 looked through
computed updates, other roots                   unchanged
==============================================  ==============================================
"""

from __future__ import annotations

import dataclasses
import json
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.hlo.analysis.backend_config import json_config
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_KIND = "__dynamic_memcpy"


def _source(i: HloInstruction) -> HloInstruction:
    while i.opcode.name == "bitcast":
        i = i.operands[0]
    return i


def _is_annotated(i: HloInstruction) -> bool:
    return "dynamic_slice_config" in json_config(i)


def _is_contiguous(part: HloInstruction, whole: HloInstruction) -> bool:
    """Return True if a part of an array is one run of memory."""
    if not (part.shape.layout.is_default and whole.shape.layout.is_default):
        return False
    sizes = list(zip(part.shape.dimensions, whole.shape.dimensions, strict=True))
    cut = [d for d, (n, m) in enumerate(sizes) if n != m]
    return not cut or all(n == 1 for n, _ in sizes[: cut[-1]])


def _is_memory(i: HloInstruction) -> bool:
    return _source(i).opcode.name == "parameter"


def is_memcpy(fusion: HloInstruction) -> bool:
    """Return True if the fusion copies memory from or to an annotated offset."""
    if fusion.attributes.get("kind") != "kLoop":
        return False
    root = _source(fusion.called[0].root)
    if root.opcode.name == "dynamic-slice":
        whole = root.operands[0]
        return _is_annotated(root) and _is_memory(whole) and _is_contiguous(root, whole)
    if root.opcode.name != "dynamic-update-slice" or not _is_annotated(root):
        return False
    whole, update = root.operands[0], _source(root.operands[1])
    if not _is_memory(whole) or not _is_contiguous(root.operands[1], whole):
        return False
    if update.opcode.name == "dynamic-slice":
        source = update.operands[0]
        return _is_annotated(update) and _is_memory(source) and _is_contiguous(update, source)
    if update.opcode.name == "slice":
        strides = all(d.stride == 1 for d in update.attributes["slice"])
        source = update.operands[0]
        return strides and _is_memory(source) and _is_contiguous(update, source)
    return update.opcode.name == "parameter"


@register_pass()
@dataclasses.dataclass(frozen=True)
class FusionDynamicMemcpyRewriter:
    """Mark fusions that a copy engine can do."""

    name: ClassVar[str] = "fusion-dynamic-memcpy-rewriter"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every fusion."""
        changed = False
        for i in list(module.instructions()):
            if i.opcode.name != "fusion" or not is_memcpy(i):
                continue
            if context.decide(self.name, (), (), i) is None:
                config = json_config(i)
                own = {**config.get("fusion_backend_config", {}), "kind": _KIND}
                text = json.dumps({**config, "fusion_backend_config": own})
                attributes = i.attributes.with_values(backend_config=text, kind="kCustom")
                i.parent.set_attributes(i, attributes)
                context.rewrote(self.name, i, i)
                changed = True
        return changed
