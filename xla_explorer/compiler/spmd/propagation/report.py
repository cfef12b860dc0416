"""Answers about propagated shardings: a row for each value, and why it is split as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.spmd.propagation.flow_graph import FlowGraph, Value
from xla_explorer.compiler.spmd.propagation.graph_builder import graph_of
from xla_explorer.compiler.spmd.propagation.shardy import ShardyPropagation
from xla_explorer.compiler.spmd.propagation.steps import (
    REFUSAL_CODES,
    PropagationRefusal,
    PropagationStep,
    axis_text,
)
from xla_explorer.compiler.transforms.inlining.call_inliner import CallInliner
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.attributes.axis_sharding import AxisSharding
from xla_explorer.hlo.module import HloModule

_MOST_STEPS = 8
"""The most steps that a sentence shows; `ShardingReport.steps` has all."""


@dataclass(frozen=True)
class ShardingRow:
    """The sharding of one value.

    Attributes
    ----------
    name : str
        The instruction, with `#k` for element k of a tuple.
    sharding : AxisSharding
        Its axes, closed.
    tiles : str
        HLO's text of it.
    dimensions, local_dimensions : tuple of int
        The sizes of the whole array and of the part on one device.
    local_bytes, replicas : int
        The bytes on one device, and the devices that hold equal parts.
    origins : dict of str to str
        The annotation that brought each axis.
    """

    name: str
    sharding: AxisSharding
    tiles: str
    dimensions: tuple[int, ...]
    local_dimensions: tuple[int, ...]
    local_bytes: int
    replicas: int
    origins: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ShardingReport:
    """The propagated shardings of a module, with every step and refusal.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> from xla_explorer.compiler.spmd.propagation.report import sharding_report
    >>> text = '''HloModule m, num_partitions=2
    ... ENTRY main {
    ...   x = f32[8] parameter(0), sharding={devices=[2]<=[2]}
    ...   ROOT y = f32[8] negate(x)
    ... }'''
    >>> report = sharding_report(xe.parse_hlo(text))
    >>> print(report.why("y")[0])
    %y is split along axis_0 on dimension 0: %y passes it on (([i])->([i]) {i=8}, factor i, \
operand-0 -> result-0, step 0); %x is annotated (input: 0)
    """

    propagation: ShardyPropagation

    @property
    def graph(self) -> FlowGraph:
        """The values and operations with their shardings."""
        return self.propagation.graph

    @property
    def steps(self) -> Sequence[PropagationStep]:
        """Every step, in order."""
        return self.propagation.steps

    @cached_property
    def rows(self) -> tuple[ShardingRow, ...]:
        """One for each value that has dimensions; computed at the first use."""
        return tuple(_rows(self.graph))

    @cached_property
    def refusals(self) -> tuple[PropagationRefusal, ...]:
        """Every axis that a value could have taken, and why not; computed at the first use."""
        return tuple(self.propagation.refusals())

    def row(self, name: str) -> ShardingRow:
        """Return the row of a value by name, with or without `%`. KeyError for other names."""
        wanted = name.lstrip("%")
        for row in self.rows:
            if row.name == wanted:
                return row
        raise KeyError(f"no value %{wanted} has a sharding; report.rows lists all")

    @cached_property
    def _by_name(self) -> dict[str, dict[str, Value]]:
        found: dict[str, dict[str, Value]] = {}
        for value in _shown(self.graph):
            found.setdefault(value.instruction.name, {}).setdefault(repr(value), value)
        return found

    def rows_of(self, name: str) -> list[ShardingRow]:
        """Return the rows of an instruction, one for each element of a tuple; [] for others."""
        return [_row(self.graph, v) for v in self._by_name.get(name.lstrip("%"), {}).values()]

    def steps_of(self, name: str) -> list[PropagationStep]:
        """Return the steps that gave axes to a value, in order."""
        wanted = "%" + name.lstrip("%")
        return [step for step in self.steps if step.target_value == wanted]

    def why(self, name: str, dimension: int | None = None) -> list[str]:
        """Return a sentence for each axis of a value: the steps back to its annotation."""
        row, found = self.row(name), []
        for k, axes in enumerate(row.sharding.dimensions):
            if dimension in (None, k):
                found += [
                    self._path(f"%{row.name}", str(axis).replace('"', ""), k) for axis in axes
                ]
        return found

    def _path(self, name: str, axis: str, dimension: int) -> str:
        sentence = f"{name} is split along {axis} on dimension {dimension}: "
        parts, value, seen = [], name, {name}
        before: int | None = None
        while True:
            step = next(
                (
                    one
                    for one in self.steps
                    if one.target_value == value
                    and one.axis.split(":")[0] == axis.split(":")[0]
                    and (before is None or one.step <= before)
                ),
                None,
            )
            if step is None:
                origin = self._origin(value, axis)
                parts.append(f"{value} is annotated ({origin})" if origin else f"{value} is given")
                return sentence + _shortened(parts)
            parts.append(
                f"%{step.instruction} passes it on ({step.rule}, factor {step.factor},"
                f" {step.source} -> {step.target}, step {step.step})"
            )
            before, value = step.step, step.source_value
            if value in seen:
                return sentence + _shortened([*parts, f"it comes from {step.origin}"])
            seen.add(value)

    def _origin(self, value: str, axis: str) -> str:
        row = next((one for one in self.rows if f"%{one.name}" == value), None)
        return "" if row is None else row.origins.get(axis, next(iter(row.origins.values()), ""))

    def why_not(self, name: str, axis: str) -> list[str]:
        """Return why a value is not split along an axis: the refusals of operations around it."""
        wanted = "%" + name.lstrip("%")
        return [
            f"{one.target} of %{one.instruction}: {REFUSAL_CODES[one.code]} ({one.code})"
            for one in self.refusals
            if one.target_value == wanted and one.axis.split(":")[0] == axis
        ]


def _shortened(parts: Sequence[str]) -> str:
    """Join the steps of a path; of a long one the first and the last ones are shown."""
    if len(parts) <= _MOST_STEPS:
        return "; ".join(parts)
    left = f"{len(parts) - _MOST_STEPS + 1} further steps"
    half = _MOST_STEPS // 2
    return "; ".join([*parts[:half], left, *parts[1 - half :]])


def sharding_report(module: HloModule) -> ShardingReport:
    """Propagate the shardings of a module, which stays unchanged, and return the answers."""
    return propagated(module)[1]


def inlined(module: HloModule) -> HloModule:
    """Return a copy of a module with its calls inlined."""
    copy = module.clone()
    CallInliner().run(copy, PassContext())
    return copy


def propagated(module: HloModule) -> tuple[HloModule, ShardingReport]:
    """Return a copy of a module with its calls inlined, and the propagation on the copy.

    The shardings are not written to the copy.
    """
    copy = inlined(module)
    graph = graph_of(copy)
    return copy, ShardingReport(ShardyPropagation(graph).run())


def _shown(graph: FlowGraph) -> Iterator[Value]:
    """Yield the values with a sharding and dimensions, without Shardy's markers."""
    for value in graph.all_values():
        is_marker = custom_call_target(value.instruction).startswith("xla.sdy.Func")
        if value.sharding is not None and value.sizes and not is_marker:
            yield value


