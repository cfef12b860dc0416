"""Dimensions of size one around all-gathers, and equality of exchanges."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.hlo.instruction import HloInstruction


def same_exchange(a: HloInstruction, b: HloInstruction) -> bool:
    """Return True if two collectives exchange alike: all but their channel ids is equal."""
    rows = [x.attributes.with_values(channel_id=None, sharding=None) for x in (a, b)]
    return (
        a.opcode is b.opcode
        and rows[0] == rows[1]
        and ("channel_id" in a.attributes) == ("channel_id" in b.attributes)
        and a.called == b.called
    )


def has_free_layout(i: HloInstruction) -> bool:
    """Return True unless a collective's layout is constrained."""
    return not i.attributes.get("constrain_layout")


def gathered(i: HloInstruction, source: HloInstruction, dimension: int) -> HloInstruction:
    """Add an all-gather of another value along a dimension, with the groups of `i`."""
    operand = i.operands[0]
    axis = i.attributes.value("dimensions")[0]
    sizes = list(source.shape.dimensions)
    sizes[dimension] *= i.shape.dimensions[axis] // max(operand.shape.dimensions[axis], 1)
    attributes = i.attributes.with_values(dimensions=(dimension,), sharding=None)
    shape = source.shape.with_dimensions(sizes)
    return i.parent.add(i.opcode, shape, (source,), attributes, metadata=i.metadata)


def without_ones(dimensions: Sequence[int], kept: int) -> tuple[tuple[int, ...], int]:
    """Return the dimensions without those of size one, and the new number of `kept`.

    Dimension `kept` stays, whatever its size.
    """
    places = [d for d, n in enumerate(dimensions) if n != 1 or d == kept]
    return tuple([dimensions[d] for d in places]), places.index(kept)
