"""Tridiagonal systems by elimination with row exchanges, in linear memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.hlo.evaluator.lapack.calls import Array, each, targets, wide
from xla_explorer.hlo.evaluator.registry import Value, evaluates_custom_call

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction


@evaluates_custom_call(*targets("gtsv"))
def gtsv(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """Solve tridiagonal systems; return the triangular factor's diagonals, X and info.

    The result is (second superdiagonal, diagonal, superdiagonal, X, info). JAX pads the two outer
    diagonals to the length of the main one: the first of the lower and the last of the upper are
    unused. info is the first zero pivot. All systems of the batch are eliminated at once, one
    unknown after the other.
    """
    lower, main, upper, b = operands[:4]
    size, batch = main.shape[-1], main.shape[:-1]
    full = lower.shape[-1] == size
    # Unknowns become the leading dimension: each step below is one numpy step over the batch.
    below = np.moveaxis(wide(lower[..., 1:] if full else lower), -1, 0)
    diagonal = np.moveaxis(wide(main), -1, 0).copy()
    above = np.moveaxis(wide(upper[..., : size - 1] if full else upper), -1, 0).copy()
    second = np.zeros((max(size - 2, 0), *batch), diagonal.dtype)
    x = np.moveaxis(wide(b), -2, 0).copy()
    info = np.zeros(batch, np.int32)
    with np.errstate(all="ignore"):
        for k in range(size - 1):
            keep = _size(diagonal[k]) >= _size(below[k])
            pivot, other = (
                np.where(keep, diagonal[k], below[k]),
                np.where(keep, below[k], diagonal[k]),
            )
            info = np.where((info == 0) & (pivot == 0), k + 1, info)
            factor = np.where(other == 0, other, other / pivot)
            right, next_diagonal = (
                np.where(keep, above[k], diagonal[k + 1]),
                np.where(keep, diagonal[k + 1], above[k]),
            )
            diagonal[k], above[k] = pivot, right
            diagonal[k + 1] = next_diagonal - factor * right
            if k + 2 < size:
                second[k] = np.where(keep, 0, above[k + 1])
                above[k + 1] = np.where(keep, above[k + 1], -factor * above[k + 1])
            rows = (
                np.where(keep[..., None], x[k], x[k + 1]),
                np.where(keep[..., None], x[k + 1], x[k]),
            )
            x[k], x[k + 1] = rows[0], rows[1] - factor[..., None] * rows[0]
        if size:
            info = np.where((info == 0) & (diagonal[-1] == 0), size, info)
        for k in reversed(range(size)):
            if k + 1 < size:
                x[k] -= above[k][..., None] * x[k + 1]
            if k + 2 < size:
                x[k] -= second[k][..., None] * x[k + 2]
            x[k] /= diagonal[k][..., None]
        x = np.where((info != 0)[..., None], np.nan, x)
        outer = np.zeros_like(lower), np.zeros_like(upper)
        outer[0][..., int(full) : int(full) + max(size - 2, 0)] = np.moveaxis(second, 0, -1)
        outer[1][..., : max(size - 1, 0)] = np.moveaxis(above, 0, -1)
        return (
            outer[0],
            np.moveaxis(diagonal, 0, -1).astype(main.dtype),
            outer[1],
            np.moveaxis(x, 0, -2).astype(b.dtype),
            info.astype(np.int32),
        )


def _size(x: Array) -> Array:
    """Return |real part| + |imaginary part|, the size that LAPACK compares."""
    return np.asarray(np.abs(np.real(x)) + np.abs(np.imag(x)))


@evaluates_custom_call("tridiagonal_solve_perturbed_ffi")
def tridiagonal_solve_perturbed(
    i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator
) -> Value:
    """Solve tridiagonal systems that may be singular.

    Pivots near zero are moved by about an epsilon of the largest element of U, in the operands'
    type. Source: jaxlib/tridiagonal_solve_perturbed.h, after LAPACK's lagtf and lagts.
    """
    lower, main, upper, b = operands[:4]
    return each(
        i, lambda right, *diagonals: (_solve_perturbed(diagonals, right),), b, lower, main, upper
    )


def _solve_perturbed(diagonals: Sequence[Array], b: Array) -> Array:
    lower, main, upper = diagonals
    size = len(main)
    u, x = np.zeros((size, 3), main.dtype), b.copy()
    if not size:
        return x
    epsilon = np.finfo(main.dtype).eps
    u[0, 0] = main[0]
    if size == 1:
        pivot, row = _perturbed(epsilon * abs(main[0]), main[0], b[0])
        return np.asarray(row / pivot)[None]
    u[0, 1] = upper[0]
    scale = abs(u[0, 0]) + abs(u[0, 1])
    for k in range(size - 1):
        inner = k + 2 < size
        u[k + 1, 0] = main[k + 1]
        next_scale = abs(lower[k + 1]) + abs(main[k + 1]) + (abs(upper[k + 1]) if inner else 0)
        mine = abs(u[k, 0]) / scale if u[k, 0] != 0 else 0
        if lower[k + 1] == 0 or abs(lower[k + 1]) / next_scale <= mine:
            scale = next_scale
            u[k + 1, 1] = upper[k + 1]
            if lower[k + 1] != 0:
                factor = lower[k + 1] / u[k, 0]
                u[k + 1, 0] -= factor * u[k, 1]
                x[k + 1] = b[k + 1] - factor * x[k]
        else:
            factor, right = u[k, 0] / lower[k + 1], u[k, 1]
            u[k, 0], u[k, 1] = lower[k + 1], main[k + 1]
            u[k + 1, 0] = right - factor * main[k + 1]
            if inner:
                u[k, 2], u[k + 1, 1] = upper[k + 1], -factor * upper[k + 1]
            x[k], x[k + 1] = b[k + 1], x[k] - factor * b[k + 1]
            scale = abs(u[k + 1, 0]) + abs(u[k + 1, 1])
    largest = np.fmax.reduce(
        np.asarray([abs(main[0]), abs(upper[0]), *np.abs(u[: size - 2]).ravel(), abs(u[-1, 0])])
    )
    perturbation = epsilon * largest
    for k in reversed(range(size)):
        row = x[k]
        if k + 1 < size:
            row = row - u[k, 1] * x[k + 1]
        if k + 2 < size:
            row = row - u[k, 2] * x[k + 2]
        pivot, row = _perturbed(perturbation, u[k, 0], row)
        x[k] = row * (u.dtype.type(1) / pivot)
    return x


def _perturbed(by: Any, pivot: Any, row: Array) -> tuple[Any, Array]:
    """Return (pivot, right side), scaled so that neither 1 / pivot nor their quotient overflows."""
    tiny = np.finfo(row.dtype).tiny
    huge = 1 / tiny
    by = np.copysign(max(abs(by), tiny), np.real(pivot))
    largest = np.max(np.abs(row), initial=0)
    while abs(pivot) < 1:
        if abs(pivot) < tiny and not (pivot == 0 or largest * tiny > abs(pivot)):
            return pivot * huge, row * huge
        if abs(pivot) >= tiny and not largest > abs(pivot) * huge:
            break
        pivot, by = pivot + by, 2 * by
    return pivot, row
