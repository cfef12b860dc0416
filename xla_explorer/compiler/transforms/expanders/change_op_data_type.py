"""change-op-data-type: 16-bit dots, convolutions and factorisations computed in f32.

Only if the machine has no faster way. Source:
xla/hlo/transforms/simplifiers/change_op_data_type.cc, used so by the CPU compiler.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xla_explorer.compiler.codegen.kernels.products.dot_instruction_plan import (
    DotInstructionPlan,
    plan_dot_instruction,
)
from xla_explorer.compiler.decisions.formatters import described
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.reason import Reason, refuse, settled, value_formatter
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import F32

_WIDENED = frozenset({"dot", "convolution", "cholesky", "triangular-solve"})


@value_formatter(
    lambda i: f"{described(i)} of {', '.join([o.shape.text_without_layout for o in i.operands])}"
)
def all_types_have_16_bits(i: HloInstruction) -> Reason | None:
    """Require one type of 16-bit floats for operands and result."""
    types = [i.shape.element_type, *[o.shape.element_type for o in i.operands]]
    if len(set(types)) > 1 or not all(t is not None and t.is_float and t.bits == 16 for t in types):
        return refuse(
            "not-16-bit",
            f"%{i.name} is {', '.join([str(t) for t in types])}, not one type of 16-bit floats",
        )
    return None


def _has_instruction(i: HloInstruction, target: Target) -> Reason | None:
    """Return a refusal if the target multiplies the operands as they are, else None."""
    if i.opcode.name != "dot" or not isinstance(
        plan_dot_instruction(i, target), DotInstructionPlan
    ):
        return None
    element_type = i.operands[0].shape.element_type.name
    return refuse(
        "has-dot-product-instruction",
        f"%{i.name}: the CPU has dot-product instructions for {element_type}, with f32 sums",
        element_type=element_type,
    )


@register_pass()
@dataclass(frozen=True, slots=True)
class ChangeOpDataType:
    """Convert f16 and bf16 operands to f32, and round the result back.

    Values are at least as exact as accumulation in f32. A dot with dot-product instructions for its
    type stays. excess_precision: a reader that widens the result to f32 reads it before the
    rounding.
    """

    name: ClassVar[str] = "change-op-data-type"
    excess_precision: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every dot, convolution and factorisation outside fusions."""
        changed = False
        fused = module.fusion_computations()
        for computation in list(module.computations.values()):
            if computation in fused:
                continue
            for i in list(
                computation.post_order()
            ):  # producers first: the operands of a product are still rounded
                if (
                    i.opcode.name in _WIDENED
                    and i.shape.is_array
                    and i.shape.element_type.bits == 16
                ):
                    changed |= self._visit(computation, i, context)
        return changed

    def _visit(self, computation: HloComputation, i: HloInstruction, context: PassContext) -> bool:
        """Widen an instruction, or only its result if the operands have an instruction."""
        has_instruction = _has_instruction(i, context.target)
        name = "no-dot-product-instruction-for-the-type"
        checks = (settled(name, has_instruction, lambda: described(i)),)
        widened = self._widened_readers(i)
        operands: Sequence[HloInstruction] = i.operands
        if context.decide(self.name, (all_types_have_16_bits,), checks, i) is None:
            operands = [
                computation.add("convert", o.shape.with_element_type(F32), (o,)) for o in operands
            ]
        elif has_instruction is None or not widened:
            return False
        wide_type = i.shape.with_element_type(F32)
        wide = computation.add(
            i.opcode, wide_type, operands, i.attributes, name=i.name, metadata=i.metadata
        )
        for user in widened:
            computation.replace(user, wide)
            computation.remove(user)
        computation.replace(i, computation.add("convert", i.shape, (wide,), metadata=i.metadata))
        computation.remove(i)
        return True

    def _widened_readers(self, i: HloInstruction) -> list[HloInstruction]:
        """Return the conversions to f32 that may read the result before the rounding."""
        return [
            u
            for u in i.users
            if self.excess_precision and u.opcode.name == "convert" and u.shape.element_type is F32
        ]
