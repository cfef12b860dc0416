"""All-gathers before reshapes that only add or remove dimensions of size one.

Two all-gathers of differently reshaped shards of one array are then equal. Source:
xla/service/spmd/canonicalize_all_gather_for_cse.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.compiler.transforms.collectives.gather_dimensions import gathered, has_free_layout
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


@register_pass()
@dataclasses.dataclass(frozen=True)
class CanonAllGatherForCse(OpExpanderPass):
    """Rewrite all-gather(reshape(x)) as reshape(all-gather(x))."""

    name: ClassVar[str] = "canon-all-gather-for-cse"
    opcodes: ClassVar[frozenset[str]] = frozenset(["all-gather"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for a reshape that only adds or removes dimensions of size one."""
        return (
            len(i.operands) == 1
            and i.shape.is_array
            and has_free_layout(i)
            and i.operands[0].opcode.name == "reshape"
            and _source(i) is not i.operands[0]
            and _gathered_dimension(i, _source(i)) is not None
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the reshaped all-gather."""
        source = _source(i)
        dimension = _gathered_dimension(i, source)
        assert dimension is not None
        return HloValue(b, gathered(i, source, dimension)).reshape(*i.shape.dimensions)


def _source(i: HloInstruction) -> HloInstruction:
    """Return the value below the reshapes of an all-gather's operand."""
    x = i.operands[0]
    while x.opcode.name == "reshape" and _long(x) == _long(x.operands[0]):
        x = x.operands[0]
    return x


def _long(x: HloInstruction) -> list[int]:
    return [n for n in x.shape.dimensions if n != 1]


def _gathered_dimension(i: HloInstruction, source: HloInstruction) -> int | None:
    """Return the dimension of the source along which the gathered elements have the same order.

    A gathered dimension of size one is the outer part of the next longer one.
    """
    axis, sizes = i.attributes.value("dimensions")[0], i.operands[0].shape.dimensions
    before = len([n for n in sizes[:axis] if n != 1])
    places = [d for d, n in enumerate(source.shape.dimensions) if n != 1]
    return places[before] if before < len(places) else None
