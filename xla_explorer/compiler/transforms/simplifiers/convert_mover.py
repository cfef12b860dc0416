"""Conversions moved to reduce the bytes of data movement.

Source: xla/hlo/transforms/simplifiers/convert_mover.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import PrimitiveType

_MOVERS = frozenset(["reshape", "transpose", "slice", "broadcast", "reverse", "copy"])


def lossless(source: HloInstruction, target: HloInstruction) -> bool:
    """Return True if the conversion is lossless: converted back, every value is the same."""
    a, b = source.shape.element_type, target.shape.element_type
    if b.is_complex and not a.is_complex:
        a, b = a, b.component
    if a is b or a.is_complex or b.is_complex:
        return True if a is b else b.is_complex and a.bits < b.bits
    if a.is_float and b.is_float:
        return a.bits < b.bits and (a.name, b.name) != ("bf16", "f16")
    if a.is_float or b.is_pred:
        return False
    if b.is_float:
        return a.bits < {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}.get(b.name, 0)
    return a.is_pred or (a.bits < b.bits and (a.is_unsigned or b.is_signed))


@register_pass()
@dataclasses.dataclass(frozen=True)
class ConvertMover:
    """Move widening conversions below data movement, and narrowing ones above.

    Several operands (concatenate, pad) move if all are converted from the same type.
    """

    name: ClassVar[str] = "convert-mover"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Move in both directions, until nothing moves."""
        changed = False
        bodies = module.fusion_computations()
        for computation in [c for c in module.computations.values() if c not in bodies]:
            moved = True
            while moved:  # each move enables another; a conversion moves in one direction only
                moved = False
                for i in list(computation.post_order()):
                    if i.id in computation.instructions:
                        moved |= self._down(i, context) or self._up(i, context)
                changed |= moved
        return changed

    def _down(self, i: HloInstruction, context: PassContext) -> bool:
        """Rewrite op(convert(x)) as convert(op(x)) for a widening conversion."""
        if i.opcode.name not in _MOVERS | {"concatenate", "pad"} or not i.operands:
            return False
        first = i.operands[0]
        if (
            first.opcode.name != "convert"
            or len(first.users) > 1
            or not lossless(first.operands[0], first)
        ):
            return False
        narrow = first.operands[0].shape.element_type
        sources = []
        for operand in i.operands:
            if (
                operand.opcode.name == "convert"
                and operand.operands[0].shape.element_type is narrow
                and len(operand.users) == 1
            ):
                sources.append(operand.operands[0])
            elif (
                operand.opcode.name == "constant"
                and operand.shape.is_scalar
                and _keeps(operand, narrow)
            ):
                sources.append(
                    operand.parent.add_constant(
                        literal_from_array(
                            operand.literal.array.astype(narrow.dtype),
                            operand.shape.with_element_type(narrow),
                        )
                    )
                )
            else:
                return False
        if i.shape.element_type.bits <= narrow.bits:
            return False
        computation, before = i.parent, i.parent.module.next_instruction_id
        moved = computation.add(
            i.opcode,
            i.shape.with_element_type(narrow),
            sources,
            i.attributes.with_values(sharding=None),
            name=i.name,
        )
        context.rewrote(self.name, i, moved, (moved.id,))
        substitute(i, computation.add("convert", i.shape, (moved,)), before)
        return True

    def _up(self, i: HloInstruction, context: PassContext) -> bool:
        """Rewrite convert(op(x)) as op(convert(x)) for a narrowing conversion."""
        if i.opcode.name != "convert":
            return False
        source = i.operands[0]
        if (
            source.opcode.name not in _MOVERS | {"pad"}
            or len(source.users) > 1
            or i.shape.element_type.bits >= source.shape.element_type.bits
        ):
            return False
        if source.opcode.name == "broadcast" and not source.operands[0].shape.rank:
            return False
        computation, before = i.parent, i.parent.module.next_instruction_id
        narrow = [
            computation.add("convert", x.shape.with_element_type(i.shape.element_type), (x,))
            for x in source.operands
        ]
        moved = computation.add(
            source.opcode,
            i.shape,
            narrow,
            source.attributes.with_values(sharding=None),
            name=source.name,
        )
        context.rewrote(self.name, i, moved, (moved.id,))
        substitute(i, moved, before)
        return True


def _keeps(constant: HloInstruction, narrow: PrimitiveType) -> bool:
    value = constant.literal.array
    return bool((value.astype(narrow.dtype).astype(value.dtype) == value).all())
