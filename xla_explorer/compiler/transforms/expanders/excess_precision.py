"""Elementwise bf16 chains in f32, rounded at their end.

XLA:CPU does so by default (`xla_allow_excess_precision`). Source: xla/service/cpu/cpu_compiler.cc,
which normalises bf16 and then drops conversions there and back. Operands of dots and convolutions
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

# Nothing is computed, or the rounding or the number of bits is the purpose.
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
    """Compute elementwise bf16 in f32, and drop conversions to bf16 and back in between."""

    name: ClassVar[str] = "excess-precision"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every computation but those applied inside kernels."""
        changed = False
        for computation in sequential_computations(module):
            for i in computation.post_order():
                if i.opcode.elementwise and i.opcode.name not in _UNTOUCHED:
                    changed |= in_wide_type(i, BF16, F32)
        return SimplifyFPConversions().run(module, context) or changed
