"""Operations whose sizes are operands, converted if the sizes are constant.

Sizes are constant if they follow from constants and from static dimensions. Then the operation
becomes its static equivalent.
"""

from __future__ import annotations

from xla_explorer.frontends.stablehlo.attributes import Dictionary
from xla_explorer.frontends.stablehlo.conversion.contraction import convolve, window_of
from xla_explorer.frontends.stablehlo.conversion.data_movement import gather_attributes, padding
from xla_explorer.frontends.stablehlo.conversion.reduction import random_bits
from xla_explorer.frontends.stablehlo.conversion.registry import Conversion, converts
from xla_explorer.frontends.stablehlo.conversion.scope import Scope, fits
from xla_explorer.frontends.stablehlo.program import Operation
from xla_explorer.hlo.attributes import SliceDimension
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import UNBOUNDED, Shape


def _sizes(scope: Scope, operation: Operation, number: int, what: str) -> tuple[int, ...]:
    """Return the integers of an operand that must be constant."""
    i = scope.operands(operation)[number]
    value = scope.converter.known.value(i)
    if value is None:
        cause = scope.converter.known.unknown_cause(i)
        scope.refuse(
            "dynamic-size",
            f"{what} of {operation.name} ({operation.operands[number].name}) are known only when "
            "the program runs: "
            f"they follow from the value of %{cause.name} ({cause.opcode.name}, line {cause.line})",
            scope.converter.size_hint,
            what=what,
        )
    return tuple([int(v) for v in value.reshape(-1)])


def _result(scope: Scope, operation: Operation, number: int, result: int = 0) -> Shape:
    """Return the shape of a result: as stated if it is static, else from its sizes or uses."""
    stated = scope.type_of(operation, result)
    if not any(stated.dynamic):
        return stated
    if scope.converter.known.value(scope.operands(operation)[number]) is None:
        used = _shape_of_uses(scope, operation, stated, result)
        if used is not None:
            return used
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


_ONE_SHAPE = {"add", "and", "atan2", "compare", "complex", "divide", "maximum", "minimum", "multiply", "or", "power",
              "remainder", "shift_left", "shift_right_arithmetic", "shift_right_logical", "subtract", "xor"}  # fmt: skip
"""Operations whose operands have one shape (StableHLO specification, binary elementwise)."""


def _shape_of_uses(scope: Scope, operation: Operation, stated: Shape, result: int) -> Shape | None:
    """Return the shape of a result from an elementwise use with a value of constant sizes.

    Any other shape is undefined behaviour there.
    """
    name = operation.results[0][0] if operation.results else ""
    for use in scope.operations:
        sides = [(side.name, side.number) for side in use.operands]
        if use.name.partition(".")[2] not in _ONE_SHAPE or (name, result) not in sides:
            continue
        for other, number in sides:
            found = scope.find(other)
            if isinstance(found, list) and number < len(found):
                shape = found[number].shape
                if not any(shape.dynamic) and fits(
                    shape.with_element_type(stated.element_type), stated
                ):
                    return stated.with_dimensions(shape.dimensions)
    return None


