"""Matching of a convolution with one call of cuDNN, forward or a derivative.

cuDNN requires a contiguous filter with major output features, the same padding on both sides and no
reversal. Other convolutions get instructions around the call (`prepared`): transposes and reversals
of the filter, zeros around the image, a transpose of a filter's derivative. The window determines
the form. A dilated image is the image's derivative, a window larger than the result the filter's.

Source: cuDNN documentation, "cudnnConvolutionForward()", "cudnnConvolutionBackwardData()",
"cudnnConvolutionBackwardFilter()"; xla/service/gpu/transforms/conv_rewriter.cc,
conv_padding_legalization.cc.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xla_explorer.compiler.transforms.library_calls.library_call import ConvolutionCall
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.attributes import (
    CODECS,
    PaddingDimension,
    Window,
    WindowDimension,
    attributes_of,
)
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.shape import Shape

_TYPES = ("f16", "bf16", "f32", "f64")
_LARGEST = 2**31 - 1


class ConvolutionMatch(NamedTuple):
    """A convolution's form for cuDNN.

    form: see `ConvolutionCall`. extra: zeros (low, high) to add around the image in each spatial
    dimension. reverse: the filter is to be reversed. rules: the window afterwards.
    """

    form: str
    extra: tuple[tuple[int, int], ...]
    reverse: bool
    rules: tuple[WindowDimension, ...]


def convolution_of(i: HloInstruction) -> ConvolutionCall | Reason:
    """Return the call for a convolution after its preparation, or a Reason."""
    found = match_convolution(i)
    return found if isinstance(found, Reason) else _call(i, found)


def match_convolution(i: HloInstruction) -> ConvolutionMatch | Reason:
    """Return the form of a convolution and its preparation, or why cuDNN does not compute it."""
    lhs, rhs = i.operands
    kind = i.shape.element_type
    if kind.name not in _TYPES or any(o.shape.element_type is not kind for o in i.operands):
        return refuse(
            "type-not-served",
            f"%{i.name}: cuDNN has no {lhs.shape.element_type} x {rhs.shape.element_type} to "
            f"{kind}",
        )
    rules = i.attribute("window").dimensions if i.attribute("window") is not None else ()
    if not 1 <= len(rules) <= 3:
        return refuse(
            "too-many-dimensions",
            f"%{i.name}: cuDNN has one to three spatial dimensions",
            dimensions=len(rules),
        )
    shapes = (i.shape, lhs.shape, rhs.shape)
    if any(0 in shape.dimensions for shape in shapes):
        return refuse("no-elements", f"%{i.name} has an empty array")
    if max(shape.element_count for shape in shapes) > _LARGEST:
        return refuse(
            "too-large-for-the-library", f"%{i.name}: an array has more than {_LARGEST} elements"
        )
    if i.attribute("batch_group_count") != 1:
        return refuse(
            "batch-groups",
            f"%{i.name}: the batch is in groups, which cuDNN has in the derivative of a grouped "
            "filter only",
        )
    backward = any(rule.base_dilation != 1 for rule in rules)
    reversals = {rule.window_reversal for rule in rules if rule.size > 1}
    if len(reversals) > 1:
        return refuse(
            "partly-reversed", f"%{i.name}: the window is reversed in some dimensions only"
        )
    reversed_ = True in reversals
    groups = i.attribute("feature_group_count")
    if not backward and not reversed_ and groups == 1 and _is_filter_derivative(i, rules):
        found = _filter_derivative(i, rules)
        if found is not None:
            return found
    if not backward:
        low = [min(rule.padding_low, rule.padding_high) for rule in rules]
        if any(p < 0 for p in low):
            return refuse("negative-padding", f"%{i.name}: the window has negative padding")
        extra = tuple(
            [
                (rule.padding_low - p, rule.padding_high - p)
                for rule, p in zip(rules, low, strict=True)
            ]
        )
        plain = tuple(
            [
                rule._replace(padding_low=p, padding_high=p, window_reversal=False)
                for rule, p in zip(rules, low, strict=True)
            ]
        )
        return ConvolutionMatch("forward", extra, reversed_, plain)
    return _input_derivative(i, rules, reversed_)


def prepared_bytes(i: HloInstruction) -> list[int]:
    """Return the bytes of each array that a kernel writes to prepare the call's operands."""
    match = match_convolution(i)
    assert not isinstance(match, Reason)
    found = [i.operands[0].shape.byte_size] if any(map(any, match.extra)) else []
    if match.form == "backward-filter":
        _, result = _texts(i)[1:]
        return (
            found
            if _wanted(i, match) == result and i.shape.layout.is_default
            else [*found, i.shape.byte_size]
        )
    rhs = i.operands[1]
    same = _wanted(i, match) == _texts(i)[1] and rhs.shape.layout.is_default and not match.reverse
    return found if same else [*found, rhs.shape.byte_size]


