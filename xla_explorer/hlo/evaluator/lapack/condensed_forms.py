"""Householder reductions to Hessenberg form (gehrd) and to tridiagonal form (sytrd, hetrd)."""

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
    reflector,
    targets,
    wide,
)
from xla_explorer.hlo.evaluator.registry import Value, evaluates_custom_call

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction


def hessenberg(a: Array, low: int, high: int) -> tuple[Array, Array]:
    """Return (the Hessenberg form with reflectors below its subdiagonal, tau).

    Rows and columns low to high - 1 are reduced.
    """
    packed = wide(a)
    tau = np.zeros(max(len(a) - 1, 0), packed.dtype)
    for k in range(low, high - 1):
        v, tau[k], beta = reflector(packed[k + 1 : high, k])
        packed[:high, k + 1 : high] -= tau[k] * np.outer(
            packed[:high, k + 1 : high] @ v, np.conj(v)
        )
        packed[k + 1 : high, k + 1 :] -= np.conj(tau[k]) * np.outer(
            v, np.conj(v) @ packed[k + 1 : high, k + 1 :]
        )
        packed[k + 1, k], packed[k + 2 : high, k] = beta, v[1:]
    return packed, tau


@evaluates_custom_call(*targets("gehrd"))
def gehrd(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """Return (the Hessenberg form with reflectors below, tau, info); low and high count from 1."""
    a = operands[0]
    low = attribute(i, "low", 1) - 1
    return each(
        i, lambda matrix: (*hessenberg(matrix, low, attribute(i, "high", len(matrix))), NO_INFO), a
    )


def tridiagonal(a: Array, uplo: str) -> tuple[Array, Array, Array, Array]:
    """Return (reflectors and form in the given triangle, diagonal, off-diagonal, tau).

    One triangle of the Hermitian matrix is read.
    """
    full, packed, size = wide(hermitian(a, uplo)), wide(a), len(a)
    tau = np.zeros(max(size - 1, 0), full.dtype)
    off = np.zeros(max(size - 1, 0), np.float64)
    for step in range(size - 1):
        # Lower: column k below its diagonal, from the first column on. Upper: column k + 1 above
        # its diagonal, upwards, from the last column on.
        if uplo == "L":
            k, part, column = step, slice(step + 1, size), full[step + 1 :, step]
        else:
            k = size - 2 - step
            part, column = slice(0, k + 1), full[k::-1, k + 1]
        v, tau[k], off[k] = reflector(column)
        if uplo == "L":
            packed[k + 1, k], packed[k + 2 :, k] = off[k], v[1:]
        else:
            v = v[::-1]
            packed[k, k + 1], packed[:k, k + 1] = off[k], v[:-1]
        block = full[part, part]
        block = block - tau[k] * np.outer(block @ v, np.conj(v))
        full[part, part] = block - np.conj(tau[k]) * np.outer(v, np.conj(v) @ block)
    diagonal = np.real(np.diagonal(full)).copy()
    packed[np.arange(size), np.arange(size)] = diagonal
    return packed, diagonal, off, tau


@evaluates_custom_call(*targets("sytrd", "hetrd"))
def sytrd(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """Return (reflectors and form packed, diagonal, off-diagonal, tau, info)."""
    uplo = letter(i, "uplo", "L")
    return each(i, lambda matrix: (*tridiagonal(matrix, uplo), NO_INFO), operands[0])
