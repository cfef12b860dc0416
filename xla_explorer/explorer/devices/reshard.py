"""`xe.sharding.reshard_plan`: the paths from one sharding of an array to another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xla_explorer.compiler.costs.topology import Topology
from xla_explorer.compiler.spmd.explanation.annotating import Spec, axes_of_spec, read_mesh
from xla_explorer.compiler.spmd.explanation.mesh_groups import (
    axes_of_groups,
    named_tiles,
    spec_text,
)
from xla_explorer.compiler.spmd.partitioning.device_axes import DeviceAxes, Tiling, axes_for
from xla_explorer.compiler.spmd.partitioning.reshard_moves import Move
from xla_explorer.compiler.spmd.partitioning.reshard_plan import ReshardPath, path_for, paths
from xla_explorer.explorer.display.blocks import Blocks, Table
from xla_explorer.explorer.display.quantities import byte_count, microseconds
from xla_explorer.explorer.display.report import Report
from xla_explorer.hlo.attributes.axis_sharding import AxisSharding
from xla_explorer.hlo.attributes.mesh import Mesh


class ReshardStep(NamedTuple):
    """A step of a path.

    Attributes
    ----------
    path : int
        The number of its path; 1 is the cheapest.
    kind : str
        slice, all-gather, all-to-all, collective-permute or all-reduce.
    axes : str
        The axes of the mesh that move.
    after : str
        The sharding after it.
    sent_bytes : float
        Bytes that one device sends.
    predicted_us : float
        By the cost model.
    peak_bytes : int
        Bytes of the device's part after it.
    """

    path: int
    kind: str
    axes: str
    after: str
    sent_bytes: float
    predicted_us: float
    peak_bytes: int


class ReshardPlan(Report):
    """The paths from one sharding to another, the cheapest first.

    Attributes
    ----------
    source, target : str
        The shardings.
    steps : list of ReshardStep
        Of all paths.
    xla : int
        The number of the path that XLA takes.
    """

    def __init__(self, source: str, target: str, steps: list[ReshardStep], xla: int) -> None:
        self.source, self.target, self.steps, self.xla = source, target, steps, xla

    def sent(self, path: int = 1) -> float:
        """Return the bytes that one device sends on a path."""
        return sum([step.sent_bytes for step in self.steps if step.path == path])

    def headline(self) -> str:
        """Return the cheapest path, and XLA's if it is another."""
        found = [step for step in self.steps if step.path == 1]
        time = sum([step.predicted_us for step in found])
        ways = ", ".join([step.kind for step in found]) or "nothing to do"
        text = f"{self.source} to {self.target}: {ways}; a device sends {byte_count(self.sent())}, est. {microseconds(time)}"
        if self.xla > 1:
            text += f"; XLA's path ({self.xla}) sends {byte_count(self.sent(self.xla))}"
        return text

    def blocks(self) -> Blocks:
        """Yield the steps of every path."""
        yield Table(ReshardStep._fields, self.steps)


def reshard_plan(
    shape: Sequence[int],
    from_: Spec,
    to: Spec,
    mesh: Mesh | Mapping[str, int] | str,
    *,
    topology: str = "h100",
    element_bytes: int = 4,
) -> ReshardPlan:
    """Return the paths from one sharding of an array to another, without a program.

    Parameters
    ----------
    shape : sequence of int
        The global sizes.
    from_, to : tuple or str
        The axes of each dimension, `("x", None)` or `x,-`.
    mesh : Mesh, mapping or str
        The devices, `{"x": 4, "y": 2}` or `x=4,y=2`.
    topology : str
        The machine of the times.
    element_bytes : int
        Bytes of an element.

    Raises
    ------
    ShardingError
        An axis is unknown or used twice, or a sharding has too many dimensions.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> plan = xe.sharding.reshard_plan((16, 16, 16), "y,-,x", "-,x+y,-", "x=4,y=2")
    >>> [(step.kind, step.sent_bytes) for step in plan.steps if step.path == 1]
    [('all-to-all', 1536.0), ('all-to-all', 1024.0)]
    """
    grid, sizes = read_mesh(mesh), tuple(shape)
    named = [
        AxisSharding("mesh", axes_of_spec(spec, grid, len(sizes), f"the sharding {which}"))
        for spec, which in ((from_, "before"), (to, "after"))
    ]
    tiles = [one.tiles(grid) for one in named]
    axes = axes_for(grid.count, tiles)
    ends = [axes.tiling(one, len(sizes))[0] for one in tiles]
    found = list(paths(axes, sizes, element_bytes, *ends)) if ends[0] != ends[1] else []
    taken = path_for(axes, sizes, element_bytes, *ends, "xla")
    place = Topology.named(grid, topology)
    steps = [
        step
        for number, path in enumerate(found)
        for step in _steps(number + 1, path, axes, place, (sizes, element_bytes))
    ]
    xla = next((k + 1 for k, path in enumerate(found) if path.moves == taken.moves), 1)
    return ReshardPlan(spec_text(named[0]), spec_text(named[1]), steps, xla)


def _steps(
    number: int,
    path: ReshardPath,
    axes: DeviceAxes,
    topology: Topology,
    array: tuple[tuple[int, ...], int],
) -> list[ReshardStep]:
    sizes, width = array
    found, before = [], path.source
    for move in path.moves:
        held = math.prod(axes.local(sizes, move.result)) * width
        groups = axes.groups(_moved(move, before))
        names = ", ".join(axes_of_groups(topology.mesh, groups))
        tiles = axes.sharding(move.result)
        after = named_tiles(topology.mesh, tiles, len(sizes))
        us = _time(move, topology, groups, math.prod(axes.local(sizes, before)) * width)
        found.append(ReshardStep(number, move.kind, names, after, move.sent, us, held))
        before = move.result
    return found


def _moved(move: Move, before: Tiling) -> tuple[int, ...]:
    """Return the axes over which a move exchanges data."""
    if move.axes:
        return move.axes
    changed = [
        k
        for old, new in zip(before.dims, move.result.dims, strict=True)
        if old != new
        for k in (*old, *new)
    ]
    return tuple(dict.fromkeys(changed))


def _time(move: Move, topology: Topology, groups: Sequence[Sequence[int]], part: int) -> float:
    if move.kind == "slice":
        return 0.0
    if move.kind == "collective-permute":
        pairs = [(group[0], device) for group in groups for device in group[1:]]
        return topology.permute_time(part, pairs).us
    whole = part if move.kind == "all-to-all" else part * len(groups[0])
    return topology.time(move.kind, whole, groups).us
