"""Products with a vector as products with a matrix of one row or column.

Source: xla/service/gpu/transforms/gemv_rewriter.cc.
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
class GemvRewriter(OpExpanderPass):
    """Reshape the vector of a product to a matrix of one row or column.

    A reshape of the result removes the dimension.
    """

    name: ClassVar[str] = "gemv-rewriter"
    opcodes: ClassVar[frozenset[str]] = frozenset(["dot"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True if one side has no free dimension and one dimension is contracted."""
        batch = len(i.attributes.value("lhs_batch_dims"))
        ranks = [o.shape.rank - batch for o in i.operands]
        return len(i.attributes.value("lhs_contracting_dims")) == 1 and sorted(ranks) == [1, 2]

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return reshape, dot, reshape."""
        batch = len(i.attributes.value("lhs_batch_dims"))
        left, right = values_of(b, i)
        sizes = list(i.shape.dimensions)
        if left.ndim == batch + 1:
            left = b.reshape(left, (*left.shape.dimensions, 1))
            sizes.insert(batch, 1)
        else:
            right = b.reshape(right, (*right.shape.dimensions, 1))
            sizes.append(1)
        dot = b.dot(
            left, right, shape=array_shape(i.shape.element_type, sizes), **own_attributes(i)
        )
        return b.reshape(dot, i.shape.dimensions)
