"""Index maps that only keep, repeat, drop or exchange whole dimensions."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.indexing.expression import Axis, IndexExpression, Place
from xla_explorer.hlo.analysis.indexing.reads import reads_of
from xla_explorer.hlo.instruction import HloInstruction

DimensionMap: TypeAlias = tuple[int, ...]
"""For each dimension of an instruction, the dimension of some root that it runs along."""


def dimensions_read(
    i: HloInstruction, along: DimensionMap
) -> list[tuple[HloInstruction, DimensionMap]] | None:
    """The operands that an instruction reads, each with what its dimensions run along; None where an index is no whole dimension.

    along: what the dimensions of the instruction itself run along.
    """
    own = _own_place(i.shape.dimensions)
    reads = reads_of(i, own)
    if isinstance(reads, Reason):
        return None
    found = []
    for read in reads:
        if read.guards or read.over:
            return None
        if read.place is own:
            found.append((i.operands[read.operand], along))
            continue
        axes = [x.axis for x in read.place]
        if None in axes:
            return None
        found.append(
            (
                i.operands[read.operand],
                tuple([along[int(axis.name)] for axis in axes if axis is not None]),
            )
        )
    return found


@lru_cache(maxsize=4096)
def _own_place(dimensions: tuple[int, ...]) -> Place:
    """Axes named by the number of their dimension. The terms are made by hand: an axis of one step is to stay an axis."""
    return tuple(
        [IndexExpression(((Axis(str(d), extent), 1),)) for d, extent in enumerate(dimensions)]
    )
