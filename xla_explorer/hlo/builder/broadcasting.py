"""Implicit operands: numbers become constants, smaller operands become explicit broadcasts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.hlo.builder.any_value import is_value
from xla_explorer.hlo.builder.errors import HloBuilderError
from xla_explorer.hlo.primitive_type import F32, PRED, S32, PrimitiveType, primitive_type_of
from xla_explorer.hlo.shape import Shape, array_shape

if TYPE_CHECKING:
    from xla_explorer.hlo.builder.builder import HloBuilder
    from xla_explorer.hlo.builder.value import HloValue


def _rank_of_kind(t: PrimitiveType) -> int:
    return 0 if t.is_pred else 1 if t.is_integer else 2 if t.is_float else 3


def element_type_for(value: Any, other: PrimitiveType | None) -> PrimitiveType:
    """Return the element type of a Python or numpy number combined with an operand of type `other`.

    A number takes its partner's type if its kind permits: an int with f32, never a float with
    s32. Alone, a Python bool is pred, an int s32, a float f32, also in lists; a numpy value keeps
    its dtype.
    """
    array = np.asarray(value)
    if other is None:
        if isinstance(value, (bool, int, float)):
            return PRED if isinstance(value, bool) else S32 if isinstance(value, int) else F32
        if isinstance(value, list):
            return (
                F32
                if array.dtype == np.float64
                else S32
                if array.dtype == np.int64
                else primitive_type_of(array.dtype)
            )
        return primitive_type_of(array.dtype)
    own = primitive_type_of(array.dtype)
    if _rank_of_kind(own) > _rank_of_kind(other):
        raise HloBuilderError(
            f"{_words(value)} does not fit an operand of type {other}: {own.kind.value} into "
            f"{other.kind.value}",
            "convert the other operand first, for instance with .astype(xe.f32)",
        )
    if own.is_integer and other.is_integer and array.size:
        limits = np.iinfo(other.dtype) if other.bits >= 8 else None
        if limits is not None and (int(array.min()) < limits.min or int(array.max()) > limits.max):
            raise HloBuilderError(
                f"{_words(value)} is out of range for {other}: [{limits.min}, {limits.max}]"
            )
    return other


def _words(value: Any) -> str:
    array = np.asarray(value)
    return (
        f"the number {value!r}" if array.ndim == 0 else f"an array {array.dtype}{list(array.shape)}"
    )


def is_number(value: Any) -> bool:
    """Return True if a value can be a constant: Python numbers, numpy scalars, arrays, lists."""
    return isinstance(value, (bool, int, float, complex, np.generic, np.ndarray, list)) or hasattr(
        value, "__array__"
    )


def common_dimensions(name: str, shapes: list[Shape]) -> tuple[int, ...]:
    """Return the dimensions that all shapes broadcast to by numpy's rule.

    HloBuilderError names two incompatible shapes.
    """
    result: list[int] = []
    largest = shapes[0]
    for shape in shapes:
        for back in range(1, max(len(result), shape.rank) + 1):
            size = shape.dimensions[-back] if back <= shape.rank else 1
            if back > len(result):
                result.insert(0, size)
            elif result[-back] == 1:
                result[-back] = size
            elif size not in (1, result[-back]):
                raise HloBuilderError(
                    f"{name}: operands differ: {largest.text_without_layout} vs "
                    f"{shape.text_without_layout}: dimension "
                    f"{-back} is {result[-back]} vs {size}",
                    "sizes must be equal or 1, counted from the last dimension; reshape or "
                    "broadcast one side",
                )
        largest = shape if shape.rank >= largest.rank and shape is not shapes[0] else largest
    return tuple(result)


def broadcast_value(value: HloValue, dimensions: tuple[int, ...]) -> HloValue:
    """Return the value broadcast to exactly these dimensions.

    A reshape drops dimensions of size 1, then a broadcast maps the rest.
    """
    shape = value.shape
    if shape.dimensions == dimensions:
        return value
    offset = len(dimensions) - shape.rank
    kept = [d for d in range(shape.rank) if shape.dimensions[d] == dimensions[d + offset]]
    builder = value.builder
    if len(kept) != shape.rank:
        sizes = tuple([shape.dimensions[d] for d in kept])
        i = value.instruction
        if i.opcode.name == "reshape" and i.operands[0].shape.dimensions == sizes:
            # Skip the reshape of `keepdims=True`: read its operand.
            value = type(value)(builder, i.operands[0])
        else:
            value = builder.reshape(value, sizes)
    if len(kept) == len(dimensions):
        return value
    return builder.broadcast(value, dimensions, [d + offset for d in kept])


def matched_operands(
    builder: HloBuilder, name: str, operands: tuple[Any, ...], skip_type: int | None = None
) -> list[HloValue]:
    """Return operands as values of one element type and one shape.

    skip_type: number of the operand whose type may differ (a predicate).
    """
    other: PrimitiveType | None = None
    for number, operand in enumerate(operands):
        if is_value(operand) and number != skip_type:
            if not operand.shape.is_array:
                raise HloBuilderError(
                    f"{name}: operand {number} must be an array, it is "
                    f"{operand.shape.text_without_layout}"
                )
            if other is not None and operand.shape.element_type is not other:
                first = next(o for o in operands if is_value(o) and o.shape.element_type is other)
                raise HloBuilderError(
                    f"{name}: operands differ in element type: {first.shape.text_without_layout} "
                    "vs "
                    f"{operand.shape.text_without_layout}",
                    f"convert one side, for instance with .astype(xe.{other})",
                )
            other = operand.shape.element_type
    values = []
    for number, operand in enumerate(operands):
        if is_value(operand):
            values.append(operand)
            continue
        if not is_number(operand):
            raise HloBuilderError(
                f"{name}: operand {number} is a {type(operand).__name__}, no value of the "
                "builder and no number"
            )
        try:
            values.append(
                builder.constant(
                    operand, None if number == skip_type else element_type_for(operand, other)
                )
            )
        except HloBuilderError as error:
            raise HloBuilderError(f"{name}: {error.message}", error.hint) from None
    dimensions = common_dimensions(name, [value.shape for value in values])
    return [broadcast_value(value, dimensions) for value in values]


def scalar_shape(element_type: PrimitiveType) -> Shape:
    """Return the rank-0 shape of an element type."""
    return array_shape(element_type, ())
