"""Forms of a program whose data are stored in the order in which they are read.

The form keeps every operation and leaves out the movement: results have the same elements in
another order. It is timed in place of the program that a user would write with other data.
"""

from __future__ import annotations

from xla_explorer.compiler.spmd.explanation.step_schedule import trip_count
from xla_explorer.hlo.attributes import NO_ATTRIBUTES
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
        if i.opcode.name in ("gather", "scatter") and _index_rows(i):
            changed = True
    return copy if changed else None


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


def _index_rows(i: HloInstruction) -> bool:
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
    by_rows = array.shape.with_dimensions(
        [array.shape.dimensions[-1], *array.shape.dimensions[:-1]]
    )
    given = place.add("reshape", by_rows, [array], NO_ATTRIBUTES)
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
        _replace(i, made, order)
        return True
    update = place.add("reshape", turned, [i.operands[2]], NO_ATTRIBUTES)
    attributes = i.attributes.with_values(**values)
    operands = [given, i.operands[1], update]
    made = place.add("scatter", by_rows, operands, attributes, called=i.called, metadata=i.metadata)
    _replace(i, made, None)
    return True


def _replace(i: HloInstruction, made: HloInstruction, order: list[int] | None) -> None:
    """Replace an operation by its form in rows; a transpose to rows that read it is left out."""
    place = i.parent
    for user in list(i.users):
        if order is not None and user.opcode.name == "transpose":
            if list(user.attribute("dimensions")) == order:
                place.replace(user, made)
                place.remove(user)
    back = place.add("reshape", i.shape.with_dimensions(i.shape.dimensions), [made], NO_ATTRIBUTES)
    place.replace(i, back)
    place.remove(i)
