"""Matrix products with the meaning of numpy's `@`, as dot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_explorer.hlo.builder.broadcasting import broadcast_value, common_dimensions
from xla_explorer.hlo.builder.errors import HloBuilderError
from xla_explorer.hlo.shape import array_shape

if TYPE_CHECKING:
    from xla_explorer.hlo.builder.value import HloValue


def matrix_product(a: HloValue, b: HloValue) -> HloValue:
    """Contract the last dimension of `a` with the last but one of `b` (or its only one).

    Batch dimensions broadcast.
    """
    left, right = a.shape, b.shape
    words = f"{left.text_without_layout} @ {right.text_without_layout}"
    if not left.rank or not right.rank:
        raise HloBuilderError(
            f"dot: {words}: a scalar has no dimension to contract",
            "use * for a product with a number",
        )
    if left.element_type is not right.element_type:
        raise HloBuilderError(
            f"dot: operands differ in element type: {left.text_without_layout} vs "
            f"{right.text_without_layout}",
            f"convert one side, for instance with .astype(xe.{left.element_type})",
        )
    inner, outer = left.dimensions[-1], right.dimensions[-2 if right.rank > 1 else -1]
    if inner != outer:
        raise HloBuilderError(
            f"dot: {words}: the last dimension of the left side is {inner}, the contracted one "
            f"of the right is {outer}",
            "transpose or reshape one side",
        )
    batch = common_dimensions(
        "dot", [array_shape(s.element_type, s.dimensions[:-2]) for s in (left, right)]
    )
    if batch and left.rank > 1 and right.rank > 1:
        a, b = (
            broadcast_value(v, (*batch, *v.shape.dimensions[-2:])) if v.shape.dimensions[:-2] else v
            for v in (a, b)
        )
    return _dot(a, b)


def _dot(a: HloValue, b: HloValue) -> HloValue:
    left, right = a.shape, b.shape
    batches = min(left.rank, right.rank) - 2 if left.rank > 2 and right.rank > 2 else 0
    numbers = tuple(range(batches))
    attributes = {
        "lhs_batch_dims": numbers,
        "rhs_batch_dims": numbers,
        "lhs_contracting_dims": (left.rank - 1,),
        "rhs_contracting_dims": (max(right.rank - 2, 0),),
    }
    product = a.builder.emit("dot", (a, b), attributes)
    if left.rank <= 2 and right.rank > 2:
        # dot orders the left free dimension first, numpy the right batch dimensions.
        rest = product.ndim - (left.rank - 1)
        if left.rank == 2:
            return product.transpose([*range(1, rest), 0, rest])
    return product
