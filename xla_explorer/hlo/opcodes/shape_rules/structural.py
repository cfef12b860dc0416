"""Shape rules of the structural family, which keep layouts."""

from __future__ import annotations

from xla_explorer.hlo.attributes import Attributes
from xla_explorer.hlo.opcodes.shape_rules.agreement import bare
from xla_explorer.hlo.primitive_type import TOKEN
from xla_explorer.hlo.shape import Shape, ShapeError, token_shape, tuple_shape


def tuple_of_operands(operands: tuple[Shape, ...], attributes: Attributes, called: object) -> Shape:
    """Return the tuple of the operand shapes."""
    return tuple_shape(operands)


def get_tuple_element(operands: tuple[Shape, ...], attributes: Attributes, called: object) -> Shape:
    """Return the shape at `index` of the operand."""
    operand, index = operands[0], attributes.value("index")
    if not operand.is_tuple:
        raise ShapeError(f"the operand must be a tuple, it is {bare(operand)}")
    if not 0 <= index < len(operand.tuple_shapes):
        raise ShapeError(
            f"index {index} is out of range for {bare(operand)} of {len(operand.tuple_shapes)} "
            "elements"
        )
    return operand.tuple_shapes[int(index)]


def after_all(operands: tuple[Shape, ...], attributes: Attributes, called: object) -> Shape:
    """Return a token, from tokens."""
    for number, operand in enumerate(operands):
        if operand.element_type is not TOKEN:
            raise ShapeError(f"operand {number} must be a token, it is {bare(operand)}")
    return token_shape()


def add_dependency(operands: tuple[Shape, ...], attributes: Attributes, called: object) -> Shape:
    """Return the first operand's shape; the second operand must be a token."""
    if operands[1].element_type is not TOKEN:
        raise ShapeError(f"operand 1 must be a token, it is {bare(operands[1])}")
    return operands[0]


def same_as_operand(operands: tuple[Shape, ...], attributes: Attributes, called: object) -> Shape:
    """Return the operand's shape."""
    return operands[0]
