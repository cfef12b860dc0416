"""Transforms, factorisations and batch normalisation, in f64 (c128) and rounded once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.hlo.evaluator.conversion import convert, widen
from xla_explorer.hlo.evaluator.registry import Array, Value, evaluates

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction


def _wide(x: Array) -> Array:
    native = widen(x)
    return native.astype(np.complex128 if native.dtype.kind == "c" else np.float64)


_TRANSFORMS: dict[str, Any] = {
    "FFT": np.fft.fftn,
    "IFFT": np.fft.ifftn,
    "RFFT": np.fft.rfftn,
    "IRFFT": np.fft.irfftn,
}


@evaluates("fft")
def fft(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Transform the last len(fft_length) dimensions; inverses divide by the number of elements."""
    x = operands[0]
    lengths = i.attributes.value("fft_length")
    kind = i.attributes.value("fft_type")
    axes = tuple(range(x.ndim - len(lengths), x.ndim))
    if 0 in i.shape.dimensions or 0 in x.shape:
        return np.zeros(i.shape.dimensions, i.shape.element_type.dtype)
    return _TRANSFORMS[kind](_wide(x), lengths, axes).astype(i.shape.element_type.dtype)


@evaluates("cholesky")
def cholesky(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Return L with L L^H = a (lower), or U with U^H U = a, reading one triangle.

    The result is NaN if a is not positive definite.
    """
    x = _wide(operands[0])
    lower = i.attributes.value("lower")
    triangle = np.tril(x) if lower else np.conj(np.swapaxes(np.triu(x), -1, -2))
    matrices = triangle.reshape(math.prod(x.shape[:-2]), *x.shape[-2:])
    result = np.empty_like(matrices)
    for number, matrix in enumerate(matrices):
        full = matrix + np.conj(np.tril(matrix, -1).T)
        try:
            result[number] = np.linalg.cholesky(full)
        except np.linalg.LinAlgError:
            result[number] = np.nan
    factor = result.reshape(x.shape)
    return (factor if lower else np.conj(np.swapaxes(factor, -1, -2))).astype(operands[0].dtype)


@evaluates("triangular-solve")
def triangular_solve(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
    """Solve op(a) x = b (left side) or x op(a) = b, reading one triangle of a.

    With unit_diagonal the diagonal is not read.
    """
    value = i.attributes.value
    return solve_triangular(
        operands[0],
        operands[1],
        left_side=value("left_side"),
        lower=value("lower"),
        unit_diagonal=value("unit_diagonal"),
        transpose_a=value("transpose_a"),
    )


def solve_triangular(
    given: Array,
    right: Array,
    *,
    left_side: bool,
    lower: bool,
    unit_diagonal: bool,
    transpose_a: str,
) -> Array:
    """Solve op(a) x = b (left side) or x op(a) = b in f64 (c128); x has b's type."""
    a, b = _wide(given), _wide(right)
    matrix = np.tril(a) if lower else np.triu(a)
    if transpose_a != "NO_TRANSPOSE":
        matrix = np.swapaxes(matrix, -1, -2)
        lower = not lower
        if transpose_a == "ADJOINT":
            matrix = np.conj(matrix)
    if left_side:
        return substitute(matrix, b, lower, unit_diagonal).astype(right.dtype)
    # x m = b is m^T x^T = b^T.
    solved = substitute(
        np.swapaxes(matrix, -1, -2), np.swapaxes(b, -1, -2), not lower, unit_diagonal
    )
    return np.swapaxes(solved, -1, -2).astype(right.dtype)


def substitute(matrix: Array, right: Array, lower: bool, unit_diagonal: bool) -> Array:
    """Substitute forward (lower) or backward, for all right sides and batches at once."""
    x = right.copy()
    size = matrix.shape[-1]
    for row in range(size) if lower else range(size - 1, -1, -1):
        known = slice(0, row) if lower else slice(row + 1, size)
        if row > 0 if lower else row < size - 1:
            x[..., row, :] -= np.matmul(matrix[..., row : row + 1, known], x[..., known, :])[
                ..., 0, :
            ]
        if not unit_diagonal:
            x[..., row, :] /= matrix[..., row, row, None]
    return x


def _feature_view(vector: Array, rank: int, feature: int) -> Array:
    return vector.reshape([-1 if d == feature else 1 for d in range(rank)])


def _epsilon(i: HloInstruction) -> float:
    """Return epsilon rounded to f32: XLA's attribute is an f32 for every operand type."""
    return float(np.float32(i.attributes.value("epsilon")))


@evaluates("batch-norm-training")
def batch_norm_training(
    i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator
) -> Value:
    """Return (normalised, mean, biased variance) of each feature."""
    x, scale, offset = map(_wide, operands)
    feature = i.attributes.value("feature_index")
    others = tuple([d for d in range(x.ndim) if d != feature])
    mean, variance = x.mean(axis=others), x.var(axis=others)
    result = _normalise(x, scale, offset, mean, variance, _epsilon(i), feature)
    return tuple(
        [
            convert(v, s.element_type)
            for v, s in zip((result, mean, variance), i.shape.tuple_shapes, strict=True)
        ]
    )


@evaluates("batch-norm-inference")
def batch_norm_inference(
    i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator
) -> Value:
    """Normalise by a given mean and variance."""
    x, scale, offset, mean, variance = map(_wide, operands)
    result = _normalise(
        x, scale, offset, mean, variance, _epsilon(i), i.attributes.value("feature_index")
    )
    return convert(result, i.shape.element_type)


def _normalise(
    x: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    epsilon: float,
    feature: int,
) -> Array:
    scale, offset, mean, variance = [
        _feature_view(v, x.ndim, feature) for v in (scale, offset, mean, variance)
    ]
    return np.asarray((x - mean) / np.sqrt(variance + epsilon) * scale + offset)


@evaluates("batch-norm-grad")
def batch_norm_gradient(
    i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator
) -> Value:
    """Return the gradients of (operand, scale, offset)."""
    x, scale, mean, variance, gradient = map(_wide, operands)
    feature = i.attributes.value("feature_index")
    others = tuple([d for d in range(x.ndim) if d != feature])
    count = math.prod([x.shape[d] for d in others])
    scale, mean, variance = [_feature_view(v, x.ndim, feature) for v in (scale, mean, variance)]
    deviation = np.sqrt(variance + _epsilon(i))
    normalised = (x - mean) / deviation
    grad_offset = gradient.sum(axis=others)
    grad_scale = (gradient * normalised).sum(axis=others)
    grad_x = (
        scale
        / deviation
        * (
            gradient
            - _feature_view(grad_offset, x.ndim, feature) / count
            - normalised * _feature_view(grad_scale, x.ndim, feature) / count
        )
    )
    return tuple(
        [
            convert(v, s.element_type)
            for v, s in zip((grad_x, grad_scale, grad_offset), i.shape.tuple_shapes, strict=True)
        ]
    )
