"""Custom calls by which JAX reaches LAPACK on a CPU (`lapack_sgetrf_ffi` ...) and XLA's own linear algebra on other devices
(`Qr`, `LuDecomposition` ...), on numpy.

Values are logical arrays (leading dimensions are a batch), so that the column-major layouts which these calls ask for play no part.
Results of routines that numpy has are computed in double precision inside and rounded once. Sources: jaxlib/cpu/lapack_kernels.h for
names, results and attributes; LAPACK Users' Guide for the packed forms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.hlo.evaluator.linear_algebra import solve_triangular
from xla_explorer.hlo.evaluator.registry import Value, evaluates_custom_call

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction

Array = np.ndarray[Any, Any]
_ATTRIBUTE = re.compile(r"(\w+)\s*=\s*(-?\d+)\s*:\s*u?i\d+")


def _targets(real: str, complex_: str | None = None) -> list[str]:
    return [f"lapack_{letter}{real}_ffi" for letter in "sd"] + [f"lapack_{letter}{complex_ or real}_ffi" for letter in "cz"]


def _letter(i: HloInstruction, name: str, default: str) -> str:
    """An attribute of the call that holds a character code: `uplo = 76 : ui8` is `L`."""
    found = dict(_ATTRIBUTE.findall(str(i.attributes.get("backend_config") or "")))
    return chr(int(found[name])) if name in found else default


def _info(a: Array, failed: Array | bool = False) -> Array:
    """LAPACK's info result, one per matrix: 0, or 1 where the routine failed."""
    return np.asarray(np.broadcast_to(np.asarray(failed), a.shape[:-2]), np.int32)


def _each(function: Callable[[Array], tuple[Array, ...]], a: Array) -> tuple[Array, ...]:
    """A function of one matrix over the batch; results stacked."""
    flat = a.reshape(-1, *a.shape[-2:])
    rows = [function(matrix) for matrix in flat]
    return tuple([np.stack(column).reshape((*a.shape[:-2], *column[0].shape)) for column in zip(*rows, strict=True)])


def _hermitian(a: Array, uplo: str) -> Array:
    """The Hermitian matrix whose one triangle is given."""
    triangle = np.tril(a, -1) if uplo == "L" else np.triu(a, 1)
    diagonal = np.real(np.einsum("...ii->...i", a))
    return np.asarray(triangle + np.conj(np.swapaxes(triangle, -1, -2)) + diagonal[..., None] * np.eye(a.shape[-1], dtype=a.dtype))


