"""Shape rules of the contraction family.

Source: StableHLO sections of the same names; shape_inference.cc.
"""

from __future__ import annotations

from typing import Any

from xla_explorer.hlo.attributes import Attributes
from xla_explorer.hlo.opcodes.shape_rules.agreement import (
    bare,
    require_array,
    require_dimensions,
    require_same_type,
    wider_type,
)
from xla_explorer.hlo.primitive_type import C64, C128, F32, F64
from xla_explorer.hlo.shape import Shape, ShapeError, array_shape


def _dot_dimensions(
    lhs: Shape, rhs: Shape, attributes: Attributes
) -> tuple[tuple[int, ...], list[int], list[int]]:
    """Check the dimensions and return (batch, free of the left side, free of the right side)."""
    require_array(lhs, "the left side")
    require_array(rhs, "the right side")
    left_batch, right_batch = attributes.value("lhs_batch_dims"), attributes.value("rhs_batch_dims")
    left_sum, right_sum = (
        attributes.value("lhs_contracting_dims"),
        attributes.value("rhs_contracting_dims"),
    )
    require_dimensions(left_batch + left_sum, lhs, "dimension of the left side")
    require_dimensions(right_batch + right_sum, rhs, "dimension of the right side")
    for kind, left, right in (
        ("batch", left_batch, right_batch),
        ("contracting", left_sum, right_sum),
    ):
        if len(left) != len(right):
            raise ShapeError(
                f"{len(left)} {kind} dimensions of {bare(lhs)} go with {len(right)} of {bare(rhs)}"
            )
        for a, b in zip(left, right, strict=True):
            p, q = lhs.dimensions[a], rhs.dimensions[b]
            if p != q and p >= 0 and q >= 0:
                raise ShapeError(
                    f"{kind} dimension {a} of {bare(lhs)} and {b} of {bare(rhs)} differ in size: "
                    f"{p} vs {q}"
                )
    return (
        left_batch,
        [d for d in range(lhs.rank) if d not in left_batch and d not in left_sum],
        [d for d in range(rhs.rank) if d not in right_batch and d not in right_sum],
    )


