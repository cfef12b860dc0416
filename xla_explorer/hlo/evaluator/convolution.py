"""Convolution: one matrix product per kernel position over all windows, in f64 (integers: exact).

Source: StableHLO spec, convolution; XLA's ConvolutionDimensionNumbers, feature and batch groups.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from xla_explorer.hlo.analysis.product_types import product_type
from xla_explorer.hlo.evaluator.conversion import convert, widen
from xla_explorer.hlo.evaluator.registry import Array, Value, evaluates
from xla_explorer.hlo.evaluator.windows import window_positions

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction


@evaluates("convolution")
def convolution(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Compute a cross-correlation with strides, padding, dilations, reversal and groups."""
    value = i.attributes.value
    labels, window = value("dim_labels"), value("window")
    feature_groups, batch_groups = value("feature_group_count"), value("batch_group_count")
    groups = max(feature_groups, batch_groups)
    kind = product_type(i)
    left, right = [widen(convert(x, kind) if kind.is_float else x) for x in operands[:2]]
    lhs = left.transpose([labels.input_batch, *labels.input_spatial, labels.input_feature])
    rhs = right.transpose(
        [*labels.kernel_spatial, labels.kernel_input_feature, labels.kernel_output_feature]
    )
    spatial, rank = lhs.shape[1:-1], lhs.ndim - 2
    kernel_inputs, kernel_outputs = rhs.shape[-2:]
    # Bring both sides to one form: lhs [group, batch, spatial ..., feature], rhs [spatial ...,
    # group, feature, output].
    if feature_groups > 1:
        lhs = np.moveaxis(lhs.reshape(*lhs.shape[:-1], groups, kernel_inputs), -2, 0)
    else:
        lhs = lhs.reshape(groups, lhs.shape[0] // groups, *lhs.shape[1:])
    rhs = np.moveaxis(rhs.reshape(*rhs.shape[:-1], groups, kernel_outputs // groups), -2, -3)
    accumulate = _accumulation_dtype(lhs, rhs)
    lhs, rhs = np.ascontiguousarray(lhs, accumulate), np.ascontiguousarray(rhs, accumulate)
    output = (
        [d.output_size(n) for d, n in zip(window.dimensions, spatial, strict=True)] if rank else []
    )
    batch, per_group = lhs.shape[1], kernel_outputs // groups
    total = np.zeros((groups, batch, *output, per_group), accumulate)
    whole = slice(None)
    for position in window_positions(window, spatial, output):
        block = lhs[(whole, whole, *position.elements)]
        kernel = rhs[position.kernel]
        if kernel_inputs == 1:
            product = block * kernel.reshape(groups, *[1] * (rank + 1), per_group)
        else:
            rows = block.reshape(groups, math.prod(block.shape[1:-1]), kernel_inputs)
            product = np.matmul(rows, kernel).reshape(*block.shape[:-1], per_group)
        total[(whole, whole, *position.windows)] += product
    if left.dtype.kind in "iub" and right.dtype.kind in "iub" and kind.is_integer:
        total = total.astype(np.int64)  # integers wrap instead of saturating
    result = convert(
        convert(np.moveaxis(total, 0, -2).reshape(batch, *output, kernel_outputs), kind),
        i.shape.element_type,
    )
    # `result` is [batch, spatial ..., feature]; the labels give the instruction's dimension order.
    order = [0] * (rank + 2)
    order[labels.output_batch], order[labels.output_feature] = 0, rank + 1
    for k, d in enumerate(labels.output_spatial):
        order[d] = k + 1
    return result.transpose(order)


def _accumulation_dtype(lhs: Array, rhs: Array) -> np.dtype[np.generic]:
    kinds = lhs.dtype.kind + rhs.dtype.kind
    if "c" in kinds:
        return np.dtype(np.complex128)
    if "f" in kinds:
        return np.dtype(np.float64)
    if not lhs.size or not rhs.size:
        return np.dtype(np.int64)
    largest = max(abs(int(lhs.max())), abs(int(lhs.min()))) * max(
        abs(int(rhs.max())), abs(int(rhs.min()))
    )
    terms = math.prod(rhs.shape[:-3]) * rhs.shape[-2]
    return np.dtype(np.float64) if largest * terms < 1 << 53 else np.dtype(np.int64)
