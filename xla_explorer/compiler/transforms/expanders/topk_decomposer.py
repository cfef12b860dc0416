"""topk (and the TopK custom call) as a stable sort and slices.

Source: xla/service/topk_rewriter.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32
from xla_explorer.hlo.shape import array_shape


def first_of_last_dimension(b: HloBuilder, x: HloValue, count: int) -> HloValue:
    """Return the first `count` elements along the last dimension."""
    limits = [*x.shape.dimensions[:-1], count]
    return b.slice(x, slice=[(0, n, 1) for n in limits])


def with_places(b: HloBuilder, comparator: HloComputation) -> HloComputation:
    """Return the comparator with parameters for places, added and ignored if absent."""
    if len(comparator.parameters()) == 4:
        return comparator
    copy = comparator.clone(f"{comparator.name}.clone")
    for number in (2, 3):
        copy.add_parameter(number, array_shape(S32, ()))
    return copy


@register_pass()
@dataclasses.dataclass(frozen=True)
class TopkDecomposer(OpExpanderPass):
    """Sort the last dimension with an iota, and keep the first k values and places."""

    name: ClassVar[str] = "topk-decomposer"
    opcodes: ClassVar[frozenset[str]] = frozenset(["topk", "custom-call"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for topk, or a custom call TopK with values and places as its result."""
        if i.opcode.name == "topk":
            return True
        target = custom_call_target(i)
        return (
            target == "TopK"
            and i.shape.is_tuple
            and len(i.shape.tuple_shapes) == 2
            and len(i.called) == 1
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return a sort, two slices and a tuple."""
        [x] = values_of(b, i)
        along = x.ndim - 1
        count = i.shape.tuple_shapes[0].dimensions[-1]
        places = b.iota(x.shape.base.with_element_type(S32), along)
        if i.opcode.name == "topk":
            direction = "GT" if i.attributes.value("largest") else "LT"
            order = "TOTALORDER" if x.dtype.is_float else None
            comparator = b.nested(
                "compare-greater-than" if direction == "GT" else "compare-less-than"
            )
            keys = [comparator.parameter(x.dtype, f"p.0.{side}") for side in ("lhs", "rhs")]
            for side in ("lhs", "rhs"):
                comparator.parameter(S32, f"p.1.{side}")
            comparator.computation.set_root(
                comparator.compare(keys[0], keys[1], direction, order).instruction
            )
            compared = comparator.computation
        else:
            compared = with_places(b, i.called[0])
        sorted_ = b.sort(x, places, dimensions=[along], is_stable=True, to_apply=compared)
        return b.tuple(*[first_of_last_dimension(b, sorted_[k], count) for k in (0, 1)])
