"""Groups of devices in a collective: replica groups under the four group modes.

Source: StableHLO spec, "Process groups"; xla/service/collective_ops_utils.h,
GetCollectiveOpGroupMode.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from xla_explorer.hlo.evaluator.registry import EvaluationError

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.devices.world import Device
    from xla_explorer.hlo.instruction import HloInstruction

# Opcodes with `use_global_device_ids`; without it and with a channel, ids are replicas of all
# partitions.
_WITH_GLOBAL_IDS = ("all-gather", "all-reduce", "collective-reduce", "reduce-scatter")


class GroupMode(enum.Enum):
    """The kind of ids in a collective's groups."""

    CROSS_REPLICA = "replicas, within one partition"
    CROSS_PARTITION = "partitions, within one replica"
    CROSS_REPLICA_AND_PARTITION = "replicas, with all their partitions"
    FLATTENED_IDS = "devices"


def base_name(instruction: HloInstruction) -> str:
    """Return the opcode without `-start`."""
    return instruction.opcode.name.removesuffix("-start")


def channel_of(instruction: HloInstruction) -> int:
    """Return the channel id, 0 if there is none."""
    return int(instruction.attributes.get("channel_id") or 0)


def group_mode(instruction: HloInstruction) -> GroupMode:
    """Return the mode that channel id and `use_global_device_ids` select."""
    if not channel_of(instruction):
        return GroupMode.CROSS_REPLICA
    if base_name(instruction) not in _WITH_GLOBAL_IDS:
        return GroupMode.CROSS_PARTITION
    if instruction.attributes.get("use_global_device_ids", False):
        return GroupMode.FLATTENED_IDS
    return GroupMode.CROSS_REPLICA_AND_PARTITION


def group_of(instruction: HloInstruction, device: Device) -> tuple[int, ...]:
    """Return the numbers of the devices in this device's group, in rank order.

    Without groups, or with one empty group, the group is all ids. EvaluationError if no given group
    holds the device.
    """
    world = device.world
    mode = group_mode(instruction)
    replicas, partitions = world.replicas, world.partitions
    if len(world.devices) == 1:
        # A single device must not represent all devices in the module's own counts.
        written = instruction.parent.module.attributes
        replicas, partitions = (
            int(written.get("replica_count") or 1),
            int(written.get("num_partitions") or 1),
        )
    own, count = {
        GroupMode.CROSS_PARTITION: (device.partition, partitions),
        GroupMode.FLATTENED_IDS: (device.number, replicas * partitions),
    }.get(mode, (device.replica, replicas))
    groups = instruction.attributes.value("replica_groups")
    ids: tuple[int, ...] | None
    if groups is None or not any(groups.groups):
        ids = tuple(range(count))
    else:
        ids = next((g for g in groups.groups if own in g), None)
    if ids is None:
        raise EvaluationError(
            f"%{instruction.name}: no replica group holds {device!r}; the groups number "
            f"{mode.value}: {groups.text}"
        )
    if mode is GroupMode.CROSS_REPLICA:
        return tuple([i * partitions + device.partition for i in ids])
    if mode is GroupMode.CROSS_PARTITION:
        return tuple([device.replica * partitions + i for i in ids])
    if mode is GroupMode.CROSS_REPLICA_AND_PARTITION:
        return tuple([i * partitions + p for i in ids for p in range(partitions)])
    return ids


def permutation_pairs(instruction: HloInstruction, device: Device) -> list[tuple[int, int]]:
    """Return (source, target) device numbers of a collective-permute.

    Only pairs in this device's row or column are returned.
    """
    partitions = device.world.partitions
    pairs = instruction.attributes.value("source_target_pairs")
    if channel_of(instruction):
        first = device.replica * partitions
        return [(first + source, first + target) for source, target in pairs]
    return [
        (source * partitions + device.partition, target * partitions + device.partition)
        for source, target in pairs
    ]
