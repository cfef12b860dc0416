"""LAPACK custom calls of JAX: multiplying the factors gives back the matrix."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe

RNG = np.random.default_rng(3)
SQUARE = RNG.standard_normal((2, 4, 4))
TALL = RNG.standard_normal((5, 3))


def call(
    results: str, arguments: list[np.ndarray], target: str, config: str = ""
) -> tuple[np.ndarray, ...]:
    types = [
        f"{'s32' if a.dtype == np.int32 else 'c128' if a.dtype.kind == 'c' else 'f64'}[{','.join(map(str, a.shape))}]"
        for a in arguments
    ]
    lines = [f"  p{k} = {kind} parameter({k})" for k, kind in enumerate(types)]
    operands = ", ".join(f"p{k}" for k in range(len(arguments)))
    extra = f", api_version=API_VERSION_TYPED_FFI, backend_config={{{config}}}" if config else ""
    text = (
        "HloModule m\nENTRY e {\n"
        + "\n".join(lines)
        + f'\n  ROOT r = {results} custom-call({operands}), custom_call_target="{target}"{extra}\n}}'
    )
    found = xe.evaluate(xe.parse_hlo(text), *arguments)
    return found if isinstance(found, tuple) else (found,)


def test_lu_factors_multiply_to_the_permuted_matrix() -> None:
    lu, exchanges, info = call("(f64[2,4,4], s32[2,4], s32[2])", [SQUARE], "lapack_dgetrf_ffi")
    same, zero_based, order = call("(f64[2,4,4], s32[2,4], s32[2,4])", [SQUARE], "LuDecomposition")
    assert not info.any() and (exchanges == zero_based + 1).all() and np.array_equal(lu, same)
    for a, packed, rows in zip(SQUARE, lu, order, strict=True):
        np.testing.assert_allclose(
            (np.tril(packed, -1) + np.eye(4)) @ np.triu(packed), a[rows], atol=1e-13
        )
    assert np.abs(np.tril(lu, -1)).max() <= 1, "the largest element of a column is the pivot"


def test_a_singular_matrix_says_at_which_pivot() -> None:
    assert (
        call("(f64[2,2], s32[2], s32[])", [np.array([[1.0, 2], [2, 4]])], "lapack_dgetrf_ffi")[2]
        == 2
    )


@pytest.mark.parametrize("a", [TALL, TALL.T.copy(), SQUARE, TALL + 1j * TALL[::-1]])
def test_qr_is_the_matrix(a: np.ndarray) -> None:
    rows, columns = a.shape[-2:]
    thin, batch, kind = (
        min(rows, columns),
        list(a.shape[:-2]),
        "c128" if a.dtype.kind == "c" else "f64",
    )
    shape = lambda *sizes: f"{kind}[{','.join(map(str, [*batch, *sizes]))}]"  # noqa: E731
    letters = ("z", "ungqr") if kind == "c128" else ("d", "orgqr")
    packed, tau = call(
        f"({shape(rows, columns)}, {shape(thin)})", [a], f"lapack_{letters[0]}geqrf_ffi"
    )
    (q,) = call(
        shape(rows, thin),
        [np.ascontiguousarray(packed[..., :thin]), tau],
        f"lapack_{letters[0]}{letters[1]}_ffi",
    )
    np.testing.assert_allclose(q @ np.triu(packed[..., :thin, :]), a, atol=1e-13)
    np.testing.assert_allclose(
        np.conj(np.swapaxes(q, -1, -2)) @ q,
        np.broadcast_to(np.eye(thin), (*batch, thin, thin)),
        atol=1e-13,
    )


def test_qr_with_pivots_sorts_the_diagonal() -> None:
    packed, order, _ = call(
        "(f64[5,3], s32[3], f64[3])", [TALL, np.zeros(3, np.int32)], "lapack_dgeqp3_ffi"
    )
    diagonal = np.abs(np.diag(packed))
    assert (np.diff(diagonal) <= 0).all() and sorted(order) == [1, 2, 3]


@pytest.mark.parametrize("uplo", "LU")
def test_eigenvalues_read_one_triangle(uplo: str) -> None:
    whole = SQUARE[0] + SQUARE[0].T
    half = np.tril(whole) if uplo == "L" else np.triu(whole)
    vectors, values, info = call(
        "(f64[4,4], f64[4], s32[])",
        [half],
        "lapack_dsyevd_ffi",
        f"mode = 86 : ui8, uplo = {ord(uplo)} : ui8",
    )
    np.testing.assert_allclose(whole @ vectors, vectors * values, atol=1e-12)
    assert info == 0 and (np.diff(values) >= 0).all()


def test_cholesky_keeps_the_other_triangle_and_reports_failure() -> None:
    positive = SQUARE[0] @ SQUARE[0].T + np.eye(4)
    lower, info = call("(f64[4,4], s32[])", [positive], "lapack_dpotrf_ffi", "uplo = 76 : ui8")
    np.testing.assert_allclose(np.tril(lower) @ np.tril(lower).T, positive, atol=1e-12)
    assert info == 0 and np.array_equal(np.triu(lower, 1), np.triu(positive, 1))
    assert call("(f64[2,2], s32[])", [-np.eye(2)], "lapack_dpotrf_ffi", "uplo = 76 : ui8")[1] == 1


@pytest.mark.parametrize(("mode", "u_columns", "v_rows"), [("A", 5, 3), ("S", 3, 3)])
def test_singular_values(mode: str, u_columns: int, v_rows: int) -> None:
    _, values, u, vt, _ = call(
        f"(f64[5,3], f64[3], f64[5,{u_columns}], f64[{v_rows},3], s32[])",
        [TALL],
        "lapack_dgesdd_ffi",
        f"mode = {ord(mode)} : ui8",
    )
    np.testing.assert_allclose(u[:, :3] * values @ vt, TALL, atol=1e-13)


def test_triangular_and_tridiagonal_systems() -> None:
    (x,) = call(
        "f64[5,4]",
        [SQUARE[0], RNG.standard_normal((5, 4))],
        "lapack_dtrsm_ffi",
        "diag = 85 : ui8, side = 82 : ui8, trans_x = 84 : ui8, uplo = 85 : ui8",
    )
    assert x.shape == (5, 4)
    diagonal = [RNG.standard_normal(4) for _ in range(3)]
    diagonal[1] += 4
    b = RNG.standard_normal((4, 2))
    solution = call(
        "(f64[4], f64[4], f64[4], f64[4,2], s32[])", [*diagonal, b], "lapack_dgtsv_ffi"
    )[3]
    dense = np.diag(diagonal[1]) + np.diag(diagonal[0][1:], -1) + np.diag(diagonal[2][:-1], 1)
    np.testing.assert_allclose(dense @ solution, b, atol=1e-12)
