"""Transposes of reduce-scatters in loops, moved in front of the reduce-scatter.

The reduce-scatter then feeds the sum, or the write, that
`while-loop-all-reduce-code-motion` looks for. Source: xla/service/
while_loop_all_reduce_code_motion_setup.cc (ReorderReduceTranspose).

============================================  ===============================================
handled by XLA                                here
============================================  ===============================================
transpose(reduce-scatter(x)), with a convert  reduce-scatter(transpose(x)), the scattered
or without between                            dimension moved along
read by an addition or by a reshape that a    required, as in XLA
dynamic-update-slice writes
several readers                               unchanged
============================================  ===============================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType


def _source(i: HloInstruction) -> HloInstruction | None:
    """Return the reduce-scatter behind the transpose, past a convert, each with one reader."""
    x = i.operands[0]
    if x.opcode.name == "convert" and len(x.users) == 1:
        x = x.operands[0]
    fits = x.opcode.name == "reduce-scatter" and len(x.operands) == 1 and len(x.users) == 1
    return x if fits else None


def accumulated(i: HloInstruction) -> bool:
    """Return True if an addition reads the value, or a reshape of it that is written into one."""
    if len(i.users) != 1:
        return False
    [user] = i.users
    if user.opcode.name == "reshape" and len(user.users) == 1:
        [user] = user.users
        return user.opcode.name == "dynamic-update-slice"
    return user.opcode.name in ("add", "dynamic-update-slice")


@register_pass()
@dataclasses.dataclass(frozen=True)
class ReorderReduceTranspose(OpExpanderPass):
    """Transpose the operand of a reduce-scatter instead of its result."""

    name: ClassVar[str] = "reorder-reduce-transpose"
    opcodes: ClassVar[frozenset[str]] = frozenset(["transpose"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True in a loop's body, for a reduce-scatter behind and a sum in front."""
        return not i.parent.is_entry and _source(i) is not None and accumulated(i)

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue | None:
        """Return the reduce-scatter of a transpose."""
        scatter, computation = _source(i), b.computation
        if scatter is None:
            return None
        order = i.attributes["dimensions"]
        value = scatter.operands[0]
        kind: PrimitiveType = i.shape.element_type
        if kind is not value.shape.element_type:
            value = computation.add("convert", value.shape.with_element_type(kind), (value,))
        sizes = [value.shape.dimensions[d] for d in order]
        moved = computation.add(
            "transpose", value.shape.base.with_dimensions(sizes), (value,), i.attributes
        )
        [along] = scatter.attributes["dimensions"]
        attributes = scatter.attributes.with_values(
            dimensions=(list(order).index(along),), sharding=None
        )
        called = scatter.called
        if kind is not scatter.shape.element_type:
            called = (_reducer_of(scatter, kind),)
        made = computation.add(
            scatter.opcode, i.shape, (moved,), attributes, called=called, metadata=scatter.metadata
        )
        return HloValue(b, made)


def _reducer_of(scatter: HloInstruction, kind: PrimitiveType) -> HloComputation:
    """Return the reducer in another element type."""
    made = scatter.called[0].clone(f"{scatter.called[0].name}.{kind.name}")
    for i in list(made.instructions.values()):
        made.set_shape(i, i.shape.with_element_type(kind))
    return made
