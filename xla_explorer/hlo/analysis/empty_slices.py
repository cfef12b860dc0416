"""Gathers whose slices have no elements."""

from __future__ import annotations

from xla_explorer.hlo.instruction import HloInstruction


def gathers_nothing(i: HloInstruction) -> bool:
    """Return whether each slice of a gather is empty by a size of 0 in a dimension that the result drops.

    No element of the operand is one of the result then, which may have some: as in XLA, all are zero.
    """
    value = i.attributes.value
    dropped = (*value("collapsed_slice_dims"), *value("operand_batching_dims"))
    return any(value("slice_sizes")[d] == 0 for d in dropped)
