"""Shape rules of the data movement family.

Source: StableHLO sections of the same names; shape_inference.cc.
"""

from __future__ import annotations

from typing import Any

from xla_explorer.hlo.attributes import Attributes
from xla_explorer.hlo.opcodes.shape_rules.agreement import (
    bare,
    require_array,
    require_dimensions,
    require_integer_scalar,
    require_operand_count,
    require_same_type,
    require_scalar,
    same_types,
)
from xla_explorer.hlo.opcodes.shape_rules.indexing import gather, scatter
from xla_explorer.hlo.primitive_type import S32, U32
from xla_explorer.hlo.shape import Shape, ShapeError, array_shape, tuple_shape

__all__ = [
    "concatenate",
    "copy",
    "copy_done",
    "copy_start",
    "dynamic_slice",
    "dynamic_update_slice",
    "gather",
    "get_dimension_size",
    "pad",
    "reverse",
    "scatter",
    "set_dimension_size",
    "slice_",
    "transpose",
]


def copy(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the operand's shape, with its layout."""
    return operands[0]


def copy_start(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return (destination, source, u32[])."""
    return tuple_shape((operands[0], operands[0], array_shape(U32, ())))


def copy_done(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the destination of the copy-start."""
    operand = operands[0]
    if not operand.is_tuple or len(operand.tuple_shapes) != 3:
        raise ShapeError(
            f"the operand must be (destination, source, context), it is {bare(operand)}"
        )
    return operand.tuple_shapes[0]


def transpose(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the shape whose dimension i has the size of operand dimension dimensions[i]."""
    operand, order = operands[0], attributes.value("dimensions")
    require_array(operand)
    if sorted(order) != list(range(operand.rank)):
        raise ShapeError(
            f"dimensions {_braces(order)} must be a permutation of the {operand.rank} dimensions "
            f"of {bare(operand)}"
        )
    return array_shape(
        operand.element_type,
        [operand.dimensions[d] for d in order],
        None,
        tuple([operand.dynamic[d] for d in order]),
    )


def reverse(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the operand's shape."""
    require_array(operands[0])
    require_dimensions(attributes.value("dimensions"), operands[0], "dimension")
    return operands[0].base


def slice_(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return ceil((limit - start) / stride) elements for each dimension."""
    operand, rows = operands[0], attributes.value("slice")
    require_array(operand)
    if len(rows) != operand.rank:
        raise ShapeError(
            f"slice gives {len(rows)} ranges for the {operand.rank} dimensions of {bare(operand)}"
        )
    sizes = []
    for number, row in enumerate(rows):
        size = operand.dimensions[number]
        if row.stride <= 0:
            raise ShapeError(
                f"the stride of dimension {number} must be positive, it is {row.stride}"
            )
        if not 0 <= row.start <= row.limit or (row.limit > size >= 0):
            raise ShapeError(
                f"range [{row.start}:{row.limit}] of dimension {number} is not within [0:{size}] "
                f"of {bare(operand)}"
            )
        sizes.append(row.size)
    return array_shape(operand.element_type, sizes)


def _start_indices(operand: Shape, starts: tuple[Shape, ...]) -> None:
    # The old form gives all starts as one rank-1 operand.
    if len(starts) == 1 and starts[0].is_array and starts[0].rank == 1:
        if starts[0].dimensions[0] != operand.rank or not starts[0].element_type.is_integer:
            raise ShapeError(
                f"start indices {bare(starts[0])} do not give {operand.rank} integers for "
                f"{bare(operand)}"
            )
        return
    if len(starts) != operand.rank:
        raise ShapeError(
            f"takes one start index for each of the {operand.rank} dimensions of "
            f"{bare(operand)}, got {len(starts)}"
        )
    for number, start in enumerate(starts):
        require_integer_scalar(start, f"start index {number}")
        require_same_type(starts[0], start, "start indices")


def dynamic_slice(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return dynamic_slice_sizes in the operand's element type."""
    require_operand_count(operands, 1)
    operand, sizes = operands[0], attributes.value("dynamic_slice_sizes")
    require_array(operand)
    _start_indices(operand, operands[1:])
    if len(sizes) != operand.rank:
        raise ShapeError(
            f"dynamic_slice_sizes {_braces(sizes)} does not give a size for each of the "
            f"{operand.rank} dimensions "
            f"of {bare(operand)}"
        )
    for number, (size, whole) in enumerate(zip(sizes, operand.dimensions, strict=True)):
        if not 0 <= size <= (whole if whole >= 0 else size):
            raise ShapeError(f"size {size} of dimension {number} does not fit into {bare(operand)}")
    return array_shape(operand.element_type, sizes)


def dynamic_update_slice(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the operand's shape, into which the update must fit."""
    require_operand_count(operands, 2)
    operand, update = operands[:2]
    require_array(operand)
    require_array(update, "the update")
    require_same_type(operand, update, "operand and update")
    if operand.rank != update.rank:
        raise ShapeError(f"operand and update differ in rank: {bare(operand)} vs {bare(update)}")
    for number, (whole, part) in enumerate(zip(operand.dimensions, update.dimensions, strict=True)):
        if part > whole >= 0:
            raise ShapeError(
                f"dimension {number} of the update {bare(update)} does not fit into {bare(operand)}"
            )
    _start_indices(operand, operands[2:])
    return operand.base


def concatenate(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the first operand's shape with sizes added up along one dimension."""
    require_operand_count(operands, 1)
    first, dimensions = operands[0], attributes.value("dimensions")
    require_array(first)
    if len(dimensions) != 1:
        raise ShapeError(f"takes exactly one dimension, got {_braces(dimensions)}")
    axis = dimensions[0]
    require_dimensions(dimensions, first, "dimension")
    total, dynamic = 0, list(first.dynamic)
    for number, operand in enumerate(operands):
        if not operand.is_array or not same_types(operand, first) or operand.rank != first.rank:
            raise ShapeError(f"operands 0 and {number} differ: {bare(first)} vs {bare(operand)}")
        for d in range(first.rank):
            a, b = first.dimensions[d], operand.dimensions[d]
            if d != axis and a != b and a >= 0 and b >= 0:
                raise ShapeError(
                    f"operands 0 and {number} differ in dimension {d}: {bare(first)} vs "
                    f"{bare(operand)}"
                )
            dynamic[d] = dynamic[d] or operand.dynamic[d]
        size = operand.dimensions[axis]
        total = -1 if size < 0 or total < 0 else total + size
    sizes = list(first.dimensions)
    sizes[axis] = total
    return array_shape(first.element_type, sizes, None, tuple(dynamic))


def pad(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return low + high + n + max(n - 1, 0) * interior elements for each dimension."""
    operand, value = operands
    rows = attributes.value("padding")
    require_array(operand)
    require_scalar(value, "the padding value")
    require_same_type(operand, value, "operand and padding value")
    if len(rows) != operand.rank:
        raise ShapeError(
            f"padding gives {len(rows)} entries for the {operand.rank} dimensions of "
            f"{bare(operand)}"
        )
    sizes = []
    for number, (row, size) in enumerate(zip(rows, operand.dimensions, strict=True)):
        if row.interior < 0:
            raise ShapeError(
                f"interior padding of dimension {number} must not be negative, it is {row.interior}"
            )
        padded = size if size < 0 else row.low + row.high + size + max(size - 1, 0) * row.interior
        if size >= 0 > padded:
            raise ShapeError(
                f"padding {row.low}_{row.high} leaves {padded} elements of dimension {number} of "
                f"{bare(operand)}"
            )
        sizes.append(padded)
    return array_shape(operand.element_type, sizes, None, operand.dynamic)


def _one_dimension(operand: Shape, attributes: Attributes) -> int:
    dimensions = attributes.value("dimensions")
    require_array(operand)
    if len(dimensions) != 1:
        raise ShapeError(f"takes exactly one dimension, got {_braces(dimensions)}")
    require_dimensions(dimensions, operand, "dimension")
    return int(dimensions[0])


def get_dimension_size(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return s32[]."""
    _one_dimension(operands[0], attributes)
    return array_shape(S32, ())


def set_dimension_size(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the operand's shape with the dimension marked dynamic."""
    operand, size = operands
    dimension = _one_dimension(operand, attributes)
    require_integer_scalar(size, "the size")
    return array_shape(
        operand.element_type,
        operand.dimensions,
        None,
        tuple([moving or d == dimension for d, moving in enumerate(operand.dynamic)]),
    )


def _braces(numbers: tuple[int, ...]) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"
