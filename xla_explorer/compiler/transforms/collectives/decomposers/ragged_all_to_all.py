"""Ragged all-to-alls by dense collectives, or by one step inside of each host.

Source: xla/backends/gpu/transforms/ragged_all_to_all_decomposer.cc,
ragged_all_to_all_multi_host_decomposer.cc.

==========================================  ===================================================
handled by XLA                              here
==========================================  ===================================================
ragged-all-to-all-decomposer:
groups of one size, several updates for     the same: an all-to-all of slices of the full length,
each receiver                               whose rows a mask writes to the result
offsets of type s64 only, else an error     any integer type
ragged-all-to-all-multi-host-decomposer:
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
    scalar_constant,
    splat_constant,
    transpose,
)
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.compiler.transforms.collectives.decomposers.collective_permute_cycle_decomposer import (
    next_channel,
)
from xla_explorer.compiler.transforms.collectives.decomposers.device_numbers import devices_in_group
from xla_explorer.hlo.attributes import CODECS, attributes_of
from xla_explorer.hlo.attributes.values import PaddingDimension, SliceDimension
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.primitive_type import PRED, S32
from xla_explorer.hlo.shape import Shape, array_shape, tuple_shape

_Collective = Callable[[str, Shape, HloInstruction], HloInstruction]


def _slice(x: HloInstruction, rows: Sequence[SliceDimension]) -> HloInstruction:
    shape = x.shape.with_dimensions([row.size for row in rows])
    return x.parent.add("slice", shape, (x,), attributes_of({"slice": tuple(rows)}))


def _padded(x: HloInstruction, rows: int) -> HloInstruction:
    """Return x with so many rows of zeros behind it."""
    dimensions = x.shape.dimensions
    padding = [PaddingDimension(0, rows), *[PaddingDimension(0, 0)] * (len(dimensions) - 1)]
    shape = x.shape.with_dimensions((dimensions[0] + rows, *dimensions[1:]))
    zero = scalar_constant(x.parent, x.shape, 0)
    return x.parent.add("pad", shape, (x, zero), attributes_of({"padding": tuple(padding)}))


class _Rows:
    """Numbers of rows in a vector, as scalars; and slices of whole rows by such numbers."""

    def __init__(self, computation: HloComputation) -> None:
        self.computation = computation

    def number(self, vector: HloInstruction, k: int) -> HloInstruction:
        """Return element k."""
        one = _slice(vector, [SliceDimension(k, k + 1)])
        return reshape(self.computation, one, array_shape(vector.shape.element_type, ()))

    def starts(self, x: HloInstruction, row: HloInstruction) -> list[HloInstruction]:
        """Return the start indices of a slice from a row on."""
        zeros = [scalar_constant(self.computation, row.shape, 0) for _ in range(x.shape.rank - 1)]
        return [row, *zeros]

    def read(self, x: HloInstruction, row: HloInstruction, count: int) -> HloInstruction:
        """Return `count` rows from a row on."""
        shape = x.shape.with_dimensions((count, *x.shape.dimensions[1:]))
        sizes = attributes_of({"dynamic_slice_sizes": shape.dimensions})
        return self.computation.add("dynamic-slice", shape, (x, *self.starts(x, row)), sizes)

    def between(self, shape: Shape, first: HloInstruction, count: HloInstruction) -> HloInstruction:
        """Return a mask of the rows from `first`, `count` many."""
        add = self.computation.add
        kind = first.shape.element_type
        wide = shape.with_element_type(kind)
        row = add("iota", wide, (), attributes_of({"iota_dimension": 0}))
        last = add("add", first.shape, (first, count))
        masks = []
        for direction, bound in (("GE", first), ("LT", last)):
            everywhere = add("broadcast", wide, (bound,), attributes_of({"dimensions": ()}))
            compared = attributes_of({"direction": direction})
            masks.append(add("compare", shape.with_element_type(PRED), (row, everywhere), compared))
        return add("and", masks[0].shape, masks)


@register_pass()
@dataclasses.dataclass(frozen=True)
class RaggedAllToAllDecomposer(OpExpanderPass):
    """Exchange slices of the full length, and write the rows that belong to the result."""

    name: ClassVar[str] = "ragged-all-to-all-decomposer"
    opcodes: ClassVar[frozenset[str]] = frozenset(["ragged-all-to-all"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for groups of one size and static shapes."""
        devices = devices_in_group(i)
        entries = i.operands[2].shape.dimensions[0]
        return bool(devices) and entries % (devices or 1) == 0 and i.operands[0].shape.rank > 0

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue | None:
        """Return the result rows, update by update."""
        devices, computation = devices_in_group(i), b.computation
        if devices is None:
            return None
        given, result, begins, _, targets, sizes = i.operands
        rows, updates = given.shape.dimensions[0], begins.shape.dimensions[0] // devices
        tools = _Rows(computation)
        source = _padded(given, rows)
        single = given.shape.with_dimensions((1, *given.shape.dimensions))
        sent = []
        for p in range(devices):
            parts = [
                reshape(
                    computation,
                    tools.read(source, tools.number(begins, p * updates + k), rows),
                    single,
                )
                for k in range(updates)
            ]
            sent.append(_joined(parts))
        channel = i.attributes.get("channel_id")
        whole = tuple_shape([s.shape for s in sent])
        groups = i.attributes.with_values(sharding=None)
        received = computation.add("all-to-all", whole, sent, groups)
        places = computation.add(
            "all-to-all",
            targets.shape,
            (targets,),
            groups.with_values(
                dimensions=(0,), channel_id=next_channel(computation.module) if channel else None
            ),
        )
        total = _padded(result, rows)
        for p in range(devices):
            arrived = computation.add(
                "get-tuple-element", sent[p].shape, (received,), attributes_of({"index": p})
            )
            for k in range(updates):
                total = self._written(tools, total, arrived, k, (places, sizes), p * updates + k)
        kept = [SliceDimension(0, n) for n in i.shape.dimensions]
        return HloValue(b, _slice(total, kept))

    def _written(
        self,
        tools: _Rows,
        total: HloInstruction,
        arrived: HloInstruction,
        k: int,
        numbers: tuple[HloInstruction, HloInstruction],
        entry: int,
    ) -> HloInstruction:
        """Return the result with the rows of one update."""
        computation = tools.computation
        kept = [SliceDimension(0, n) for n in arrived.shape.dimensions]
        kept[0] = SliceDimension(k, k + 1)
        flat = arrived.shape.with_dimensions(arrived.shape.dimensions[1:])
        part = reshape(computation, _slice(arrived, kept), flat)
        first, count = [tools.number(vector, entry) for vector in numbers]
        placed = computation.add(
            "dynamic-update-slice", total.shape, (total, part, *tools.starts(total, first))
        )
        mask = tools.between(total.shape, first, count)
        return computation.add("select", total.shape, (mask, placed, total))


def _joined(parts: list[HloInstruction]) -> HloInstruction:
    if len(parts) == 1:
        return parts[0]
    shape = parts[0].shape.with_dimensions((len(parts), *parts[0].shape.dimensions[1:]))
    return parts[0].parent.add("concatenate", shape, parts, attributes_of({"dimensions": (0,)}))


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
            _slice(received, [*rows, SliceDimension(k * updates, (k + 1) * updates)])
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
