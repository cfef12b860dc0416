"""`session.devices.search`: annotations of arguments by a beam search with the cost model.

The axes of the mesh get their tactics one after another; the best few lists are kept. Then single
arguments are changed as long as that helps. An estimate from the propagated shardings orders the
candidates; those that are shown are partitioned and costed too.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from xla_explorer.compiler.costs.machines import machine_of
from xla_explorer.compiler.spmd.explanation.propagated_costs import PropagatedCosts
from xla_explorer.compiler.spmd.propagation.graph_builder import graph_of
from xla_explorer.explorer.devices.found_shardings import (
    ShardingCandidate,
    ShardingSearch,
)
from xla_explorer.explorer.devices.sharding_tactics import AnnotatedDevices, Specs, Tactic, Tactics
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.limits import OutOfTimeError, limited_run
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.attributes.mesh import Mesh
from xla_explorer.hlo.attributes.sharding_error import argument_error
from xla_explorer.hlo.module import HloModule

_BEAM = 4  # lists of tactics that are kept for each axis
_SETS = 8  # sets of dimensions that are tried for each axis
_SHOWN = 8  # candidates of the result, besides the baselines
_SIZE = re.compile(r"\s*([\d.]+)\s*([KMGT]?)(i?)B?\s*$")


def searched(
    devices: AnnotatedDevices,
    over: Collection[str],
    kept: Sequence[str],
    memory: str | int | None,
    most: tuple[float, int],
) -> ShardingSearch:
    """Return the best shardings of annotated devices; calls of the program are inlined.

    over: arguments to search; () for all that are not kept. most: seconds, and annotations that are
    costed.
    """
    placed = devices.given_module
    limit = machine_of(devices.topology).memory_bytes if memory is None else read_size(memory)
    names = _searched(placed, over, [one.lstrip("%") for one in kept])
    seconds, count = most
    return _Search(devices, names, limit, time.monotonic() + seconds, count).run()


def read_size(given: str | int) -> int:
    """Return bytes from `80GB`, `1.5 GiB` or a number. XlaExplorerError for other texts.

    Examples
    --------
    >>> read_size("80GB"), read_size("1.5GiB"), read_size(512)
    (80000000000, 1610612736, 512)
    """
    found = _SIZE.match(str(given))
    if found is None:
        raise argument_error("memory", str(given), "", f"memory must be a size, got {given!r}",
                             "write for instance 80GB, or a number of bytes")  # fmt: skip
    number, unit, binary = found.groups()
    return int(float(number) * (1024 if binary else 1000) ** " KMGT".index(unit or " "))


def _searched(module: HloModule, over: Collection[str], kept: Sequence[str]) -> frozenset[str]:
    """Return the names of the arguments to search."""
    names = [p.name for p in module.entry.parameters() if p.shape.is_array]
    if not over:
        free = [name for name in names if not {name, name.split(".")[0]} & set(kept)]
        return frozenset(free)
    found = set()
    for one in over:
        wanted = one.lstrip("%")
        same = [name for name in names if wanted in (name, name.split(".")[0])]
        if not same:
            near = nearest(wanted, names, 3)
            raise argument_error(
                "over",
                f"%{wanted}",
                "",
                f"no argument %{wanted} is in the entry of {module.name}",
                f"near: {', '.join(near)}" if near else f"arguments: {', '.join(names)}",
            )
        found.update(same)
    return frozenset(found)


@dataclass
class _Tried:
    """Annotations and their figures."""

    name: str
    specs: Specs | None
    figures: dict[str, Any]
    fits: bool

    @property
    def order(self) -> tuple[float, ...]:
        """The key by which candidates are compared, the best first."""
        one = self.figures
        over = 0.0 if self.fits else float(one["peak_bytes"])
        return (over, round(one["step_us"], 3), one["peak_bytes"], one["sent_bytes"])


_Way = TypeVar("_Way")
Spec = tuple[tuple[str, ...], ...]
"""The axes of each dimension of a value."""


class Estimates:
    """Orders candidates by their estimates. count: those that were estimated."""

    def __init__(self, module: HloModule, machine: str, limit: int) -> None:
        self._costs, self._limit = PropagatedCosts(module, machine), limit
        self._known: dict[str, tuple[bool, float]] = {}

    @property
    def count(self) -> int:
        """The number of annotations that were estimated."""
        return len(self._known)

    def ordered(
        self, ways: Sequence[_Way], specs: Callable[[_Way], Specs], end: float
    ) -> list[_Way]:
        """Return the candidates, the best estimate first; those after the end come last."""
        found: list[tuple[tuple[bool, float], int]] = []
        for k, way in enumerate(ways):
            made = specs(way)
            key = str(made)
            if key not in self._known and time.monotonic() < end:
                cost = self._costs.cost(made)
                self._known[key] = cost.argument_bytes > self._limit, cost.us
            found.append((self._known.get(key, (True, math.inf)), k))
        return [ways[k] for _, k in sorted(found)]


@dataclass
class _Search:
    """The state of one search."""

    devices: AnnotatedDevices
    over: frozenset[str]
    limit: int
    deadline: float
    most: int
    known: dict[str, _Tried | None] = field(default_factory=dict)

    def run(self) -> ShardingSearch:
        graph = graph_of(self.devices.given_module.clone())
        mesh = graph.mesh
        self.tactics = Tactics(graph, mesh, self.over)
        self.estimates = Estimates(self.devices.given_module, self.devices.topology, self.limit)
        baselines = [one for one in self._baselines(mesh) if one is not None]
        lists = self._beam(mesh)
        best = min([*baselines, *lists], key=lambda one: one.order)
        if not self._over():
            best = self._improved(best, mesh)
        stopped = (
            "no change of one argument is better" if not self._over() else "the limit is reached"
        )
        every = sorted([one for one in self.known.values() if one is not None],
                       key=lambda one: (one.order, len(one.name)))  # fmt: skip
        others = {one.order: one for one in reversed(every)}.values()
        shown = [one for one in every if one in baselines or one in list(others)[-_SHOWN:]]
        rows = [(_row(k, one), one.specs) for k, one in enumerate(shown)]
        counts = len(every), self.estimates.count
        return ShardingSearch(self.devices, rows, self.limit, counts, stopped)

    def _over(self) -> bool:
        return len(self.known) >= self.most or time.monotonic() >= self.deadline

    def _cost(self, name: str, specs: Specs | None) -> _Tried | None:
        """Return annotations with their figures; None if they do not fit, or time is up.

        The first annotations are costed without a limit, so that there is a result.
        """
        key = str(specs)
        if key not in self.known:
            left = max(self.deadline - time.monotonic(), 0.0) if self.known else None
            try:
                with limited_run(left):
                    figures = self._devices_with(specs).figures()
                fits = figures["peak_bytes"] <= self.limit
                self.known[key] = _Tried(name, specs, figures, fits)
            except OutOfTimeError:
                self.deadline = 0.0
                return None
            except XlaExplorerError:  # the sharding does not fit a value
                self.known[key] = None
        return self.known[key]

    def _devices_with(self, specs: Specs | None) -> AnnotatedDevices:
        return self.devices if specs is None else self.devices.what_if(specs)

    def _baselines(self, mesh: Mesh) -> Iterator[_Tried | None]:
        """Yield the program as given and the usual ways, as long as there is time."""
        if any("sharding" in p.attributes for p in self.devices.given_module.entry.parameters()):
            yield self._cost("as given", None)
        yield self._cost("replicated", self.tactics.specs([]))
        batch = self.tactics.batch()
        if batch is not None:
            axes = [name for name, _ in mesh.axes]
            for name, stores in (("data parallel", False), ("FSDP", True)):
                found = self.tactics.specs([Tactic(axis, (batch,), stores) for axis in axes])
                yield self._cost(name, found)

    def _beam(self, mesh: Mesh) -> list[_Tried]:
        """Return the lists of tactics that are kept, after every axis has its tactic."""
        kept: list[tuple[tuple[Tactic, ...], _Tried]] = []
        start = self._cost("replicated", self.tactics.specs([]))
        if start is not None:
            kept = [((), start)]
        axes = [axis for axis, size in mesh.axes if size > 1]
        for k, axis in enumerate(axes):
            found = {str(one.specs): (tactics, one) for tactics, one in kept}
            made = [
                (*tactics, tactic)
                for tactics, _ in kept
                for tactic in self.tactics.of_axis(axis, _SETS)
            ]
            # The axes that follow, and the changes of single arguments, get as much time each.
            end = self._share(len(axes) - k + 1)
            for way in self.estimates.ordered(made, self.tactics.specs, self._share(2, end)):
                if self._over() or time.monotonic() >= end:
                    break
                one = self._cost(_name(way), self.tactics.specs(way))
                if one is not None:
                    found.setdefault(str(one.specs), (way, one))
            kept = _best(list(found.values()))
        return [one for _, one in kept]

    def _share(self, parts: int, end: float | None = None) -> float:
        """Return when a part of the time that is left until the end, or the deadline, is over."""
        now = time.monotonic()
        return now + max((self.deadline if end is None else end) - now, 0.0) / parts

    def _improved(self, best: _Tried, mesh: Mesh) -> _Tried:
        """Change one argument after another while that helps."""
        better = True
        while better and best.specs is not None:
            better = False
            specs = best.specs
            changes = [
                (name, spec)
                for name in specs
                if name in self.over
                for spec in _changes(specs[name], [axis for axis, _ in mesh.axes])
            ]
            for name, spec in self.estimates.ordered(
                changes, partial(_changed, specs), self._share(2)
            ):
                if self._over():
                    return best
                one = self._cost(f"{best.name}; %{name} apart", {**specs, name: spec})
                if one is not None and one.order < best.order:
                    best, better = one, True
                    break
        return best


def _changed(specs: Specs, change: tuple[str, Spec]) -> Specs:
    name, spec = change
    return {**specs, name: spec}


def _best(
    found: list[tuple[tuple[Tactic, ...], _Tried]],
) -> list[tuple[tuple[Tactic, ...], _Tried]]:
    """Return the fastest lists, and those of the least memory."""
    fast = sorted(found, key=lambda pair: pair[1].figures["step_us"])[: _BEAM // 2]
    small = sorted(found, key=lambda pair: pair[1].order)
    least = sorted(found, key=lambda pair: pair[1].figures["peak_bytes"])
    kept = {str(one.specs): (tactics, one) for tactics, one in (*fast, small[0], least[0])}
    return list(kept.values())


def _changes(spec: Spec, axes: Sequence[str]) -> Iterator[Spec]:
    """Yield a sharding with one axis gone, moved or added."""
    for axis in axes:
        without = tuple([tuple([one for one in dim if one != axis]) for dim in spec])
        if without != spec:
            yield without
        for k in range(len(spec)):
            if axis not in spec[k]:
                yield (*without[:k], (*without[k], axis), *without[k + 1 :])


def _name(tactics: Sequence[Tactic]) -> str:
    """Return the use of each axis: `data splits x[0], stores; model splits w1[1]`."""
    return "; ".join([_use(one) for one in tactics])


def _use(one: Tactic) -> str:
    parts = [f"{value.instruction.name}[{dim}]" for g in one.groups for value, dim in g.places[:1]]
    stores = ["stores the rest"] if one.stores and parts else ["stores"] if one.stores else []
    splits = [f"splits {' and '.join(parts)}"] if parts else []
    return f"{one.axis} {', '.join([*splits, *stores])}"


def _row(rank: int, one: _Tried) -> ShardingCandidate:
    f = one.figures
    return ShardingCandidate(rank, one.name, f["step_us"], f["compute_us"], f["exposed_us"],
                             f["sent_bytes"], f["collectives"], f["peak_bytes"], one.fits)  # fmt: skip
