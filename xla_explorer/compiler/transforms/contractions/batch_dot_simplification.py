"""Removal of dot batch dimensions of one element.

Source: xla/hlo/transforms/simplifiers/batch_dot_simplification.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import (
    OpExpanderPass,
    own_attributes,
    values_of,
)
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import array_shape


@register_pass()
@dataclasses.dataclass(frozen=True)
class BatchDotSimplification(OpExpanderPass):
    """Reshape away dot batch dimensions of size 1; a reshape of the result restores them."""

    name: ClassVar[str] = "batch-dot-simplification"
    opcodes: ClassVar[frozenset[str]] = frozenset(["dot"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for a batch dimension of size 1, and one contracted dimension.

        dot_decomposer contracts one dimension, and moves the batch dimensions to the front.
        """
        sizes, batch = i.operands[0].shape.dimensions, i.attributes.value("lhs_batch_dims")
        in_front = tuple(range(len(batch)))
        return (
            len(i.attributes.value("lhs_contracting_dims")) == 1
            and tuple(batch) == tuple(i.attributes.value("rhs_batch_dims")) == in_front
            and any(sizes[d] == 1 for d in batch)
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return reshapes of both operands, the dot, and a reshape."""
        a, made, given = (
            i.attributes,
            [],
            {n: v for n, v in own_attributes(i).items() if not n.endswith("_dims")},
        )
        single = [
            k
            for k, d in enumerate(a.value("lhs_batch_dims"))
            if i.operands[0].shape.dimensions[d] == 1
        ]
        for side, x in zip(("lhs", "rhs"), values_of(b, i), strict=True):
            gone = [a.value(f"{side}_batch_dims")[k] for k in single]
            place = {d: n for n, d in enumerate([d for d in range(x.ndim) if d not in gone])}
            made.append(b.reshape(x, [x.shape.dimensions[d] for d in place]))
            for role in ("batch", "contracting"):
                given[f"{side}_{role}_dims"] = [
                    place[d] for d in a.value(f"{side}_{role}_dims") if d in place
                ]
        kept = [n for k, n in enumerate(i.shape.dimensions) if k not in single]
        return b.reshape(
            b.dot(*made, shape=array_shape(i.shape.element_type, kept), **given), i.shape.dimensions
        )
