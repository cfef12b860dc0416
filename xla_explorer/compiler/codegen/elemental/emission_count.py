"""How often the elemental emitter writes the instructions of a fused computation.

An instruction is written once for each index at which its users ask for it. Elementwise users ask
at their own indices, so that they share; any other makes new ones, and twenty rounds of `x +
reverse(x)` ask for the first x at a million places. Source of the idea:
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
LEAST_IN_NEST: Final = 5_000  # of a kernel that nothing but a loop nest describes, which has less than twice as many statements
_NESTS: Final = frozenset(("dot", "reduce-window"))
# Which element they read follows from the index, the attributes and the shapes alone.
_INDEX_MAPS: Final = frozenset(
    ("bitcast", "broadcast", "concatenate", "pad", "reshape", "reverse", "slice", "transpose")
)


def emission_is_bounded(computation: HloComputation) -> Reason | None:
    """None when the code of a fused computation stays in proportion to its instructions."""
    in_nest = computation.root.opcode.name in _NESTS
    limit = (
        LEAST_IN_NEST if in_nest else max(LEAST_LIMIT, MOST_GROWTH * len(computation.instructions))
    )
    # For each instruction the indices at which it is asked for: by where they come from, how many.
    asked: dict[HloInstruction, dict[Any, int]] = {}
    places: dict[frozenset[Any], int] = {}
    root, total = computation.root, 0
    for i in reversed(computation.post_order()):
        own = {(): 1} if i is root or not i.shape.rank else asked.pop(i, {})
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
            wanted = asked.setdefault(operand, {})
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
