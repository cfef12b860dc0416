"""Rewrite dots to the canonical form [batch, M, K] x [batch, K, N].

Source: xla/hlo/transforms/expanders/dot_decomposer.cc.
"""

from __future__ import annotations

import dataclasses
import math
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


def is_canonical(dot: HloInstruction) -> bool:
    """Return True if a dot is canonical.

    In each operand the batch dimensions come first, followed by one contracting dimension and at
    most one non-contracting dimension, in any order.
    """
    for side, operand in zip(("lhs", "rhs"), dot.operands, strict=True):
        batch, contracting = (
            dot.attributes.value(f"{side}_batch_dims"),
            dot.attributes.value(f"{side}_contracting_dims"),
        )
        if (
            len(contracting) != 1
            or operand.shape.rank > len(batch) + 2
            or tuple(batch) != tuple(range(len(batch)))
        ):
            return False
    return True


@register_pass("dot-decomposer")
@dataclasses.dataclass(frozen=True)
class DotDecomposer(OpExpanderPass):
    """Transpose and reshape both operands to batches of matrices or vectors."""

    name: ClassVar[str] = "dot_decomposer"
    opcodes: ClassVar[frozenset[str]] = frozenset(["dot"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True if the dot is not canonical."""
        return not is_canonical(i)

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Emit a transpose and a reshape of each operand, the dot, and a reshape."""
        made, ranks = [], []
        for side, x in zip(("lhs", "rhs"), values_of(b, i), strict=True):
            batch, contracting = (
                i.attributes.value(f"{side}_batch_dims"),
                i.attributes.value(f"{side}_contracting_dims"),
            )
            free = [d for d in range(x.ndim) if d not in batch and d not in contracting]
            order = (
                [*batch, *free, *contracting] if side == "lhs" else [*batch, *contracting, *free]
            )
            sizes = x.shape.dimensions
            depth, width = (
                math.prod([sizes[d] for d in contracting]),
                math.prod([sizes[d] for d in free]),
            )
            matrix = [depth] if not free else [width, depth] if side == "lhs" else [depth, width]
            moved = b.transpose(x, dimensions=order)
            shape = array_shape(x.dtype, [*[sizes[d] for d in batch], *matrix])
            made.append(b.emit("reshape", (moved,), {}, shape=shape))
            ranks.append((len(batch), bool(free)))
        batch_count, lhs_free = ranks[0]
        given = {n: v for n, v in own_attributes(i).items() if not n.endswith("_dims")}
        dims = list(range(batch_count))
        sizes = (
            *made[0].shape.dimensions[: batch_count + lhs_free],
            *made[1].shape.dimensions[batch_count + 1 :],
        )
        dot = b.dot(
            *made,
            lhs_batch_dims=dims,
            rhs_batch_dims=dims,
            lhs_contracting_dims=[batch_count + lhs_free],
            rhs_contracting_dims=[batch_count],
            shape=array_shape(i.shape.element_type, sizes),
            **given,
        )
        return b.emit("reshape", (dot,), {}, shape=i.shape.base)
