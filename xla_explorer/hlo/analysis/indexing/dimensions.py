"""Index maps that only keep, repeat, drop or exchange whole dimensions."""

from __future__ import annotations

from typing import TypeAlias

from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.indexing.expression import Axis, IndexExpression
from xla_explorer.hlo.analysis.indexing.reads import reads_of
from xla_explorer.hlo.instruction import HloInstruction

DimensionMap: TypeAlias = tuple[int, ...]
"""For each dimension of an instruction, the dimension of some root that it runs along."""


def dimensions_read(i: HloInstruction, along: DimensionMap) -> list[tuple[HloInstruction, DimensionMap]] | None:
    """The operands that an instruction reads, each with what its dimensions run along; None where an index is no whole dimension.

    along: what the dimensions of the instruction itself run along.
    """
    dimensions = i.shape.dimensions
    # Terms made by hand: an axis of one step is to stay an axis.
    axes = {Axis(f"d{k}", extent): d for k, (extent, d) in enumerate(zip(dimensions, along, strict=True))}
    reads = reads_of(i, tuple([IndexExpression(((axis, 1),)) for axis in axes]))
    if isinstance(reads, Reason):
        return None
    found = []
    for read in reads:
        mapping = [axes.get(x.axis) if x.axis is not None else None for x in read.place]
        if read.guards or read.over or None in mapping:
            return None
        found.append((i.operands[read.operand], tuple([d for d in mapping if d is not None])))
    return found
