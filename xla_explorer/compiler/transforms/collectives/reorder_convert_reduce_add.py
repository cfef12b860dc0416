"""Moving of conversions in front of sums over devices.

Source: xla/service/gpu/transforms/reorder_convert_reduce_add.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.decisions.formatters import described
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.compiler.transforms.collectives.reassociation import reduction_kind
from xla_explorer.compiler.transforms.simplifiers.algebraic.contractions import add_reducer
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


@value_formatter(
    lambda convert: f"{described(convert.operands[0])}, users {len(convert.operands[0].users)}"
)
def converts_a_sum(convert: HloInstruction) -> Reason | None:
    """Require that the operand is a sum of one array over devices without other readers."""
    total = convert.operands[0]
    if reduction_kind(total) != "add" or len(total.operands) != 1 or len(total.users) != 1:
        return refuse(
            "not-a-sum", f"%{total.name} is not a sum of one array that %{convert.name} alone reads"
        )
    return None


@value_formatter(
    lambda convert: (
        f"{convert.operands[0].shape.element_type.name} to {convert.shape.element_type.name}"
    )
)
def sum_commutes_with_convert(convert: HloInstruction) -> Reason | None:
    """Require that the sum in the new type is nearly the same.

    True of floats in another float type, and of narrowed integers: they wrap around. False of
    widened integers, and of floats that are converted to integers.
    """
    before, after = convert.operands[0].shape.element_type, convert.shape.element_type
    fractions = (before.is_float or before.is_complex) and (after.is_float or after.is_complex)
    if fractions or (before.is_integer and after.is_integer and after.bits <= before.bits):
        return None
    return refuse(
        "sums-differ",
        f"a sum of {before} differs from the sum of the values as {after}",
        of=before.name,
        to=after.name,
    )


@register_pass()
@dataclasses.dataclass(frozen=True)
class ReorderConvertReduceAdd:
    """Rewrite convert(all-reduce(x)) + y as all-reduce(convert(x)) + y, to merge sums.

    enable_reduce_scatter: rewrite reduce-scatters too.
    """

    name: ClassVar[str] = "reorder-convert-reduce-add"
    enable_reduce_scatter: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every addition."""
        sums = ("all-reduce", "reduce-scatter") if self.enable_reduce_scatter else ("all-reduce",)
        changed = False
        for computation in list(module.computations.values()):
            for i in [i for i in computation.post_order() if i.opcode.name == "add"]:
                for convert in dict.fromkeys(i.operands):
                    if convert.opcode.name == "convert" and convert.operands[0].opcode.name in sums:
                        changed |= self._reorder(convert, context)
        return changed

    def _reorder(self, convert: HloInstruction, context: PassContext) -> bool:
        if (
            context.decide(self.name, (converts_a_sum, sum_commutes_with_convert), (), convert)
            is not None
        ):
            return False
        computation, total = convert.parent, convert.operands[0]
        before = computation.module.next_instruction_id
        x = total.operands[0]
        early = computation.add(
            convert.opcode,
            x.shape.with_element_type(convert.shape.element_type),
            (x,),
            metadata=convert.metadata,
        )
        called = (add_reducer(computation, convert.shape),)
        made = computation.add(
            total.opcode,
            convert.shape,
            (early,),
            total.attributes,
            called=called,
            metadata=total.metadata,
        )
        context.rewrote(
            self.name, convert, made, tuple(range(before, computation.module.next_instruction_id))
        )
        substitute(convert, made, before)
        return True
