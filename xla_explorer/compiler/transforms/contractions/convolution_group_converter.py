"""Convert grouped convolutions to ungrouped ones with one more spatial dimension.

Source: xla/service/convolution_group_converter.cc.
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
from xla_explorer.hlo.attributes import CODECS, Window, WindowDimension
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


@register_pass()
@dataclasses.dataclass(frozen=True)
class ConvolutionGroupConverter(OpExpanderPass):
    """Convert the groups of a convolution to a spatial dimension.

    The group dimension has base dilation G and stride G - 1, for G groups. So window position k
    multiplies group k of the input only by group k of the kernel; all other elements are padding.
    convert_batch_groups, convert_feature_groups: the kinds of groups to convert. native_types:
    element types whose feature groups stay, because the target computes them as they are; XLA:CPU
    keeps those of f16 and f32.
    """

    name: ClassVar[str] = "convolution-group-converter"
    opcodes: ClassVar[frozenset[str]] = frozenset(["convolution"])
    convert_batch_groups: bool = True
    convert_feature_groups: bool = True
    native_types: tuple[str, ...] = ()

    def matches(self, i: HloInstruction) -> bool:
        """Return True if the convolution has groups of one kind only, and it is selected."""
        batch, feature = (
            i.attributes.value("batch_group_count"),
            i.attributes.value("feature_group_count"),
        )
        return (batch > 1 and feature == 1 and self.convert_batch_groups) or (
            feature > 1
            and batch == 1
            and self.convert_feature_groups
            and i.shape.element_type.name not in self.native_types
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Emit reshapes of both operands, a base-dilated convolution, and a reshape."""
        x, kernel = values_of(b, i)
        a = i.attributes
        batch = a.value("batch_group_count")
        groups = max(batch, a.value("feature_group_count"))
        lhs, rest = a["dim_labels"].text.split("_")
        rhs, out = rest.split("->")
        new = str(len(a["dim_labels"].input_spatial))

        def split(value: HloValue, labels: str, label: str) -> tuple[HloValue, str]:
            d = labels.index(label)
            sizes = value.shape.dimensions
            with_groups = (*sizes[:d], groups, sizes[d] // groups, *sizes[d + 1 :])
            return b.reshape(value, with_groups), labels.replace(label, new + label)

        x, lhs = split(x, lhs, "b" if batch > 1 else "f")
        kernel, rhs = split(kernel, rhs, "o")
        d = out.index("f")
        sizes = (
            *i.shape.dimensions[:d],
            groups,
            i.shape.dimensions[d] // groups,
            *i.shape.dimensions[d + 1 :],
        )
        window = Window(
            (
                *a.value("window").dimensions,
                WindowDimension(groups, groups - 1, base_dilation=groups),
            )
        )
        labels = CODECS["dim_labels"].read(f"{lhs}_{rhs}->{out.replace('f', new + 'f')}")
        given = own_attributes(i) | {
            "window": window,
            "dim_labels": labels,
            "batch_group_count": 1,
            "feature_group_count": 1,
        }
        made = b.emit("convolution", (x, kernel), given, shape=i.shape.base.with_dimensions(sizes))
        return b.reshape(made, i.shape.dimensions)
