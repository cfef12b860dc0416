"""Estimates of many annotations of one program: shardings are propagated, nothing is partitioned.

Each operation is priced by its rule: work is divided by the axes of its factors, an operand that
is split otherwise is gathered, and results of split sums are added up. Operations with equal rules
and shardings, such as those of equal layers, are priced once. The estimate orders candidates of a
search; it leaves out overlap, halos and the partitioner's cheaper ways.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from xla_explorer.compiler.costs.topology import Topology
from xla_explorer.compiler.spmd.explanation.device_work import Work, work_of
from xla_explorer.compiler.spmd.explanation.step_schedule import trip_count
from xla_explorer.compiler.spmd.propagation.axis_lists import Axis, part_of
from xla_explorer.compiler.spmd.propagation.flow_graph import FlowGraph, FlowOperation
from xla_explorer.compiler.spmd.propagation.graph_builder import graph_of
from xla_explorer.compiler.spmd.propagation.shardy import ShardyPropagation
from xla_explorer.compiler.spmd.propagation.value_sharding import TensorProjection, ValueSharding
from xla_explorer.compiler.spmd.rules.factor_rule import (
    NEED_REPLICATION,
    REDUCTION,
    FactorRule,
)
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

Specs = Mapping[str, Sequence[Sequence[str]]]
"""By the name of a value: the names of the axes of each dimension."""


class PropagatedCost(NamedTuple):
    """The estimate of one list of annotations.

    Attributes
    ----------
    us : float
        Work and transfers of a step, one after another.
    argument_bytes : int
        The arguments on one device.
    """

    us: float
    argument_bytes: int


class _Transfer(NamedTuple):
    """A collective of an operation. tensor: its number. axes: those that are gathered or added."""

    kind: str
    tensor: int
    axes: tuple[Axis, ...]


class PropagatedCosts:
    """Prices annotations of one module with one mesh; the module stays unchanged."""

    def __init__(self, module: HloModule, machine: str) -> None:
        self._module = module.clone()
        self._graph = graph_of(self._module)
        self._topology = Topology.named(self._graph.mesh, machine)
        self._keep()
        self._us: dict[tuple[str, int, tuple[Axis, ...]], float] = {}

    def cost(self, specs: Specs) -> PropagatedCost:
        """Return the estimate of annotations, which replace those of the named values."""
        graph = self._annotated(specs)
        ShardyPropagation(graph, records=False).run()
        us = sum([self._operation_us(one) for one in graph.operations])
        held = [_local_bytes(one.instruction, one.leaf, one.sharding) for one in graph.arguments]
        return PropagatedCost(us, sum(held))

    # -- the graph -----------------------------------------------------------------------------
    def _keep(self) -> None:
        self._given = [(value, value.sharding) for value in self._graph.all_values()]
        self._results = [(output, output.sharding) for output in self._graph.outputs]

    def _annotated(self, specs: Specs) -> FlowGraph:
        """Return the graph with annotations; constraints change it, so that it is built again."""
        if self._graph.constraints():
            self._graph = graph_of(self._module)
            self._keep()
        for value, sharding in self._given:
            value.sharding, value.origins = sharding, {}
            spec = specs.get(value.instruction.name)
            if spec is not None and not value.leaf and len(spec) == len(value.sizes):
                value.sharding = self._read(spec)
        for output, sharding in self._results:
            output.sharding = sharding
        return self._graph

    def _read(self, spec: Sequence[Sequence[str]]) -> ValueSharding:
        sizes = dict(self._graph.mesh.axes)
        dimensions = [
            tuple([Axis(name, 1, sizes[name]) for name in axes if sizes[name] > 1]) for axes in spec
        ]
        return ValueSharding(tuple(dimensions), (True,) * len(dimensions))

    # -- prices ----------------------------------------------------------------------------------
    def _operation_us(self, operation: FlowOperation) -> float:
        i = operation.instruction
        if operation.kind not in ("operation", "constraint"):
            return 0.0
        work, trips = self._work.get(i, Work(0.0, 0.0, 4)), self._trips.get(i.parent, 1)
        given = tuple([port.value.sharding for port in operation.tensors])
        if operation.rule is None:
            return work.us(self._topology.machine) * trips
        split, part, transfers = _priced(operation.rule, given)
        local = Work(work.flops / split, work.bytes * part, work.width)
        moved = [self._transfer_us(operation, one) for one in transfers]
        return (local.us(self._topology.machine) + sum(moved)) * trips

    def _transfer_us(self, operation: FlowOperation, one: _Transfer) -> float:
        value = operation.tensors[one.tensor].value
        local = _local_bytes(value.instruction, value.leaf, value.sharding)
        size = local
        if one.kind == "all-gather":
            size = local * math.prod([axis.size for axis in one.axes])
        key = one.kind, size, one.axes
        if key not in self._us:
            mesh = self._graph.mesh
            groups = mesh.groups([part_of(axis, mesh) for axis in one.axes])
            time = self._topology.time(one.kind, size, groups)
            self._us[key] = time.us + self._topology.machine.launch_us
        return self._us[key]

    @cached_property
    def _work(self) -> dict[HloInstruction, Work]:
        """The work of each kernel of the whole program."""
        found = {i: work_of(i) for i in self._module.instructions()}
        return {i: work for i, work in found.items() if work.flops or work.bytes}

    @cached_property
    def _trips(self) -> dict[HloComputation, int]:
        """The number of runs of each computation; an unknown loop counts once."""
        found = {self._module.entry: 1}
        for caller in _callers_first(self._module.entry):
            for i in caller.instructions.values():
                times = (trip_count(i) or 1) if i.opcode.name == "while" else 1
                for called in i.called:
                    found[called] = found[caller] * times
        return found


def _callers_first(entry: HloComputation) -> Iterator[HloComputation]:
    pending, seen = [entry], {entry}
    while pending:
        one = pending.pop()
        yield one
        for i in one.instructions.values():
            if i.opcode.name in ("call", "conditional", "while"):
                fresh = [called for called in i.called if called not in seen]
                seen.update(fresh)
                pending += fresh


def _local_bytes(i: HloInstruction, leaf: int, sharding: ValueSharding | None) -> int:
    """Return the bytes of one device's part of a value."""
    shape = [one for _, one in i.shape.leaves()][leaf]
    split = math.prod([axis.size for axis in sharding.axes]) if sharding is not None else 1
    return shape.byte_size // split


