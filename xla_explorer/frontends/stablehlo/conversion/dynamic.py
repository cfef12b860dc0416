"""Operations whose sizes are operands: HLO has them where the sizes are known when the program is compiled.

Sizes are known when they follow from constants and from dimensions that are not dynamic; then the operation is its static sibling.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xla_explorer.frontends.stablehlo.conversion.contraction import convolve
from xla_explorer.frontends.stablehlo.conversion.data_movement import gather_attributes, padding
from xla_explorer.frontends.stablehlo.conversion.registry import converts
from xla_explorer.frontends.stablehlo.conversion.scope import Scope
from xla_explorer.frontends.stablehlo.program import Operation
from xla_explorer.hlo.attributes import SliceDimension
from xla_explorer.hlo.evaluator import Evaluator, supported_opcodes
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import UNBOUNDED, Shape

_LARGEST_FOLDED = 4096  # elements; sizes are short vectors


def known_value(i: HloInstruction) -> np.ndarray[Any, Any] | None:
    """The value of an instruction when it follows from constants and static dimensions, else None."""
    values: dict[HloInstruction, Any] = {}
    evaluator = Evaluator()

    def find(x: HloInstruction) -> Any:
        if x in values:
            return values[x]
        name, found = x.opcode.name, None
        if name == "get-dimension-size":
            shape, dimension = x.operands[0].shape, x.attribute("dimensions")[0]
            if not shape.dynamic[dimension]:
                found = np.int32(shape.dimensions[dimension])
        elif (
            x.shape.is_array
            and x.shape.element_count <= _LARGEST_FOLDED
            and not x.called
            and not x.opcode.side_effect
            and (
                name in ("constant", "iota")
                or (
                    x.operands
                    and name in supported_opcodes()
                    and name not in ("custom-call", "parameter")
                )
            )
        ):
            operands = [find(o) for o in x.operands]
            if all(o is not None for o in operands):
                found = evaluator.evaluate_instruction(x, operands)
        values[x] = found
        return found

    result = find(i)
    return None if result is None else np.asarray(result)


def _sizes(scope: Scope, operation: Operation, number: int, what: str) -> tuple[int, ...]:
    """The integers of an operand that must be known."""
    i = scope.operands(operation)[number]
    value = known_value(i)
    if value is None:
        scope.refuse(
            "dynamic-size",
            f"{what} of {operation.name} ({operation.operands[number].name}) are known only when the program runs",
            "export the program with static shapes",
            what=what,
        )
    return tuple([int(v) for v in value.reshape(-1)])


def _result(scope: Scope, operation: Operation, number: int) -> Shape:
    """The result's shape: as stated where it is static, else from the operand that holds its sizes."""
    stated = scope.type_of(operation)
    if not any(stated.dynamic):
        return stated
    sizes = _sizes(scope, operation, number, "the sizes of the result")
    if len(sizes) != stated.rank or any(
        a != b and not moving
        for a, b, moving in zip(sizes, stated.dimensions, stated.dynamic, strict=True)
    ):
        scope.fail(
            f"the sizes {list(sizes)} do not fit {stated.text_without_layout}",
            "correct the sizes or the type",
        )
    return stated.with_dimensions(sizes)


@converts("dynamic_broadcast_in_dim")
def dynamic_broadcast_in_dim(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """broadcast_in_dim to sizes given as an operand."""
    x, shape = scope.operands(operation)[0], _result(scope, operation, 1)
    dimensions = scope.integers(operation, "broadcast_dimensions")
    if any(x.shape.dynamic):
        scope.refuse(
            "dynamic-size",
            f"{operation.name} of {x.shape.text_without_layout}, whose sizes are not known",
            "export the program with static shapes",
        )
    if any(x.shape.dimensions[k] not in (1, shape.dimensions[d]) for k, d in enumerate(dimensions)):
        scope.fail(
            f"{x.shape.text_without_layout} does not broadcast to {shape.text_without_layout}",
            "sizes must be equal or 1",
        )
    return [scope.broadcast(x, shape, dimensions)]


@converts("dynamic_iota")
def dynamic_iota(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """iota of sizes given as an operand."""
    return [
        scope.emit(
            "iota",
            (),
            {"iota_dimension": scope.integer(operation, "iota_dimension")},
            shape=_result(scope, operation, 0),
        )
    ]


@converts("dynamic_reshape")
def dynamic_reshape(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """reshape to sizes given as an operand; with a bound it stays dynamic."""
    x, sizes = scope.operands(operation)
    stated = scope.type_of(operation)
    bounded = any(stated.dynamic) and UNBOUNDED not in stated.dimensions
    if bounded and known_value(sizes) is None:
        pieces = [
            scope.emit(
                "reshape",
                (
                    scope.emit(
                        "slice",
                        (sizes,),
                        {"slice": (SliceDimension(k, k + 1),)},
                        shape=sizes.shape.with_dimensions((1,)),
                    ),
                ),
                shape=sizes.shape.with_dimensions(()),
            )
            for k in range(stated.rank)
        ]
        return [scope.emit("dynamic-reshape", (x, *pieces), shape=stated)]
    return [scope.emit("reshape", (x,), shape=_result(scope, operation, 1))]


@converts("dynamic_pad")
def dynamic_pad(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """pad with amounts given as operands."""
    x, value = scope.operands(operation)[:2]
    low, high, interior = (_sizes(scope, operation, k, "the amounts") for k in (2, 3, 4))
    return [
        scope.emit(
            "pad", (x, value), padding(scope, low, high, interior), shape=scope.type_of(operation)
        )
    ]


@converts("real_dynamic_slice")
def real_dynamic_slice(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """slice with starts, limits and strides given as operands."""
    x = scope.operands(operation)[0]
    starts, limits, strides = (_sizes(scope, operation, k, "the bounds") for k in (1, 2, 3))
    rows = tuple([SliceDimension(*row) for row in zip(starts, limits, strides, strict=True)])
    return [scope.emit("slice", (x,), {"slice": rows}, shape=scope.type_of(operation))]


@converts("dynamic_gather")
def dynamic_gather(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """gather with slice sizes given as an operand."""
    attributes = gather_attributes(scope, operation, _sizes(scope, operation, 2, "the slice sizes"))
    return [
        scope.emit(
            "gather", scope.operands(operation)[:2], attributes, shape=scope.type_of(operation)
        )
    ]


@converts("dynamic_conv")
def dynamic_conv(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """convolution with padding given as an operand."""
    flat = _sizes(scope, operation, 2, "the padding")
    return [
        convolve(
            scope,
            operation,
            scope.operands(operation)[:2],
            [flat[k : k + 2] for k in range(0, len(flat), 2)],
        )
    ]


@converts("uniform_quantize", "uniform_dequantize")
def quantised(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """HLO has no quantised types."""
    scope.refuse(
        "quantized-type",
        f"{operation.name} works on quantised types, and HLO has none",
        "legalise quantisation to arithmetic before export",
    )
