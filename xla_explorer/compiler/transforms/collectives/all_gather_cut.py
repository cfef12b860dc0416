"""The walk shared by two passes on dynamic-slices of an all-gather by device.

Source: xla/hlo/transforms/collectives/all_gather_dynamic_slice_simplifier.cc and
simplifiers/all_gather_permuted_ds_simplifier.cc.
"""

from __future__ import annotations

from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.compiler.transforms.collectives.device_offsets import (
    Devices,
    DeviceSlice,
    cut_by_device,
    cuts_behind,
    same_dimension,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


class GatheredCut:
    """The base of both passes. replica_count, num_partitions: of devices; 0 for the module's."""

    name: ClassVar[str]
    replica_count: int
    num_partitions: int

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every computation."""
        changed = False
        for cut, gathered in cuts_behind(module, "all-gather"):
            changed |= self._visit(cut, gathered, context)
        return changed

    def _visit(self, cut: HloInstruction, gathered: HloInstruction, context: PassContext) -> bool:
        groups = Devices.of(gathered, self.replica_count, self.num_partitions).groups_of(gathered)
        before = cut.parent.module.next_instruction_id
        made = groups if isinstance(groups, Reason) else self._made(cut, gathered, groups)
        if isinstance(made, Reason):
            context.refused(self.name, cut, made)
            return False
        if made.shape.dimensions != cut.shape.dimensions:
            made = cut.parent.add("reshape", cut.shape, (made,), metadata=cut.metadata)
        context.rewrote(
            self.name, cut, made, tuple(range(before, cut.parent.module.next_instruction_id))
        )
        substitute(cut, made, before)
        return True

    def _made(
        self, cut: HloInstruction, gathered: HloInstruction, groups: list[list[tuple[int, int]]]
    ) -> HloInstruction | Reason:
        found = cut_by_device(cut, groups)
        if isinstance(found, Reason):
            return found
        along = gathered.attributes["dimensions"][0]
        size = gathered.operands[0].shape.dimensions[along]
        if (
            same_dimension(gathered.shape, cut.operands[0].shape, found.dimension) != along
            or found.size != size
        ):
            return refuse(
                "other-parts",
                f"%{cut.name} does not take the part of one device from %{gathered.name}",
            )
        return self.taken(gathered, found, groups)

    def taken(
        self, gathered: HloInstruction, cut: DeviceSlice, groups: list[list[tuple[int, int]]]
    ) -> HloInstruction | Reason:
        """Return the replacement of the slice that each device takes."""
        raise NotImplementedError
