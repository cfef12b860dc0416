"""Reduce-scatters of all-reduces, scattered before the all-reduce.

Source: xla/hlo/transforms/collectives/all_reduce_reduce_scatter_reorder.cc.

========================================  ===================================================
handled by XLA                            here
========================================  ===================================================
reduce-scatter(all-reduce(x)), one reader all-reduce(reduce-scatter(x)), of fewer bytes
equal reducers, one operand each          required, as in XLA
groups                                    explicit groups that cross, and one part for the
                                          devices of each all-reduce group
========================================  ===================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.compiler.transforms.collectives.all_reduce_folder import folded_groups
from xla_explorer.compiler.transforms.collectives.reassociation import reduction_kind
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


def same_places(scatter: HloInstruction, inner: HloInstruction) -> bool:
    """Return True if the devices that the all-reduce joins scatter to the same part."""
    place = {
        device: number
        for group in scatter.attributes["replica_groups"].groups
        for number, device in enumerate(group)
    }
    return all(
        len({place.get(device) for device in group}) == 1
        for group in inner.attributes["replica_groups"].groups
    )


@register_pass()
@dataclasses.dataclass(frozen=True)
class AllReduceReduceScatterReorder(OpExpanderPass):
    """Scatter first, so that the all-reduce moves the device's part only."""

    name: ClassVar[str] = "all-reduce-reduce-scatter-reorder"
    opcodes: ClassVar[frozenset[str]] = frozenset(["reduce-scatter"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for the only reader of an all-reduce of the same kind, over crossing groups.

        Every device then gets the part that it had.
        """
        inner = i.operands[0]
        return (
            len(i.operands) == 1
            and inner.opcode.name == "all-reduce"
            and len(inner.operands) == 1
            and len(inner.users) == 1
            and reduction_kind(i) is not None
            and reduction_kind(i) == reduction_kind(inner)
            and bool(i.attributes.get("channel_id")) == bool(inner.attributes.get("channel_id"))
            and folded_groups(i, inner) is not None
            and same_places(i, inner)
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the all-reduce of the reduce-scatter."""
        inner, computation = i.operands[0], b.computation
        scattered = computation.add(
            i.opcode,
            i.shape,
            inner.operands,
            i.attributes.with_values(sharding=None),
            called=i.called,
            metadata=i.metadata,
        )
        attributes = inner.attributes.with_values(sharding=None)
        return HloValue(
            b,
            computation.add(inner.opcode, i.shape, (scattered,), attributes, called=inner.called),
        )
