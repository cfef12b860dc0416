"""Eigenvalues and singular values, with their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.hlo.analysis.backend_config import letter
from xla_explorer.hlo.evaluator.lapack.calls import (
    NO_INFO,
    Array,
    each,
    hermitian,
    need_finite,
    targets,
    wide,
)
from xla_explorer.hlo.evaluator.registry import Value, evaluates_custom_call

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction


@evaluates_custom_call(*targets("syevd", "heevd"))
def syevd(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """Return (eigenvectors in columns, ascending eigenvalues, info), reading one triangle."""
    uplo = letter(i, "uplo", "L")

    def decompose(matrix: Array) -> tuple[Any, ...]:
        whole = wide(hermitian(matrix, uplo))
        need_finite(whole)
        values, vectors = np.linalg.eigh(whole)
        return vectors, values, NO_INFO

    return each(i, decompose, operands[0], stacked=True)


@evaluates_custom_call("Eigh")
def eigh(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """Return (eigenvectors in columns, ascending eigenvalues) of a whole Hermitian matrix."""

    def decompose(matrix: Array) -> tuple[Array, Array]:
        need_finite(matrix)
        values, vectors = np.linalg.eigh(wide(matrix))
        return vectors, values

    return each(i, decompose, operands[0], stacked=True)


@evaluates_custom_call(*targets("gesdd"), *targets("gesvd"))
def gesdd(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """Return (workspace, descending singular values, U, V transposed, info).

    mode A: U and V whole, S: thin, N: values only (U, V are zeros).
    """
    mode = letter(i, "mode", "A")

    def decompose(matrix: Array) -> tuple[Any, ...]:
        need_finite(matrix)
        if mode == "N":
            return matrix, np.linalg.svd(wide(matrix), compute_uv=False), 0, 0, NO_INFO
        u, values, vt = np.linalg.svd(wide(matrix), full_matrices=mode == "A")
        return matrix, values, u, vt, NO_INFO

    return each(i, decompose, operands[0], stacked=True)


@evaluates_custom_call(*targets("geev"))
def geev(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """Return eigenvalues, left and right eigenvectors in columns, and info.

    Real matrices have real and imaginary parts of eigenvalues as separate results. A real matrix is
    decomposed in real arithmetic, so complex eigenvalues are exact conjugate pairs, positive
    imaginary part first.
    """
    a = operands[0]
    with_left, with_right = (
        letter(i, "compute_left", "N") == "V",
        letter(i, "compute_right", "N") == "V",
    )

    def decompose(matrix: Array) -> tuple[Any, ...]:
        need_finite(matrix)
        right: Any = 0
        if with_right:
            values, right = np.linalg.eig(wide(matrix))
        else:
            values = np.linalg.eigvals(wide(matrix))
        left: Any = left_eigenvectors(wide(matrix), values) if with_left else 0
        parts = (values,) if a.dtype.kind == "c" else (np.real(values), np.imag(values))
        return *parts, left, right, NO_INFO

    return each(i, decompose, a, stacked=not with_left)


def left_eigenvectors(a: Array, values: Array) -> Array:
    """Return u with u^H a = value u^H in columns, in the order of the values.

    They are the right eigenvectors of a^H. The inverse of the right eigenvectors does not exist for
    a defective matrix.
    """
    found, vectors = np.linalg.eig(np.conj(a).T)
    free = list(range(len(values)))
    order = []
    for value in values:
        best = min(free, key=lambda k: abs(np.conj(found[k]) - value))
        free.remove(best)
        order.append(best)
    return np.asarray(vectors[:, order])
