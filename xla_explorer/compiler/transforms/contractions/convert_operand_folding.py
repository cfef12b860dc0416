"""Folding of widening conversions into dots and convolutions.

Source: xla/service/convert_operand_folding.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, own_attributes
from xla_explorer.compiler.rewriting.patterns import uniform_value
from xla_explorer.compiler.transforms.simplifiers.algebraic.facts import plain_reducer
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


def _widens(i: HloInstruction) -> bool:
    if i.opcode.name != "convert":
        return False
    a, b = i.operands[0].shape.element_type, i.shape.element_type
    if a.is_integer and b.is_float:
        return a.bits < b.bits
    integers = a.is_integer and b.is_integer and a.bits <= b.bits and (a.is_unsigned or b.is_signed)
    return integers or (a.is_float and b.is_float and a.bits < b.bits)


# Pure data movement: it works on the narrow type as well.
_MOVES = frozenset(["dynamic-slice", "gather", "reshape", "slice", "transpose"])


def _is_reshape(i: HloInstruction) -> bool:
    """Return True for a sum from zero over dimensions of size one."""
    if (
        i.opcode.name != "reduce"
        or len(i.operands) != 2
        or i.shape.element_count != i.operands[0].shape.element_count
    ):
        return False
    return plain_reducer(i.called[0]) == "add" and uniform_value(i.operands[1]) == 0


def _widens_before_moves(i: HloInstruction) -> bool:
    """Return True for a widening conversion, or data movement of one."""
    while i.opcode.name in _MOVES or _is_reshape(i):
        i = i.operands[0]
    return _widens(i)


def _narrow(i: HloInstruction) -> HloInstruction:
    """Return the operand of the conversion, with the data movement of `i`."""
    if _widens(i):
        return i.operands[0]
    moved = _narrow(i.operands[0])
    shape = i.shape.with_element_type(moved.shape.element_type)
    if i.opcode.name == "reduce":
        return i.parent.add("reshape", shape, (moved,), metadata=i.metadata)
    return i.parent.add(
        i.opcode,
        shape,
        (moved, *i.operands[1:]),
        i.attributes,
        called=i.called,
        metadata=i.metadata,
    )


@register_pass()
@dataclasses.dataclass(frozen=True)
class ConvertOperandFolding(OpExpanderPass):
    """Rewrite dot(convert(x), y) as dot(x, y) of the same result type for a widening convert.

    Reshapes and the like may stand between.
    """

    name: ClassVar[str] = "convert_operand_folding"
    opcodes: ClassVar[frozenset[str]] = frozenset(["dot", "convolution"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True if an operand is a widening conversion, or data movement of one."""
        return any(_widens_before_moves(o) for o in i.operands)

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the operation on the narrow operands."""
        operands = [HloValue(b, _narrow(o) if _widens_before_moves(o) else o) for o in i.operands]
        return b.emit(i.opcode.name, operands, own_attributes(i), shape=i.shape)
