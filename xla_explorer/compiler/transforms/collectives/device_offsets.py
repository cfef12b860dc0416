"""The slice that each device takes of a collective's result: start indices by device number.

Source: xla/service/collective_opt_utils.cc. XLA recognises a fixed set of expressions. Here the
start index is evaluated for every device, so every expression of constants, tables and device
numbers is supported.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.dynamic_slicing import (
    start_operands,
)
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.evaluator.devices.groups import GroupMode, group_mode
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

_MOVES = frozenset(["reshape", "bitcast", "copy"])


@dataclasses.dataclass(frozen=True)
class Devices:
    """The number of replicas, and of partitions of each."""

    replicas: int
    partitions: int

    @staticmethod
    def of(i: HloInstruction, replicas: int, partitions: int) -> Devices:
        """Return the given numbers; for 0, the module's or else one."""
        said = i.parent.module.attributes
        return Devices(
            replicas or int(said.get("replica_count") or 1),
            partitions or int(said.get("num_partitions") or 1),
        )

    def groups_of(self, collective: HloInstruction) -> list[list[tuple[int, int]]] | Reason:
        """Return the groups as lists of (replica, partition), in order; every device is in one."""
        found = collective.attributes.get("replica_groups")
        listed = [list(g) for g in found.groups] if found is not None and found.groups else []
        mode = group_mode(collective)
        if mode is GroupMode.FLATTENED_IDS:
            listed = listed or [list(range(self.replicas * self.partitions))]
            groups = [[divmod(number, self.partitions) for number in g] for g in listed]
        elif mode is GroupMode.CROSS_REPLICA_AND_PARTITION:
            listed = listed or [list(range(self.replicas))]
            if any(len(g) != 1 for g in listed):
                return refuse(
                    "groups-of-replicas",
                    f"%{collective.name} groups several replicas with all their partitions",
                )
            groups = [[(g[0], p) for p in range(self.partitions)] for g in listed]
        else:
            listed = listed or [list(range(self.replicas))]
            groups = [[(r, p) for r in g] for g in listed for p in range(self.partitions)]
        devices = sorted(d for g in groups for d in g)
        if devices != [(r, p) for r in range(self.replicas) for p in range(self.partitions)]:
            return refuse(
                "devices-differ",
                f"the groups of %{collective.name} are not all {self.replicas} x "
                f"{self.partitions} devices",
            )
        if len({len(g) for g in groups}) != 1:
            return refuse(
                "groups-differ", f"the groups of %{collective.name} are of different sizes"
            )
        return groups


def number_on(i: HloInstruction, replica: int, partition: int) -> int | None:
    """Return the value of a scalar integer on one device; None if it has other inputs."""
    name, operands = i.opcode.name, i.operands
    if name == "constant":
        return (
            int(i.literal.array.reshape(-1)[0])
            if i.shape.element_count == 1 and not i.shape.element_type.is_float
            else None
        )
    if name in ("replica-id", "partition-id"):
        return replica if name == "replica-id" else partition
    if name in _MOVES and operands[0].shape.element_type is i.shape.element_type:
        return number_on(operands[0], replica, partition)
    if name == "dynamic-slice":
        return _looked_up(i, replica, partition)
    values = (
        [number_on(o, replica, partition) for o in operands]
        if name in ("add", "subtract", "multiply", "clamp", "convert")
        else []
    )
    if (
        not values
        or any(v is None for v in values)
        or i.shape.element_count != 1
        or not i.shape.element_type.is_integer
    ):
        return None
    known = [v for v in values if v is not None]
    if name == "clamp":
        return min(max(known[0], known[1]), known[2])
    result = {"add": sum(known), "convert": known[0]}.get(name)
    if result is None:
        result = known[0] - known[1] if name == "subtract" else known[0] * known[1]
    kind = i.shape.element_type
    low, high = (
        (0, 1 << kind.bits) if kind.is_unsigned else (-(1 << kind.bits - 1), 1 << kind.bits - 1)
    )
    return result if low <= result < high else None


def _looked_up(i: HloInstruction, replica: int, partition: int) -> int | None:
    """Return one element of a table: a constant, or an iota."""
    table = i.operands[0]
    if (
        table.shape.rank != 1
        or i.shape.element_count != 1
        or table.opcode.name not in ("constant", "iota")
    ):
        return None
    at = number_on(i.operands[1], replica, partition)
    if at is None or not table.shape.element_type.is_integer:
        return None
    at = min(max(at, 0), table.shape.dimensions[0] - 1)
    return at if table.opcode.name == "iota" else int(table.literal.array[at])


def cuts_behind(
    module: HloModule, opcode_name: str
) -> Iterator[tuple[HloInstruction, HloInstruction]]:
    """Yield each dynamic-slice of a result of the collective, with the collective.

    The instructions may be replaced during the iteration.
    """
    for computation in list(module.computations.values()):
        for cut in [i for i in computation.post_order() if i.opcode.name == "dynamic-slice"]:
            found = _collective_behind(cut, opcode_name)
            if found is not None:
                yield cut, found


def _collective_behind(cut: HloInstruction, opcode_name: str) -> HloInstruction | None:
    """Return the one-operand collective that only the slice reads, perhaps via a reshape."""
    x = cut.operands[0]
    if (
        x.opcode.name in ("reshape", "bitcast")
        and len(x.users) == 1
        and x.operands[0].shape.element_type is x.shape.element_type
    ):
        x = x.operands[0]
    return (
        x
        if x.opcode.name == opcode_name
        and len(x.operands) == 1
        and len(x.users) == 1
        and x.shape.is_array
        else None
    )


def same_dimension(source: Shape, target: Shape, dimension: int) -> int | None:
    """Return the dimension of `source` that a reshape to `target` keeps as `dimension`, or None."""
    wanted = math.prod(target.dimensions[:dimension]), target.dimensions[dimension]
    for d, size in enumerate(source.dimensions):
        if (math.prod(source.dimensions[:d]), size) == wanted:
            return d
    return None


@dataclasses.dataclass(frozen=True)
class DeviceSlice:
    """A dynamic-slice by device: dimension, size, and the part of each device in each group."""

    dimension: int
    size: int
    parts: tuple[tuple[int, ...], ...]


def cut_by_device(cut: HloInstruction, groups: list[list[tuple[int, int]]]) -> DeviceSlice | Reason:
    """Return the slice of each device, if the dynamic-slice cuts one dimension into equal parts."""
    before, after = cut.operands[0].shape.dimensions, cut.shape.dimensions
    starts = start_operands(cut)
    changed = [d for d in range(len(before)) if before[d] != after[d]]
    if len(changed) != 1 or len(starts) != len(before):
        return refuse(
            "not-one-dimension",
            f"%{cut.name} slices {len(changed)} dimensions",
            dimensions=tuple(changed),
        )
    dimension = changed[0]
    size, start = after[dimension], starts[dimension]
    if not size:
        return refuse("empty-slice", f"%{cut.name} has no element")
    rows = []
    for group in groups:
        row = []
        for device in group:
            at = number_on(start, *device)
            if at is None:
                return refuse(
                    "start-unknown",
                    f"the start of %{cut.name} does not depend on the device alone",
                )
            if at % size or not 0 <= at <= before[dimension] - size:
                return refuse(
                    "not-a-part",
                    f"on device {device} %{cut.name} starts at {at}, not at a multiple of {size}",
                    start=at,
                )
            row.append(at // size)
        rows.append(tuple(row))
    return DeviceSlice(dimension, size, tuple(rows))
