"""`session.devices.search`: annotations of arguments by a beam search with the cost model.

The axes of the mesh get their tactics one after another; the best few lists are kept. Then single
arguments are changed as long as that helps. Every candidate is propagated, partitioned and costed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from xla_explorer.compiler.costs.machines import machine_of
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
        return ShardingSearch(self.devices, rows, self.limit, len(every), stopped)

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
        for axis, size in mesh.axes:
            if size == 1:
                continue
            found = {str(one.specs): (tactics, one) for tactics, one in kept}
            for tactics, _ in kept:
                for tactic in self.tactics.of_axis(axis, _SETS):
                    if self._over():
                        break
                    made = (*tactics, tactic)
                    one = self._cost(_name(made), self.tactics.specs(made))
                    if one is not None:
                        found.setdefault(str(one.specs), (made, one))
            kept = _best(list(found.values()))
        return [one for _, one in kept]

    def _improved(self, best: _Tried, mesh: Mesh) -> _Tried:
        """Change one argument after another while that helps."""
        better = True
        while better and best.specs is not None:
            better = False
            for name in [one for one in best.specs if one in self.over]:
                for spec in _changes(best.specs[name], [axis for axis, _ in mesh.axes]):
                    if self._over():
                        return best
                    changed = {**best.specs, name: spec}
                    one = self._cost(f"{best.name}; %{name} apart", changed)
                    if one is not None and one.order < best.order:
                        best, better = one, True
        return best


def _best(
    found: list[tuple[tuple[Tactic, ...], _Tried]],
) -> list[tuple[tuple[Tactic, ...], _Tried]]:
    """Return the fastest lists, and those of the least memory."""
    fast = sorted(found, key=lambda pair: pair[1].figures["step_us"])[: _BEAM // 2]
    small = sorted(found, key=lambda pair: pair[1].order)
    least = sorted(found, key=lambda pair: pair[1].figures["peak_bytes"])
    kept = {str(one.specs): (tactics, one) for tactics, one in (*fast, small[0], least[0])}
    return list(kept.values())


def _changes(
    spec: tuple[tuple[str, ...], ...], axes: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], ...]]:
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
