"""The form of the last elements of sorted rows that selects the largest without sorting."""

from __future__ import annotations

from xla_explorer.explorer.xla.differences.excerpt import flattened
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.evaluator.sorting import comparator_keys
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_MOST = 1 / 16  # of a row: the selection of more is no faster than a sort


def largest_by_top_k(module: HloModule) -> HloModule | None:
    """Select the largest elements of each row by top_k, in place of a sort of whole rows."""
    copy, changed = flattened(module), False
    for computation in list(copy.computations.values()):
        for i in list(computation.instructions.values()):
            if i.opcode.name == "slice" and _select(i):
                changed = True
    return copy if changed else None


def _select(last: HloInstruction) -> bool:
    """Replace a slice of the last elements of sorted rows; return False for other slices."""
    [sort] = last.operands
    if sort.opcode.name != "sort" or not sort.shape.is_array or sort.shape.rank != 2:
        return False
    rows, columns = sort.shape.dimensions
    count = last.shape.dimensions[1]
    keys = comparator_keys(sort.called[0])
    is_last = (
        tuple(sort.attribute("dimensions")) == (1,)
        and last.shape.dimensions[0] == rows
        and [tuple(one)[:2] for one in last.attribute("slice")][1:] == [(columns - count, columns)]
        and list(sort.users) == [last]
    )
    if not is_last or keys is None or len(keys) != 1 or not keys[0].ascending:
        return False
    if not 0 < count <= _MOST * columns:
        return False
    place = last.parent
    pair = place.add(
        "topk", None, [sort.operands[0]], attributes_of({"k": count, "largest": True}),
        metadata=sort.metadata,
    )  # fmt: skip
    values = place.add("get-tuple-element", None, [pair], attributes_of({"index": 0}))
    made = place.add("reverse", last.shape, [values], attributes_of({"dimensions": (1,)}))
    place.replace(last, made)
    place.remove(last)
    place.remove(sort)
    return True
