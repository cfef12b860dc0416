"""Forms of a program whose data are stored, or moved, in the order in which they are read.

A form for stored data keeps every operation and leaves out the movement: results have the same
elements in another order. It is timed in place of the program that a user would write with other
data. `moved_rows_first` moves the data inside the program, and its results keep their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from xla_explorer.compiler.spmd.explanation.step_schedule import trip_count
from xla_explorer.hlo.attributes import NO_ATTRIBUTES, attributes_of
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def without_transposes(module: HloModule) -> HloModule | None:
    """Leave out the transposes that move the last dimension, except for operands of products."""
    copy = module.clone()
    if not _runs_alike(copy):
        return None
    found = left_out_transposes(copy)
    for i in found:
        _leave_out(i)
    return copy if found else None


def left_out_transposes(module: HloModule) -> list[HloInstruction]:
    """Return the transposes that move the last dimension, the largest first, but for products."""
    found = [i for i in module.instructions() if moves_the_last(i) and not _feeds_product(i)]
    return sorted(found, key=lambda i: -i.shape.byte_size)


def rows_first(module: HloModule) -> HloModule | None:
    """Index rows where a program indexes its last dimension, with results in rows as well."""
    copy = module.clone()
    if not _runs_alike(copy):
        return None
    changed = False
    for i in list(copy.instructions()):
        if i.opcode.name in ("gather", "scatter") and _index_rows(i, _kept):
            changed = True
    return copy if changed else None


def moved_rows_first(module: HloModule) -> HloModule | None:
    """Transpose what is indexed along its last dimension, index rows, and transpose back."""
    copy, changed = module.clone(), False
    for i in list(copy.instructions()):
        if i.opcode.name in ("gather", "scatter") and _takes_most(i) and _index_rows(i, _moved):
            changed = True
    return copy if changed else None


def _takes_most(i: HloInstruction) -> bool:
    """Return True if a gather or scatter has as many indices as its array has columns.

    With fewer the transposes cost more than strided reads.
    """
    array, indices = i.operands[0].shape, i.operands[1].shape
    return array.is_array and array.rank > 1 and indices.element_count >= array.dimensions[-1]


def moves_the_last(i: HloInstruction) -> bool:
    """Return True for a transpose that moves the last dimension of two or more with elements."""
    if i.opcode.name != "transpose":
        return False
    sizes = i.operands[0].shape.dimensions
    order = [d for d in i.attribute("dimensions") if sizes[d] > 1]
    return bool(order) and order[-1] != max(order)


def _runs_alike(module: HloModule) -> bool:
    """Return True if the values do not decide how much of the program runs."""
    return all(
        i.opcode.name != "conditional" and (i.opcode.name != "while" or trip_count(i) is not None)
        for i in module.instructions()
    )


def _feeds_product(i: HloInstruction) -> bool:
    return any(user.opcode.name in ("dot", "convolution") for user in i.users)


def _leave_out(transpose: HloInstruction) -> None:
    place = transpose.parent
    made = place.add(
        "reshape",
        transpose.shape.with_dimensions(transpose.shape.dimensions),
        transpose.operands,
        NO_ATTRIBUTES,
        metadata=transpose.metadata,
    )
    place.replace(transpose, made)
    place.remove(transpose)


_Ordered = Callable[[HloInstruction, Sequence[int]], HloInstruction]
"""From an array and an order of its dimensions to an array with the dimensions in this order."""


def _kept(i: HloInstruction, order: Sequence[int]) -> HloInstruction:
    """Return the elements as they lie, under the sizes of an order of dimensions."""
    sizes = [i.shape.dimensions[d] for d in order]
    return i.parent.add("reshape", i.shape.with_dimensions(sizes), [i], NO_ATTRIBUTES)


def _moved(i: HloInstruction, order: Sequence[int]) -> HloInstruction:
    """Return an array transposed to an order of dimensions."""
    sizes = [i.shape.dimensions[d] for d in order]
    attributes = attributes_of({"dimensions": tuple(order)})
    return i.parent.add("transpose", i.shape.with_dimensions(sizes), [i], attributes)


def _index_rows(i: HloInstruction, ordered: _Ordered) -> bool:
    """Replace one gather or scatter by an index into the last dimension; False for others."""
    is_gather = i.opcode.name == "gather"
    array = i.operands[0]
    rank = array.shape.rank
    key = "start_index_map" if is_gather else "scatter_dims_to_operand_dims"
    dropped = "collapsed_slice_dims" if is_gather else "inserted_window_dims"
    batching = "operand_batching_dims" if is_gather else "input_batching_dims"
    if len(i.operands) != (2 if is_gather else 3) or rank < 2 or i.attributes.value(batching):
        return False
    if tuple(i.attribute(key)) != (rank - 1,) or tuple(i.attribute(dropped)) != (rank - 1,):
        return False
    place = i.parent
    last_first = [rank - 1, *range(rank - 1)]
    given = ordered(array, last_first)
    windows = "offset_dims" if is_gather else "update_window_dims"
    rows = i.shape if is_gather else i.operands[2].shape
    inside = tuple(i.attribute(windows))
    outside = [d for d in range(rows.rank) if d not in inside]
    order = [*outside, *inside]
    turned = rows.with_dimensions([rows.dimensions[d] for d in order])
    values = {key: (0,), dropped: (0,), windows: tuple(range(len(outside), rows.rank))}
    if is_gather:
        sizes = i.attribute("slice_sizes")
        values["slice_sizes"] = (1, *sizes[:-1])
        attributes = i.attributes.with_values(**values)
        made = place.add("gather", turned, [given, i.operands[1]], attributes, metadata=i.metadata)
        _replace(i, made, order, ordered)
        return True
    update = ordered(i.operands[2], order)
    attributes = i.attributes.with_values(**values)
    operands = [given, i.operands[1], update]
    made = place.add(
        "scatter", given.shape, operands, attributes, called=i.called, metadata=i.metadata
    )
    _replace(i, made, last_first, ordered)
    return True


def _replace(i: HloInstruction, made: HloInstruction, order: list[int], ordered: _Ordered) -> None:
    """Replace an operation by its form in rows; a transpose to rows that read it is left out."""
    place = i.parent
    for user in list(i.users):
        if user.opcode.name == "transpose" and list(user.attribute("dimensions")) == order:
            place.replace(user, made)
            place.remove(user)
    if not i.users and i is not place.root:
        place.remove(i)
        return
    place.replace(i, ordered(made, [int(d) for d in np.argsort(order)]))
    place.remove(i)