@converts("dynamic_broadcast_in_dim")
def dynamic_broadcast_in_dim(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a broadcast_in_dim whose sizes are an operand."""
    x, shape = scope.operands(operation)[0], _result(scope, operation, 1)
    dimensions = scope.integers(operation, "broadcast_dimensions")
    if any(x.shape.dynamic):
        scope.refuse(
            "dynamic-size",
            f"{operation.name} of {x.shape.text_without_layout}, whose sizes are unknown",
            scope.converter.size_hint,
        )
    if any(x.shape.dimensions[k] not in (1, shape.dimensions[d]) for k, d in enumerate(dimensions)):
        scope.fail(
            f"{x.shape.text_without_layout} does not broadcast to {shape.text_without_layout}",
            "sizes must be equal or 1",
        )
    return [scope.broadcast(x, shape, dimensions)]


@converts("dynamic_iota")
def dynamic_iota(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit an iota whose sizes are an operand."""
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
    """Reshape to sizes given as an operand; with a bound it stays dynamic."""
    x, sizes = scope.operands(operation)
    stated = scope.type_of(operation)
    bounded = any(stated.dynamic) and UNBOUNDED not in stated.dimensions
    if bounded and scope.converter.known.value(sizes) is None:
        return [scope.emit("dynamic-reshape", (x, *_scalars(scope, sizes)), shape=stated)]
    return [scope.emit("reshape", (x,), shape=_result(scope, operation, 1))]


@converts("dynamic_pad")
def dynamic_pad(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Pad with amounts given as operands."""
    x, value = scope.operands(operation)[:2]
    low, high, interior = (_sizes(scope, operation, k, "the amounts") for k in (2, 3, 4))
    return [
        scope.emit(
            "pad", (x, value), padding(scope, low, high, interior), shape=scope.type_of(operation)
        )
    ]


@converts("real_dynamic_slice")
def real_dynamic_slice(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a slice whose starts, limits and strides are operands.

    If only the starts are unknown, it is HLO's dynamic-slice.
    """
    x, start, limit = scope.operands(operation)[:3]
    strides = _sizes(scope, operation, 3, "the strides")
    known = scope.converter.known
    if known.value(start) is None and set(strides) <= {1}:
        sizes = _distance(scope, start, limit)
        if sizes is not None:
            shape = scope.type_of(operation).with_dimensions(sizes)
            attributes = {"dynamic_slice_sizes": sizes}
            return [
                scope.emit("dynamic-slice", (x, *_scalars(scope, start)), attributes, shape=shape)
            ]
    starts, limits = (_sizes(scope, operation, k, "the bounds") for k in (1, 2))
    rows = tuple([SliceDimension(*row) for row in zip(starts, limits, strides, strict=True)])
    return [scope.emit("slice", (x,), {"slice": rows}, shape=scope.type_of(operation))]


def _distance(scope: Scope, start: HloInstruction, limit: HloInstruction) -> tuple[int, ...] | None:
    """Return the constant difference of two vectors of indices.

    The second is the first plus constant sizes, as a whole or element by element.
    """
    if start is limit:
        return (0,) * start.shape.element_count
    known = scope.converter.known
    ends = known.value(start), known.value(limit)
    if ends[0] is not None and ends[1] is not None:
        return tuple([int(size) for size in (ends[1] - ends[0]).reshape(-1)])
    if limit.opcode.name == "add" and start in limit.operands:
        other = limit.operands[1 - limit.operands.index(start)]
        sizes = known.value(other)
        return None if sizes is None else tuple([int(size) for size in sizes.reshape(-1)])
    if (
        limit.opcode.name == start.opcode.name
        and start.opcode.name in ("concatenate", "reshape", "convert")
        and [o.shape.base for o in start.operands] == [o.shape.base for o in limit.operands]
    ):
        parts = [
            _distance(scope, a, b) for a, b in zip(start.operands, limit.operands, strict=True)
        ]
        if all(part is not None for part in parts):
            return tuple([size for part in parts for size in part or ()])
    return None


def _scalars(scope: Scope, vector: HloInstruction) -> list[HloInstruction]:
    """Emit the elements of a vector as scalars."""
    return [
        scope.emit(
            "reshape",
            (
                scope.emit(
                    "slice",
                    (vector,),
                    {"slice": (SliceDimension(k, k + 1),)},
                    shape=vector.shape.with_dimensions((1,)),
                ),
            ),
            shape=vector.shape.with_dimensions(()),
        )
        for k in range(vector.shape.dimensions[0])
    ]


@converts("dynamic_gather")
def dynamic_gather(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Gather with slice sizes given as an operand."""
    attributes = gather_attributes(scope, operation, _sizes(scope, operation, 2, "the slice sizes"))
    return [
        scope.emit(
            "gather", scope.operands(operation)[:2], attributes, shape=scope.type_of(operation)
        )
    ]


@converts("dynamic_conv")
def dynamic_conv(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a convolution whose padding is an operand."""
    flat = _sizes(scope, operation, 2, "the padding")
    return [
        convolve(
            scope,
            operation,
            scope.operands(operation)[:2],
            [flat[k : k + 2] for k in range(0, len(flat), 2)],
        )
    ]


def dynamic_reduce_window(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit the reduce-window of JAX's custom call.

    Operands are arrays, initial values, then the window's sizes, strides, both dilations and
    padding.
    """
    operands, count = scope.operands(operation), len(operation.types)
    names = scope.attribute(operation, "called_computations", required=True)
    if len(operands) != 2 * count + 5 or len(names) != 1:
        scope.fail(f"{operation.name} needs arrays, initial values, five lists and a computation",
                   "write it as jax.export does")  # fmt: skip
    sizes, strides, base, window, pads = (
        _sizes(scope, operation, 2 * count + k, "the window") for k in range(5)
    )
    static = Operation(operation.name, operation.at, [])
    static.attributes = Dictionary(
        {"window_strides": strides, "base_dilations": base, "window_dilations": window}
    )
    pairs = [pads[k : k + 2] for k in range(0, len(pads), 2)]
    attributes = {
        "window": window_of(scope, static, sizes, pairs, "base_dilations", "window_dilations")
    }
    called = (scope.converter.named(scope, str(names[0])),)
    return scope.unpack(
        scope.emit("reduce-window", operands[: 2 * count], attributes, called=called), count
    )


def dynamic_top_k(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit the top k of JAX's custom call, whose second operand is k."""
    (k,) = _sizes(scope, operation, 1, "the number of elements")
    x = scope.operands(operation)[0]
    return scope.unpack(scope.emit("topk", (x,), {"k": k, "largest": True}), 2)


def dynamic_rng_bit_generator(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit random bits of JAX's custom call, from the state and the sizes."""
    state = scope.operands(operation)[0]
    return random_bits(scope, operation, state, _result(scope, operation, 1, 1))


def shape_assertion(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Check the condition on sizes of JAX's custom call; further operands are for its message.

    Nothing is left of one that holds.
    """
    values = [scope.converter.known.value(i) for i in scope.operands(operation)]
    if not values or values[0] is None:
        _sizes(scope, operation, 0, "the sizes that are asserted")
    elif not values[0].all():
        text = str(
            operation.attributes.get("error_message", "the sizes differ from those of the export")
        )
        for number, value in enumerate(values[1:]):
            text = text.replace(f"{{{number}}}", "?" if value is None else str(value))
        scope.fail(text, "give other sizes")
    return []


def shapes_of_results(scope: Scope, operation: Operation) -> tuple[list[Shape], list[int]]:
    """Return the shapes of a custom call's results, and the numbers of its size operands.

    The attribute `indices_of_shape_operands` names a size operand for each result.
    """
    holders = scope.integers(operation, "indices_of_shape_operands", ())
    if not holders:
        return [scope.type_of(operation, k) for k in range(len(operation.types))], []
    if len(holders) != len(operation.types) or max(holders) >= len(operation.operands):
        scope.fail(
            f"indices_of_shape_operands is {list(holders)}, which does not fit "
            f"{len(operation.types)} results",
            "name an operand for each result",
        )
    return [_result(scope, operation, k, number) for number, k in enumerate(holders)], list(holders)


@converts("uniform_quantize", "uniform_dequantize")
def quantised(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Refuse quantised types, which HLO lacks."""
    scope.refuse(
        "quantized-type",
        f"{operation.name} works on quantised types, and HLO has none",
        "legalise quantisation to arithmetic before export",
    )


CALLS: dict[str, Conversion] = {
    "shape_assertion": shape_assertion,
    "stablehlo.dynamic_reduce_window": dynamic_reduce_window,
    "stablehlo.dynamic_rng_bit_generator": dynamic_rng_bit_generator,
    "stablehlo.dynamic_top_k": dynamic_top_k,
}
"""Targets of JAX's custom calls of open sizes."""
