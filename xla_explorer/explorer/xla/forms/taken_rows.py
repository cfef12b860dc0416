"""The form of a product with a one-hot matrix that takes rows by their index."""

from __future__ import annotations

import numpy as np

from xla_explorer.explorer.advice.array_forms import splat
from xla_explorer.explorer.xla.differences.excerpt import flattened
from xla_explorer.explorer.xla.forms.one_hot import counts_up
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.module import HloModule


def taken_rows(module: HloModule) -> HloModule | None:
    """Take rows by their index, in place of a product with a one-hot matrix."""
    copy, changed = flattened(module), False
    for computation in list(copy.computations.values()):
        for i in list(computation.instructions.values()):
            if i.opcode.name == "dot" and _take(i):
                changed = True
    return copy if changed else None


def _take(product: HloInstruction) -> bool:
    """Replace a product of matrices whose left side is one-hot; return False for others."""
    hot, rows = product.operands
    is_plain = (
        hot.shape.rank == rows.shape.rank == 2
        and tuple(product.attribute("lhs_contracting_dims")) == (1,)
        and tuple(product.attribute("rhs_contracting_dims")) == (0,)
        and rows.shape.element_type == product.shape.element_type
    )
    index = _index_of(hot) if is_plain else None
    if index is None:
        return False
    place, (count, columns) = product.parent, product.shape.dimensions
    whole = tuple(range(2))
    start = place.add("reshape", index.shape.with_dimensions([count, 1]), [index])
    taken = place.add(
        "gather", product.shape, [rows, start],
        attributes_of({
            "offset_dims": (1,), "collapsed_slice_dims": (0,), "start_index_map": (0,),
            "index_vector_dim": 1, "slice_sizes": (1, columns),
        }),
        metadata=product.metadata,
    )  # fmt: skip
    inside = _inside(place, index, rows.shape.dimensions[0])
    spread = inside.shape.with_dimensions([count, columns])
    chosen = place.add("broadcast", spread, [inside], attributes_of({"dimensions": whole[:1]}))
    zero = place.add_constant(
        literal_from_array(
            product.shape.element_type.dtype.type(0), product.shape.with_dimensions([])
        )
    )
    zeros = place.add("broadcast", product.shape, [zero], attributes_of({"dimensions": ()}))
    made = place.add("select", product.shape, [chosen, taken, zeros], metadata=product.metadata)
    place.replace(product, made)
    place.remove(product)
    return True


def _inside(place: HloComputation, index: HloInstruction, count: int) -> HloInstruction:
    """Return whether each index has a row; the one-hot row of others is zero."""
    scalar = index.shape.with_dimensions([])
    sides = []
    for number, direction in ((0, "GE"), (count, "LT")):
        bound = place.add_constant(
            literal_from_array(index.shape.element_type.dtype.type(number), scalar)
        )
        spread = place.add("broadcast", index.shape, [bound], attributes_of({"dimensions": ()}))
        way = attributes_of({"direction": direction})
        sides.append(place.add("compare", None, [index, spread], way))
    return place.add("and", None, sides)


def _index_of(hot: HloInstruction) -> HloInstruction | None:
    """Return the index [count] of a one-hot matrix [count, classes]; None for other matrices."""
    if hot.opcode.name != "convert" or hot.operands[0].opcode.name != "compare":
        return None
    equal = hot.operands[0]
    if equal.attribute("direction") != "EQ":
        return None
    for side, numbers in (equal.operands, equal.operands[::-1]):
        spread = side.opcode.name == "broadcast" and tuple(side.attribute("dimensions")) == (0,)
        if spread and splat(numbers) is None and counts_up(numbers, hot.shape.dimensions[1], 1):
            index = side.operands[0]
            width = np.iinfo(index.shape.element_type.dtype).max
            return index if width >= hot.shape.dimensions[1] else None
    return None
