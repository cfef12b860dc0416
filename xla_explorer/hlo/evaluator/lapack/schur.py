"""The Schur form: Hessenberg form, then QR steps with implicit shifts; real for real matrices.

Source: Golub and Van Loan, Matrix Computations, 7.5 and 7.6; LAPACK's lanv2 for the standard form
of a 2 x 2 block.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.hlo.analysis.backend_config import letter
from xla_explorer.hlo.evaluator.lapack.calls import (
    NO_INFO,
    Array,
    each,
    need_finite,
    reflector,
    targets,
    wide,
)
from xla_explorer.hlo.evaluator.lapack.condensed_forms import hessenberg
from xla_explorer.hlo.evaluator.lapack.factorizations import apply_reflectors
from xla_explorer.hlo.evaluator.registry import UnsupportedOpcodeError, Value, evaluates_custom_call

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction

_EPSILON = float(np.finfo(np.float64).eps)
_ITERATIONS = 30  # QR steps per eigenvalue, as in LAPACK


@evaluates_custom_call(*targets("gees"))
def gees(i: HloInstruction, operands: Sequence[Any], evaluator: Evaluator) -> Value:
    """Return (T, Z, eigenvalues, number of selected eigenvalues, info) with a = Z T Z^H.

    A real matrix has real and imaginary parts of eigenvalues as separate results.
    """
    a, with_vectors = operands[0], letter(i, "mode", "V") == "V"
    if letter(i, "sort", "N") != "N":
        raise UnsupportedOpcodeError(
            "custom-call",
            f"%{i.name}: a function that selects the first eigenvalues of the Schur form is "
            "unsupported",
            "use sort = 78 (N)",
        )

    def decompose(matrix: Array) -> tuple[Any, ...]:
        form, vectors = schur(wide(matrix))
        values = eigenvalues_of(form)
        parts = (values,) if a.dtype.kind == "c" else (values.real, values.imag)
        return form, vectors if with_vectors else 0, *parts, 0, NO_INFO

    return each(i, decompose, a)


def schur(a: Array) -> tuple[Array, Array]:
    """Return (T, Z) in double precision, or raise LinAlgError (not finite, no convergence)."""
    need_finite(a)
    largest = float(np.max(np.abs(a), initial=0))
    # Products of elements must neither overflow nor underflow; powers of two are exact.
    scale = (
        2.0 ** -max(-1000, math.frexp(largest)[1])
        if largest and not 1e-60 < largest < 1e60
        else 1.0
    )
    packed, tau = hessenberg(a * scale, 0, len(a))
    form = np.triu(packed, -1)
    vectors = np.eye(len(a), dtype=a.dtype)
    if len(a) > 1:
        vectors[1:, 1:] = apply_reflectors(
            packed[1:, :-1], tau, vectors[1:, 1:], left=True, adjoint=False
        )
    (_complex_steps if a.dtype.kind == "c" else _real_steps)(form, vectors)
    return form / scale, vectors


def eigenvalues_of(form: Array) -> Array:
    """Return the eigenvalues of a (quasi-)triangular form, in the order of its diagonal."""
    values = np.diagonal(form).astype(np.complex128)
    if form.dtype.kind != "c":
        for k in np.flatnonzero(np.diagonal(form, -1)):
            part = 1j * math.sqrt(abs(form[k + 1, k])) * math.sqrt(abs(form[k, k + 1]))
            values[k], values[k + 1] = form[k, k] + part, form[k, k] - part
    return values


def _start_of_block(form: Array, last: int) -> int:
    """Return the start of the unreduced block that ends at `last`; zero the element before it."""
    for k in range(last, 0, -1):
        size = abs(form[k - 1, k - 1]) + abs(form[k, k])
        if abs(form[k, k - 1]) <= _EPSILON * (size or np.max(np.abs(form))):
            form[k, k - 1] = 0
            return k
    return 0


def _complex_steps(form: Array, vectors: Array) -> None:
    """Reduce to triangular form in place, by single shifts."""
    last, tries = len(form) - 1, 0
    while last > 0:
        first = _start_of_block(form, last)
        if first == last:
            last, tries = last - 1, 0
            continue
        tries += 1
        if tries > _ITERATIONS * 10:
            raise np.linalg.LinAlgError("no convergence")
        a, b, c, d = (
            form[last - 1, last - 1],
            form[last - 1, last],
            form[last, last - 1],
            form[last, last],
        )
        root = np.sqrt(((a - d) / 2) ** 2 + b * c)
        mean = (a + d) / 2
        shift = min(mean + root, mean - root, key=lambda value: abs(value - d))
        if tries % 10 == 0:  # a cycle: any other shift leaves it
            shift = d + abs(c)
        x, y = form[first, first] - shift, form[first + 1, first]
        for k in range(first, last):
            v, tau, _ = reflector(np.array([x, y]))
            _reflect(form, vectors, v, tau, k, max(first, k - 1), min(k + 2, last) + 1)
            if k > first:
                form[k + 1, k - 1] = 0
            if k + 2 <= last:
                x, y = form[k + 1, k], form[k + 2, k]


def _real_steps(form: Array, vectors: Array) -> None:
    """Reduce to quasi-triangular form in place, by double shifts.

    2 x 2 blocks are conjugate pairs.
    """
    last, tries = len(form) - 1, 0
    while last > 0:
        first = _start_of_block(form, last)
        if first >= last - 1:
            if first == last - 1:
                _standardise(form, vectors, first)
            last, tries = first - 1, 0
            continue
        tries += 1
        if tries > _ITERATIONS * 10:
            raise np.linalg.LinAlgError("no convergence")
        a, b, c, d = (
            form[last - 1, last - 1],
            form[last - 1, last],
            form[last, last - 1],
            form[last, last],
        )
        total, product = a + d, a * d - b * c
        if tries % 10 == 0:  # a cycle: any other shifts leave it
            size = abs(c) + abs(form[last - 1, last - 2])
            total, product = 1.5 * size, size * size
        head = form[first : first + 3, first : first + 3]
        column = np.array(
            [
                head[0, 0] * head[0, 0] + head[0, 1] * head[1, 0] - total * head[0, 0] + product,
                head[1, 0] * (head[0, 0] + head[1, 1] - total),
                head[1, 0] * head[2, 1],
            ]
        )
        for k in range(first, last):
            v, tau, _ = reflector(column)
            _reflect(form, vectors, v, tau, k, max(first, k - 1), min(k + 3, last) + 1)
            if k > first:
                form[k + 1 : k + len(v), k - 1] = 0
            column = form[k + 1 : min(k + 4, last + 1), k].copy()


def _reflect(
    form: Array, vectors: Array, v: Array, tau: Any, start: int, left: int, end: int
) -> None:
    """Reflect rows from `start` on and the same columns.

    Rows are reflected in columns from `left` on, columns in rows before `end`.
    """
    stop = start + len(v)
    rows = form[start:stop, left:]
    rows -= np.conj(tau) * np.outer(v, np.conj(v) @ rows)
    for columns in (form[:end, start:stop], vectors[:, start:stop]):
        columns -= tau * np.outer(columns @ v, np.conj(v))


def _standardise(form: Array, vectors: Array, k: int) -> None:
    """Bring a 2 x 2 block to standard form.

    It becomes triangular (real eigenvalues), or gets equal diagonal elements and off-diagonals of
    opposite signs.
    """
    cosine, sine, block = _rotation(*[float(x) for x in form[k : k + 2, k : k + 2].ravel()])
    turn = np.array([[cosine, -sine], [sine, cosine]])
    form[k : k + 2, k:] = turn.T @ form[k : k + 2, k:]
    for columns in (form[: k + 2, k : k + 2], vectors[:, k : k + 2]):
        columns[...] = columns @ turn
    form[k : k + 2, k : k + 2] = block


def _rotation(a: float, b: float, c: float, d: float) -> tuple[float, float, list[list[float]]]:
    """Return (cosine, sine, the block in standard form) of [[a, b], [c, d]]."""
    if c == 0:
        return 1.0, 0.0, [[a, b], [c, d]]
    if b == 0:
        return 0.0, 1.0, [[d, -c], [0.0, a]]
    if a == d and (b < 0) != (c < 0):
        return 1.0, 0.0, [[a, b], [c, d]]
    half = (a - d) / 2
    larger, smaller = (
        max(abs(b), abs(c)),
        min(abs(b), abs(c)) * math.copysign(1, b) * math.copysign(1, c),
    )
    scale = max(abs(half), larger)
    discriminant = half / scale * half + larger / scale * smaller
    if discriminant >= 4 * _EPSILON:  # distinct real eigenvalues
        z = half + math.copysign(math.sqrt(scale) * math.sqrt(discriminant), half)
        length = math.hypot(c, z)
        return z / length, c / length, [[d + z, b - c], [0.0, d - larger / z * smaller]]
    total = b + c
    length = math.hypot(total, a - d)
    cosine = math.sqrt((1 + abs(total) / length) / 2)
    sine = -(half / (length * cosine)) * math.copysign(1, total)
    turn = np.array([[cosine, -sine], [sine, cosine]])
    (a, b), (c, d) = (turn.T @ np.array([[a, b], [c, d]]) @ turn).tolist()
    mean = (a + d) / 2
    if c == 0 or ((b < 0) != (c < 0) and b != 0):
        return cosine, sine, [[mean, b], [c, mean]]
    if b == 0:
        return -sine, cosine, [[mean, -c], [0.0, mean]]
    # The eigenvalues are real and nearly equal.
    first, second = math.sqrt(abs(b)), math.sqrt(abs(c))
    apart, length = math.copysign(first * second, c), 1 / math.sqrt(abs(b + c))
    return (
        cosine * first * length - sine * second * length,
        cosine * second * length + sine * first * length,
        [[mean + apart, b - c], [0.0, mean - apart]],
    )
