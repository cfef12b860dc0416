"""Annotations of values on the host as copies between memory spaces.

Source: xla/hlo/transforms/host_offloader.cc.

=============================================  ===============================================
handled by XLA                                 here
=============================================  ===============================================
MoveToHost before other operations             a copy to memory space 5
MoveToHost before a dynamic-update-slice       the slice writes an AllocateBuffer on the host
                                               instead of a broadcast
parameters and results with space 5 in the     streamed: no copy
entry's layout
tuples, calls, loops, barriers, async calls    the memory space follows the value
MoveToDevice                                   a copy back; a slice ends the way, too
slices that do not lead to MoveToDevice, and   marked as host compute by a frontend attribute
device operations on values of the host
a value of the host that the entry returns     refused, unless the layout says space 5
MoveToDevice of a value that is not on the     removed
host
static slices that end a way                   made dynamic
redundant copies around host compute           hole: they stay
=============================================  ===============================================
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.host_offload.entry_layout import entry_layout
from xla_explorer.compiler.transforms.host_offload.host_paths import HostPaths
from xla_explorer.compiler.transforms.host_offload.places import (
    HOST,
    MOVE_TO_DEVICE,
    MOVE_TO_HOST,
    Place,
    is_call_of,
    is_reshaping,
    successors,
    with_space,
)
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def starts_of(annotation: HloInstruction) -> list[Place]:
    """Return the first places behind an annotation that are not mere reshapes."""
    found: list[Place] = []
    work = successors(Place(annotation))
    while work:
        place = work.pop(0)
        if is_reshaping(place.instruction):
            work += successors(place)
        else:
            found.append(place)
    return found


def writes(user: HloInstruction, annotation: HloInstruction) -> bool:
    """Return True for a dynamic-update-slice that writes the annotated value."""
    if user.opcode.name != "dynamic-update-slice":
        return False
    update = user.operands[1]
    while is_reshaping(update):
        update = update.operands[0]
    return update is annotation


def _calls(module: HloModule, target: str) -> Iterator[HloInstruction]:
    for computation in module.post_order_computations():
        for i in list(computation.post_order()):
            if is_call_of(i, target) and i.id in computation.instructions:
                yield i


def remove_annotation(i: HloInstruction) -> None:
    """Replace an annotation by its operand."""
    computation = i.parent
    computation.replace(i, i.operands[0])
    computation.remove(i)


@register_pass()
@dataclasses.dataclass(frozen=True)
class HostOffloader:
    """Place annotated values in the memory of the host, and copy them where they come back."""

    name: ClassVar[str] = "host-offloader"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Follow streamed parameters, then each MoveToHost; remove what annotations are left."""
        paths = HostPaths(module)
        changed = False
        layout = entry_layout(module)
        for parameter, shape in zip(module.entry.parameters(), layout.parameters, strict=True):
            for index, leaf in shape.leaves():
                if leaf.is_array and leaf.layout.memory_space == HOST:
                    changed |= paths.walk(Place(parameter, index), copy_before=False)
        for annotation in _calls(module, MOVE_TO_HOST):
            if annotation not in paths.removed and (
                context.decide(self.name, (), (), annotation) is None
            ):
                context.rewrote(self.name, annotation, annotation.operands[0])
                self._offload(annotation, paths)
                changed = True
        for annotation in _calls(module, MOVE_TO_DEVICE):
            if context.decide(self.name, (), (), annotation) is None:
                context.rewrote(self.name, annotation, annotation.operands[0])
                remove_annotation(annotation)
                changed = True
        return changed

    @staticmethod
    def _offload(annotation: HloInstruction, paths: HostPaths) -> None:
        """Copy the operand to the host in front of each way that starts here."""
        starts = starts_of(annotation)
        computation = annotation.parent
        if not starts and annotation.is_root and computation.is_entry:
            data = annotation.operands[0]
            copy = computation.add("copy", with_space(data.shape, (), HOST), (data,))
            computation.replace(annotation, copy)
        for start in starts:
            paths.walk(start, copy_before=not writes(start.instruction, annotation))
        if annotation.id in computation.instructions:
            remove_annotation(annotation)
