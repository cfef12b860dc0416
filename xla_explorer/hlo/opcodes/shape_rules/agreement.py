"""Shared checks of the shape rules: arrays, dimension numbers, matching types.

A rule raises `ShapeError` with a sentence without the opcode's name, which `infer_shape` prepends.
"""

from __future__ import annotations

from collections.abc import Iterable

from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import Shape, ShapeError, array_shape


def bare(shape: Shape) -> str:
    """Return the shape as text without layout."""
    return shape.text_without_layout


def require_array(shape: Shape, what: str = "the operand") -> None:
    """Raise ShapeError unless the shape is an array."""
    if not shape.is_array:
        raise ShapeError(f"{what} must be an array, it is {bare(shape)}")


def require_operand_count(operands: tuple[Shape, ...], least: int, what: str = "operand") -> None:
    """Raise ShapeError if there are fewer operands than `least`."""
    if len(operands) < least:
        raise ShapeError(
            f"takes at least {least} {what}{'s' if least != 1 else ''}, got {len(operands)}"
        )


def require_dimensions(
    dimensions: Iterable[int], of: Shape | int, what: str, *, unique: bool = True
) -> None:
    """Raise ShapeError unless every number is a dimension of the shape (or rank), none repeated."""
    rank = of if isinstance(of, int) else of.rank
    seen: set[int] = set()
    for dimension in dimensions:
        if not 0 <= dimension < rank:
            raise ShapeError(
                f"{what} {dimension} is out of range for "
                f"{f'rank {of}' if isinstance(of, int) else bare(of)}"
            )
        if unique and dimension in seen:
            raise ShapeError(f"{what} {dimension} is listed twice")
        seen.add(dimension)


def require_scalar(shape: Shape, what: str) -> None:
    """Raise ShapeError unless the shape is an array of rank 0."""
    if not shape.is_scalar:
        raise ShapeError(f"{what} must be a scalar, it is {bare(shape)}")


def require_integer_scalar(shape: Shape, what: str) -> None:
    """Raise ShapeError unless the shape is a rank-0 integer."""
    if not (shape.is_scalar and shape.element_type.is_integer):
        raise ShapeError(f"{what} must be an integer scalar, it is {bare(shape)}")


def same_types(a: Shape, b: Shape) -> bool:
    """Return True if element types agree up to float precision.

    The verifier checks mixed precisions separately.
    """
    x, y = a.element_type, b.element_type
    return x is y or (x is not None and y is not None and x.is_float and y.is_float)


def require_same_type(a: Shape, b: Shape, what: str) -> None:
    """Raise ShapeError if element types differ in more than float precision."""
    if not same_types(a, b):
        raise ShapeError(f"{what} differ in element type: {bare(a)} vs {bare(b)}")


def same_sizes(a: Shape, b: Shape) -> bool:
    """Return True if the dimensions agree; an unbounded dimension agrees with any."""
    if a.dimensions == b.dimensions:
        return True
    return a.rank == b.rank and all(
        x == y or x < 0 or y < 0 for x, y in zip(a.dimensions, b.dimensions, strict=True)
    )


def same_arrays(a: Shape, b: Shape) -> Shape:
    """Return the common shape of two arrays, or raise ShapeError naming both.

    The result has the default layout and the wider float type. A dimension is dynamic if it is in
    either array.
    """
    if a.base is b.base:
        if not a.is_array:
            raise ShapeError(f"operands must be arrays, they are {bare(a)}")
        return a.base
    if not a.is_array or not b.is_array or not same_types(a, b) or not same_sizes(a, b):
        raise ShapeError(f"operands differ: {bare(a)} vs {bare(b)}")
    sizes = [y if x < 0 else x for x, y in zip(a.dimensions, b.dimensions, strict=True)]
    return array_shape(
        wider_type(a.element_type, b.element_type),
        sizes,
        None,
        tuple([p or q for p, q in zip(a.dynamic, b.dynamic, strict=True)]),
    )


def wider_type(a: PrimitiveType, b: PrimitiveType) -> PrimitiveType:
    """Return the more precise of two types: complex, float, then integer, then more bits.

    Source: XLA's `HigherPrecisionElementType`.
    """
    if a is b:
        return a

    def rank(t: PrimitiveType) -> tuple[int, int]:
        return (2 if t.is_complex else 1 if t.is_float else 0, t.bits)

    return b if rank(b) > rank(a) else a


def with_type(shape: Shape, element_type: PrimitiveType) -> Shape:
    """Return the shape with another element type and the default layout."""
    return array_shape(element_type, shape.dimensions, None, shape.dynamic)
