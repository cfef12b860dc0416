"""Ragged all-to-alls over several hosts, by one step inside of each host.

Source: xla/backends/gpu/transforms/ragged_all_to_all_multi_host_decomposer.cc.

==========================================  ===================================================
handled by XLA                              here
==========================================  ===================================================
groups over several hosts, the same number  the same: an all-gather between hosts, an all-to-all of
of devices of each on every host            offsets and sizes, an exchange inside of each host
devices of a host apart in their group      the offsets are reordered, as in XLA; groups with other
                                            orders are unchanged in both
combine phase (input larger than output):   hole: exchanged like the dispatch phase, with the same
two exchanges around an all-to-all          values and more transfer
receive sizes: exchanged between hosts      local, since the receiver has them
no groups, one host                         unchanged in both
==========================================  ===================================================
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import (
    reshape,
    splat_constant,
    transpose,
)
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.compiler.transforms.collectives.decomposers.collective_permute_cycle_decomposer import (
    next_channel,
)
from xla_explorer.compiler.transforms.collectives.decomposers.ragged_all_to_all_decomposer import (
    slice_of,
)
from xla_explorer.hlo.attributes import CODECS, attributes_of
from xla_explorer.hlo.attributes.values import SliceDimension
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.primitive_type import S32
from xla_explorer.hlo.shape import Shape, array_shape

_Collective = Callable[[str, Shape, HloInstruction], HloInstruction]


def by_host(group: Sequence[int], devices_of_host: int) -> list[int]:
    """Return the positions of a group's devices, those of one host together."""
    return sorted(range(len(group)), key=lambda k: group[k] // devices_of_host)


def _groups(groups: Sequence[Sequence[int]]) -> object:
    text = ",".join(["{" + ",".join(map(str, g)) + "}" for g in groups])
    return CODECS["replica_groups"].read("{" + text + "}")


@register_pass()
@dataclasses.dataclass(frozen=True)
class RaggedAllToAllMultiHostDecomposer(OpExpanderPass):
    """Gather the input from other hosts, then exchange rows inside of each host.

    devices_of_host: the number of devices with a fast connection.
    """

    name: ClassVar[str] = "ragged-all-to-all-multi-host-decomposer"
    opcodes: ClassVar[frozenset[str]] = frozenset(["ragged-all-to-all"])
    devices_of_host: int = 8

    def _order(self, i: HloInstruction) -> list[int] | None:
        """Return the positions in each group, host by host, or None if the groups differ."""
        found = i.attributes.get("replica_groups")
        groups = found.groups if found is not None else ()
        if not groups or len({len(g) for g in groups}) != 1:
            return None
        order = by_host(groups[0], self.devices_of_host)
        local = self._local(groups[0])
        alike = all(by_host(g, self.devices_of_host) == order for g in groups)
        return order if alike and local and all(self._local(g) == local for g in groups) else None

    def _local(self, group: Sequence[int]) -> int:
        """Return the number of a group's devices on each host, 0 if they differ or fill no two."""
        hosts = [d // self.devices_of_host for d in group]
        counts = {hosts.count(h) for h in hosts}
        return counts.pop() if len(counts) == 1 and len(set(hosts)) > 1 else 0

    def matches(self, i: HloInstruction) -> bool:
        """Return True for groups over several hosts, in equal parts."""
        return self._order(i) is not None

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue | None:
        """Return a ragged-all-to-all inside of each host."""
        order, computation = self._order(i), b.computation
        if order is None:
            return None
        groups = i.attributes["replica_groups"].groups
        local = self._local(groups[0])
        hosts = len(order) // local
        sorted_groups = [[g[k] for k in order] for g in groups]
        inside = [g[h * local : (h + 1) * local] for g in sorted_groups for h in range(hosts)]
        between = [
            [g[h * local + k] for h in range(hosts)] for g in sorted_groups for k in range(local)
        ]
        channel = i.attributes.get("channel_id")
        common = i.attributes.with_values(replica_groups=_groups(between), sharding=None)

        def collective(opcode: str, shape: Shape, x: HloInstruction) -> HloInstruction:
            number = next_channel(computation.module) if channel else None
            attributes = common.with_values(dimensions=(0,), channel_id=number)
            if channel and opcode == "all-gather":
                attributes = attributes.with_values(use_global_device_ids=True)
            return computation.add(opcode, shape, (x,), attributes)

        given, result, *numbers = i.operands
        rows = given.shape.dimensions[0]
        wide = given.shape.with_dimensions((hosts * rows, *given.shape.dimensions[1:]))
        gathered = collective("all-gather", wide, given)
        updates = numbers[0].shape.dimensions[0] // len(order)
        vectors = [
            reshape(
                computation,
                _reordered(v, order, updates),
                v.shape.with_dimensions((hosts, local, updates)),
            )
            for v in numbers
        ]
        begins, counts, targets = self._exchanged(computation, vectors[:3], collective)
        shifted = _by_host_offset(computation, begins, rows)
        flat = [
            reshape(
                computation,
                transpose(computation, v, (1, 0, 2)),
                numbers[0].shape,
            )
            for v in (shifted, counts, targets, vectors[3])
        ]
        made = computation.add(
            i.opcode,
            i.shape,
            (gathered, result, *flat),
            i.attributes.with_values(replica_groups=_groups(inside)),
            metadata=i.metadata,
        )
        return HloValue(b, made)

    def _exchanged(
        self, computation: HloComputation, vectors: list[HloInstruction], collective: _Collective
    ) -> list[HloInstruction]:
        """Return what the same device of each host has for this host."""
        hosts, local, updates = vectors[0].shape.dimensions
        shape = vectors[0].shape.with_dimensions((hosts, local, len(vectors) * updates))
        joined = computation.add("concatenate", shape, vectors, attributes_of({"dimensions": (2,)}))
        received = collective("all-to-all", shape, joined)
        rows = [SliceDimension(0, hosts), SliceDimension(0, local)]
        return [
            slice_of(received, [*rows, SliceDimension(k * updates, (k + 1) * updates)])
            for k in range(len(vectors))
        ]


def _reordered(v: HloInstruction, order: list[int], updates: int) -> HloInstruction:
    """Return the entries of each device, in another order of devices."""
    if order == sorted(order):
        return v
    computation = v.parent
    indices = np.asarray([[k * updates] for k in order], np.int32)
    table = computation.add_constant(literal_from_array(indices, array_shape(S32, (len(order), 1))))
    gathered = computation.add(
        "gather",
        v.shape.with_dimensions((len(order), updates)),
        (v, table),
        attributes_of(
            {
                "offset_dims": (1,),
                "collapsed_slice_dims": (),
                "start_index_map": (0,),
                "index_vector_dim": 1,
                "slice_sizes": (updates,),
            }
        ),
    )
    return reshape(computation, gathered, v.shape)


def _by_host_offset(
    computation: HloComputation, begins: HloInstruction, rows: int
) -> HloInstruction:
    """Return the offsets in the gathered input, where the rows of host h start at h * rows."""
    host = computation.add("iota", begins.shape, (), attributes_of({"iota_dimension": 0}))
    each = splat_constant(computation, begins.shape, rows)
    offset = computation.add("multiply", begins.shape, (host, each))
    return computation.add("add", begins.shape, (begins, offset))
