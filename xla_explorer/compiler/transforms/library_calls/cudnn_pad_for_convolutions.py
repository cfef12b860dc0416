"""Features of cuDNN's convolutions padded to multiples that its fast kernels take.

Source: xla/backends/gpu/transforms/cudnn_pad_for_convolutions.cc.

==============================================  ==============================================
handled by XLA                                  here
==============================================  ==============================================
f16: features to multiples of 8; 3 input        the same (pads_f16_inputs_to_4 of the device)
features to 4
s8: features to multiples of 4, of 32 where     multiples of 4, or of integer_multiple
the device and cuDNN take vectors of 32
forward, backward input, backward filter,       padded operands, and the result cut back
bias and activation
arrays that would grow by more than 1.35 times, the same (2 times for s8); small inputs to 4
features
f32 and other types                             unchanged
filters reordered for s8x32                     hole
==============================================  ==============================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import scalar_constant
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.attributes.values import (
    ConvolutionDimensionNumbers,
    PaddingDimension,
    SliceDimension,
)
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape, tuple_shape

FORWARD = ("__cudnn$convForward", "__cudnn$convBiasActivationForward")
BACKWARD_INPUT = "__cudnn$convBackwardInput"
BACKWARD_FILTER = "__cudnn$convBackwardFilter"
_MOST_GROWTH = 1.35
_MOST_GROWTH_OF_INTEGERS = 2.0


class ConvolutionSides:
    """The shapes of a convolution call as input, filter and output of the forward one."""

    def __init__(self, call: HloInstruction) -> None:
        target = custom_call_target(call)
        first, second, result = call.operands[0].shape, call.operands[1].shape, call.shape
        result = result.tuple_shapes[0]
        self.input, self.filter, self.output = first, second, result
        if target == BACKWARD_INPUT:
            self.input, self.output = result, first
        elif target == BACKWARD_FILTER:
            self.filter, self.output = result, second
        self.target = target

    def operands(self, new: ConvolutionSides) -> tuple[list[Shape], Shape]:
        """Return the shapes of the call's operands and result in a padded convolution."""
        if self.target == BACKWARD_INPUT:
            return [new.output, new.filter], new.input
        if self.target == BACKWARD_FILTER:
            return [new.input, new.output], new.filter
        return [new.input, new.filter], new.output

    def copy(self) -> ConvolutionSides:
        """Return a copy to change."""
        made = ConvolutionSides.__new__(ConvolutionSides)
        made.input, made.filter, made.output = self.input, self.filter, self.output
        made.target = self.target
        return made


def _resized(shape: Shape, dimension: int, size: int) -> Shape:
    sizes = list(shape.dimensions)
    sizes[dimension] = size
    return shape.with_dimensions(sizes)


def _up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple


def _grows_too_much(old: ConvolutionSides, new: ConvolutionSides, most: float) -> bool:
    pairs = ((old.input, new.input), (old.filter, new.filter), (old.output, new.output))
    return any(b.byte_size > most * a.byte_size for a, b in pairs)


def padded(i: HloInstruction, integer_multiple: int) -> ConvolutionSides | None:
    """Return the sides of the padded convolution; None if it stays."""
    if custom_call_target(i) not in (*FORWARD, BACKWARD_INPUT, BACKWARD_FILTER):
        return None
    numbers: ConvolutionDimensionNumbers = i.attributes["dim_labels"]
    old = ConvolutionSides(i)
    kinds = {old.input.element_type.name, old.filter.element_type.name}
    if (i.attributes.get("feature_group_count") or 1) > 1 or len(kinds) != 1:
        return None
    [kind] = kinds
    if kind not in ("f16", "s8") or (kind == "s8" and old.target not in FORWARD):
        return None
    inputs = old.input.dimensions[numbers.input_feature]
    outputs = old.output.dimensions[numbers.output_feature]
    multiple = 8 if kind == "f16" else integer_multiple
    tiny = kind == "f16" and inputs == 3 and outputs in (32, 64)
    new_inputs = 4 if tiny else _up(inputs, multiple)
    new_outputs = outputs if tiny else _up(outputs, multiple)
    if (new_inputs, new_outputs) == (inputs, outputs):
        return None
    new = old.copy()
    new.input = _resized(old.input, numbers.input_feature, new_inputs)
    new.filter = _resized(old.filter, numbers.kernel_input_feature, new_inputs)
    new.filter = _resized(new.filter, numbers.kernel_output_feature, new_outputs)
    new.output = _resized(old.output, numbers.output_feature, new_outputs)
    most = _MOST_GROWTH if kind == "f16" else _MOST_GROWTH_OF_INTEGERS
    return None if not tiny and _grows_too_much(old, new, most) else new


def pad_to(computation: HloComputation, x: HloInstruction, shape: Shape) -> HloInstruction:
    """Add zeros at the ends of dimensions."""
    if x.shape.dimensions == shape.dimensions:
        return x
    config = tuple(
        [
            PaddingDimension(0, new - old, 0)
            for old, new in zip(x.shape.dimensions, shape.dimensions, strict=True)
        ]
    )
    zero = scalar_constant(computation, x.shape, 0)
    return computation.add(
        "pad",
        x.shape.with_dimensions(shape.dimensions),
        (x, zero),
        attributes_of({"padding": config}),
    )


@register_pass()
@dataclasses.dataclass(frozen=True)
class CudnnPadForConvolutions(OpExpanderPass):
    """Pad features, and cut the padded ones off the result.

    integer_multiple: of features of s8.
    """

    name: ClassVar[str] = "cudnn_pad_for_convolutions"
    opcodes: ClassVar[frozenset[str]] = frozenset(["custom-call"])
    integer_multiple: int = 4

    def matches(self, i: HloInstruction) -> bool:
        """Return True for a convolution that padding makes fast."""
        return padded(i, self.integer_multiple) is not None

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue | None:
        """Return the padded convolution, or a tuple of its cut result and the scratch array."""
        new, computation = padded(i, self.integer_multiple), b.computation
        if new is None:
            return None
        shapes, result = ConvolutionSides(i).operands(new)
        operands = [
            pad_to(computation, x, shape) for x, shape in zip(i.operands, shapes, strict=False)
        ]
        for extra in i.operands[2:]:
            whole = new.output.dimensions
            if extra.shape.rank == 1:
                feature = whole[i.attributes["dim_labels"].output_feature]
                operands.append(pad_to(computation, extra, extra.shape.with_dimensions((feature,))))
            else:
                operands.append(pad_to(computation, extra, extra.shape.with_dimensions(whole)))
        shape = tuple_shape([result, *i.shape.tuple_shapes[1:]])
        call = computation.add("custom-call", shape, operands, i.attributes, metadata=i.metadata)
        old = i.shape.tuple_shapes[0]
        if result.dimensions == old.dimensions:
            return HloValue(b, call)
        parts = [
            computation.add("get-tuple-element", s, (call,), attributes_of({"index": k}))
            for k, s in enumerate(shape.tuple_shapes)
        ]
        cut = attributes_of({"slice": tuple([SliceDimension(0, n, 1) for n in old.dimensions])})
        parts[0] = computation.add("slice", old, (parts[0],), cut)
        return HloValue(b, computation.add("tuple", i.shape, parts))
