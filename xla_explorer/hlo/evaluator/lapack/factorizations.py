"""Cholesky, LU and QR, products with their packed factors, and triangular systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.hlo.analysis.backend_config import attribute, letter
from xla_explorer.hlo.evaluator.lapack.calls import (
    NO_INFO,
    Array,
    each,
    hermitian,
    norm,
    reflector,
    targets,
    wide,
)
from xla_explorer.hlo.evaluator.linear_algebra import solve_triangular
from xla_explorer.hlo.evaluator.registry import Value, evaluates_custom_call

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction


@evaluates_custom_call(*targets("potrf"))
def potrf(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """Return (factor in the given triangle, info).

    A matrix that is not positive definite stays unchanged. info is the first leading minor that is
    not positive.
    """
    uplo = letter(i, "uplo", "L")

    def factor(matrix: Array) -> tuple[Array, Any]:
        whole = wide(hermitian(matrix, uplo))
        try:
            lower = np.linalg.cholesky(whole)
            if np.isnan(lower).any():
                raise np.linalg.LinAlgError("not a number")
        except np.linalg.LinAlgError:
            if matrix.ndim > 2:
                raise
            return matrix, _first_bad_minor(whole)
        if uplo == "L":
            return np.tril(lower) + np.triu(matrix, 1), NO_INFO
        return np.conj(np.swapaxes(lower, -1, -2)) + np.tril(matrix, -1), NO_INFO

    return each(i, factor, operands[0], stacked=True)


def _first_bad_minor(a: Array) -> int:
    """Return the order of the first leading minor that is not positive; NaN is not positive."""
    size = len(a)
    lower = np.zeros_like(a)
    for k in range(size):
        pivot = np.real(a[k, k]) - np.sum(np.abs(lower[k, :k]) ** 2)
        if not pivot > 0:
            return k + 1
        lower[k, k] = np.sqrt(pivot)
        lower[k + 1 :, k] = (a[k + 1 :, k] - lower[k + 1 :, :k] @ np.conj(lower[k, :k])) / lower[
            k, k
        ]
    return size


def lu_factor(a: Array) -> tuple[Array, Array, int]:
    """Return (packed L and U, 0-based row exchanges, info), in the matrix's own type.

    Pivoting is partial.
    """
    lu, steps = a.copy(), min(a.shape)
    exchanges, info = np.arange(steps, dtype=np.int32), 0
    for k in range(steps):
        size = np.abs(lu[k:, k].real) + np.abs(lu[k:, k].imag)
        # NaN never wins the comparison of LAPACK's search.
        row = k + (int(np.nanargmax(size)) if not np.isnan(size).all() else 0)
        exchanges[k] = row
        if row != k:
            lu[[k, row]] = lu[[row, k]]
        if lu[k, k] != 0:
            lu[k + 1 :, k] /= lu[k, k]
        elif not info:
            info = k + 1
        lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])
    return lu, exchanges, info


@evaluates_custom_call(*targets("getrf"))
def getrf(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """Return (packed factors, 1-based row exchanges, info)."""

    def factor(matrix: Array) -> tuple[Any, ...]:
        lu, exchanges, info = lu_factor(matrix)
        return lu, exchanges + np.int32(1), info

    return each(i, factor, operands[0])


@evaluates_custom_call("LuDecomposition")
def lu_decomposition(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """Return (packed factors, 0-based row exchanges, permutation of the rows)."""

    def factor(matrix: Array) -> tuple[Array, ...]:
        lu, exchanges, _ = lu_factor(matrix)
        order = np.arange(matrix.shape[0], dtype=np.int32)
        for k, row in enumerate(exchanges):
            order[[k, row]] = order[[row, k]]
        return lu, exchanges, order

    return each(i, factor, operands[0])


def householder(a: Array, pivots: Array | None = None) -> tuple[Array, Array, Array]:
    """Return (R above, reflectors below the diagonal, scales tau, 1-based column order), as LAPACK.

    With `pivots` the columns with a nonzero pivot come first; each next column has the largest
    remaining norm.
    """
    packed = wide(a)
    rows, columns = a.shape
    tau = np.zeros(min(rows, columns), packed.dtype)
    order = np.arange(1, columns + 1, dtype=np.int32)
    fixed = 0
    if pivots is not None:
        for column in np.flatnonzero(pivots).tolist():
            order[[fixed, column]] = order[[column, fixed]]
            fixed += 1
        packed = packed[:, order - 1]
    for k in range(min(rows, columns)):
        if pivots is not None and k >= fixed:
            # NaN never wins the comparison of LAPACK's search.
            sizes = np.nan_to_num(norm(packed[k:, k:], axis=0), nan=-1, posinf=np.inf)
            best = k + int(np.argmax(sizes))
            packed[:, [k, best]], order[[k, best]] = packed[:, [best, k]], order[[best, k]]
        v, tau[k], packed[k, k] = reflector(packed[k:, k])
        packed[k + 1 :, k] = v[1:]
        packed[k:, k + 1 :] -= np.conj(tau[k]) * np.outer(v, np.conj(v) @ packed[k:, k + 1 :])
    return packed, tau, order


@evaluates_custom_call(*targets("geqrf"), "Qr")
def geqrf(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """Return (R and reflectors packed, tau)."""
    return each(i, lambda matrix: householder(matrix)[:2], operands[0])


@evaluates_custom_call(*targets("geqp3"))
def geqp3(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """Return (R and reflectors packed, 1-based column order, tau) with column pivoting."""

    def factor(matrix: Array, pivots: Array) -> tuple[Array, ...]:
        packed, tau, order = householder(matrix, pivots)
        return packed, order, tau

    return each(i, factor, operands[0], operands[1])


def apply_reflectors(a: Array, tau: Array, c: Array, *, left: bool, adjoint: bool) -> Array:
    """Return Q C, Q^H C, C Q or C Q^H for the product Q of the reflectors in `a`.

    Batches at once.
    """
    result, reflectors, scales = wide(c), wide(a), wide(tau)
    # The last reflector acts first in Q C and in C Q^H.
    steps = range(tau.shape[-1])
    for k in reversed(steps) if left != adjoint else steps:
        v = reflectors[..., k:, k].copy()
        v[..., 0] = 1
        scale = scales[..., k, None, None]
        scale = np.conj(scale) if adjoint else scale
        if left:
            along = np.einsum("...r,...rc->...c", np.conj(v), result[..., k:, :])
            result[..., k:, :] -= scale * v[..., :, None] * along[..., None, :]
        else:
            along = np.einsum("...rc,...c->...r", result[..., k:], v)
            result[..., k:] -= scale * along[..., :, None] * np.conj(v)[..., None, :]
    return result.astype(c.dtype)


@evaluates_custom_call(*targets("orgqr", "ungqr"), "ProductOfElementaryHouseholderReflectors")
def orgqr(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """Return the first columns of Q from reflectors and their scales."""
    a, tau = operands[0], operands[1]
    start = np.broadcast_to(np.eye(*a.shape[-2:], dtype=a.dtype), a.shape)
    with np.errstate(all="ignore"):
        return apply_reflectors(a, tau, start, left=True, adjoint=False)


@evaluates_custom_call(*targets("ormqr", "unmqr"))
def ormqr(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """Multiply by Q or Q^H from reflectors, from the left or the right."""
    a, tau, c = operands[:3]
    with np.errstate(all="ignore"):
        return apply_reflectors(
            a, tau, c, left=bool(attribute(i, "left", 1)), adjoint=bool(attribute(i, "transpose"))
        )


@evaluates_custom_call(*targets("trsm"))
def trsm(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """Solve op(A) X = B (side L) or X op(A) = B (side R), A triangular."""
    transpose = {"N": "NO_TRANSPOSE", "T": "TRANSPOSE", "C": "ADJOINT"}[letter(i, "trans_x", "N")]
    return solve_triangular(
        operands[0],
        operands[1],
        left_side=letter(i, "side", "L") == "L",
        lower=letter(i, "uplo", "L") == "L",
        unit_diagonal=letter(i, "diag", "N") == "U",
        transpose_a=transpose,
    )
