"""Where XLA:CPU keeps more precision than the text says: arithmetic in bf16 whose result is widened to f32 right away.

XLA:CPU computes such an operation in f32 and rounds to bf16 behind it. With `xla_allow_excess_precision`, which is on by default, a
conversion that follows at once takes the value before it is rounded. Found by trial with jaxlib 0.10.2: elementwise arithmetic, dot and
convolution, also when the rounded value has other users; not f16, not f64 as the target, not with anything (a reshape) in between,
and not between two steps of a chain. Source: xla/hlo/transforms/simplifiers/float_normalization.cc.
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

# Elementwise, but they round on purpose, or compute nothing.
_NO_ARITHMETIC = frozenset(
    ("convert", "stochastic-convert", "reduce-precision", "bitcast-convert", "copy")
)


def widened_at_once(i: HloInstruction) -> HloInstruction | None:
    """The operation whose value before rounding this conversion takes, None for every other instruction."""
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
    """A step that computes `source` (evaluated by `function`) with bf16 operands widened, and leaves the result in f32."""
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
