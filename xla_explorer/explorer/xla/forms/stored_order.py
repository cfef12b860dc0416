"""Forms of a program whose data are stored, or moved, in the order in which they are read.

A form for stored data keeps every operation and leaves out the movement: results have the same
elements in another order. It is timed in place of the program that a user would write with other
data. `moved_rows_first` moves the data inside the program, and its results keep their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from xla_explorer.compiler.spmd.explanation.step_schedule import trip_count
from xla_explorer.explorer.xla.forms.changes import Chosen, changed_copy
from xla_explorer.hlo.attributes import NO_ATTRIBUTES, attributes_of
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def without_transposes(module: HloModule, chosen: Chosen = None) -> HloModule | None:
    """Leave out the transposes that move the last dimension, except for operands of products."""
    return changed_copy(module, left_out_transposes(module), _leave_out, chosen)


def left_out_transposes(module: HloModule) -> list[HloInstruction]:
    """Return the transposes that move the last dimension, the largest first, but for products."""
    if not _runs_alike(module):
        return []
    found = [i for i in module.instructions() if moves_the_last(i) and not _feeds_product(i)]
    return sorted(found, key=lambda i: -i.shape.byte_size)


def rows_first(module: HloModule, chosen: Chosen = None) -> HloModule | None:
    """Index rows where a program indexes its last dimension, with results in rows as well."""
    return changed_copy(module, strewn_rows(module), partial(_index_rows, ordered=_kept), chosen)


def moved_rows_first(module: HloModule) -> HloModule | None:
    """Transpose what is indexed along its last dimension, index rows, and transpose back."""
    found = [i for i in module.instructions() if _indexes_the_last(i) and _takes_most(i)]
    return changed_copy(module, found, partial(_index_rows, ordered=_moved))


def strewn_rows(module: HloModule) -> list[HloInstruction]:
    """Return the gathers and scatters by the last dimension, the largest first."""
    if not _runs_alike(module):
        return []
    found = [i for i in module.instructions() if _indexes_the_last(i)]
    return sorted(found, key=lambda i: -i.shape.byte_size)


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


def _leave_out(transpose: HloInstruction) -> bool:
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
    return True


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


def _indexes_the_last(i: HloInstruction) -> bool:
    """Return True for a gather or scatter of whole rows by an index into the last dimension."""
    if i.opcode.name not in ("gather", "scatter"):
        return False
    is_gather = i.opcode.name == "gather"
    rank = i.operands[0].shape.rank
    key, dropped, batching = _keys(is_gather)
    if len(i.operands) != (2 if is_gather else 3) or rank < 2 or i.attributes.value(batching):
        return False
    return tuple(i.attribute(key)) == (rank - 1,) == tuple(i.attribute(dropped))


def _keys(is_gather: bool) -> tuple[str, str, str]:
    if is_gather:
        return "start_index_map", "collapsed_slice_dims", "operand_batching_dims"
    return "scatter_dims_to_operand_dims", "inserted_window_dims", "input_batching_dims"


def _index_rows(i: HloInstruction, ordered: _Ordered) -> bool:
    """Replace one gather or scatter by an index into the first dimension; False for others."""
    if not _indexes_the_last(i):
        return False
    is_gather = i.opcode.name == "gather"
    array = i.operands[0]
    rank = array.shape.rank
    key, dropped, _ = _keys(is_gather)
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
    """Replace an operation by its form in rows; a transpose to rows that read it is left out.

    If the elements keep their places, element-wise operations may lie between, such as the choice
    of a fill value.
    """
    place = i.parent
    for user in list(i.users):
        if user.opcode.name == "transpose" and list(user.attribute("dimensions")) == order:
            place.replace(user, made)
            place.remove(user)
    behind = _transposes_behind(i, order) if ordered is _kept else []
    if not i.users and i is not place.root:
        place.remove(i)
        return
    place.replace(i, ordered(made, [int(d) for d in np.argsort(order)]))
    place.remove(i)
    for transpose in behind:
        _leave_out(transpose)


def _transposes_behind(i: HloInstruction, order: list[int]) -> list[HloInstruction]:
    """Return the transposes of an order that read a value, through element-wise operations."""
    found, seen, pending = [], {i}, list(i.users)
    while pending:
        user = pending.pop()
        if user in seen:
            continue
        seen.add(user)
        if user.opcode.name == "transpose" and list(user.attribute("dimensions")) == order:
            found.append(user)
        elif user.opcode.elementwise:
            pending += user.users
    return found
