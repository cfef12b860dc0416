"""Excess precision of XLA:CPU: bf16 arithmetic whose result is widened to f32 at once.

XLA:CPU computes such an operation in f32 and rounds the result to bf16. With
`xla_allow_excess_precision` (the default) a conversion that follows at once reads the unrounded
value. Measured with jaxlib 0.10.2: it applies to elementwise arithmetic, dot and convolution, even
if the rounded value has other users. It applies neither to f16, nor to f64 targets, nor through
another instruction such as reshape, nor between two steps of a chain. Source:
xla/hlo/transforms/simplifiers/float_normalization.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from xla_explorer.hlo.evaluator.registry import EvaluationFunction, Value
from xla_explorer.hlo.instruction import HloInstruction, new_instruction
from xla_explorer.hlo.primitive_type import BF16, F32
from xla_explorer.hlo.shape import array_shape

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator

# Elementwise opcodes that round on purpose, or compute nothing.
_NO_ARITHMETIC = frozenset(
    ("convert", "stochastic-convert", "reduce-precision", "bitcast-convert", "copy")
)


def widened_at_once(i: HloInstruction) -> HloInstruction | None:
    """Return the operation whose unrounded value this conversion reads, else None."""
    if (
        i.opcode.name != "convert"
        or i.shape.element_type is not F32
        or i.operands[0].shape.element_type is not BF16
    ):
        return None
    source = i.operands[0]
    name = source.opcode.name
    arithmetic = name in ("dot", "convolution") or (
        source.opcode.elementwise and name not in _NO_ARITHMETIC
    )
    return source if arithmetic and not any(source.shape.dynamic) else None


def in_f32(source: HloInstruction, function: EvaluationFunction) -> EvaluationFunction:
    """Return a step that evaluates `source` with bf16 operands widened and an f32 result."""
    shape = array_shape(F32, source.shape.dimensions)
    wide = new_instruction(
        source.id, source.name, source.opcode, shape, source.operands, source.attributes
    )

    def evaluate(_: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
        return function(
            wide,
            [x.astype(np.float32) if x.dtype == BF16.dtype else x for x in operands],
            evaluator,
        )

    return evaluate
