"""Propagation of shardings, GSPMD's way: sweeps at four levels, the first sharding stays.

A value only becomes more specific. The shardings of annotated values never change, but for their
open dimensions. Source: xla/service/sharding_propagation.cc.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from xla_explorer.compiler.spmd.propagation.axis_lists import Axes, Axis, is_strict_prefix
from xla_explorer.compiler.spmd.propagation.flow_graph import FlowGraph, FlowOperation, Value
from xla_explorer.compiler.spmd.propagation.priorities import is_elementwise
from xla_explorer.compiler.spmd.propagation.shardy import Decide, output_edge
from xla_explorer.compiler.spmd.propagation.steps import (
    PropagationStep,
    Taken,
    origin_of,
    record,
)
from xla_explorer.compiler.spmd.propagation.value_sharding import TensorProjection, ValueSharding
from xla_explorer.compiler.spmd.rules.factor_rule import REDUCTION
from xla_explorer.hlo.analysis.custom_calls import custom_call_target

LEVELS: Final = 4
"""0: operations that keep elements. 1: all but broadcasts. 2: broadcasts backward. 3: forward."""

_FIRST: Final = frozenset(
    (
        "concatenate",
        "copy",
        "dynamic-slice",
        "dynamic-update-slice",
        "reshape",
        "bitcast",
        "transpose",
    )
)
_MOST_SWEEPS: Final = 100
BORDERS: Final = {"SPMDFullToShardShape": False, "SPMDShardToFullShape": True}
"""The direction in which the custom call does not pass `manual` on: False is backward."""


@dataclass
class GspmdPropagation:
    """Propagates the shardings of one graph in place, and records each step."""

    graph: FlowGraph
    decide: Decide = lambda _, __: True
    steps: list[PropagationStep] = field(default_factory=list)
    number: int = 0
    level: int = 0
    _provided: dict[Value, ValueSharding] = field(default_factory=dict)

    def run(self) -> GspmdPropagation:
        """Sweep forward and backward at each level until nothing changes."""
        outputs = [output_edge(output) for output in self.graph.outputs]
        self.graph.operations += outputs
        given = {value for value in self.graph.all_values() if value.sharding is not None}
        _apply_constraints(self.graph)
        self._provided = {
            value: value.sharding
            for value in self.graph.all_values()
            if value.sharding is not None and all(value.sharding.closed)
        }
        for self.level in range(LEVELS):
            for _ in range(_MOST_SWEEPS):
                changed = self._share_in_groups()
                for operation in self.graph.operations:
                    changed |= self._infer(operation, forward=True)
                for operation in reversed(self.graph.operations):
                    changed |= self._infer(operation, forward=False)
                if not changed:
                    break
        del self.graph.operations[len(self.graph.operations) - len(outputs) :]
        for edge, output in zip(outputs, self.graph.outputs, strict=True):
            if self.graph.may_choose_output(output.number):
                output.sharding = _even(edge.results[0].value)
        for argument in self.graph.arguments:
            if argument not in given:
                free = self.graph.may_choose_parameter(argument)
                argument.sharding = _even(argument) if free else None
        return self

    def _share_in_groups(self) -> bool:
        """Give members of a group the most specific sharding of any member."""
        changed = False
        for members in self.graph.groups.values():
            known = [one.sharding for one in members if one.sharding is not None]
            best = max(known, key=_specific, default=None)
            for member in members:
                if best is None or member in self._provided or member.sharding == best:
                    continue
                if member.sharding is None or _specific(member.sharding) < _specific(best):
                    member.sharding, changed = best, True
        return changed

    def _may_pass(self, operation: FlowOperation, *, forward: bool) -> bool:
        """Return True if an operation passes shardings at the level, in a direction."""
        name = operation.instruction.opcode.name
        if operation.kind in ("edge", "output") or is_elementwise(operation):
            return True
        if name == "broadcast":
            return self.level >= (3 if forward else 2)
        return self.level >= 1 or name in _FIRST

    def _infer(self, operation: FlowOperation, *, forward: bool) -> bool:
        """Give results what operands have, or operands what results have."""
        changed = self._pass_kind(operation, forward=forward)
        if operation.rule is None or not self._may_pass(operation, forward=forward):
            return changed
        count = len(operation.operands)
        places = range(len(operation.tensors))
        sources, targets = (places[:count], places[count:])
        if not forward:
            sources, targets = targets, sources
        if not forward and operation.instruction.opcode.name in ("dot", "reduce"):
            sources = places  # reduced dimensions pass from one operand to the others
        known = [place for place in sources if operation.tensors[place].value.sharding is not None]
        known.sort(key=lambda place: -_specific(operation.tensors[place].value.sharding))
        for target in targets:
            for source in known:
                changed |= self._merge(operation, source, target)
        return changed

    def _pass_kind(self, operation: FlowOperation, *, forward: bool) -> bool:
        """Pass `manual` on: inside a manual region every array is local."""
        border = BORDERS.get(custom_call_target(operation.instruction), None)
        if border is forward:
            return False
        sources, targets = operation.operands, operation.results
        if not forward:
            sources, targets = targets, sources
        if not any(port.value.kind == "manual" for port in sources):
            return False
        changed = False
        for port in targets:
            value = port.value
            known = value.sharding is not None and bool(value.sharding.axes)
            if not value.kind and not known and value not in self._provided and value.sizes:
                value.kind, value.sharding, changed = "manual", None, True
        return changed

    def _merge(self, operation: FlowOperation, source: int, target: int) -> bool:
        """Add the axes of one tensor of an operation to another, where they do not conflict."""
        rule = operation.rule
        assert rule is not None
        value, other = operation.tensors[target].value, operation.tensors[source].value
        assert other.sharding is not None
        if value in self._provided or not value.sizes or value is other or value.kind:
            return False
        old = value.sharding or ValueSharding.open_everywhere(len(value.sizes))
        given = TensorProjection.of(other.sharding, rule.tensors[source], rule)
        held = TensorProjection.of(old, rule.tensors[target], rule)
        used = set(old.axes) | set(old.replicated)
        taken: list[Taken] = []
        for dimension, factors in enumerate(rule.tensors[target]):
            for factor in factors:
                theirs = given.factors.get(factor)
                if theirs is None or not self._factor_passes(operation, factor):
                    continue
                new = theirs.axes
                mine = held.factors[factor]
                more = new[len(mine.axes) :]
                if mine.closed or not is_strict_prefix(mine.axes, new) or _overlap(more, used):
                    continue
                mine.axes = new
                used |= set(more)
                taken += [Taken(source, target, factor, dimension, axis) for axis in more]
        lost = any(given.factors[k].axes for k in rule.blocked if k in given.factors)
        if value.sharding is None and not taken and lost:
            return False
        return self._write(operation, target, held, taken)

    def _factor_passes(self, operation: FlowOperation, factor: int) -> bool:
        """Return False for blocked factors, and at level 0 for the joined dimension."""
        rule = operation.rule
        assert rule is not None
        name = operation.instruction.opcode.name
        if factor in rule.blocked or (
            rule.kinds[factor] is REDUCTION and name not in ("dot", "reduce")
        ):
            return False
        joined = operation.instruction.attributes.get("dimensions", ())
        if name != "concatenate" or self.level > 0 or not joined:
            return True
        return factor not in rule.results[0][joined[0]]

    def _write(
        self, operation: FlowOperation, target: int, held: TensorProjection, taken: list[Taken]
    ) -> bool:
        rule = operation.rule
        assert rule is not None
        value = operation.tensors[target].value
        new = replace(held.sharding(rule.tensors[target], rule.sizes), replicated=())
        if value.sharding is not None and (not taken or new == value.sharding):
            return False
        sizes = dict(self.graph.mesh.axes)
        made = [record(self.number, (0, self.level), operation, one, sizes) for one in taken]
        if not self.decide(value.instruction, made):
            return False
        value.sharding = new
        self.steps += made
        for one in taken:
            source = operation.tensors[one.source].value
            value.origins.setdefault(one.axis, origin_of(source, one.axis))
        self.number += bool(made)
        return True


def _apply_constraints(graph: FlowGraph) -> None:
    """Give the operands of constraints their shardings, those of later constraints first.

    Source: ProcessShardingInstruction in xla/service/sharding_propagation.cc.
    """
    for operation in reversed(graph.constraints()):
        value, stated = operation.operands[0].value, operation.annotated
        edge = value.definer is not None and value.definer.kind == "edge"
        if stated is not None and all(stated.closed) and value.sharding is None and not edge:
            value.sharding = stated


def _even(value: Value) -> ValueSharding | None:
    """Return a value's sharding; that of whole copies if it does not divide the value evenly."""
    found = value.sharding
    if found is None or found.evenly(value.sizes) == found:
        return found
    return ValueSharding.open_everywhere(len(value.sizes))


def _specific(sharding: ValueSharding | None) -> int:
    """Return the number of parts of a sharding; -1 if nothing is known."""
    if sharding is None:
        return -1
    parts = 1
    for axis in sharding.axes:
        parts *= axis.size
    return parts


def _overlap(axes: Axes, used: set[Axis]) -> bool:
    return any(axis.overlaps(other) for axis in axes for other in used)
