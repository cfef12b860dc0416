"""Index maps that only keep, broadcast, drop or permute whole dimensions."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.indexing.expression import Axis, IndexExpression, Place
from xla_explorer.hlo.analysis.indexing.reads import reads_of
from xla_explorer.hlo.instruction import HloInstruction

DimensionMap: TypeAlias = tuple[int, ...]
"""For each dimension of an instruction, the dimension of a root that it runs along."""


def dimensions_read(
    i: HloInstruction, along: DimensionMap
) -> list[tuple[HloInstruction, DimensionMap]] | None:
    """Return the operands that an instruction reads, each with its dimension map.

    None if an index is not a whole dimension. along: the dimension map of the instruction itself.
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
    """Return axes named by the number of their dimension.

    The terms are built directly, because `index` would simplify an axis of extent 1 to 0.
    """
    return tuple(
        [IndexExpression(((Axis(str(d), extent), 1),)) for d, extent in enumerate(dimensions)]
    )
