"""Shared parts of the routines: names of the calls, and application to a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.hlo.evaluator.registry import Value

if TYPE_CHECKING:
    from xla_explorer.hlo.instruction import HloInstruction

Array = np.ndarray[Any, Any]

NO_INFO = np.int32(0)


def targets(real: str, complex_: str | None = None) -> list[str]:
    """Return the s, d, c and z calls of a routine (`lapack_sgetrf_ffi` ...).

    complex_: the name in c and z calls, if it differs.
    """
    return [f"lapack_{letter}{real}_ffi" for letter in "sd"] + [
        f"lapack_{letter}{complex_ or real}_ffi" for letter in "cz"
    ]


def wide(a: Array) -> Array:
    """Return the array in double precision."""
    return a.astype(np.result_type(a, np.float64))


def each(
    i: HloInstruction, function: Callable[..., Sequence[Any]], *arrays: Array, stacked: bool = False
) -> Value:
    """Apply a function of one matrix to the batch: the leading dimensions of the first array.

    If it raises LinAlgError, that matrix gets NaN and 1 in integer results (LAPACK's info). The
    batch may be empty. stacked: the function also takes all matrices at once; single calls follow
    only after a failure.
    """
    shapes = i.shape.tuple_shapes if i.shape.is_tuple else (i.shape,)
    results = [np.zeros(shape.dimensions, shape.element_type.dtype) for shape in shapes]
    first = arrays[0]
    with np.errstate(all="ignore"):
        if stacked:
            try:
                for result, value in zip(results, function(*arrays), strict=True):
                    result[...] = value
            except np.linalg.LinAlgError:
                pass
            else:
                return tuple(results) if i.shape.is_tuple else results[0]
        for index in np.ndindex(*first.shape[:-2]):
            try:
                values = function(*[a[index] for a in arrays])
            except np.linalg.LinAlgError:
                values = [1 if result.dtype.kind == "i" else np.nan for result in results]
            for result, value in zip(results, values, strict=True):
                result[index] = value
    return tuple(results) if i.shape.is_tuple else results[0]


def need_finite(a: Array) -> None:
    """Raise LinAlgError for NaN and infinities, with which iterations do not end."""
    if not np.isfinite(a).all():
        raise np.linalg.LinAlgError("not finite")


def hermitian(a: Array, uplo: str) -> Array:
    """Return the Hermitian matrix from one of its triangles."""
    triangle = np.tril(a, -1) if uplo == "L" else np.triu(a, 1)
    diagonal = np.real(np.einsum("...ii->...i", a))
    return np.asarray(
        triangle
        + np.conj(np.swapaxes(triangle, -1, -2))
        + diagonal[..., None] * np.eye(a.shape[-1], dtype=a.dtype)
    )


def norm(x: Array, axis: int | None = None) -> Array:
    """Return the 2-norm without intermediate overflow or underflow."""
    plain = np.linalg.norm(x, axis=axis)
    if np.all((plain > 1e-140) & (plain < 1e140)):
        return np.asarray(plain)
    largest = np.max(np.abs(x), axis=axis, keepdims=True, initial=0)
    scale = np.where((largest > 0) & np.isfinite(largest), largest, 1)
    return np.asarray(np.linalg.norm(x / scale, axis=axis) * np.squeeze(scale, axis=axis))


def reflector(column: Array) -> tuple[Array, Any, Any]:
    """Return (v, tau, beta) with v[0] = 1, beta real, as in LAPACK's larfg.

    (1 - tau v v^H)^H column = (beta, 0, 0 ...).
    """
    v = column.copy()
    alpha, rest = column[0], norm(column[1:])
    v[0] = 1
    if rest == 0 and np.imag(alpha) == 0:
        v[1:] = 0
        return v, 0.0, np.real(alpha)
    beta = -np.copysign(np.hypot(np.abs(alpha), rest), np.real(alpha))
    v[1:] /= alpha - beta
    return v, (beta - alpha) / beta, beta