@lru_cache(maxsize=1 << 16)
def _priced(
    rule: FactorRule, given: tuple[ValueSharding | None, ...]
) -> tuple[int, float, tuple[_Transfer, ...]]:
    """Return over how many devices an operation is split, and its collectives.

    Between them comes the part of its operands and results that one device reads and writes.
    """
    tensors = [
        TensorProjection.of(
            one if one is not None else ValueSharding.open_everywhere(len(tensor)), tensor, rule
        )
        for one, tensor in zip(given, rule.tensors, strict=True)
    ]
    chosen = _factor_axes(rule, tensors)
    transfers = []
    for k, tensor in enumerate(tensors[: len(rule.operands)]):
        moved = [
            axis
            for factor, one in tensor.factors.items()
            for axis in one.axes
            if axis not in chosen[factor]
        ]
        own = {axis for factor in tensor.factors for axis in chosen[factor]}
        for kind, axes in (
            ("all-to-all", tuple([axis for axis in moved if axis in own])),
            ("all-gather", tuple([axis for axis in moved if axis not in own])),
        ):
            if axes:
                transfers.append(_Transfer(kind, k, axes))
    summed = [
        axis
        for factor, kind in enumerate(rule.kinds)
        if kind is REDUCTION
        for axis in chosen[factor]
    ]
    if summed:
        transfers += [
            _Transfer("all-reduce", k, tuple(summed))
            for k in range(len(rule.operands), len(rule.tensors))
        ]
    tiles = [math.prod([axis.size for axis in axes]) for axes in chosen]
    sizes = [math.prod([rule.sizes[f] for f in tensor.factors]) for tensor in tensors]
    parts = [math.prod([tiles[f] for f in tensor.factors]) for tensor in tensors]
    local = sum([size / count for size, count in zip(sizes, parts, strict=True)])
    return math.prod(tiles), local / max(sum(sizes), 1), tuple(transfers)


def _factor_axes(rule: FactorRule, tensors: Sequence[TensorProjection]) -> list[tuple[Axis, ...]]:
    """Return the axes that an operation splits each factor along: its results' come first."""
    chosen: list[tuple[Axis, ...]] = [()] * len(rule.sizes)
    used: set[Axis] = set()
    count = len(rule.operands)
    sizes = [math.prod([rule.sizes[f] for f in tensor.factors]) for tensor in tensors]
    order = [*range(count, len(tensors)), *sorted(range(count), key=lambda k: -sizes[k])]
    for k in order:
        for factor, one in tensors[k].factors.items():
            if chosen[factor] or rule.kinds[factor] is NEED_REPLICATION:
                continue
            chosen[factor] = tuple([axis for axis in one.axes if axis not in used])
            used.update(chosen[factor])
    return chosen
