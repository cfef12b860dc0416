"""Maps of one operation as that operation. Source: xla/service/map_inliner.cc."""

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


@register_pass()
@dataclasses.dataclass(frozen=True)
class MapInliner(OpExpanderPass):
    """Replace a map of one elementwise operation, a constant or a parameter by that operation."""

    name: ClassVar[str] = "map-inline"
    opcodes: ClassVar[frozenset[str]] = frozenset(["map"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for one elementwise operation on parameters, a constant or a parameter."""
        root = i.called[0].root
        simple = root.opcode.elementwise or root.opcode.name in ("constant", "parameter")
        return simple and all(o.opcode.name == "parameter" for o in root.operands)

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the operation on arrays."""
        root, operands = i.called[0].root, values_of(b, i)
        if root.opcode.name == "parameter":
            return operands[root.parameter_number]
        if root.opcode.name == "constant":
            return b.broadcast(b.constant(root.literal), i.shape.dimensions, ())
        return b.emit(
            root.opcode.name,
            [operands[o.parameter_number] for o in root.operands],
            written_attributes(root),
            shape=i.shape,
        )
