"""Tactics of the search over shardings: what an axis of the mesh splits, as annotations.

Source of the idea: PartIR (arXiv:2401.11202), an ordered list of tactics, one for each axis.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from xla_explorer.compiler.spmd.propagation.dimension_groups import DimensionGroup, DimensionGroups
from xla_explorer.compiler.spmd.propagation.flow_graph import FlowGraph, Value
from xla_explorer.hlo.attributes.mesh import Mesh
from xla_explorer.hlo.module import HloModule

Specs = dict[str, tuple[tuple[str, ...], ...]]
"""By the name of a value: the axes of each dimension."""
_HELD: Final = frozenset(["convolution", "dot", "gather"])
"""Opcodes whose results are constrained if an axis also splits weights at rest."""


class AnnotatedDevices(Protocol):
    """The devices of a program whose annotations can be replaced."""

    topology: str

    @property
    def given_module(self) -> HloModule:
        """The program with its annotations."""

    def figures(self) -> dict[str, Any]:
        """Return the figures of a step."""

    def what_if(self, shardings: Specs) -> AnnotatedDevices:
        """Return the devices with other annotations."""


@dataclass(frozen=True)
class Tactic:
    """The use of one axis.

    Attributes
    ----------
    axis : str
        The axis of the mesh.
    groups : tuple of DimensionGroup
        The dimensions that it splits wherever they occur.
    stores : bool
        True if it also splits arguments without these dimensions; a device gathers them where it
        reads them (FSDP, ZeRO-3).
    """

    axis: str
    groups: tuple[DimensionGroup, ...] = ()
    stores: bool = False


class Tactics:
    """The tactics for a program on a mesh, and the annotations that they stand for.

    over: the names of the arguments that they may split.
    """

    def __init__(self, graph: FlowGraph, mesh: Mesh, over: Collection[str]) -> None:
        self.groups, self._sizes, self._graph = DimensionGroups(graph), dict(mesh.axes), graph
        self._arguments = [v for v in graph.arguments if v.sizes and v.instruction.name in over]
        self._held = [
            value
            for value in graph.all_values()
            if value.instruction.opcode.name in _HELD and value.sizes
        ]
        self._sliced = _sliced(graph)

    def batch(self) -> DimensionGroup | None:
        """Return the group that looks like the batch, or None.

        Products keep it most often. If the program updates most arguments (results have their
        shapes), it is none of theirs; else the products that sum over a group count against it.
        """
        own = set(self._arguments)
        results = [output.port.value.sizes for output in self._graph.outputs]
        weights = [value for value in own if value.sizes in results]
        kept = Counter([g for value in self._held for g in set(self.groups.of(value))])
        updated: set[DimensionGroup | None] = set()
        if 2 * len(weights) > len(own):
            updated = {group for value in weights for group in self.groups.of(value)}
        else:
            kept.subtract(self._contracted())
        found = [
            group
            for group in self.groups.groups
            if group not in updated and any(value in own for value, _ in group.places)
        ]
        return max(found, key=lambda group: kept[group], default=None)

    def _contracted(self) -> Iterator[DimensionGroup | None]:
        """Yield the groups that each product sums over."""
        for operation in self._graph.operations:
            if operation.kind == "operation" and operation.instruction.opcode.name in _HELD:
                operands = {g for p in operation.operands for g in self.groups.of(p.value)}
                yield from operands - set(self.groups.of(operation.results[0].value))

    def of_axis(self, axis: str, most: int) -> Iterator[Tactic]:
        """Yield the tactics of an axis, without the one that leaves it unused.

        most: the most sets of groups.
        """
        found: dict[frozenset[int], tuple[DimensionGroup, ...]] = {}
        for seed in [g for g in self.groups.groups if g.argument_bytes]:
            if len(found) < most and self._fits(seed, axis):
                groups = self.groups.together(seed)
                found.setdefault(frozenset(map(id, groups)), groups)
        for groups in found.values():
            yield Tactic(axis, groups)
            yield Tactic(axis, groups, True)
        yield Tactic(axis, (), True)

    def _fits(self, group: DimensionGroup, axis: str) -> bool:
        own = set(self._arguments)
        size = self._sizes[axis]
        return any(v.sizes[d] % size == 0 for v, d in group.places if v in own)

    def specs(self, tactics: Sequence[Tactic]) -> Specs:
        """Return the annotations of tactics: of every argument, and of the values that are held."""
        found = {v.instruction.name: self._spec(v, tactics, even=True) for v in self._arguments}
        for value in self._arguments:
            spec = [list(axes) for axes in found[value.instruction.name]]
            for tactic in tactics:
                if tactic.stores and not any(tactic.axis in axes for axes in spec):
                    self._store(value, tactic.axis, spec)
            found[value.instruction.name] = tuple(map(tuple, spec))
        kept = [t for t in tactics if t.stores and t.groups]
        for value in self._held:
            if any(group in self.groups.of(value) for t in kept for group in t.groups):
                found[value.instruction.name] = self._spec(value, tactics, even=False)
        return found

    def _spec(
        self, value: Value, tactics: Sequence[Tactic], *, even: bool
    ) -> tuple[tuple[str, ...], ...]:
        """Return the axes that the tactics' groups give each dimension of a value."""
        spec: list[list[str]] = [[] for _ in value.sizes]
        groups = self.groups.of(value)
        for tactic in tactics:
            for dimension, group in enumerate(groups):
                if group in tactic.groups and self._takes(
                    value, dimension, spec, tactic.axis, even
                ):
                    spec[dimension].append(tactic.axis)
                    break
        return tuple(map(tuple, spec))

    def _takes(
        self, value: Value, dimension: int, spec: Sequence[Sequence[str]], axis: str, even: bool
    ) -> bool:
        """Return True if a dimension can also be split along an axis."""
        count = math.prod([self._sizes[name] for name in (*spec[dimension], axis)])
        size = value.sizes[dimension]
        return size % count == 0 if even else size >= count

    def _store(self, value: Value, axis: str, spec: list[list[str]]) -> None:
        """Split the longest dimension that takes an axis; one that loops slice comes last."""
        order = sorted(
            range(len(value.sizes)),
            key=lambda d: (
                (value, d) in self._sliced,
                -value.sizes[d] // math.prod([self._sizes[name] for name in spec[d]]),
            ),
        )
        for dimension in order:
            if self._takes(value, dimension, spec, axis, even=True):
                spec[dimension].append(axis)
                return


def _sliced(graph: FlowGraph) -> set[tuple[Value, int]]:
    """Return the dimensions of which a dynamic-slice reads a part, such as layers of weights."""
    found = set()
    for operation in graph.operations:
        if operation.instruction.opcode.name == "dynamic-slice" and operation.kind == "operation":
            value, result = operation.operands[0].value, operation.results[0].value
            for d, sizes in enumerate(zip(value.sizes, result.sizes, strict=True)):
                if sizes[0] != sizes[1]:
                    found.add((value, d))
    return found
