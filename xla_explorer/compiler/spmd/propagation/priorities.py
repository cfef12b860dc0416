"""The order in which operations pass shardings on: five levels, each with those before it.

Source: Shardy's sdy/transforms/propagation/op_priority_propagation.cc.
"""

from __future__ import annotations

from typing import Final

from xla_explorer.compiler.spmd.propagation.factor_propagation import Direction
from xla_explorer.compiler.spmd.propagation.flow_graph import FlowOperation
from xla_explorer.compiler.spmd.rules.factor_rule import PASS_THROUGH
from xla_explorer.hlo.analysis.custom_calls import custom_call_target

LEVELS: Final = 5
"""0: element-wise operations with operands of one use. 1: of several uses. 2: pass-through factors.
3: all but broadcasts forward. 4: everything."""

_SLICES: Final = frozenset(["dynamic-slice", "dynamic-update-slice"])
_MOVES: Final = frozenset(["reshape", "transpose", "bitcast"])


def is_elementwise(operation: FlowOperation) -> bool:
    """Return True for operations that read element i of their operands for element i."""
    if operation.kind in ("constraint", "barrier"):
        return True
    i = operation.instruction
    if operation.kind == "edge":
        return False
    if i.opcode.name == "bitcast-convert":
        return i.operands[0].shape.dimensions == i.shape.dimensions
    return i.opcode.name == "copy" or (i.opcode.elementwise and i.opcode.name != "map")


def directions_of(operation: FlowOperation, level: int) -> list[Direction]:
    """Return the directions of each factor of an operation's rule at a level."""
    rule = operation.rule
    assert rule is not None
    if operation.kind == "barrier":
        return [_allowed(operation)] * len(rule.sizes)
    passing = _passing(operation, level)
    found = []
    for factor, kind in enumerate(rule.kinds):
        direction = passing
        if level >= 2 and (kind is PASS_THROUGH or level >= 3):
            backward_only = level < LEVELS - 1 and _is_broadcast(operation)
            direction |= Direction.BACKWARD if backward_only else Direction.BOTH
        found.append(Direction.NONE if factor in rule.blocked else direction)
    return found


def _is_broadcast(operation: FlowOperation) -> bool:
    return operation.kind == "operation" and operation.instruction.opcode.name == "broadcast"


def _passing(operation: FlowOperation, level: int) -> Direction:
    """Return the direction of operations that pass shardings at the first two levels."""
    i = operation.instruction
    many = any(port.uses > 1 and port.value.sizes for port in operation.operands)
    allowed = Direction.NONE if many and level == 0 else Direction.BOTH
    if operation.kind == "edge":
        return Direction.BOTH
    if (
        is_elementwise(operation)
        or i.opcode.name in _MOVES
        or custom_call_target(i) in ("MoveToDevice", "MoveToHost")
    ):
        return allowed
    return allowed & Direction.FORWARD if i.opcode.name in _SLICES else Direction.NONE


def _allowed(operation: FlowOperation) -> Direction:
    """Return the direction that a propagation barrier lets pass."""
    from_text = str(operation.instruction.attributes.get("frontend_attributes", "")).upper()
    names = (("NONE", Direction.NONE), ("FORWARD", Direction.FORWARD))
    for name, direction in (*names, ("BACKWARD", Direction.BACKWARD)):
        if name in from_text.partition("ALLOWED_DIRECTION")[2]:
            return direction
    return Direction.NONE
