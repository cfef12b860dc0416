"""Count of instances that the elemental emitter writes for each fused instruction.

An instruction is emitted once for each index at which its users read it. Elementwise users read at
their own indices and share an instance; any other user adds instances. Twenty rounds of `x +
reverse(x)` read the first x at a million indices. Source of the idea:
xla/service/fusion_node_indexing_evaluation.h.
"""

from __future__ import annotations

from typing import Any, Final

from xla_explorer.compiler.codegen.elemental.registry import ELEMENTWISE_EMITTERS
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

LEAST_LIMIT: Final = 30_000
MOST_GROWTH: Final = 8
LEAST_IN_NEST: Final = (
    5_000  # of a kernel with a loop nest only, which has less than twice as many statements
)
_NESTS: Final = frozenset(("dot", "reduce-window"))
# The element that they read depends only on the index, the attributes and the shapes.
_INDEX_MAPS: Final = frozenset(
    ("bitcast", "broadcast", "concatenate", "pad", "reshape", "reverse", "slice", "transpose")
)


def emission_is_bounded(computation: HloComputation) -> Reason | None:
    """Require code size in proportion to the instructions of a fused computation."""
    in_nest = computation.root.opcode.name in _NESTS
    limit = (
        LEAST_IN_NEST if in_nest else max(LEAST_LIMIT, MOST_GROWTH * len(computation.instructions))
    )
    # For each instruction: the indices at which users read it, counted by their origin.
    requests: dict[HloInstruction, dict[Any, int]] = {}
    places: dict[frozenset[Any], int] = {}
    root, total = computation.root, 0
    for i in reversed(computation.post_order()):
        own = {(): 1} if i is root or not i.shape.rank else requests.pop(i, {})
        count = sum(own.values())
        total += count
        if total > limit:
            return refuse(
                "too-many-instructions",
                f"%{i.name} and its users would be emitted more than {limit:,} times in one kernel",
                instructions=total,
                limit=limit,
            )
        shares = i.opcode.name in ELEMENTWISE_EMITTERS
        place = places.setdefault(frozenset(own), len(places))
        for number, operand in enumerate(i.operands):
            wanted = requests.setdefault(operand, {})
            if i is root and root.opcode.name == "tuple":
                wanted[()] = 1
            elif shares and operand.shape.dimensions == i.shape.dimensions:
                wanted.update(own)
            else:
                wanted[_map(i, number), place] = count
    return None


def _map(i: HloInstruction, number: int) -> Any:
    if i.opcode.name not in _INDEX_MAPS:
        return i.id
    return (
        i.opcode.name,
        i.attributes,
        i.shape.dimensions,
        tuple([o.shape.dimensions for o in i.operands]),
        number,
    )
