"""Creation of a reduce-scatter from an all-reduce whose result each device slices.

Source: xla/service/gpu/transforms/reduce_scatter_creator.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.compiler.transforms.collectives.device_offsets import (
    Devices,
    DeviceSlice,
    cut_by_device,
    cuts_behind,
    same_dimension,
)
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.slicing import slice_attributes
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes.values import SliceDimension
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def device_k_takes_part_k(cut: DeviceSlice, size: int) -> Reason | None:
    """Require that the k-th device of each group takes part k.

    A remainder must be less than one element per device.
    """
    count = len(cut.parts[0])
    if any(row != tuple(range(count)) for row in cut.parts):
        return refuse(
            "parts-out-of-order",
            "the devices of a group do not take the parts in their order",
            parts=cut.parts[0],
        )
    if size - cut.size * count >= count:
        return refuse(
            "parts-left",
            f"{count} parts of {cut.size} leave more than a remainder of {size}",
            size=size,
            part=cut.size,
        )
    return None


@register_pass()
@dataclasses.dataclass(frozen=True)
class ReduceScatterCreator:
    """Rewrite dynamic-slice(all-reduce(x)) as reduce-scatter(x) for parts in device order.

    replica_count, num_partitions: of devices; 0 for the module's.
    """

    name: ClassVar[str] = "reduce-scatter-creator"
    replica_count: int = 0
    num_partitions: int = 0

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every computation."""
        changed = False
        for cut, total in cuts_behind(module, "all-reduce"):
            changed |= self._create(cut, total, context)
        return changed

    def _create(self, cut: HloInstruction, total: HloInstruction, context: PassContext) -> bool:
        groups = Devices.of(total, self.replica_count, self.num_partitions).groups_of(total)
        found = groups if isinstance(groups, Reason) else cut_by_device(cut, groups)
        if isinstance(found, Reason):
            context.refused(self.name, cut, found)
            return False
        whole = cut.operands[0].shape
        size, count = whole.dimensions[found.dimension], len(found.parts[0])
        dimension = same_dimension(total.shape, whole, found.dimension)
        if dimension is None:
            context.refused(
                self.name,
                cut,
                refuse("reshape-splits", f"%{cut.name} slices no whole dimension of %{total.name}"),
            )
            return False
        reason = device_k_takes_part_k(found, size)
        if reason is not None:
            context.refused(self.name, cut, reason)
            return False
        computation, before = cut.parent, cut.parent.module.next_instruction_id
        x, sizes = total.operands[0], list(total.shape.dimensions)
        if found.size * count != size:
            rows = [SliceDimension(0, n) for n in sizes]
            rows[dimension] = SliceDimension(0, found.size * count)
            sizes[dimension] = found.size * count
            x = computation.add(
                "slice",
                x.shape.with_dimensions(sizes),
                (x,),
                slice_attributes(rows),
                metadata=cut.metadata,
            )
        sizes[dimension] = found.size
        attributes = total.attributes.with_values(dimensions=(dimension,))
        made = computation.add(
            "reduce-scatter",
            total.shape.with_dimensions(sizes),
            (x,),
            attributes,
            called=total.called,
            metadata=total.metadata,
        )
        if made.shape.dimensions != cut.shape.dimensions:
            made = computation.add("reshape", cut.shape, (made,), metadata=cut.metadata)
        context.rewrote(
            self.name, cut, made, tuple(range(before, computation.module.next_instruction_id))
        )
        substitute(cut, made, before)
        return True