def _texts(i: HloInstruction) -> tuple[str, str, str]:
    """Return the labels of the image, the kernel and the result."""
    image, rest = i.attribute("dim_labels").text.split("_")
    kernel, result = rest.split("->")
    return image, kernel, result


def _wanted(i: HloInstruction, match: ConvolutionMatch) -> str:
    """Return cuDNN's labels of the filter or of its derivative."""
    spatial = "".join([str(d) for d in range(len(match.rules))])
    if match.form == "backward-filter":
        major, minor = "f", "b"
    else:
        # In the image's derivative, HLO's input features are the output features of the
        # correlation.
        major, minor = ("o", "i") if match.form == "forward" else ("i", "o")
    return f"{major}{spatial}{minor}" if _features_last(i) else f"{major}{minor}{spatial}"


def _is_filter_derivative(i: HloInstruction, rules: tuple[WindowDimension, ...]) -> bool:
    """Return True if the window exceeds the result: it is the result of another convolution."""
    sizes = [i.shape.dimensions[d] for d in i.attribute("dim_labels").output_spatial]
    return any(rule.size > n for rule, n in zip(rules, sizes, strict=True)) and all(
        rule.size >= n for rule, n in zip(rules, sizes, strict=True)
    )


def _filter_derivative(
    i: HloInstruction, rules: tuple[WindowDimension, ...]
) -> ConvolutionMatch | None:
    labels, image = i.attribute("dim_labels"), i.operands[0].shape.dimensions
    for rule, a, c in zip(rules, labels.input_spatial, labels.output_spatial, strict=True):
        taps, padding = i.shape.dimensions[c], rule.padding_low
        # The other convolution, with stride and dilation exchanged, must have exactly as many
        # results as this one has window elements.
        places = (
            image[a] + 2 * padding - ((taps - 1) * rule.stride + 1)
        ) // rule.window_dilation + 1
        if padding < 0 or places != rule.size:
            return None
    return ConvolutionMatch("backward-filter", ((0, 0),) * len(rules), False, rules)


def _input_derivative(
    i: HloInstruction, rules: tuple[WindowDimension, ...], reversed_: bool
) -> ConvolutionMatch | Reason:
    labels = i.attribute("dim_labels")
    if i.attribute("feature_group_count") != 1:
        return refuse(
            "grouped-derivative",
            f"%{i.name}: the image's derivative in groups has its features in another order",
        )
    for rule, a, c in zip(rules, labels.input_spatial, labels.output_spatial, strict=True):
        before = (rule.size - 1) * rule.window_dilation
        padding, extent = before - rule.padding_low, i.shape.dimensions[c]
        places = (extent + 2 * padding - (before + 1)) // rule.base_dilation + 1
        if rule.stride != 1 or padding < 0 or places != i.operands[0].shape.dimensions[a]:
            text = f"%{i.name}: its padding and strides are those of no convolution's derivative"
            return refuse("no-derivative", text, padding=padding, stride=rule.stride)
    plain = tuple([rule._replace(window_reversal=True) for rule in rules])
    return ConvolutionMatch("backward-input", ((0, 0),) * len(rules), not reversed_, plain)


