"""Elementwise chains of bf16 are computed in f32 and rounded where they end, as XLA:CPU does by default (`xla_allow_excess_precision`).

Source: xla/service/cpu/cpu_compiler.cc, which normalizes bf16 and then drops conversions there and back. Operands of dots and convolutions
are rounded there too, their results are not: see `change-op-data-type`.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.expanders.float_normalization import in_wide_type
from xla_explorer.compiler.transforms.simplifiers.simplify_fp_conversions import (
    SimplifyFPConversions,
)
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import BF16, F32

# Nothing is computed, rounding is meant, or the number of bits is.
_UNTOUCHED = frozenset(
    [
        "convert",
        "copy",
        "select",
        "bitcast-convert",
        "opt-barrier",
        "reduce-precision",
        "stochastic-convert",
    ]
)


@register_pass()
@dataclasses.dataclass(frozen=True)
class ExcessPrecision:
    """What computes an element of bf16 does so in f32; conversions to bf16 and back between two of them go."""

    name: ClassVar[str] = "excess-precision"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Every computation but those applied inside kernels."""
        changed = False
        for computation in sequential_computations(module):
            for i in computation.post_order():
                if i.opcode.elementwise and i.opcode.name not in _UNTOUCHED:
                    changed |= in_wide_type(i, BF16, F32)
        return SimplifyFPConversions().run(module, context) or changed
