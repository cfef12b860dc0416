"""The collectives of a partitioned program on a topology: bytes, times, groups and causes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from xla_explorer.compiler.costs.collective_times import EstimatedTime
from xla_explorer.compiler.costs.topology import Topology
from xla_explorer.compiler.spmd.explanation.causes import Cause, cause_of
from xla_explorer.compiler.spmd.explanation.mesh_groups import (
    axes_between,
    axes_of_groups,
    spec_text,
)
from xla_explorer.compiler.spmd.explanation.recorded_partitioning import RecordedPartitioning
from xla_explorer.compiler.spmd.explanation.step_schedule import (
    Slot,
    StepSchedule,
    link_of,
    step_schedule,
)
from xla_explorer.compiler.spmd.propagation.report import ShardingRow
from xla_explorer.hlo.analysis.collective_traffic import CollectiveTraffic, traffic_of
from xla_explorer.hlo.attributes.mesh import Mesh
from xla_explorer.hlo.instruction import HloInstruction


@dataclass(frozen=True, eq=False)
class Collective:
    """A collective of the program of one device.

    Attributes
    ----------
    instruction : HloInstruction
        The collective.
    traffic : Traffic
        Groups and bytes of one execution.
    axes : tuple of str
        The axes of the mesh along which its groups go; () if no axes explain them.
    link : str
        The class of the slowest link.
    time : EstimatedTime
        Of one execution, without the launch, with its formula.
    slot : Slot
        Its place in the simulated step.
    causes : tuple of Cause
        One, or one for each collective that later passes combined.
    """

    instruction: HloInstruction
    traffic: CollectiveTraffic
    axes: tuple[str, ...]
    link: str
    time: EstimatedTime
    slot: Slot
    causes: tuple[Cause, ...]

    @property
    def name(self) -> str:
        """The name, with %."""
        return f"%{self.instruction.name}"

    @property
    def sent(self) -> float:
        """Bytes that one device sends in a step."""
        return self.traffic.sent * self.slot.trips

    @property
    def cause(self) -> Cause:
        """The cause with the most bytes."""
        return max(self.causes, key=lambda one: one.share)


@dataclass(frozen=True, eq=False)
class PlacedProgram:
    """A partitioned program on a topology."""

    program: RecordedPartitioning
    topology: Topology

    @cached_property
    def schedule(self) -> StepSchedule:
        """A simulated step of one device."""
        entry = self.program.module.entry
        return step_schedule(entry, self.topology, self.program.devices)

    @cached_property
    def collectives(self) -> list[Collective]:
        """The collectives in the order of the step."""
        found = []
        for slot, traffic in self.transfers:
            axes = axes_of(self.program.mesh, traffic)
            cause = cause_of(self.program, slot.instruction, axes)
            found.append(placed(self.topology, slot, traffic, axes, (cause,)))
        return found

    @cached_property
    def transfers(self) -> list[tuple[Slot, CollectiveTraffic]]:
        """The collectives without their causes, which take longer to find."""
        slots = self.schedule.slots
        found = [(slot, traffic_of(slot.instruction, self.program.devices)) for slot in slots]
        return [(slot, traffic) for slot, traffic in found if traffic is not None]

    def spec(self, row: ShardingRow) -> str:
        """Return the sharding of a value as JAX's users write it."""
        return spec_text(row.sharding)

    @property
    def sent(self) -> float:
        """Bytes that one device sends in a step."""
        return sum([traffic.sent * slot.trips for slot, traffic in self.transfers])


def axes_of(mesh: Mesh, traffic: CollectiveTraffic) -> tuple[str, ...]:
    """Return the axes of a mesh that a collective uses."""
    if traffic.pairs:
        return axes_between(mesh, traffic.pairs)
    return axes_of_groups(mesh, traffic.groups)


def placed(
    topology: Topology,
    slot: Slot,
    traffic: CollectiveTraffic,
    axes: tuple[str, ...],
    causes: tuple[Cause, ...],
) -> Collective:
    """Return a collective with its time on a topology."""
    if traffic.pairs:
        time = topology.permute_time(traffic.size, traffic.pairs)
    else:
        time = topology.time(traffic.kind, traffic.size, traffic.groups)
    link = link_of(topology, traffic)
    return Collective(slot.instruction, traffic, axes, link, time, slot, causes)
