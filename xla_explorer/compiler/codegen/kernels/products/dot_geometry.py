"""A dot seen as batched matrix products: its sizes, and the strides of its operands in memory."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import NamedTuple

from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape


class StridedOperand(NamedTuple):
    """One side of a GEMM: strides in elements.

    row, column: of its dimensions. batch: of each loop around the GEMM (`product_batch`).
    """

    row: int
    column: int
    batch: tuple[int, ...]


class DotSizes(NamedTuple):
    """Sizes of a dot: rows x depth by depth x columns, `batches` times."""

    rows: int
    columns: int
    depth: int
    batches: int


def dot_free_dimensions(dot: HloInstruction) -> tuple[list[int], list[int]]:
    """Return the left and right dimensions that are neither batch nor contracted, in order."""
    lhs, rhs = dot.operands
    left = [
        d
        for d in range(lhs.shape.rank)
        if d not in dot.attribute("lhs_batch_dims") + dot.attribute("lhs_contracting_dims")
    ]
    right = [
        d
        for d in range(rhs.shape.rank)
        if d not in dot.attribute("rhs_batch_dims") + dot.attribute("rhs_contracting_dims")
    ]
    return left, right


def _outer_and_rows(dot: HloInstruction) -> tuple[list[int], list[int]]:
    """Return the free dimensions on the left: outer ones, then the regular rows.

    The outer ones repeat the product with the same right operand.
    """
    left, _ = dot_free_dimensions(dot)
    first = next(
        (k for k in range(len(left)) if single_stride(dot.operands[0].shape, left[k:]) is not None),
        0,
    )
    return left[:first], left[first:]


def product_batch(dot: HloInstruction) -> list[int]:
    """Return the extents of the loops around the GEMM: leading dimensions of the result."""
    outer, _ = _outer_and_rows(dot)
    return [dot.operands[0].shape.dimensions[d] for d in (*dot.attribute("lhs_batch_dims"), *outer)]


def dot_sizes(dot: HloInstruction) -> DotSizes:
    """Return the sizes of the matrices and their number."""
    lhs, rhs = dot.operands
    _, left = _outer_and_rows(dot)
    _, right = dot_free_dimensions(dot)
    contracted = dot.attribute("lhs_contracting_dims")
    rows, columns, depth = [
        prod([o.shape.dimensions[d] for d in side])
        for o, side in ((lhs, left), (rhs, right), (lhs, contracted))
    ]
    return DotSizes(rows, columns, depth, prod(product_batch(dot)))


def single_stride(shape: Shape, dimensions: tuple[int, ...] | list[int]) -> int | None:
    """Return the stride of several dimensions as one, or None if they are not regular.

    Sizes of one are ignored.
    """
    real = [d for d in dimensions if shape.dimensions[d] != 1]
    if not real:
        return 1
    for outer, inner in pairwise(real):
        if shape.strides[outer] != shape.strides[inner] * shape.dimensions[inner]:
            return None
    return shape.strides[real[-1]]


def strided_operands(dot: HloInstruction) -> tuple[StridedOperand, StridedOperand] | None:
    """Return the operands as strided matrices, or None.

    Left: free x contracted; right: contracted x free. The result must be row-major.
    """
    lhs, rhs = dot.operands
    outer, left = _outer_and_rows(dot)
    _, right = dot_free_dimensions(dot)
    found = []
    left_batch = (*dot.attribute("lhs_batch_dims"), *outer)
    for shape, rows, columns, batch in (
        (lhs.shape, left, dot.attribute("lhs_contracting_dims"), left_batch),
        (rhs.shape, dot.attribute("rhs_contracting_dims"), right, dot.attribute("rhs_batch_dims")),
    ):
        row, column = single_stride(shape, rows), single_stride(shape, columns)
        if row is None or column is None:
            return None
        found.append(StridedOperand(row, column, tuple([shape.strides[d] for d in batch])))
    if not dot.shape.layout.is_default and dot.shape.rank > 1:
        return None
    return found[0], found[1]._replace(batch=(*found[1].batch, *[0 for _ in outer]))
