"""Inlining of a called computation: on scalars by a call, on arrays by lifting its operations."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.rewriting.op_expander_pass import written_attributes
from xla_explorer.compiler.transforms.inlining.call_inliner import inline_call
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction


def apply_inline(b: HloBuilder, computation: HloComputation, *operands: HloValue) -> HloValue:
    """Return the result of the computation on values of its parameter shapes, inlined."""
    call = b.emit("call", operands, {"to_apply": computation})
    holder = b.tuple(call)
    inline_call(call.instruction)
    result = HloValue(b, holder.instruction.operands[0])
    b.computation.remove(holder.instruction)
    return result


@value_formatter(
    lambda i: (
        "opcodes "
        f"{', '.join(dict.fromkeys([x.opcode.name for x in i.called[-1].instructions.values()]))}"
    )
)
def liftable(i: HloInstruction) -> Reason | None:
    """Require that `i` applies only elementwise operations, constants and a tuple of results."""
    for inner in i.called[-1].instructions.values():
        fits = (inner.opcode.elementwise and not inner.called) or inner.opcode.name in (
            "parameter",
            "constant",
        )
        if not fits and not (inner.opcode.name == "tuple" and inner.is_root):
            return refuse(
                "not-elementwise",
                f"%{inner.name} in %{inner.parent.name} is a {inner.opcode.name}",
                opcode=inner.opcode.name,
            )
    return None


def apply_lifted(
    b: HloBuilder, computation: HloComputation, operands: Sequence[HloValue]
) -> list[HloValue]:
    """Return the results of a scalar computation, applied to all elements of same-shape arrays."""
    dimensions = operands[0].shape.dimensions
    done: dict[HloInstruction, HloValue] = {}
    for i in computation.post_order():
        if i.opcode.name == "parameter":
            done[i] = operands[i.parameter_number]
        elif i.opcode.name == "constant":
            done[i] = (
                b.broadcast(b.constant(i.literal), dimensions, ())
                if dimensions
                else b.constant(i.literal)
            )
        elif i.opcode.name != "tuple":
            shape = operands[0].shape.base.with_element_type(i.shape.element_type)
            done[i] = b.emit(
                i.opcode.name, [done[o] for o in i.operands], written_attributes(i), shape=shape
            )
    root = computation.root
    return [done[o] for o in root.operands] if root.opcode.name == "tuple" else [done[root]]
