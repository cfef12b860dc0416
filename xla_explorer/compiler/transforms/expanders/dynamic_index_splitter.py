"""Scalar offsets for dynamic slices whose offsets are one vector.

Source: xla/hlo/transforms/expanders/dynamic_index_splitter.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import (
    OpExpanderPass,
    values_of,
    written_attributes,
)
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction

_FIRST_INDEX = {"dynamic-slice": 1, "dynamic-update-slice": 2}


@register_pass()
@dataclasses.dataclass(frozen=True)
class DynamicIndexSplitter(OpExpanderPass):
    """Rewrite dynamic-slice(x, s32[n]) as dynamic-slice(x, s32[], ...), and updates likewise."""

    name: ClassVar[str] = "dynamic-index-splitter"
    opcodes: ClassVar[frozenset[str]] = frozenset(_FIRST_INDEX)

    def matches(self, i: HloInstruction) -> bool:
        """Return True if one operand of rank 1 holds the offsets."""
        first = _FIRST_INDEX[i.opcode.name]
        return len(i.operands) == first + 1 and i.operands[first].shape.rank == 1

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the operation on a slice and a reshape for each dimension."""
        *arrays, offsets = values_of(b, i)
        if not i.shape.rank:
            return arrays[-1]
        scalars = [
            b.reshape(b.slice(offsets, slice=[(k, k + 1, 1)]), ())
            for k in range(offsets.shape.dimensions[0])
        ]
        return b.emit(i.opcode.name, (*arrays, *scalars), written_attributes(i))
