"""Each family of JAX's LAPACK calls by its definition: four types, batches, sizes from 0.

If a factorisation is impossible, only its matrix of the batch is NaN.
"""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from tests.hlo.evaluator.lapack.lapack_calls import (
    TYPES,
    adjoint,
    call,
    close,
    matrices,
    shape,
    target,
)
from xla_explorer.hlo.evaluator.registry import CUSTOM_CALL_FUNCTIONS, EvaluationError

SIZES = (0, 1, 2, 5)
BATCHES = ((), (3,), (2, 0))


def real(kind: str) -> str:
    return np.dtype(kind).type(0).real.dtype.name


def wider(kind: str) -> str:
    return np.result_type(kind, np.complex64).name


def test_all_families_of_jax_are_known() -> None:
    families = [
        "potrf",
        "getrf",
        "geqrf",
        "geqp3",
        "gesdd",
        "gesvd",
        "geev",
        "gees",
        "gehrd",
        "gtsv",
        "trsm",
    ]
    both = [("orgqr", "ungqr"), ("ormqr", "unmqr"), ("syevd", "heevd"), ("sytrd", "hetrd")]
    names = {target(kind, name) for kind in TYPES for name in families} | {
        target(kind, *pair) for kind in TYPES for pair in both
    }
    assert len(names) == 60 and names | {"tridiagonal_solve_perturbed_ffi"} <= set(
        CUSTOM_CALL_FUNCTIONS
    )


def schur(a: np.ndarray, mode: str = "V") -> tuple[np.ndarray, ...]:
    kind, sizes, batch = a.dtype.name, a.shape, a.shape[:-2]
    values = [shape(kind, *sizes[:-1])] * (1 if a.dtype.kind == "c" else 2)
    return call(
        target(kind, "gees"),
        [a],
        [shape(kind, *sizes)] * 2 + values + [shape("int32", *batch)] * 2,
        f"mode = {ord(mode)} : ui8, sort = 78 : ui8",
    )


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", TYPES)
def test_schur_form(kind: str, size: int, batch: tuple[int, ...]) -> None:
    a = matrices(kind, *batch, size, size)
    form, vectors, *values, _, info = schur(a)
    assert not info.any()
    close(vectors @ form @ adjoint(vectors), a)
    close(adjoint(vectors) @ vectors, np.broadcast_to(np.eye(size), a.shape))
    diagonal = np.diagonal(form, 0, -2, -1)
    if a.dtype.kind == "c":
        assert not np.tril(form, -1).any() and np.array_equal(values[0], diagonal)
    else:
        close(values[0], diagonal)
        assert not np.tril(form, -2).any()


@pytest.mark.parametrize("kind", ["float64", "complex128"])
@pytest.mark.parametrize(
    "a",
    [
        np.eye(4),
        np.zeros((3, 3)),
        np.eye(5, k=1),
        np.eye(5, k=-1),
        np.roll(np.eye(6), 1, axis=0),
        np.ones((4, 4)),
        np.array([[0.0, 1], [-1, 0]]),
        1e300 * np.array([[1.0, 2], [3, 4]]),
        1e-300 * np.array([[1.0, 2], [-3, 1]]),
        np.kron(np.eye(3), [[1.0, 1e-9], [0, 1]]),
    ],
    ids=str,
)
def test_schur_forms_of_matrices_that_iterations_find_hard(a: np.ndarray, kind: str) -> None:
    form, vectors, *_, info = schur(a.astype(kind))
    assert not info.any()
    scale = np.max(np.abs(a)) or 1.0
    close(vectors @ (form / scale) @ adjoint(vectors), a.astype(kind) / scale)


def test_blocks_of_a_real_schur_form_hold_conjugate_pairs() -> None:
    form, _, above, below, _, _ = schur(matrices("float64", 12, 12, seed=4))
    starts = np.flatnonzero(np.diagonal(form, -1))
    assert len(starts) >= 2, "this matrix has complex eigenvalues"
    for k in starts:
        assert form[k, k] == form[k + 1, k + 1] and form[k, k + 1] * form[k + 1, k] < 0
        assert above[k] == above[k + 1] and below[k] == -below[k + 1] > 0


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", TYPES)
def test_hessenberg_form(kind: str, size: int, batch: tuple[int, ...]) -> None:
    a, steps = matrices(kind, *batch, size, size), max(size - 1, 0)
    packed, tau, info = call(
        target(kind, "gehrd"),
        [a],
        [shape(kind, *a.shape), shape(kind, *batch, steps), shape("int32", *batch)],
        f"low = 1 : i32, high = {size} : i32",
    )
    q = np.broadcast_to(np.eye(size, dtype=kind), a.shape).copy()
    if size > 1:
        (q[..., 1:, 1:],) = call(
            target(kind, "orgqr", "ungqr"),
            [packed[..., 1:, :-1].copy(), tau],
            [shape(kind, *batch, steps, steps)],
        )
    assert not info.any()
    close(adjoint(q) @ a @ q, np.triu(packed, -1))


