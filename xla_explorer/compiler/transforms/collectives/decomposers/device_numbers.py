"""The number of a device within its group of a collective, as instructions."""

from __future__ import annotations

import numpy as np

from xla_explorer.compiler.rewriting.construction import reshape, scalar_constant
from xla_explorer.compiler.transforms.collectives.device_offsets import Devices
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.primitive_type import U32
from xla_explorer.hlo.shape import array_shape

_NUMBER = array_shape(U32, ())


def device_number(computation: HloComputation, i: HloInstruction) -> HloInstruction:
    """Add the number that the groups of `i` count: of the replica, the partition, or both."""
    if not i.attributes.get("channel_id"):
        return computation.add("replica-id", _NUMBER)
    partition = computation.add("partition-id", _NUMBER)
    if not i.attributes.get("use_global_device_ids"):
        return partition
    devices = Devices.of(i, 0, 0)
    replica = computation.add("replica-id", _NUMBER)
    count = scalar_constant(computation, _NUMBER, devices.partitions)
    before = computation.add("multiply", _NUMBER, (replica, count))
    return computation.add("add", _NUMBER, (before, partition))


def number_in_group(computation: HloComputation, i: HloInstruction) -> HloInstruction:
    """Add the device's position in its group of `i`; a table looks it up unless it is the number.

    Groups that are not explicit, or one group in order, need no table.
    """
    number = device_number(computation, i)
    found = i.attributes.get("replica_groups")
    groups = found.groups if found is not None else ()
    crosses = i.attributes.get("channel_id") and not i.attributes.get("use_global_device_ids")
    if not groups or crosses or (len(groups) == 1 and list(groups[0]) == sorted(groups[0])):
        return number
    table = np.zeros(1 + max(d for g in groups for d in g), np.uint32)
    for group in groups:
        for place, device in enumerate(group):
            table[device] = place
    places = computation.add_constant(literal_from_array(table, array_shape(U32, (table.size,))))
    one = computation.add(
        "dynamic-slice",
        array_shape(U32, (1,)),
        (places, number),
        attributes_of({"dynamic_slice_sizes": (1,)}),
    )
    return reshape(computation, one, _NUMBER)


def devices_in_group(i: HloInstruction) -> int | None:
    """Return the number of devices in each group of a collective, or None if they differ."""
    groups = Devices.of(i, 0, 0).groups_of(i)
    if isinstance(groups, Reason):
        found = i.attributes.get("replica_groups")
        sizes = {len(g) for g in found.groups} if found is not None else set()
        return sizes.pop() if len(sizes) == 1 else None
    return len(groups[0])
