"""One way from a program with annotations to the program of one device, with all records."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.spmd.explanation.annotation_places import Annotation, annotations_of
from xla_explorer.compiler.spmd.explanation.array_shards import ArrayShards, shards_of_program
from xla_explorer.compiler.spmd.partitioning.partitioner import PartitionRun
from xla_explorer.compiler.spmd.partitioning.sharding_errors import check_shardings, header_error
from xla_explorer.compiler.spmd.partitioning.spmd_partitioning import (
    WindowedEinsum,
    partition_module,
)
from xla_explorer.compiler.spmd.propagation.module_writer import ModuleWriter
from xla_explorer.compiler.spmd.propagation.report import ShardingReport, propagated
from xla_explorer.compiler.transforms.simplifiers.dead_code import DeadCodeElimination
from xla_explorer.hlo.analysis.manual_regions import device_count, meshes_of
from xla_explorer.hlo.attributes.mesh import Mesh
from xla_explorer.hlo.attributes.sharding_error import argument_error
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator.devices.deadlocks import check_deadlocks
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

POLICIES = ("cost", "xla")
_MOST_CHECKED = 64  # devices, each of which the check of deadlocks follows
_MOST_UNANNOTATED = 0.1  # of the arrays of a module whose shardings are propagated already


@dataclass(frozen=True, eq=False)
class RecordedPartitioning:
    """A program, its propagated shardings, and the program of one device.

    Attributes
    ----------
    source : HloModule
        The program as given.
    report : ShardingReport
        The propagation.
    module : HloModule
        The program of one device.
    run : PartitionRun
        The decisions of the partitioner and the causes of collectives.
    mesh : Mesh
        The named axes.
    shards : ArrayShards
        The shards of arguments and results.
    callers : dict of HloComputation to HloInstruction
        An instruction of the global program that runs each computation.
    """

    source: HloModule
    report: ShardingReport
    module: HloModule
    run: PartitionRun
    mesh: Mesh
    shards: ArrayShards
    callers: dict[HloComputation, HloInstruction] = field(default_factory=dict)

    @property
    def devices(self) -> int:
        """Number of devices."""
        return self.run.axes.count

    def check_meetings(self) -> None:
        """Raise DeadlockError if devices would wait forever in a collective, with its place.

        Programs on more devices than `_MOST_CHECKED` are not checked.
        """
        if self.devices > _MOST_CHECKED:
            return
        if is_whole_program(self.source):
            check_deadlocks(self.module, 1, self.devices, self.shards.classes())
        else:
            check_deadlocks(self.source, 1, self.devices, None)

    @cached_property
    def annotations(self) -> dict[str, Annotation]:
        """The annotations, by the names that origins have."""
        return annotations_of(self.report.graph)


def recorded_partitioning(
    module: HloModule, policy: str = "cost", windowed_mib: int = -1
) -> RecordedPartitioning:
    """Propagate the shardings of a module and partition it; the module stays unchanged.

    policy: `cost` (the fewest bytes) or `xla` (XLA's order of choices). windowed_mib: from which
    size on products become loops, see `WindowedEinsum`. ShardingError if a sharding or the mesh
    does not fit, with the place.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = '''HloModule m, num_partitions=2
    ... ENTRY main {
    ...   x = f32[8] parameter(0), sharding={devices=[2]<=[2]}
    ...   ROOT y = f32[8] negate(x)
    ... }'''
    >>> print(recorded_partitioning(xe.parse_hlo(text)).module.entry.root.shape)
    f32[4]{0}
    """
    require_policy(policy)
    count = device_count_of(module)
    check_shardings(module, count)
    copy, report = propagated(module)
    if not is_propagated(module) and report.graph.mesh.axes:
        ModuleWriter(copy, report.graph).write()
        DeadCodeElimination().run(copy, PassContext())
    callers = {called: i for i in copy.instructions() for called in i.called}
    shards = shards_of_program(copy, count)
    run = partition_module(copy, count, policy, WindowedEinsum(windowed_mib))
    mesh = report.graph.mesh if report.graph.mesh.axes else Mesh((("devices", count),))
    return RecordedPartitioning(module, report, copy, run, mesh, shards, callers)


def require_policy(name: str) -> None:
    """Raise ShardingError unless a policy of the partitioner has the name."""
    if name not in POLICIES:
        raise argument_error("policy", name, "", f"no policy {name!r} is known", "cost or xla")


def device_count_of(module: HloModule) -> int:
    """Return the devices of a program; ShardingError if its mesh has another number, or it has one.

    Without `num_partitions` the mesh decides.
    """
    stated = int(module.attributes.get("num_partitions") or 1)
    for name, mesh in meshes_of(module).items():
        if not mesh.axes:
            continue
        if stated > 1 and mesh.count != stated:
            axes = ", ".join([f"{axis}={size}" for axis, size in mesh.axes])
            raise header_error(
                module,
                f"num_partitions={stated}",
                f"mesh @{name} ({axes}) has {mesh.count} devices, the program has {stated}",
                "the product of the axes must be num_partitions",
            )
        stated = mesh.count
    if stated < 2:
        raise header_error(
            module,
            f"HloModule {module.name}",
            f"{module.name} is a program of one device",
            "state num_partitions and shardings, or give a mesh: "
            'xe.compile(module, mesh={"data": 2, "model": 4}, shardings={"x": ("data", None)})',
        )
    return stated


def is_propagated(module: HloModule) -> bool:
    """Return True if nearly every computed array states a sharding, and no mesh is left.

    Scalars and parameters do not count.
    """
    if "xla.sdy.meshes" in str(module.attributes.get("frontend_attributes", "")):
        return False
    arrays = [
        i
        for i in module.instructions()
        if i.shape.is_array
        and i.shape.rank
        and i.opcode.name not in ("constant", "get-tuple-element", "parameter")
    ]
    known = sum(["sharding" in i.attributes for i in arrays])
    return bool(arrays) and known >= math.ceil((1 - _MOST_UNANNOTATED) * len(arrays))


def is_whole_program(module: HloModule) -> bool:
    """Return True if a module is to be partitioned.

    It states shardings, or has nothing that only a device's program has: collectives and device
    numbers.
    """
    if device_count(module) > 1:
        return True
    local = False
    for i in module.instructions():
        given = str(i.attributes.get("frontend_attributes", ""))
        if "sharding" in i.attributes or "xla.sdy.sharding" in given:
            return True
        attributes = i.opcode.attributes
        local |= "replica_groups" in attributes or "source_target_pairs" in attributes
        local |= i.opcode.name in ("partition-id", "replica-id")
    return not local
