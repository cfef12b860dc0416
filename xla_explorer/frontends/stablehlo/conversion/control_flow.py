"""Calls, branches, loops, tuples, barriers and tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_explorer.frontends.stablehlo.attributes import Dictionary, Symbol
from xla_explorer.frontends.stablehlo.conversion.reduction import one_region
from xla_explorer.frontends.stablehlo.conversion.regions import body, captured
from xla_explorer.frontends.stablehlo.conversion.registry import converts
from xla_explorer.frontends.stablehlo.conversion.scope import Scope, frontend_attributes
from xla_explorer.frontends.stablehlo.program import Operation, Region
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import token_shape


@converts("func.call", "call")
def call(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a call of a function's computation."""
    operands = scope.operands(operation)
    computation = scope.converter.call(
        scope, str(scope.attribute(operation, "callee", required=True)), operands
    )
    return scope.unpack(scope.emit("call", operands, called=(computation,)), len(operation.types))


@converts("composite")
def composite(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a call that keeps the composite's name, attributes and version."""
    operands = scope.operands(operation)
    target = scope.attribute(operation, "decomposition", required=True)
    given = scope.attribute(operation, "composite_attributes", Dictionary())
    described = Dictionary(
        {
            "composite.name": scope.attribute(operation, "name", required=True),
            "composite.version": scope.attribute(operation, "version", 0),
            "composite.attributes": given.text or "{}",
        }
    )
    computation = scope.converter.call(scope, str(Symbol(target)), operands)
    text = frontend_attributes(described)
    i = scope.emit(
        "call", operands, {"is_composite": True, "frontend_attributes": text}, called=(computation,)
    )
    return scope.unpack(i, len(operation.types))


@converts("if", "case")
def branches(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a conditional; each branch takes its captured values as one operand."""
    (choice,) = scope.operands(operation)
    if operation.name.endswith("if"):
        one_region(scope, operation, 2)
    elif not operation.regions:
        scope.fail("a case without branches", "give at least one region")
    operands, called = [], []
    for number, region in enumerate(operation.regions):
        taken = captured(scope, [region])
        called.append(body(scope, region, (), taken, f"branch_{number}"))
        operands.append(scope.pack([scope.value(use) for use in taken]))
    return scope.unpack(
        scope.emit("conditional", (choice, *operands), called=tuple(called)), len(operation.types)
    )


@converts("while")
def while_(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a while loop; its state is the carried values and the captured ones."""
    one_region(scope, operation, 2)
    operands = scope.operands(operation)
    taken = captured(scope, operation.regions)
    shapes = [o.shape.base for o in operands]
    state = scope.pack([*operands, *[scope.value(use) for use in taken]])
    known = _unchanged(scope, operation.regions[1], operands)
    condition = body(scope, operation.regions[0], shapes, taken, "condition", known=known)
    step = body(scope, operation.regions[1], shapes, taken, "body", passes_on=True, known=known)
    i = scope.emit("while", (state,), called=(condition, step))
    return scope.unpack(i, len(operands), always=bool(taken))


def _unchanged(
    scope: Scope, region: Region, operands: Sequence[HloInstruction]
) -> list[np.ndarray[Any, Any] | None]:
    """Return the constant values of carried values that the loop never changes.

    An example are the sizes that its body reads.
    """
    if not scope.converter.has_open_sizes or not region.operations:
        return []
    returned = [use.name for use in region.operations[-1].operands]
    return [
        scope.converter.known.value(operand) if argument.name == name else None
        for argument, name, operand in zip(region.arguments, returned, operands, strict=False)
    ]


@converts("tuple")
def tuple_(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a tuple."""
    return [scope.emit("tuple", scope.operands(operation), shape=scope.type_of(operation))]


@converts("get_tuple_element")
def get_tuple_element(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit one element of a tuple."""
    index = scope.integer(operation, "index")
    return [
        scope.emit(
            "get-tuple-element",
            scope.operands(operation),
            {"index": index},
            shape=scope.type_of(operation),
        )
    ]


@converts("optimization_barrier")
def optimization_barrier(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit one barrier for all operands."""
    operands = scope.operands(operation)
    if not operands:
        return []
    return scope.unpack(scope.emit("opt-barrier", (scope.pack(operands),)), len(operands))


@converts("after_all", "create_token")
def after_all(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a token that is ready when all others are."""
    return [scope.emit("after-all", scope.operands(operation), shape=token_shape())]


@converts("add_dependency")
def add_dependency(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit MHLO's value that is available no earlier than a token."""
    return [scope.emit("add-dependency", scope.operands(operation), shape=scope.type_of(operation))]