def _arranged(shape: Shape, order: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple([shape.dimensions[d] for d in order]), tuple([shape.strides[d] for d in order])


def _call(i: HloInstruction, match: ConvolutionMatch) -> ConvolutionCall:
    """Return the call on prepared operands."""
    labels, (lhs, rhs) = i.attribute("dim_labels"), i.operands
    dimensions = list(lhs.shape.dimensions)
    for d, (low, high) in zip(labels.input_spatial, match.extra, strict=True):
        dimensions[d] += low + high
    padded = lhs.shape if not any(map(any, match.extra)) else lhs.shape.with_dimensions(dimensions)
    rules, kind = match.rules, i.shape.element_type.name
    compute = "f64" if kind == "f64" else "f32"
    kernel = rhs.shape.dimensions
    taps = tuple([rule.size for rule in rules])
    image = _arranged(padded, (labels.input_batch, labels.input_feature, *labels.input_spatial))
    result = _arranged(
        i.shape, (labels.output_batch, labels.output_feature, *labels.output_spatial)
    )
    k, c = kernel[labels.kernel_output_feature], kernel[labels.kernel_input_feature]
    if match.form == "forward":
        padding, stride = (
            tuple([rule.padding_low for rule in rules]),
            tuple([rule.stride for rule in rules]),
        )
        dilation, groups = (
            tuple([rule.window_dilation for rule in rules]),
            int(i.attribute("feature_group_count")),
        )
        return ConvolutionCall("forward", *image, (k, c, *taps), _features_last(i), *result, padding, stride, dilation, groups, kind,
                               compute)  # fmt: skip
    if match.form == "backward-input":
        padding = tuple(
            [(rule.size - 1) * rule.window_dilation - rule.padding_low for rule in rules]
        )
        stride, dilation = (
            tuple([rule.base_dilation for rule in rules]),
            tuple([rule.window_dilation for rule in rules]),
        )
        return ConvolutionCall("backward-input", *result, (c, k, *taps), _features_last(i), *image, padding, stride, dilation, 1, kind,
                               compute)  # fmt: skip
    image = _arranged(padded, (labels.input_feature, labels.input_batch, *labels.input_spatial))
    other = _arranged(
        rhs.shape,
        (labels.kernel_input_feature, labels.kernel_output_feature, *labels.kernel_spatial),
    )
    made = i.shape.dimensions
    dims = (
        made[labels.output_feature],
        made[labels.output_batch],
        *[made[d] for d in labels.output_spatial],
    )
    padding = tuple([rule.padding_low for rule in rules])
    stride, dilation = (
        tuple([rule.window_dilation for rule in rules]),
        tuple([rule.stride for rule in rules]),
    )
    return ConvolutionCall(
        "backward-filter",
        *image,
        dims,
        _features_last(i),
        *other,
        padding,
        stride,
        dilation,
        1,
        kind,
        compute,
    )


def _features_last(i: HloInstruction) -> bool:
    """Return True if the filter's features are minor, as in the image."""
    labels, image = i.attribute("dim_labels"), i.operands[0].shape
    last = (
        labels.input_batch
        if _is_filter_derivative(i, i.attribute("window").dimensions)
        else labels.input_feature
    )
    return bool(image.strides[last] <= min(image.strides[d] for d in labels.input_spatial))


def prepared(i: HloInstruction) -> HloInstruction:
    """Return the instruction for the call, on prepared operands, in place of `i` (it may be `i`).

    Raises no error: `convolution_of` has succeeded.
    """
    match = match_convolution(i)
    assert not isinstance(match, Reason)
    computation, (lhs, rhs) = i.parent, i.operands
    labels = i.attribute("dim_labels")
    if any(map(any, match.extra)):
        rows = [PaddingDimension(0, 0)] * lhs.shape.rank
        dimensions = list(lhs.shape.dimensions)
        for d, (low, high) in zip(labels.input_spatial, match.extra, strict=True):
            rows[d], dimensions[d] = PaddingDimension(low, high), dimensions[d] + low + high
        zero = computation.add_constant(
            literal_from_array(np.zeros((), lhs.shape.element_type.dtype))
        )
        lhs = computation.add(
            "pad",
            lhs.shape.with_dimensions(dimensions),
            (lhs, zero),
            attributes_of({"padding": tuple(rows)}),
        )
    (image, kernel, result), wanted = _texts(i), _wanted(i, match)
    if match.form == "backward-filter":
        if wanted == result and i.shape.layout.is_default:
            return i
        text, dims = (
            f"{image}_{kernel}->{wanted}",
            {label: i.shape.dimensions[at] for at, label in enumerate(result)},
        )
        shape = i.shape.with_dimensions([dims[label] for label in wanted])
        made = computation.add(
            "convolution",
            shape,
            (lhs, rhs),
            i.attributes.with_values(dim_labels=CODECS["dim_labels"].read(text)),
        )
        order = tuple([wanted.index(label) for label in result])
        computation.replace(
            i, computation.add("transpose", i.shape, (made,), attributes_of({"dimensions": order}))
        )
        computation.remove(i)
        return made
    if match.reverse:
        if rhs.opcode.name == "reverse" and set(rhs.attribute("dimensions")) == set(
            labels.kernel_spatial
        ):
            rhs = rhs.operands[0]
        else:
            rhs = computation.add(
                "reverse",
                rhs.shape,
                (rhs,),
                attributes_of({"dimensions": tuple(labels.kernel_spatial)}),
            )
    if wanted != kernel or not rhs.shape.layout.is_default:
        order = tuple([kernel.index(label) for label in wanted])
        shape = rhs.shape.with_dimensions([rhs.shape.dimensions[d] for d in order])
        rhs = computation.add("transpose", shape, (rhs,), attributes_of({"dimensions": order}))
    rules = i.attribute("window").dimensions
    if (lhs, rhs) == i.operands and match.rules == rules:
        return i
    attributes = i.attributes.with_values(
        dim_labels=CODECS["dim_labels"].read(f"{image}_{wanted}->{result}"),
        window=Window(match.rules),
    )
    made = computation.add("convolution", i.shape, (lhs, rhs), attributes)
    computation.replace(i, made)
    computation.remove(i)
    return made
