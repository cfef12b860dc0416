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
        """Return True if exactly one side has one free dimension.

        The pass runs behind the dot decomposer, which merges free dimensions. XLA gives a dimension
        to a side of several free dimensions too.
        """
        return not any(i.shape.dynamic) and len(set(_have_one_free_dimension(i))) == 2

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return reshape, dot, reshape."""
        left, right = values_of(b, i)
        sizes = list(i.shape.dimensions)
        if not _have_one_free_dimension(i)[0]:
            left = b.reshape(left, (*left.shape.dimensions, 1))
            sizes.insert(len(sizes) - 1, 1)
        else:
            right = b.reshape(right, (*right.shape.dimensions, 1))
            sizes.append(1)
        dot = b.dot(
            left, right, shape=array_shape(i.shape.element_type, sizes), **own_attributes(i)
        )
        return b.reshape(dot, i.shape.dimensions)


def _have_one_free_dimension(i: HloInstruction) -> list[bool]:
    """Return whether each side has a single dimension that is neither batch nor contracted."""
    return [
        operand.shape.rank
        == len(i.attributes.value(f"{side}_batch_dims"))
        + len(i.attributes.value(f"{side}_contracting_dims"))
        + 1
        for side, operand in zip(("lhs", "rhs"), i.operands, strict=True)
    ]
