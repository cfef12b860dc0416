"""Shape rules of the collective family.

Source: xla/service/shape_inference.cc, InferAllReduceShape and its neighbours.
"""

from __future__ import annotations

from typing import Any

from xla_explorer.hlo.attributes import Attributes
from xla_explorer.hlo.opcodes.shape_rules.agreement import (
    bare,
    require_array,
    require_dimensions,
    require_operand_count,
    require_same_type,
)
from xla_explorer.hlo.primitive_type import TOKEN, U32
from xla_explorer.hlo.shape import Shape, ShapeError, array_shape, token_shape, tuple_shape


def device_number(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return u32[]."""
    return array_shape(U32, ())


def same_as_operands(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the operand's shape, or a tuple for several operands."""
    require_operand_count(operands, 1)
    return (
        operands[0].base
        if len(operands) == 1
        else tuple_shape([operand.base for operand in operands])
    )


def all_to_all(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the operand's shape with `dimensions`, else the tuple of the operands."""
    require_operand_count(operands, 1)
    dimensions = attributes.value("dimensions")
    if not dimensions:
        return tuple_shape([operand.base for operand in operands])
    if len(operands) != 1:
        raise ShapeError(f"takes one operand when dimensions are given, got {len(operands)}")
    require_array(operands[0])
    require_dimensions(dimensions, operands[0], "dimension")
    groups = attributes.value("replica_groups")
    count = len(groups.groups[0]) if groups and groups.groups else 1
    if count and operands[0].dimensions[dimensions[0]] % count:
        raise ShapeError(
            f"dimension {dimensions[0]} of {bare(operands[0])} does not split into {count} blocks"
        )
    return operands[0].base


def ragged_all_to_all(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the shape of the output operand."""
    require_array(operands[0], "the input")
    require_array(operands[1], "the output")
    require_same_type(operands[0], operands[1], "input and output")
    for number, operand in enumerate(operands[2:], 2):
        if not operand.is_array or not operand.element_type.is_integer:
            raise ShapeError(f"operand {number} must be integers, it is {bare(operand)}")
    return operands[1].base


def collective_permute(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the operand's shape; in the in-place form (four operands) the second operand's."""
    require_operand_count(operands, 1)
    if len(operands) == 4 and attributes.value("slice_sizes"):
        return operands[1].base
    return same_as_operands(operands, attributes, called)


def second_element(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the result in a start's tuple (operand, result, ...)."""
    operand = operands[0]
    if not operand.is_tuple or len(operand.tuple_shapes) < 2:
        raise ShapeError(f"the operand must be (operand, result, ...), it is {bare(operand)}")
    return operand.tuple_shapes[1]


def token(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return token[]."""
    return token_shape()


def send(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return (data, u32[], token[])."""
    if operands[1].element_type is not TOKEN:
        raise ShapeError(f"operand 1 must be a token, it is {bare(operands[1])}")
    return tuple_shape((operands[0], array_shape(U32, ()), token_shape()))


def _require_transfer(operand: Shape) -> None:
    parts = operand.tuple_shapes
    if len(parts) != 3 or parts[1].element_type is not U32 or parts[2].element_type is not TOKEN:
        raise ShapeError(f"the operand must be (data, u32[], token[]), it is {bare(operand)}")


def send_done(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return token[]."""
    _require_transfer(operands[0])
    return token_shape()


def recv_done(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return (data, token[])."""
    operand = operands[0]
    _require_transfer(operand)
    return tuple_shape((operand.tuple_shapes[0], operand.tuple_shapes[2]))