@pytest.mark.parametrize("uplo", "LU")
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", TYPES)
def test_tridiagonal_form(kind: str, size: int, batch: tuple[int, ...], uplo: str) -> None:
    a, steps = matrices(kind, *batch, size, size), max(size - 1, 0)
    whole = a + adjoint(a)
    given = np.tril(whole) if uplo == "L" else np.triu(whole)
    packed, diagonal, off, tau, info = call(
        target(kind, "sytrd", "hetrd"),
        [given],
        [
            shape(kind, *a.shape),
            shape(real(kind), *batch, size),
            shape(real(kind), *batch, steps),
            shape(kind, *batch, steps),
            shape("int32", *batch),
        ],
        f"uplo = {ord(uplo)} : ui8",
    )
    q = np.broadcast_to(np.eye(size, dtype=kind), a.shape).copy()
    for index in np.ndindex(*batch):
        for k in range(steps) if uplo == "L" else reversed(range(steps)):
            v = np.zeros(size, kind)
            if uplo == "L":
                v[k + 1], v[k + 2 :] = 1, packed[index][k + 2 :, k]
            else:
                v[k], v[:k] = 1, packed[index][:k, k + 1]
            q[index] = q[index] @ (np.eye(size) - tau[index][k] * np.outer(v, np.conj(v)))
    form = np.zeros(a.shape, kind)
    form[..., range(size), range(size)] = diagonal
    form[..., range(1, size), range(steps)] = off
    form[..., range(steps), range(1, size)] = off
    assert not info.any()
    close(adjoint(q) @ whole @ q, form)


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", TYPES)
def test_products_with_q(kind: str, size: int, batch: tuple[int, ...]) -> None:
    a, c = matrices(kind, *batch, size, size), matrices(kind, *batch, size, size, seed=1)
    packed, tau = call(
        target(kind, "geqrf"), [a], [shape(kind, *a.shape), shape(kind, *batch, size)]
    )
    (q,) = call(target(kind, "orgqr", "ungqr"), [packed, tau], [shape(kind, *a.shape)])
    for left in (True, False):
        for transpose in (True, False):
            (found,) = call(
                target(kind, "ormqr", "unmqr"),
                [packed, tau, c],
                [shape(kind, *a.shape)],
                f"left = {str(left).lower()}, transpose = {str(transpose).lower()}",
            )
            factor = adjoint(q) if transpose else q
            close(found, factor @ c if left else c @ factor)


@pytest.mark.parametrize("routine", ["gesdd", "gesvd"])
@pytest.mark.parametrize("mode", "ASN")
@pytest.mark.parametrize("rows_columns", [(5, 3), (2, 5), (1, 1)])
@pytest.mark.parametrize("kind", TYPES)
def test_singular_value_decompositions(
    kind: str, rows_columns: tuple[int, int], mode: str, routine: str
) -> None:
    (rows, columns), thin = rows_columns, min(rows_columns)
    a = matrices(kind, 2, rows, columns)
    u_columns, v_rows = (rows, columns) if mode == "A" else (thin, thin)
    _, values, u, vt, info = call(
        target(kind, routine),
        [a],
        [
            shape(kind, *a.shape),
            shape(real(kind), 2, thin),
            shape(kind, 2, rows, u_columns),
            shape(kind, 2, v_rows, columns),
            shape("int32", 2),
        ],
        f"mode = {ord(mode)} : ui8",
    )
    close(values, np.linalg.svd(a.astype(np.complex128), compute_uv=False))
    assert not info.any()
    if mode != "N":
        close(u[..., :thin] * values[..., None, :] @ vt[..., :thin, :], a)
        close(adjoint(u) @ u, np.broadcast_to(np.eye(u_columns), (2, u_columns, u_columns)))


