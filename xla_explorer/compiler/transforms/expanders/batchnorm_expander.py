"""Batch normalisation as elementwise operations and reductions.

Source: xla/service/batchnorm_expander.cc. Floats of 16 bits and fewer are computed in f32. The
variance is a difference of nearly equal numbers, bf16 counts only to 256, and the sum of squares
leaves the range of f16. XLA's backends get the same for bf16: they keep the f32 between the
expanded operations.
"""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32, S32


def _element_count(b: HloBuilder, x: HloValue, over: list[int]) -> HloValue:
    """Return the elements in one reduced group, as a scalar of the operand's type.

    Dynamic dimensions count their size.
    """
    if not any(x.shape.dynamic):
        return b.constant(math.prod([x.shape.dimensions[d] for d in over]), x.dtype)
    count = b.constant(1, S32)
    for d in over:
        count = count * b.get_dimension_size(x, dimensions=[d])
    return count.astype(x.dtype)


@register_pass()
@dataclasses.dataclass(frozen=True)
class BatchNormExpander(OpExpanderPass):
    """Expand batch normalisation: training, inference and gradient, each by its formula.

    rewrite_training_op, rewrite_inference_op, rewrite_grad_op: the selected ones.
    """

    name: ClassVar[str] = "batchnorm_expander"
    opcodes: ClassVar[frozenset[str]] = frozenset(
        ["batch-norm-training", "batch-norm-inference", "batch-norm-grad"]
    )
    rewrite_training_op: bool = True
    rewrite_inference_op: bool = True
    rewrite_grad_op: bool = True

    def matches(self, i: HloInstruction) -> bool:
        """Return True for the selected opcodes."""
        return {
            "batch-norm-training": self.rewrite_training_op,
            "batch-norm-inference": self.rewrite_inference_op,
            "batch-norm-grad": self.rewrite_grad_op,
        }[i.opcode.name]

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the expansion, in f32 for narrower types."""
        operands = values_of(b, i)
        own = operands[0].dtype
        if own.bits > 16:
            return self._formula(b, i, operands)
        result = self._formula(b, i, [v.astype(F32) for v in operands])
        if not i.shape.is_tuple:
            return result.astype(own)
        return b.tuple(*[result[k].astype(own) for k in range(len(i.shape.tuple_shapes))])

    def _formula(self, b: HloBuilder, i: HloInstruction, operands: list[HloValue]) -> HloValue:
        """Return the formula of the opcode."""
        feature = int(i.attributes["feature_index"])
        x, *others = operands
        dimensions = x.shape.dimensions
        over = [d for d in range(x.ndim) if d != feature]

        def spread(value: HloValue) -> HloValue:
            return b.broadcast(value, dimensions, (feature,) if value.ndim else ())

        def per_feature(value: HloValue) -> HloValue:
            return b.broadcast(value, (dimensions[feature],), ())

        epsilon = b.constant(
            float(np.float32(i.attributes["epsilon"])), x.dtype
        )  # a float for any type
        if i.opcode.name == "batch-norm-inference":
            scale, offset, mean, variance = others
            factor = scale * (variance + per_feature(epsilon)).rsqrt()
            return x * spread(factor) + spread(offset - mean * factor)
        count = _element_count(b, x, over)
        if i.opcode.name == "batch-norm-training":
            scale, offset = others
            total, squares = x.sum(tuple(over)), (x * x).sum(tuple(over))
            mean = total / per_feature(count)
            variance = squares / per_feature(count) - mean * mean
            inverse = (spread(variance) + spread(epsilon)).rsqrt()
            normalized = (x - spread(mean)) * inverse
            return b.tuple(normalized * spread(scale) + spread(offset), mean, variance)
        scale, mean, variance, gradient = others
        inverse = (spread(variance) + spread(epsilon)).rsqrt()
        inverse_feature = (variance + per_feature(epsilon)).rsqrt()
        centred = x - spread(mean)
        gradient_offset = gradient.sum(tuple(over))
        centred_sum = (gradient * centred).sum(tuple(over))
        gradient_scale = centred_sum * inverse_feature
        correction = spread(centred_sum) * centred / (spread(variance) + spread(epsilon))
        inner = gradient * spread(count) - spread(gradient_offset) - correction
        return b.tuple(
            spread(scale) * inverse / spread(count) * inner, gradient_scale, gradient_offset
        )
