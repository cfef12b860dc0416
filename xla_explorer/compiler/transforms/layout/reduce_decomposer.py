"""Reductions whose layout follows the operand, and copies to the layout of the result.

Source: xla/hlo/transforms/simplifiers/../expanders/reduce_decomposer.cc
(xla/service/reduce_decomposer.cc).

==========================================  ==================================================
handled by XLA                              here
==========================================  ==================================================
one operand: the operand's layout without   the same, and a copy to the result's layout
the reduced dimensions differs
several operands                            the same, if all results agree
a predicate of the backend for layouts that custom_layout_allowed of all reductions
it can write
layouts before assignment                   none stated: unchanged
==========================================  ==================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape, tuple_shape


def natural_shape(i: HloInstruction, number: int = 0) -> Shape:
    """Return a result's shape with the operand's layout, less the reduced dimensions."""
    operand = i.operands[number].shape
    result = i.shape.tuple_shapes[number] if i.shape.is_tuple else i.shape
    kept = [d for d in range(operand.rank) if d not in i.attributes["dimensions"]]
    order = [kept.index(d) for d in operand.layout.minor_to_major if d in kept]
    return result.with_layout(tuple(order))


@register_pass()
@dataclasses.dataclass(frozen=True)
class ReduceDecomposer(OpExpanderPass):
    """Let a reduction write the layout of its operand, and copy to another one.

    any_layout: reductions write any layout; nothing is copied.
    """

    name: ClassVar[str] = "reduce-decomposer"
    opcodes: ClassVar[frozenset[str]] = frozenset(["reduce"])
    any_layout: bool = False

    def matches(self, i: HloInstruction) -> bool:
        """Return True if a result's layout is not the operand's."""
        if self.any_layout:
            return False
        results = i.shape.tuple_shapes if i.shape.is_tuple else (i.shape,)
        return any(natural_shape(i, k) is not shape for k, shape in enumerate(results))

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return copies of a reduction in the operand's layout."""
        computation = b.computation
        results = i.shape.tuple_shapes if i.shape.is_tuple else (i.shape,)
        natural = [natural_shape(i, k) for k in range(len(results))]
        made = computation.add(
            i.opcode,
            tuple_shape(natural) if i.shape.is_tuple else natural[0],
            i.operands,
            i.attributes.with_values(sharding=None),
            called=i.called,
            metadata=i.metadata,
        )
        if not i.shape.is_tuple:
            return HloValue(b, computation.add("copy", i.shape, (made,)))
        copies = []
        for k, (shape, own) in enumerate(zip(results, natural, strict=True)):
            part = computation.add("get-tuple-element", own, (made,), attributes_of({"index": k}))
            copies.append(computation.add("copy", shape, (part,)) if own is not shape else part)
        return HloValue(b, computation.add("tuple", i.shape, copies))
