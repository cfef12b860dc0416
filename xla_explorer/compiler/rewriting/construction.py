"""Builders of constants, broadcasts and dimension attributes, for the build functions of rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from xla_explorer.hlo.attributes import Attributes, attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal, literal_from_array
from xla_explorer.hlo.opcodes import opcode
from xla_explorer.hlo.shape import Shape, array_shape

_BROADCAST = opcode("broadcast")
_RESHAPE = opcode("reshape")
_TRANSPOSE = opcode("transpose")


def with_dimensions(dimensions: Iterable[int]) -> Attributes:
    """Return the attributes `dimensions={...}`."""
    return attributes_of({"dimensions": tuple(dimensions)})


def scalar_shape(shape: Shape) -> Shape:
    """Return the scalar shape of the same element type."""
    return array_shape(shape.element_type, ())


def scalar_constant(computation: HloComputation, shape: Shape, value: Any) -> HloInstruction:
    """Add a rank-0 constant of the shape's element type."""
    return computation.add_constant(literal_from_array(np.asarray(value), scalar_shape(shape)))


def splat_constant(computation: HloComputation, shape: Shape, value: Any) -> HloInstruction:
    """Add a constant whose elements all equal `value`: rank 0, or a broadcast of rank 0."""
    made = scalar_constant(computation, shape, value)
    return made if not shape.rank else broadcast_scalar(computation, made, shape)


def splat_literal(computation: HloComputation, shape: Shape, literal: Literal) -> HloInstruction:
    """Add a constant whose elements all equal a rank-0 literal: rank 0, or a broadcast of it."""
    made = computation.add_constant(literal)
    return made if not shape.rank else broadcast_scalar(computation, made, shape)


def broadcast_scalar(
    computation: HloComputation, scalar: HloInstruction, shape: Shape
) -> HloInstruction:
    """Add a broadcast of a scalar to the shape's dimensions."""
    return computation.add(
        _BROADCAST,
        shape.with_element_type(scalar.shape.element_type),
        (scalar,),
        with_dimensions(()),
    )


def broadcast(
    computation: HloComputation, x: HloInstruction, shape: Shape, dimensions: Iterable[int]
) -> HloInstruction:
    """Add a broadcast; dimension k of x becomes dimension dimensions[k] of the result."""
    return computation.add(_BROADCAST, shape, (x,), with_dimensions(dimensions))


def reshape(computation: HloComputation, x: HloInstruction, shape: Shape) -> HloInstruction:
    """Add a reshape to the shape, or return x if it has the shape already."""
    return x if x.shape.base is shape.base else computation.add(_RESHAPE, shape, (x,))


def transpose(
    computation: HloComputation,
    x: HloInstruction,
    permutation: tuple[int, ...],
    shape: Shape | None = None,
) -> HloInstruction:
    """Add a transpose; result dimension k is operand dimension permutation[k]."""
    if shape is None:
        shape = x.shape.with_dimensions([x.shape.dimensions[d] for d in permutation])
    return computation.add(_TRANSPOSE, shape, (x,), with_dimensions(permutation))


def scalar_of(i: HloInstruction) -> HloInstruction | None:
    """Return the rank-0 constant behind a constant or a broadcast of one, else None."""
    if i.opcode is _BROADCAST:
        i = i.operands[0]
    return i if i.opcode.name == "constant" and i.shape.is_scalar else None


def uniform_array(i: HloInstruction) -> np.ndarray[Any, Any]:
    """Return the single value of a uniform constant, as a rank-0 array of its dtype."""
    if i.opcode is _BROADCAST:
        i = i.operands[0]
    return i.literal.array.reshape(-1)[0]  # type: ignore[no-any-return]  # a numpy scalar keeps its dtype


def combine_constants(
    computation: HloComputation, opcode: str, a: HloInstruction, b: HloInstruction
) -> HloInstruction:
    """Add the operation on two constants, for constant folding to evaluate.

    If both are uniform, the operation is on scalars, and its result is broadcast to the shape of
    `a`.
    """
    left, right = scalar_of(a), scalar_of(b)
    if left is not None and right is not None and a.shape.rank:
        return broadcast_scalar(
            computation, computation.add(opcode, left.shape, (left, right)), a.shape
        )
    return computation.add(opcode, a.shape, (a, b))
