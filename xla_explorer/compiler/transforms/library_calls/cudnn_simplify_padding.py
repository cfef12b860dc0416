"""Slices and pads behind padded convolutions, merged.

Source: xla/backends/gpu/transforms/cudnn_simplify_padding.cc.

==============================================  ==============================================
handled by XLA                                  here
==============================================  ==============================================
pad(slice(convolution)) of output features      the pad of the result, by less: padded filters
                                                made the sliced features zero
filters that a pad or zeros of a constant fill  a pad in front of the call; hole for constants
pads by the sliced size or less                 the slice alone remains
other paddings, strides, starts                 unchanged
a transpose and reshape of the filter (NCHW_    hole
VECT_C)
==============================================  ==============================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NamedTuple

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.compiler.rewriting.patterns import uniform_value
from xla_explorer.compiler.transforms.library_calls.cudnn_pad_for_convolutions import FORWARD
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.attributes.values import PaddingDimension, SliceDimension
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


class PaddedResult(NamedTuple):
    """The result of a convolution, and the size of its features before and after the pad."""

    result: HloInstruction
    feature: int
    sliced: int
    padded: int


def zero_features(call: HloInstruction) -> int:
    """Return how many of the last output features are zero, by a pad of the filter."""
    filter_ = call.operands[1]
    if filter_.opcode.name != "pad" or uniform_value(filter_.operands[1]) != 0:
        return 0
    feature = call.attributes["dim_labels"].kernel_output_feature
    row = filter_.attributes["padding"][feature]
    return row.high if row.low == 0 and row.interior == 0 else 0


def padded_result(pad: HloInstruction) -> PaddedResult | None:
    """Return the convolution behind a slice behind a pad, if both change the features alone."""
    slice_, value = pad.operands
    if slice_.opcode.name != "slice" or uniform_value(value) != 0 or len(slice_.users) != 1:
        return None
    result = slice_.operands[0]
    if result.opcode.name != "get-tuple-element" or result.attributes["index"] != 0:
        return None
    call = result.operands[0]
    if call.opcode.name != "custom-call" or custom_call_target(call) not in FORWARD:
        return None
    feature = call.attributes["dim_labels"].output_feature
    cut, rows = slice_.attributes["slice"], pad.attributes["padding"]
    for d, size in enumerate(result.shape.dimensions):
        if cut[d].start or cut[d].stride != 1 or rows[d].low or rows[d].interior:
            return None
        if d != feature and (cut[d].limit != size or rows[d].high):
            return None
    sliced = result.shape.dimensions[feature] - cut[feature].limit
    if rows[feature].high < 0 or zero_features(call) < sliced:
        return None
    return PaddedResult(result, feature, sliced, rows[feature].high)


@register_pass()
@dataclasses.dataclass(frozen=True)
class CudnnSimplifyPadding(OpExpanderPass):
    """Keep features that are zero anyway instead of slicing them off and padding again."""

    name: ClassVar[str] = "cudnn_simplify_padding"
    opcodes: ClassVar[frozenset[str]] = frozenset(["pad"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for a pad of the sliced result of a convolution."""
        return padded_result(i) is not None

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue | None:
        """Return a smaller pad, the result, or a slice of it."""
        found, computation = padded_result(i), b.computation
        if found is None:
            return None
        more = found.padded - found.sliced
        if more == 0:
            return HloValue(b, found.result)
        if more > 0:
            rows = list(i.attributes["padding"])
            rows[found.feature] = PaddingDimension(0, more, 0)
            attributes = attributes_of({"padding": tuple(rows)})
            operands = (found.result, i.operands[1])
            return HloValue(b, computation.add("pad", i.shape, operands, attributes))
        cut = tuple([SliceDimension(0, n, 1) for n in i.shape.dimensions])
        attributes = attributes_of({"slice": cut})
        return HloValue(b, computation.add("slice", i.shape, (found.result,), attributes))
