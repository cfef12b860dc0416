"""Gathers whose slices have no elements though their results have."""

from __future__ import annotations

from xla_explorer.hlo.instruction import HloInstruction


def gathers_nothing(i: HloInstruction) -> bool:
    """Return whether each slice of a gather is empty and its result is not: a slice size of 0 in a dimension that the result drops.

    No element of the operand is one of the result then; as XLA, all are zero.
    """
    value = i.attributes.value
    dropped = (*value("collapsed_slice_dims"), *value("operand_batching_dims"))
    return any(value("slice_sizes")[d] == 0 for d in dropped) and bool(i.shape.element_count)
