"""Recomputation of cheap values in another sharding, instead of a reshard.

An example is a mask made of broadcasts and comparisons. It is computed again on the devices that
need its elements, if resharding the operands moves fewer bytes than resharding the mask.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xla_explorer.compiler.spmd.partitioning.carried_axes import carried
from xla_explorer.compiler.spmd.partitioning.device_axes import DeviceAxes, Tiling
from xla_explorer.hlo.instruction import HloInstruction

MOST_STEPS = 12  # instructions in a row that may be computed again
_FREE = frozenset(["iota", "constant"])


def operand_tilings(axes: DeviceAxes, i: HloInstruction, tiling: Tiling) -> Sequence[Tiling] | None:
    """Return the tilings that the operands need for a result in some tiling.

    None if the instruction is not cheap, or cannot be computed in this tiling.
    """
    name, rank = i.opcode.name, i.shape.rank
    if name in _FREE:
        return ()
    if name == "broadcast":
        return (tiling.mapped(i.attributes.value("dimensions")),)
    if name == "transpose":
        order = i.attributes["dimensions"]
        return (tiling.mapped([order.index(d) for d in range(rank)]),)
    if name == "reshape":
        source = i.operands[0].shape.dimensions
        back = carried(axes, i.shape.dimensions, source, tiling)
        exact = carried(axes, source, i.shape.dimensions, back) == tiling
        return (back,) if exact else None
    if not i.opcode.elementwise or i.opcode.expensive:
        return None
    if any(o.shape.rank not in (0, rank) for o in i.operands):
        return None
    whole = axes.unsplit(0, tiling.manual)
    return tuple([tiling if o.shape.rank else whole for o in i.operands])


def cheaper(
    needed: Sequence[Tiling] | None, costs: Callable[[int, Tiling], float], most: float
) -> float:
    """Return the bytes for all operands; infinity once they reach `most`."""
    if needed is None:
        return math.inf
    sent = 0.0
    for k, tiling in enumerate(needed):
        sent += costs(k, tiling)
        if sent >= most:
            return math.inf
    return sent