@evaluates_custom_call(*_targets("potrf"))
def potrf(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """(factor in the asked triangle, info). A matrix that is not positive definite gives info 1 and is left as it was."""
    a, uplo = operands[0], _letter(i, "uplo", "L")

    def factor(matrix: Array) -> tuple[Array, Array]:
        try:
            lower = np.linalg.cholesky(_hermitian(matrix, uplo).astype(np.result_type(matrix, np.float64)))
        except np.linalg.LinAlgError:
            return matrix, np.asarray(1, np.int32)
        if uplo == "L":
            return (np.tril(lower) + np.triu(matrix, 1)).astype(matrix.dtype), np.asarray(0, np.int32)
        return (np.conj(lower).T + np.tril(matrix, -1)).astype(matrix.dtype), np.asarray(0, np.int32)

    return _each(factor, a)


def lu_factor(a: Array) -> tuple[Array, Array, Array]:
    """(L below and U above the diagonal, 0-based row exchanges, info) of one matrix by partial pivoting."""
    lu, steps = a.copy(), min(a.shape)
    exchanges, info = np.arange(steps, dtype=np.int32), 0
    with np.errstate(all="ignore"):
        for k in range(steps):
            size = np.abs(lu[k:, k].real) + np.abs(lu[k:, k].imag)
            # NaN never wins the comparison of LAPACK's search.
            row = k + (int(np.nanargmax(size)) if not np.isnan(size).all() else 0)
            exchanges[k] = row
            if row != k:
                lu[[k, row]] = lu[[row, k]]
            if lu[k, k] != 0:
                lu[k + 1:, k] /= lu[k, k]
            elif not info:
                info = k + 1
            lu[k + 1:, k + 1:] -= np.outer(lu[k + 1:, k], lu[k, k + 1:])
    return lu, exchanges, np.asarray(info, np.int32)


@evaluates_custom_call(*_targets("getrf"))
def getrf(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """(packed factors, 1-based row exchanges, info)."""
    lu, exchanges, info = _each(lu_factor, operands[0])
    return lu, exchanges + np.int32(1), info


@evaluates_custom_call("LuDecomposition")
def lu_decomposition(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """(packed factors, 0-based row exchanges, permutation of the rows)."""

    def factor(matrix: Array) -> tuple[Array, ...]:
        lu, exchanges, _ = lu_factor(matrix)
        order = np.arange(matrix.shape[0], dtype=np.int32)
        for k, row in enumerate(exchanges):
            order[[k, row]] = order[[row, k]]
        return lu, exchanges, order

    return _each(factor, operands[0])


def householder(a: Array, pivots: Array | None = None) -> tuple[Array, Array, Array]:
    """(R above, reflectors below the diagonal, their scales tau, 1-based column order) of one matrix, as LAPACK packs a QR.

    With `pivots` (0: a free column) columns of largest remaining norm come first."""
    packed = a.astype(np.result_type(a, np.float64))
    rows, columns = a.shape
    tau = np.zeros(min(rows, columns), packed.dtype)
    order = np.arange(1, columns + 1, dtype=np.int32)
    for k in range(min(rows, columns)):
        if pivots is not None:
            best = k + int(np.argmax(np.linalg.norm(packed[k:, k:], axis=0)))
            packed[:, [k, best]], order[[k, best]] = packed[:, [best, k]], order[[best, k]]
        alpha, rest = packed[k, k], np.linalg.norm(packed[k + 1:, k])
        if rest == 0 and np.imag(alpha) == 0:
            continue
        beta = -np.copysign(np.hypot(np.abs(alpha), rest), np.real(alpha))
        tau[k] = (beta - alpha) / beta
        packed[k + 1:, k] /= alpha - beta
        v = np.concatenate([[1], packed[k + 1:, k]])
        packed[k:, k + 1:] -= np.conj(tau[k]) * np.outer(v, np.conj(v) @ packed[k:, k + 1:])
        packed[k, k] = beta
    return packed.astype(a.dtype), tau.astype(a.dtype), order


@evaluates_custom_call(*_targets("geqrf"), "Qr")
def geqrf(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """(R and reflectors packed, tau)."""
    return _each(lambda matrix: householder(matrix)[:2], operands[0])


@evaluates_custom_call(*_targets("geqp3"))
def geqp3(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """(R and reflectors packed, 1-based column order, tau) with column pivoting."""
    packed, tau, order = _each(lambda matrix: householder(matrix, operands[1]), operands[0])
    return packed, order, tau


@evaluates_custom_call(*_targets("orgqr", "ungqr"), "ProductOfElementaryHouseholderReflectors")
def orgqr(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """The first columns of Q from reflectors and their scales."""
    a, tau = operands[0], operands[1]
    rows, columns = a.shape[-2:]
    wide = np.result_type(a, np.float64)
    q = np.broadcast_to(np.eye(rows, columns, dtype=wide), a.shape).copy()
    for k in reversed(range(tau.shape[-1])):
        v = np.concatenate([np.ones((*a.shape[:-2], 1), wide), a[..., k + 1:, k].astype(wide)], axis=-1)
        along = np.einsum("...r,...rc->...c", np.conj(v), q[..., k:, :])
        q[..., k:, :] -= tau[..., k, None, None] * v[..., :, None] * along[..., None, :]
    return q.astype(a.dtype)


@evaluates_custom_call(*_targets("syevd", "heevd"))
def syevd(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """(eigenvectors in columns, eigenvalues rising, info) of a symmetric or Hermitian matrix, one triangle of it read."""
    a = operands[0]
    values, vectors = np.linalg.eigh(_hermitian(a, _letter(i, "uplo", "L")).astype(np.result_type(a, np.float64)))
    return vectors.astype(a.dtype), values.astype(a.real.dtype), _info(a)


@evaluates_custom_call("Eigh")
def eigh(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """(eigenvectors in columns, eigenvalues rising) of a symmetric or Hermitian matrix given whole."""
    values, vectors = np.linalg.eigh(operands[0].astype(np.result_type(operands[0], np.float64)))
    return vectors.astype(operands[0].dtype), values.astype(operands[0].real.dtype)


@evaluates_custom_call(*_targets("gesdd"))
def gesdd(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """(workspace, singular values falling, U, V transposed, info). mode A: U and V whole, S: thin, N: values only (U, V are zeros)."""
    a, mode = operands[0], _letter(i, "mode", "A")
    wide = a.astype(np.result_type(a, np.float64))
    if mode == "N":
        u, vt = [np.zeros(i.shape.tuple_shapes[k].dimensions, a.dtype) for k in (2, 3)]
        values = np.linalg.svd(wide, compute_uv=False)
    else:
        u, values, vt = np.linalg.svd(wide, full_matrices=mode == "A")
    return a, values.astype(a.real.dtype), u.astype(a.dtype), vt.astype(a.dtype), _info(a)


@evaluates_custom_call(*_targets("geev"))
def geev(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """Eigenvalues (real and imaginary parts apart for real matrices), left and right eigenvectors in columns, info."""
    a = operands[0]
    kind = np.result_type(a.dtype, np.complex64)
    values, right = np.linalg.eig(a.astype(np.result_type(a, np.complex128)))
    with np.errstate(all="ignore"):
        left = np.conj(np.swapaxes(np.linalg.inv(right), -1, -2)) if _letter(i, "compute_left", "N") == "V" else np.zeros_like(right)
        left = left / np.maximum(np.linalg.norm(left, axis=-2, keepdims=True), np.finfo(np.float64).tiny)
    vectors = left.astype(kind), right.astype(kind), _info(a)
    if a.dtype.kind == "c":
        return values.astype(kind), *vectors
    return values.real.astype(a.dtype), values.imag.astype(a.dtype), *vectors


@evaluates_custom_call(*_targets("trsm"))
def trsm(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """X of op(A) X = B (side L) or X op(A) = B (side R), A triangular."""
    transpose = {"N": "NO_TRANSPOSE", "T": "TRANSPOSE", "C": "ADJOINT"}[_letter(i, "trans_x", "N")]
    return solve_triangular(operands[0], operands[1], left_side=_letter(i, "side", "L") == "L", lower=_letter(i, "uplo", "L") == "L",
                            unit_diagonal=_letter(i, "diag", "N") == "U", transpose_a=transpose)


@evaluates_custom_call(*_targets("gtsv"))
def gtsv(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """(lower, main, upper diagonal, X, info) of a tridiagonal system; the diagonals, which LAPACK overwrites, are the given ones.

    JAX gives the two outer diagonals with the length of the main one: the first of the lower and the last of the upper are unused."""
    lower, main, upper, b = operands[:4]
    size = main.shape[-1]
    dense = np.zeros((*main.shape, size), np.result_type(main, np.float64))
    steps = np.arange(size)
    dense[..., steps, steps] = main
    dense[..., steps[1:], steps[:-1]] = lower[..., 1:] if lower.shape[-1] == size else lower
    dense[..., steps[:-1], steps[1:]] = upper[..., :-1] if upper.shape[-1] == size else upper
    return lower, main, upper, np.linalg.solve(dense, b).astype(b.dtype), _info(b)
