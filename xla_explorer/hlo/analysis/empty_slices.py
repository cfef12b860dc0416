"""Gathers whose slices have no elements."""

from __future__ import annotations

from xla_explorer.hlo.instruction import HloInstruction


def gathers_nothing(i: HloInstruction) -> bool:
    """Return True if each slice of a gather is empty by a size of 0 in a dropped dimension.

    The result may have elements all the same; as in XLA, they are zero.
    """
    value = i.attributes.value
    dropped = (*value("collapsed_slice_dims"), *value("operand_batching_dims"))
    return any(value("slice_sizes")[d] == 0 for d in dropped)