def eigen(a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    kind, batch = a.dtype.name, a.shape[:-2]
    values = [shape(kind, *a.shape[:-1])] * (1 if a.dtype.kind == "c" else 2)
    *parts, left, right, info = call(
        target(kind, "geev"),
        [a],
        values + [shape(wider(kind), *a.shape)] * 2 + [shape("int32", *batch)],
        "compute_left = 86 : ui8, compute_right = 86 : ui8",
    )
    return parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1], left, right, info


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", TYPES)
def test_eigenvectors_of_both_sides(kind: str, size: int, batch: tuple[int, ...]) -> None:
    a = matrices(kind, *batch, size, size)
    values, left, right, info = eigen(a)
    assert not info.any()
    close(right * values[..., None, :], a @ right)
    close(adjoint(left) @ a, values[..., :, None] * adjoint(left))
    for vectors in (left, right):
        close(np.linalg.norm(vectors, axis=-2), np.ones(a.shape[:-1]))


def test_complex_eigenvalues_of_a_real_matrix_are_exact_pairs() -> None:
    values, left, right, _ = eigen(np.kron(np.eye(2), [[1.0, -2], [3, 1]]).astype(np.float32))
    for k in (0, 2):
        assert values[k] == np.conj(values[k + 1]) and values[k].imag > 0
        assert np.array_equal(right[:, k], np.conj(right[:, k + 1])) and np.array_equal(
            left[:, k], np.conj(left[:, k + 1])
        )


@pytest.mark.parametrize("kind", TYPES)
def test_left_eigenvectors_of_a_matrix_that_lacks_some(kind: str) -> None:
    a = np.array([[0, 1], [0, 0]], kind)
    values, left, right, info = eigen(a)
    assert not values.any() and not info.any()
    close(np.abs(left), np.array([[0, 0], [1, 1]]))
    close(np.abs(right), np.array([[1, 1], [0, 0]]))


def tridiagonal(lower: np.ndarray, main: np.ndarray, upper: np.ndarray) -> np.ndarray:
    size = main.shape[-1]
    dense = np.zeros((*main.shape, size), main.dtype)
    steps = np.arange(size)
    dense[..., steps, steps] = main
    dense[..., steps[1:], steps[:-1]], dense[..., steps[:-1], steps[1:]] = (
        lower[..., 1:],
        upper[..., :-1],
    )
    return dense


def solve(
    lower: np.ndarray, main: np.ndarray, upper: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, ...]:
    kind, diagonal = main.dtype.name, shape(main.dtype, *main.shape)
    return call(
        target(kind, "gtsv"),
        [lower, main, upper, b],
        [diagonal] * 3 + [shape(kind, *b.shape), shape("int32", *main.shape[:-1])],
    )


@pytest.mark.parametrize("perturb", [True, False])
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", TYPES)
def test_tridiagonal_systems(kind: str, size: int, batch: tuple[int, ...], perturb: bool) -> None:
    diagonals = [matrices(kind, *batch, size, seed=k) for k in range(3)]
    b = matrices(kind, *batch, size, 2, seed=3)
    x = (
        call("tridiagonal_solve_perturbed_ffi", [*diagonals, b], [shape(kind, *b.shape)])[0]
        if perturb
        else solve(*diagonals, b)[3]
    )
    dense = tridiagonal(*diagonals).astype(np.complex128)
    want = np.linalg.solve(dense, b)
    condition = float(np.max(np.linalg.cond(dense), initial=1)) if size else 1.0
    np.testing.assert_allclose(
        x,
        want,
        rtol=0,
        atol=10 * float(np.finfo(kind).eps) * condition * float(np.max(np.abs(want), initial=1)),
    )


