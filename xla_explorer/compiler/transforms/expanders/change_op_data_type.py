"""change-op-data-type: 16-bit dots, convolutions and factorisations computed in f32.

Only if the machine has no faster way. Source:
xla/hlo/transforms/simplifiers/change_op_data_type.cc, used so by the CPU compiler.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xla_explorer.compiler.decisions.formatters import described
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
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


@register_pass()
@dataclass(frozen=True, slots=True)
class ChangeOpDataType:
    """Convert f16 and bf16 operands to f32, and round the result back.

    Values are at least as exact as accumulation in f32. excess_precision: a reader that widens the
    result to f32 reads it before the rounding.
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
                narrow = (
                    i.opcode.name in _WIDENED
                    and i.shape.is_array
                    and i.shape.element_type.bits == 16
                )
                if (
                    not narrow
                    or context.decide(self.name, (all_types_have_16_bits,), (), i) is not None
                ):
                    continue
                widened = [
                    u
                    for u in i.users
                    if self.excess_precision
                    and u.opcode.name == "convert"
                    and u.shape.element_type is F32
                ]
                operands = [
                    computation.add("convert", o.shape.with_element_type(F32), (o,))
                    for o in i.operands
                ]
                wide = computation.add(
                    i.opcode,
                    i.shape.with_element_type(F32),
                    operands,
                    i.attributes,
                    name=i.name,
                    metadata=i.metadata,
                )
                for user in widened:
                    computation.replace(user, wide)
                    computation.remove(user)
                computation.replace(
                    i, computation.add("convert", i.shape, (wide,), metadata=i.metadata)
                )
                computation.remove(i)
                changed = True
        return changed
