"""Dimensions of a program's values that propagation splits together.

Two dimensions belong to one group if an operation connects them by the major factor of each. The
batch, the hidden features and the heads of a network are groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xla_explorer.compiler.spmd.propagation.flow_graph import FlowGraph, Value
from xla_explorer.compiler.spmd.rules.factor_rule import NEED_REPLICATION

Place = tuple[Value, int]
"""A dimension of a value."""


@dataclass(eq=False)
class DimensionGroup:
    """Dimensions that propagation splits together.

    Attributes
    ----------
    places : list of Place
        The dimensions, in program order.
    argument_bytes : int
        The bytes of the arguments that have one of them.
    beside : set of DimensionGroup
        The groups of the other dimensions of these values, and the group itself.
    """

    places: list[Place] = field(default_factory=list)
    argument_bytes: int = 0
    beside: set[DimensionGroup] = field(default_factory=set)


class DimensionGroups:
    """The groups of dimensions of a program.

    Attributes
    ----------
    groups : list of DimensionGroup
        Those of more than one element, the group of the most argument bytes first.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> from xla_explorer.compiler.spmd.propagation.graph_builder import graph_of
    >>> module = xe.parse_hlo('''ENTRY e {
    ...   x = f32[64,16] parameter(0)
    ...   w = f32[16,8] parameter(1)
    ...   ROOT y = f32[64,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ... }''')
    >>> for group in DimensionGroups(graph_of(module)).groups:
    ...     print(group.places)
    [(%x, 1), (%w, 0)]
    [(%x, 0), (%y, 0)]
    [(%w, 1), (%y, 1)]
    """

    def __init__(self, graph: FlowGraph) -> None:
        self._leader: dict[Place, Place] = {}
        for first, second in _connected(graph):
            self._leader[self._find(first)] = self._find(second)
        found: dict[Place, DimensionGroup] = {}
        self._values: dict[Value, tuple[DimensionGroup | None, ...]] = {}
        arguments = set(graph.arguments)
        for value in graph.all_values():
            own: list[DimensionGroup | None] = []
            for dimension, size in enumerate(value.sizes):
                place = (value, dimension)
                group = found.setdefault(self._find(place), DimensionGroup()) if size > 1 else None
                own.append(group)
                if group is not None:
                    group.places.append(place)
            self._values[value] = tuple(own)
            distinct = {one for one in own if one is not None}
            for group in distinct:
                group.beside |= distinct
                if value in arguments:
                    group.argument_bytes += value.instruction.shape.byte_size
        self.groups = sorted(found.values(), key=lambda one: -one.argument_bytes)

    def _find(self, place: Place) -> Place:
        path = []
        while (leader := self._leader.get(place, place)) != place:
            path.append(place)
            place = leader
        for one in path:
            self._leader[one] = place
        return place

    def of(self, value: Value) -> tuple[DimensionGroup | None, ...]:
        """Return the group of each dimension of a value; None for one element."""
        return self._values[value]

    def meet(self, first: DimensionGroup, second: DimensionGroup) -> bool:
        """Return True if a value has dimensions of two groups, which one axis cannot both split."""
        return second in first.beside

    def together(self, first: DimensionGroup) -> tuple[DimensionGroup, ...]:
        """Return a group and others that one axis can split beside it, most bytes first."""
        found = [first]
        for group in self.groups:
            if group.argument_bytes and not any(self.meet(group, one) for one in found):
                found.append(group)
        return tuple(found)


def _connected(graph: FlowGraph) -> Iterator[tuple[Place, Place]]:
    """Yield the dimensions that operations connect by their major factors."""
    for operation in graph.operations:
        if operation.rule is None:
            continue
        rule, first = operation.rule, dict[int, Place]()
        for port, tensor in zip(operation.tensors, rule.tensors, strict=True):
            for dimension, factors in enumerate(tensor):
                major = next((f for f in factors if rule.sizes[f] > 1), None)
                if major is None or rule.kinds[major] is NEED_REPLICATION or major in rule.blocked:
                    continue
                place = (port.value, dimension)
                yield place, first.setdefault(major, place)