@pytest.mark.long
def test_a_tridiagonal_system_needs_memory_for_its_diagonals_only() -> None:
    size = 2000
    ones = np.ones(size, np.float32)
    tracemalloc.start()
    try:
        x = solve(ones, 4 * ones, ones, 6 * ones[:, None])[3]
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert abs(x[size // 2, 0] - 1) < 1e-6
    assert most < size * size, "bytes"


@pytest.mark.parametrize("kind", TYPES)
def test_a_singular_tridiagonal_system_is_nan_alone(kind: str) -> None:
    ones = np.ones((2, 2), kind)
    main = np.array([[1, 1], [2, 1]], kind)
    x, info = solve(ones, main, ones, np.ones((2, 2, 1), kind))[3:]
    assert info.tolist() == [2, 0] and np.isnan(x[0]).all()
    close(x[1], np.array([[0], [1]], kind))
    (perturbed,) = call(
        "tridiagonal_solve_perturbed_ffi",
        [ones, main, ones, np.ones((2, 2, 1), kind)],
        [shape(kind, 2, 2, 1)],
    )
    assert np.isfinite(perturbed).all()
    (perturbed,) = call(
        "tridiagonal_solve_perturbed_ffi",
        [ones, 0 * main, 0 * ones, np.ones((2, 2, 1), kind)],
        [shape(kind, 2, 2, 1)],
    )
    assert np.isfinite(perturbed).all() and np.abs(perturbed).max() > 1e3


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", TYPES)
def test_a_matrix_that_is_not_finite_spoils_no_other(kind: str, poison: float) -> None:
    a = matrices(kind, 2, 4, 4)
    a = a @ adjoint(a)
    a[1, 2, 1] = a[1, 1, 2] = poison
    whole, vector, complex_, numbers = (
        shape(kind, *a.shape),
        shape(real(kind), 2, 4),
        shape(wider(kind), *a.shape),
        shape("int32", 2),
    )
    values = [shape(kind, 2, 4)] * (1 if kind.startswith("complex") else 2)
    routines = {
        "potrf": ((whole, numbers), "uplo = 76 : ui8"),
        "geev": (
            (*values, complex_, complex_, numbers),
            "compute_left = 86 : ui8, compute_right = 86 : ui8",
        ),
        "gees": ((whole, whole, *values, numbers, numbers), "mode = 86 : ui8, sort = 78 : ui8"),
        "gesdd": ((whole, vector, whole, whole, numbers), "mode = 65 : ui8"),
        "gesvd": ((whole, vector, whole, whole, numbers), "mode = 65 : ui8"),
        "syevd": ((whole, vector, numbers), "mode = 86 : ui8, uplo = 76 : ui8"),
        "geqrf": ((whole, shape(kind, 2, 4)), ""),
        "gehrd": ((whole, shape(kind, 2, 3), numbers), "low = 1 : i32, high = 4 : i32"),
        "sytrd": (
            (whole, vector, shape(real(kind), 2, 3), shape(kind, 2, 3), numbers),
            "uplo = 76 : ui8",
        ),
    }
    for routine, (results, config) in routines.items():
        name = target(kind, routine, {"syevd": "heevd", "sytrd": "hetrd"}.get(routine))
        found = call(name, [a], results, config)
        alone = call(name, [a[:1]], [text.replace("[2", "[1", 1) for text in results], config)
        for both, one in zip(found, alone, strict=True):
            np.testing.assert_array_equal(both[0], one[0], err_msg=routine)
        assert routine in ("geqrf", "gehrd", "sytrd") or found[-1][1] != 0, routine
        assert routine == "potrf" or not np.isfinite(found[1][1]).all(), routine


def test_the_order_of_the_minor_that_is_not_positive() -> None:
    a = np.diag([4.0, 1, -1, 2])
    factor, info = call(
        "lapack_dpotrf_ffi", [a], [shape("float64", 4, 4), shape("int32")], "uplo = 85 : ui8"
    )
    assert info == 3 and np.array_equal(factor, a)


def test_columns_with_a_pivot_come_first() -> None:
    a = matrices("float64", 5, 3)
    a[:, 0] *= 100
    packed, order, _ = call(
        "lapack_dgeqp3_ffi",
        [a, np.array([0, 0, 1], np.int32)],
        [shape("float64", 5, 3), shape("int32", 3), shape("float64", 3)],
    )
    assert order.tolist() == [3, 1, 2]
    np.testing.assert_allclose(abs(packed[0, 0]), np.linalg.norm(a[:, 2]))


@pytest.mark.parametrize("sizes", [(), (3,), (2, 3), (2, 2, 3)])
@pytest.mark.parametrize(
    "name",
    [
        "Eigh",
        "lapack_ssyevd_ffi",
        "lapack_sgeev_ffi",
        "lapack_sgees_ffi",
        "lapack_spotrf_ffi",
        "lapack_sgehrd_ffi",
        "lapack_ssytrd_ffi",
    ],
)
def test_what_holds_no_square_matrices_is_an_error(name: str, sizes: tuple[int, ...]) -> None:
    with pytest.raises(EvaluationError, match=r"must hold (square )?matrices"):
        call(name, [np.ones(sizes, np.float32)], [shape("float32", *sizes)] * 5)


@pytest.mark.parametrize(
    "name", ["lapack_sgesdd_ffi", "lapack_sgetrf_ffi", "LuDecomposition", "Qr"]
)
def test_what_holds_no_matrices_is_an_error(name: str) -> None:
    with pytest.raises(EvaluationError, match="must hold matrices"):
        call(name, [np.ones(3, np.float32)], [shape("float32", 3)] * 5)
