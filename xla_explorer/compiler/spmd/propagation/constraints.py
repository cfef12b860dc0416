"""Constraints before propagation, and the names of the annotations that shardings come from.

Source: Shardy's sdy/transforms/import/apply_sharding_constraints.cc, source_sharding.cc.
"""

from __future__ import annotations

from collections.abc import Iterable

from xla_explorer.compiler.spmd.propagation.flow_graph import FlowGraph, FlowOperation, Port, Value
from xla_explorer.compiler.spmd.propagation.steps import PropagationStep, Taken, record
from xla_explorer.compiler.spmd.propagation.value_sharding import ValueSharding


def apply_constraints(graph: FlowGraph, steps: list[PropagationStep]) -> int:
    """Give operands the shardings of the constraints on them; returns the next step's number.

    An operand takes the sharding of a closed constraint, or of a manual region, if it has none and
    no other constraint contradicts it. The state of a loop keeps its freedom: its other users read
    the constrained value instead.
    """
    number = last = 0
    for k, constraint in enumerate(graph.constraints()):
        constraint.name = f"constraint_{k}"
    for operation in list(graph.operations):
        if operation.kind == "constraint":
            assert operation.annotated is not None or operation.results
            _skip_chain(graph, operation)
            pairs = [(0, operation.annotated)]
        elif operation.kind == "region":
            pairs = list(enumerate(operation.shardings))
        else:
            continue
        for place, stated in pairs:
            if stated is None or not _applies(operation.operands[place].value, stated):
                continue
            if _is_edge(operation.operands[place].value):
                _constrain_after(graph, operation, place, stated)
                continue
            operand = operation.operands[place].value
            operand.sharding = stated
            if operation.kind == "constraint":
                made = list(_records(graph, operation, stated, number))
                steps += made
                number += 1
                last = number if made else last
    return last


def _records(
    graph: FlowGraph, operation: FlowOperation, stated: ValueSharding, number: int
) -> Iterable[PropagationStep]:
    if operation.rule is None:
        return
    for dimension, axes in enumerate(stated.dimensions):
        for axis in axes:
            operation.results[0].value.origins[axis] = operation.name
            (factor,) = operation.rule.results[0][dimension]
            taken = Taken(1, 0, factor, dimension, axis)
            yield record(number, (0, 0), operation, taken, dict(graph.mesh.axes))


def _applies(value: Value, stated: ValueSharding) -> bool:
    """Return True if a value takes the sharding of a constraint on it."""
    if value.sharding is not None and not _is_edge(value):
        return False
    if value.sharding is not None and not _is_default(value.sharding):
        return False
    if not all(stated.closed) or not value.sizes:
        return False
    for user in value.users:
        for place, port in enumerate(user.operands):
            if port.value is value and user.kind in ("constraint", "region"):
                other = user.annotated if user.kind == "constraint" else user.shardings[place]
                if other != stated:
                    return False
    return True


def _is_default(sharding: ValueSharding) -> bool:
    return sharding.is_empty and not any(sharding.closed)


def _is_edge(value: Value) -> bool:
    return value.definer is not None and value.definer.kind == "edge"


def _constrain_after(
    graph: FlowGraph, operation: FlowOperation, place: int, stated: ValueSharding
) -> None:
    """Let the other users of a loop's or region's value read the constrained value."""
    value = operation.operands[place].value
    edge = value.definer
    assert edge is not None
    if operation.kind != "constraint":
        return
    port = operation.operands[place]
    constrained = operation.results[0]
    for other in [one for one in value.users if one is not operation]:
        for k, used in enumerate(other.operands):
            if used is port and other is not edge:
                other.operands[k] = constrained
                port.uses -= 1
                constrained.uses += 1
    _move_after(graph, operation, edge)
    graph.connect()


def _move_after(graph: FlowGraph, operation: FlowOperation, edge: FlowOperation) -> None:
    if graph.operations.index(operation) > graph.operations.index(edge):
        graph.operations.remove(operation)
        graph.operations.insert(graph.operations.index(edge) + 1, operation)


def _skip_chain(graph: FlowGraph, head: FlowOperation) -> None:
    """Let users after a chain of constraints read its end instead of its beginning."""
    value = head.operands[0].value
    of_constraint = value.definer is not None and value.definer.kind == "constraint"
    if of_constraint or value.sharding is not None or _constrained(value, head):
        return
    tail = head
    while len(tail.results[0].value.users) == 1 and tail.results[0].uses == 1:
        (user,) = tail.results[0].value.users
        if user.kind != "constraint":
            break
        tail = user
    if tail is head or _constrained(tail.results[0].value, None):
        return
    place = graph.operations.index(tail)
    port: Port = head.operands[0]
    for other in graph.operations[place + 1 :]:
        for k, used in enumerate(other.operands):
            if used is port and other.kind != "edge":
                other.operands[k] = tail.results[0]
                port.uses -= 1
                tail.results[0].uses += 1
    graph.connect()


def _constrained(value: Value, but: FlowOperation | None) -> bool:
    return any(user is not but and user.kind in ("constraint", "region") for user in value.users)


def name_origins(graph: FlowGraph) -> None:
    """Name constraints and regions, and note on each value the annotation of its axes."""
    for k, constraint in enumerate(graph.constraints()):
        constraint.name = f"constraint_{k}"
        constraint.results[0].value.origins.clear()
        _note(constraint.results[0].value, constraint.annotated, constraint.name)
        operand = constraint.operands[0].value
        _note(operand, operand.sharding, constraint.name)
    regions = [one for one in graph.operations if one.kind == "region"]
    for k, region in enumerate(regions):
        region.name = f"mc_{k}"
        for j, port in enumerate(region.operands):
            name = f"{region.name}_input: {j}"
            _note(port.value, port.value.sharding, name)
    _name_edges(graph, regions)
    for k, argument in enumerate(graph.arguments):
        _note(argument, argument.sharding, f"input: {k}")
    for output in graph.outputs:
        _note(output.port.value, output.sharding, f"output: {output.number}")


def _name_edges(graph: FlowGraph, regions: list[FlowOperation]) -> None:
    """Note the annotations of values at the borders of manual regions."""
    names = {region.instruction: region.name for region in regions}
    latest = ""
    for edge in graph.operations:
        if edge.border is None:
            continue
        latest = names.get(edge.instruction, latest)
        side = "input" if edge.border.inwards else "output"
        value = edge.results[0].value
        sharding = value.sharding
        if sharding is not None and edge.border.inwards:
            sharding = edge.border.outer(sharding)
        _note(value, sharding, f"{latest}_{side}: {edge.leaf}")


def _note(value: Value, sharding: ValueSharding | None, name: str) -> None:
    if sharding is not None:
        for axis in sharding.axes:
            value.origins.setdefault(axis, name)
