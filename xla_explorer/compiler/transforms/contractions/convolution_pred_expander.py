"""Convolutions of booleans in floats.

Source: xla/hlo/transforms/expanders/convolution_pred_expander.cc.
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
from xla_explorer.hlo.primitive_type import F16, PRED


@register_pass()
@dataclasses.dataclass(frozen=True)
class ConvolutionPredExpander(OpExpanderPass):
    """Compute boolean convolutions in f16; a result that is not zero is true."""

    name: ClassVar[str] = "convolution-pred-expander"
    opcodes: ClassVar[frozenset[str]] = frozenset(["convolution"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for pred operands and result."""
        return all(x.shape.element_type.is_pred for x in (i, *i.operands))

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return conversions, the convolution, and a conversion."""
        wide = b.emit(
            "convolution",
            [x.astype(F16) for x in values_of(b, i)],
            own_attributes(i),
            shape=i.shape.with_element_type(F16),
        )
        return wide.astype(PRED)
