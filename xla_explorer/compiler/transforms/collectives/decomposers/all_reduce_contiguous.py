"""All-reduces of several arrays as one of their concatenation.

Source: xla/backends/gpu/transforms/all_reduce_contiguous.cc
(xla/hlo/transforms/collectives/all_reduce_contiguous.cc).

=======================================  ==============================================
handled by XLA                           here
=======================================  ==============================================
several operands of one element type     the same: bitcasts, concatenate, slices
one operand                              unchanged
operands of several element types        not handled by either: XLA's types are equal
=======================================  ==============================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.attributes.values import SliceDimension
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import array_shape


@register_pass()
@dataclasses.dataclass(frozen=True)
class AllReduceContiguous(OpExpanderPass):
    """Join the operands of an all-reduce in one array."""

    name: ClassVar[str] = "all-reduce-contiguous"
    opcodes: ClassVar[frozenset[str]] = frozenset(["all-reduce"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for several operands of one element type."""
        return len(i.operands) > 1 and len({x.shape.element_type for x in i.operands}) == 1

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return a tuple of slices of one all-reduce."""
        computation = b.computation
        kind = i.operands[0].shape.element_type
        flat = [
            computation.add("bitcast", array_shape(kind, (x.shape.element_count,)), (x,))
            for x in i.operands
        ]
        whole = array_shape(kind, (sum([x.shape.element_count for x in i.operands]),))
        joined = computation.add("concatenate", whole, flat, attributes_of({"dimensions": (0,)}))
        attributes = i.attributes.with_values(sharding=None)
        reduced = computation.add("all-reduce", whole, (joined,), attributes, called=i.called)
        parts, at = [], 0
        for x in i.operands:
            end = at + x.shape.element_count
            cut = attributes_of({"slice": (SliceDimension(at, end, 1),)})
            part = computation.add("slice", array_shape(kind, (end - at,)), (reduced,), cut)
            parts.append(computation.add("bitcast", x.shape, (part,)))
            at = end
        return HloValue(b, computation.add("tuple", i.shape, parts))
