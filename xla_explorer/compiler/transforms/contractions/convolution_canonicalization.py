"""Convolutions in the layout b01..f_01..io->b01..f.

Source: xla/service/cpu/conv_canonicalization.cc.
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
from xla_explorer.hlo.attributes import CODECS, ConvolutionDimensionNumbers
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


@register_pass()
@dataclasses.dataclass(frozen=True)
class ConvolutionCanonicalization(OpExpanderPass):
    """Transpose convolutions to batch first, feature last, and a kernel with features last.

    The result is transposed back. features_last: skip a convolution whose result has its features
    last, for kernels that copy their operands.
    """

    name: ClassVar[str] = "convolution-canonicalization"
    opcodes: ClassVar[frozenset[str]] = frozenset(["convolution"])
    features_last: bool = False

    def matches(self, i: HloInstruction) -> bool:
        """Return True for another layout."""
        if self.features_last and i.attributes["dim_labels"].output_feature == i.shape.rank - 1:
            return False
        return (
            i.attributes["dim_labels"].text != _canonical_text(i.shape.rank - 2)
            and i.shape.element_count > 0
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return transposes of both operands, the convolution, and a transpose."""
        x, kernel = values_of(b, i)
        labels: ConvolutionDimensionNumbers = i.attributes["dim_labels"]
        orders = [
            (labels.input_batch, *labels.input_spatial, labels.input_feature),
            (*labels.kernel_spatial, labels.kernel_input_feature, labels.kernel_output_feature),
            (labels.output_batch, *labels.output_spatial, labels.output_feature),
        ]
        sizes = [i.shape.dimensions[d] for d in orders[2]]
        given = own_attributes(i) | {
            "dim_labels": CODECS["dim_labels"].read(_canonical_text(i.shape.rank - 2))
        }
        made = b.emit(
            "convolution",
            (b.transpose(x, dimensions=orders[0]), b.transpose(kernel, dimensions=orders[1])),
            given,
            shape=i.shape.base.with_dimensions(sizes),
        )
        return b.transpose(made, dimensions=[orders[2].index(d) for d in range(i.shape.rank)])


def _canonical_text(spatial: int) -> str:
    middle = "".join([str(d) for d in range(spatial)])
    return f"b{middle}f_{middle}io->b{middle}f"
