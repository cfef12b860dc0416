"""A mesh of devices on a machine: the links that a group of devices uses, and the times on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xla_explorer.compiler.costs.collective_times import (
    CollectiveStage,
    EstimatedTime,
    hierarchical,
    permute,
)
from xla_explorer.compiler.costs.links import Machine
from xla_explorer.compiler.costs.machines import machine_of
from xla_explorer.hlo.attributes.mesh import AxisPart, Mesh


@dataclass(frozen=True)
class AxisLink:
    """The links along one axis of a mesh.

    Attributes
    ----------
    axis, size : str, int
        The axis.
    link : str
        The class of the slowest link.
    gb_per_s, step_us : float
        What a device sends in a second, and the time of a step.
    wraps : bool
        True if the devices form a ring that sends both ways.
    source, cited : str
        The source of the bandwidth.
    """

    axis: str
    size: int
    link: str
    gb_per_s: float
    step_us: float
    wraps: bool
    source: str
    cited: str


@dataclass(frozen=True)
class Topology:
    """A mesh on a machine; devices are numbered node by node.

    Examples
    --------
    >>> mesh = Mesh((("data", 2), ("model", 8)))
    >>> topology = Topology(mesh, machine_of("h100"))
    >>> [(one.axis, one.link) for one in topology.axis_links()]
    [('data', 'InfiniBand'), ('model', 'NVLink')]
    >>> round(topology.axis_time("all-gather", 450e6, "model").us, 1)
    882.0
    """

    mesh: Mesh
    machine: Machine

    @classmethod
    def named(cls, mesh: Mesh, machine: str) -> Topology:
        """Return a mesh on a machine by name."""
        return cls(mesh, machine_of(machine))

    @cached_property
    def _places(self) -> dict[int, tuple[int, ...]]:
        """The coordinates of each device along the axes of the mesh."""
        axes = [self.mesh.coordinates([AxisPart(name)]) for name, _ in self.mesh.axes]
        return {d: tuple([axis[d] for axis in axes]) for d in (axes[0] if axes else ())}

    def stages(self, group: Sequence[int]) -> tuple[CollectiveStage, CollectiveStage]:
        """Return the links inside nodes and between nodes that a group of devices uses."""
        machine, n = self.machine, len(group)
        nodes = len({device // machine.per_node for device in group})
        inner, outer = machine.inner, machine.outer
        rate = inner.bytes_per_us * self._directions(group)
        ring = inner.form == "torus"
        hops = self._hops(group) if ring and nodes == 1 else 0
        first = CollectiveStage(inner.name, max(1, n // nodes), inner.step_us, rate, ring, hops)
        return first, CollectiveStage(outer.name, nodes, outer.step_us, outer.bytes_per_us)

    def _hops(self, group: Sequence[int]) -> int:
        """Return the steps of rings along each axis of a torus in turn; 0 for one ring."""
        places = [self._places[device] for device in group if device in self._places]
        sizes = [len(set(along)) for along in zip(*places, strict=True)]
        return sum([size - 1 for size in sizes]) if math.prod(sizes) == len(group) else 0

    def _directions(self, group: Sequence[int]) -> int:
        """Return the directions in which a device of a torus sends; 1 for a switch."""
        if self.machine.inner.form != "torus" or len(group) < 2:
            return 1
        found = 0
        for k, (_, size) in enumerate(self.mesh.axes):
            if len({self._places.get(d, (0,) * 9)[k] for d in group}) > 1:
                found += 2 if self.machine.closes(size) else 1
        return max(1, min(found, 2 * self.machine.torus_axes))

    def link(self, group: Sequence[int]) -> str:
        """Return the class of the slowest link that a group uses."""
        inner, outer = self.stages(group)
        return outer.link if outer.n > 1 else inner.link

    def time(self, kind: str, size: float, groups: Sequence[Sequence[int]]) -> EstimatedTime:
        """Return the time of a collective in its slowest group.

        size: bytes of the whole array for all-gather, all-reduce and reduce-scatter; of one device
        for all-to-all. The time of a launch is not included.
        """
        shapes = {self.stages(group) for group in groups if len(group) > 1}
        times = [hierarchical(kind, inner, outer, size) for inner, outer in shapes]
        return max(times, key=lambda one: one.us, default=EstimatedTime(0.0, "0"))

    def permute_time(self, size: float, pairs: Sequence[tuple[int, int]]) -> EstimatedTime:
        """Return the time of a collective-permute by its slowest pair."""
        found = {self._hop(a, b) for a, b in pairs if a != b}
        times = [permute(stage, size, hops) for stage, hops in found]
        return max(times, key=lambda one: one.us, default=EstimatedTime(0.0, "0"))

    def _hop(self, a: int, b: int) -> tuple[CollectiveStage, int]:
        inner, outer = self.stages((a, b))
        if outer.n > 1:
            return outer, 1
        hops = 1
        if inner.ring:
            hops = 0
            ends = [self._places.get(d, ()) for d in (a, b)]
            for (_, size), p, q in zip(self.mesh.axes, *ends, strict=False):
                far = abs(p - q)
                hops += min(far, size - far) if self.machine.closes(size) else far
        # A pair uses one direction of its links.
        rate = self.machine.inner.bytes_per_us
        return CollectiveStage(inner.link, 2, inner.a, rate, inner.ring), max(1, hops)

    def axis_time(self, kind: str, size: float, axis: str) -> EstimatedTime:
        """Return the time of a collective over one axis of the mesh. KeyError for others."""
        groups = self.mesh.groups([AxisPart(axis)])
        if kind == "collective-permute":
            pairs = [(g[k], g[(k + 1) % len(g)]) for g in groups for k in range(len(g))]
            return self.permute_time(size, pairs)
        return self.time(kind, size, groups)

    def axis_links(self) -> list[AxisLink]:
        """Return the links of each axis of the mesh."""
        found = []
        for name, size in self.mesh.axes:
            group = self.mesh.groups([AxisPart(name)])[0]
            inner, outer = self.stages(group)
            unit = self.machine.outer if outer.n > 1 else self.machine.inner
            stage = outer if outer.n > 1 else inner
            found.append(
                AxisLink(name, size, unit.name, stage.w / 1e3, stage.a,
                         stage is inner and stage.ring and self.machine.closes(size),
                         unit.source("bytes_per_nanosecond").value, unit.cited)
            )  # fmt: skip
        return found

    @property
    def nodes(self) -> int:
        """Number of nodes or slices."""
        return math.ceil(max(self.mesh.count, 1) / self.machine.per_node)
