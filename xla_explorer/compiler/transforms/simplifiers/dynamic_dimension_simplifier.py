"""Removal of redundant reshapes and concatenations in computations of dynamic sizes.

Source: xla/hlo/transforms/simplifiers/dynamic_dimension_simplifier.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


@register_pass()
@dataclasses.dataclass(frozen=True)
class DynamicDimensionSimplifier(OpExpanderPass):
    """Remove redundant concatenates, slices, reshapes and converts of sizes.

    Concatenates of concatenates and slices of a concatenate are merged. Reshapes to the same shape,
    of reshapes and of scalar broadcasts are removed, and converts to the same type.
    """

    name: ClassVar[str] = "dynamic-dimension-simplifier"
    opcodes: ClassVar[frozenset[str]] = frozenset(["concatenate", "slice", "reshape", "convert"])

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue | None:
        """Return the replacement for the opcode, or None."""
        operands = values_of(b, i)
        source = i.operands[0]
        name = i.opcode.name
        if name == "concatenate":
            along = i.attributes["dimensions"][0]
            if i.shape.rank != 1 or not any(_concatenates(o) for o in i.operands):
                return None
            parts = [
                v
                for o in i.operands
                for v in (values_of(b, o) if _concatenates(o) else [HloValue(b, o)])
            ]
            return b.concatenate(*parts, dimensions=[along])
        if name == "slice":
            [one, *rest] = i.attributes["slice"]
            single = not rest and one.limit - one.start == 1 and one.stride == 1
            if (
                not single
                or not _concatenates(source)
                or any(o.shape.element_count != 1 for o in source.operands)
            ):
                return None
            return HloValue(b, source.operands[one.start])
        if i.shape is source.shape:
            return operands[0]
        if (
            name == "reshape"
            and source.opcode.name == "reshape"
            and source.operands[0].shape.base is i.shape.base
        ):
            return values_of(b, source)[0]
        if (
            name == "reshape"
            and source.opcode.name == "broadcast"
            and source.operands[0].shape.base is i.shape.base
            and not i.shape.rank
        ):
            return values_of(b, source)[0]
        return None


def _concatenates(i: HloInstruction) -> bool:
    return i.opcode.name == "concatenate" and i.shape.rank == 1