def dot(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return batch, free left and free right dimensions, in the wider element type."""
    lhs, rhs = operands
    batch, left, right = _dot_dimensions(lhs, rhs, attributes)
    sizes = [lhs.dimensions[d] for d in (*batch, *left)] + [rhs.dimensions[d] for d in right]
    moving = [lhs.dynamic[d] for d in (*batch, *left)] + [rhs.dynamic[d] for d in right]
    return array_shape(wider_type(lhs.element_type, rhs.element_type), sizes, None, tuple(moving))


def ragged_dot(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the dot's shape without the right group dimension.

    A ragged free dimension takes one group dimension of the right side. A ragged batch or
    contracting dimension takes none; by a contracting one, the groups become the leading dimension.
    """
    lhs, rhs, groups = operands
    batch, left, right = _dot_dimensions(lhs, rhs, attributes)
    ragged, group_dimensions = (
        attributes.value("lhs_ragged_dims"),
        attributes.value("rhs_group_dims"),
    )
    require_array(groups, "the group sizes")
    if not groups.element_type.is_integer:
        raise ShapeError(f"the group sizes must be integers, they are {bare(groups)}")
    if len(ragged) != 1:
        raise ShapeError(f"takes exactly one ragged dimension, got {list(ragged)}")
    require_dimensions(ragged, lhs, "ragged dimension")
    require_dimensions(group_dimensions, rhs, "group dimension")
    count = groups.dimensions[-1] if groups.rank else 0
    for d in group_dimensions:
        if rhs.dimensions[d] != count:
            raise ShapeError(
                f"group dimension {d} of {bare(rhs)} must be {count}, as in the group sizes "
                f"{bare(groups)}"
            )
    sizes = [lhs.dimensions[d] for d in (*batch, *left)] + [
        rhs.dimensions[d] for d in right if d not in group_dimensions
    ]
    contracting = ragged[0] in attributes.value("lhs_contracting_dims")
    of = "contracting" if contracting else "batch" if ragged[0] in batch else "free"
    wanted = 1 if of == "free" else 0
    if len(group_dimensions) != wanted:
        raise ShapeError(
            f"a ragged {of} dimension takes {('no', 'exactly one')[wanted]} group dimension of the "
            f"right side, got {list(group_dimensions)}"
        )
    if contracting:
        sizes = [count, *sizes]
    return array_shape(wider_type(lhs.element_type, rhs.element_type), sizes)


def convolution(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the output dimensions in the order of `dim_labels`.

    The sizes are batch / batch groups, kernel output features and window positions.
    """
    lhs, rhs = operands
    require_array(lhs, "the input")
    require_array(rhs, "the kernel")
    labels, window = attributes.value("dim_labels"), attributes.value("window").dimensions
    feature_groups, batch_groups = (
        attributes.value("feature_group_count"),
        attributes.value("batch_group_count"),
    )
    spatial = len(labels.input_spatial)
    if not lhs.rank == rhs.rank == spatial + 2:
        raise ShapeError(
            f"dim_labels={labels.text} needs rank {spatial + 2}, the operands are {bare(lhs)} "
            f"and {bare(rhs)}"
        )
    for side, numbers in (
        ("input", (labels.input_batch, labels.input_feature, *labels.input_spatial)),
        (
            "kernel",
            (labels.kernel_input_feature, labels.kernel_output_feature, *labels.kernel_spatial),
        ),
        ("output", (labels.output_batch, labels.output_feature, *labels.output_spatial)),
    ):
        require_dimensions(numbers, spatial + 2, f"{side} dimension")
        if len(numbers) != spatial + 2:
            raise ShapeError(
                f"the {side} has {len(numbers)} dimension numbers, it must have {spatial + 2}"
            )
    if len(window) != spatial:
        raise ShapeError(
            f"the window has {len(window)} dimensions, dim_labels={labels.text} has {spatial} "
            "spatial ones"
        )
    if feature_groups < 1 or batch_groups < 1 or (feature_groups > 1 and batch_groups > 1):
        raise ShapeError(
            f"feature_group_count {feature_groups} and batch_group_count {batch_groups} must be "
            "positive, one of them 1"
        )
    features, batch = lhs.dimensions[labels.input_feature], lhs.dimensions[labels.input_batch]
    kernel_in, kernel_out = (
        rhs.dimensions[labels.kernel_input_feature],
        rhs.dimensions[labels.kernel_output_feature],
    )
    if features != kernel_in * feature_groups:
        raise ShapeError(
            f"{features} input features of {bare(lhs)} must be {feature_groups} groups of the "
            f"kernel's {kernel_in} "
            f"in {bare(rhs)}"
        )
    if kernel_out % feature_groups or kernel_out % batch_groups:
        raise ShapeError(
            f"{kernel_out} output features of {bare(rhs)} do not split into "
            f"{max(feature_groups, batch_groups)} groups"
        )
    if batch % batch_groups:
        raise ShapeError(f"batch {batch} of {bare(lhs)} does not split into {batch_groups} groups")
    sizes = [0] * lhs.rank
    sizes[labels.output_batch], sizes[labels.output_feature] = batch // batch_groups, kernel_out
    for number, row in enumerate(window):
        kernel = rhs.dimensions[labels.kernel_spatial[number]]
        if row.size != kernel:
            raise ShapeError(
                f"window size {row.size} of spatial dimension {number} must be the kernel's "
                f"{kernel} in {bare(rhs)}"
            )
        if row.stride < 1 or row.base_dilation < 1 or row.window_dilation < 1:
            raise ShapeError(f"stride and dilations of spatial dimension {number} must be positive")
        sizes[labels.output_spatial[number]] = row.output_size(
            lhs.dimensions[labels.input_spatial[number]]
        )
    return array_shape(wider_type(lhs.element_type, rhs.element_type), sizes)


def fft(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the operand's shape for FFT and IFFT.

    RFFT gives n/2+1 complex numbers in the last dimension, IRFFT takes as many. A size of 0 stays.
    """
    operand, kind, lengths = (
        operands[0],
        attributes.value("fft_type"),
        attributes.value("fft_length"),
    )
    require_array(operand)
    if not 1 <= len(lengths) <= 3 or len(lengths) > operand.rank:
        raise ShapeError(
            f"fft_length {list(lengths)} must give 1 to 3 of the dimensions of {bare(operand)}"
        )
    wanted = list(lengths)
    halved = lengths[-1] // 2 + 1 if lengths[-1] else 0
    if kind == "IRFFT":
        wanted[-1] = halved
    actual = list(operand.dimensions[-len(lengths) :])
    if wanted != actual:
        raise ShapeError(
            f"{kind} with fft_length {list(lengths)} takes {wanted} as the last dimensions, "
            f"the operand is {bare(operand)}"
        )
    element = operand.element_type
    if kind == "RFFT":
        if element not in (F32, F64):
            raise ShapeError(f"RFFT takes f32 or f64, the operand is {bare(operand)}")
        return array_shape(C64 if element is F32 else C128, (*operand.dimensions[:-1], halved))
    if kind not in ("FFT", "IFFT", "IRFFT"):
        raise ShapeError(f"fft_type must be FFT, IFFT, RFFT or IRFFT, it is {kind}")
    if not element.is_complex:
        raise ShapeError(f"{kind} takes complex numbers, the operand is {bare(operand)}")
    if kind == "IRFFT":
        return array_shape(element.component, (*operand.dimensions[:-1], lengths[-1]))
    return operand.base


def _square_matrices(a: Shape, what: str) -> None:
    require_array(a, what)
    if a.rank < 2 or a.dimensions[-1] != a.dimensions[-2]:
        raise ShapeError(f"{what} must be a batch of square matrices, it is {bare(a)}")
    if not (a.element_type.is_float or a.element_type.is_complex):
        raise ShapeError(f"{what} must be float or complex, it is {bare(a)}")


def cholesky(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the operand's shape."""
    _square_matrices(operands[0], "the operand")
    return operands[0].base


def triangular_solve(operands: tuple[Shape, ...], attributes: Attributes, called: Any) -> Shape:
    """Return the shape of b."""
    a, b = operands
    _square_matrices(a, "the triangular matrix")
    require_array(b, "the right side")
    require_same_type(a, b, "matrix and right side")
    if a.rank != b.rank or a.dimensions[:-2] != b.dimensions[:-2]:
        raise ShapeError(
            f"matrix and right side differ in batch dimensions: {bare(a)} vs {bare(b)}"
        )
    side = b.dimensions[-2] if attributes.value("left_side") else b.dimensions[-1]
    if side != a.dimensions[-1]:
        raise ShapeError(
            f"matrix {bare(a)} does not fit "
            f"{'left' if attributes.value('left_side') else 'right'} of {bare(b)}"
        )
    return b.base