def _rows(graph: FlowGraph) -> Sequence[ShardingRow]:
    found: dict[str, ShardingRow] = {}
    for value in _shown(graph):
        if repr(value) not in found:
            found[repr(value)] = _row(graph, value)
    return list(found.values())


def _row(graph: FlowGraph, value: Value) -> ShardingRow:
    assert value.sharding is not None
    named = value.sharding.named(graph.mesh, graph.mesh_name)
    tiles = named.tiles(graph.mesh)
    counts = [1] * len(value.sizes)
    for k, axes in enumerate(value.sharding.dimensions):
        for axis in axes:
            counts[k] *= axis.size
    local = tuple([-(-size // count) for size, count in zip(value.sizes, counts, strict=True)])
    leaf = [shape for _, shape in value.instruction.shape.leaves()][value.leaf]
    split = 1
    for count in counts:
        split *= count
    elements = 1
    for size in local:
        elements *= size
    sizes = dict(graph.mesh.axes)
    return ShardingRow(
        repr(value).lstrip("%"),
        named,
        str(tiles),
        value.sizes,
        local,
        elements * (leaf.byte_size // max(leaf.element_count, 1)),
        graph.mesh.count // split,
        {axis_text(axis, sizes): origin for axis, origin in value.origins.items()},
    )
