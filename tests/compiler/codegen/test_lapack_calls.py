"""LAPACK custom calls as native code: families, types, batches, non-finite and empty input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from tests.hlo.evaluator.lapack.lapack_calls import TYPES, adjoint, close, matrices, shape, target

pytestmark = pytest.mark.codegen


class Calls:
    """A module of many calls, each on parameters of its own."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.arguments: list[np.ndarray] = []
        self.roots: list[str] = []

    def add(
        self, name: str, arguments: Sequence[np.ndarray], results: Sequence[str], config: str = ""
    ) -> None:
        names = []
        for a in arguments:
            names.append(f"p{len(self.arguments)}")
            self.lines.append(
                f"{names[-1]} = {shape(a.dtype, *a.shape)} parameter({len(self.arguments)})"
            )
            self.arguments.append(a)
        kind = results[0] if len(results) == 1 else f"({', '.join(results)})"
        extra = f", api_version=API_VERSION_TYPED_FFI, backend_config={{{config}}}"
        call = f"c{len(self.roots)}"
        self.lines.append(
            f'{call} = {kind} custom-call({", ".join(names)}), custom_call_target="{name}"{extra}'
        )
        self.roots.append(call)

    def run(self) -> tuple[Any, Any]:
        """Return the results of native code and of the evaluator; each call returns a tuple."""
        text = (
            "HloModule m\nENTRY e {\n  "
            + "\n  ".join(self.lines)
            + f"\n  ROOT r = tuple({', '.join(self.roots)})\n}}"
        )
        session = xe.compile(text)
        assert [step.name for step in session.executable.steps if step.runs_on == "evaluator"] == []
        return session(*self.arguments), xe.evaluate(text, *self.arguments)


def _reals(kind: str) -> str:
    return {"complex64": "float32", "complex128": "float64"}.get(kind, kind)


@pytest.mark.parametrize("kind", TYPES)
def test_what_is_unique_is_what_the_evaluator_says(kind: str) -> None:
    a, tall, wide = (
        matrices(kind, 2, 5, 5),
        matrices(kind, 2, 6, 4, seed=1),
        matrices(kind, 2, 3, 5, seed=2),
    )
    positive = (a @ adjoint(a) + 5 * np.eye(5)).astype(kind)
    tau, diagonal = matrices(kind, 2, 4, seed=3), matrices(kind, 2, 5, seed=4)
    s, i, v = (
        (lambda *n: shape(kind, *n)),
        (lambda *n: shape("int32", *n)),
        (lambda *n: shape(_reals(kind), *n)),
    )
    calls = Calls()
    for uplo in (76, 85):
        calls.add(target(kind, "potrf"), [positive], [s(2, 5, 5), i(2)], f"uplo = {uplo} : ui8")
        calls.add(
            target(kind, "sytrd", "hetrd"),
            [positive],
            [s(2, 5, 5), v(2, 5), v(2, 4), s(2, 4), i(2)],
            f"uplo = {uplo} : ui8",
        )
    calls.add(target(kind, "getrf"), [tall], [s(2, 6, 4), i(2, 4), i(2)])
    calls.add(target(kind, "getrf"), [wide], [s(2, 3, 5), i(2, 3), i(2)])
    calls.add(target(kind, "geqrf"), [tall], [s(2, 6, 4), s(2, 4)])
    calls.add(
        target(kind, "geqp3"), [tall, np.zeros((2, 4), np.int32)], [s(2, 6, 4), i(2, 4), s(2, 4)]
    )
    calls.add(target(kind, "orgqr", "ungqr"), [tall, tau], [s(2, 6, 4)])
    calls.add(
        target(kind, "ormqr", "unmqr"),
        [tall, tau, matrices(kind, 2, 6, 3)],
        [s(2, 6, 3)],
        "left = true, transpose = true",
    )
    calls.add(
        target(kind, "ormqr", "unmqr"),
        [tall, tau, matrices(kind, 2, 3, 6)],
        [s(2, 3, 6)],
        "left = false, transpose = false",
    )
    calls.add(
        target(kind, "gehrd"), [a], [s(2, 5, 5), s(2, 4), i(2)], "high = 5 : i32, low = 1 : i32"
    )
    calls.add(
        target(kind, "gtsv"),
        [diagonal, diagonal + 4, diagonal, tall[:, :5]],
        [s(2, 5), s(2, 5), s(2, 5), s(2, 5, 4), i(2)],
    )
    calls.add(
        target(kind, "trsm"),
        [a, tall[:, :5]],
        [s(2, 5, 4)],
        "diag = 78 : ui8, side = 76 : ui8, trans_x = 67 : ui8, uplo = 76 : ui8",
    )
    native, evaluated = calls.run()
    for number, (found, wanted) in enumerate(zip(native, evaluated, strict=True)):
        pairs = zip(found, wanted, strict=True) if isinstance(found, tuple) else [(found, wanted)]
        for k, (x, y) in enumerate(pairs):
            if number >= len(calls.roots) - 2 and k in (0, 2) and isinstance(found, tuple):
                continue  # unused outer diagonals of the factors are unspecified
            (np.testing.assert_array_equal if x.dtype.kind == "i" else close)(x, y)


@pytest.mark.parametrize("kind", TYPES)
def test_decompositions_multiply_to_the_matrix(kind: str) -> None:
    a, tall = matrices(kind, 2, 5, 5), matrices(kind, 2, 6, 4, seed=1)
    positive = (a @ adjoint(a)).astype(kind)
    s, i, v = (
        (lambda *n: shape(kind, *n)),
        (lambda *n: shape("int32", *n)),
        (lambda *n: shape(_reals(kind), *n)),
    )
    z = shape("complex64" if kind in ("float32", "complex64") else "complex128", 2, 5, 5)
    parts = [v(2, 5), v(2, 5)] if kind.startswith("float") else [s(2, 5)]
    calls = Calls()
    calls.add(
        target(kind, "syevd", "heevd"),
        [positive],
        [s(2, 5, 5), v(2, 5), i(2)],
        "mode = 86 : ui8, uplo = 76 : ui8",
    )
    calls.add(
        target(kind, "gesdd"),
        [tall],
        [s(2, 6, 4), v(2, 4), s(2, 6, 4), s(2, 4, 4), i(2)],
        "mode = 83 : ui8",
    )
    calls.add(
        target(kind, "gesvd"),
        [tall],
        [s(2, 6, 4), v(2, 4), s(2, 6, 6), s(2, 4, 4), i(2)],
        "mode = 65 : ui8",
    )
    calls.add(
        target(kind, "geev"),
        [a],
        [*parts, z, z, i(2)],
        "compute_left = 86 : ui8, compute_right = 86 : ui8",
    )
    calls.add(
        target(kind, "gees"),
        [a],
        [s(2, 5, 5), s(2, 5, 5), *parts, i(2), i(2)],
        "mode = 86 : ui8, sort = 78 : ui8",
    )
    (eigh, svd, svd_by_qr, eig, schur), _ = calls.run()
    vectors, values, info = eigh
    close(vectors * values[:, None] @ adjoint(vectors), positive)
    for _, values, u, vt, _ in (svd, svd_by_qr):
        close(u[..., :4] * values[:, None] @ vt, tall)
    values = eig[0] + 1j * eig[1] if len(eig) == 5 else eig[0]
    left, right = eig[-3], eig[-2]
    close(a.astype(right.dtype) @ right, right * values[:, None])
    close(adjoint(left) @ a.astype(left.dtype), values[..., None] * adjoint(left))
    form, vectors = schur[:2]
    close(vectors @ form @ adjoint(vectors), a)
    assert not info.any() and not eig[-1].any() and not schur[-1].any()


def test_a_matrix_that_is_not_finite_is_nan_with_a_status_and_the_others_of_its_batch_are_right() -> (
    None
):
    a = np.stack(
        [np.eye(3), np.full((3, 3), np.nan), np.full((3, 3), np.inf), 2 * np.eye(3)]
    ).astype(np.float32)
    calls = Calls()
    calls.add(
        "lapack_ssyevd_ffi",
        [a],
        ["f32[4,3,3]", "f32[4,3]", "s32[4]"],
        "mode = 86 : ui8, uplo = 76 : ui8",
    )
    calls.add(
        "lapack_sgesdd_ffi",
        [a],
        ["f32[4,3,3]", "f32[4,3]", "f32[4,3,3]", "f32[4,3,3]", "s32[4]"],
        "mode = 78 : ui8",
    )
    calls.add("lapack_spotrf_ffi", [a], ["f32[4,3,3]", "s32[4]"], "uplo = 76 : ui8")
    (eigh, svd, cholesky), _ = calls.run()
    for values, info in ((eigh[1], eigh[2]), (svd[1], svd[4])):
        np.testing.assert_array_equal(values[[0, 3]], [[1, 1, 1], [2, 2, 2]])
        assert np.isnan(values[1:3]).all() and (info != 0).tolist() == [False, True, True, False]
    np.testing.assert_array_equal(cholesky[0][[0, 3]], np.sqrt(a[[0, 3]]))
    assert not cholesky[1][[0, 3]].any()


def test_a_call_whose_operands_are_not_those_of_the_routine_has_no_native_code() -> None:
    text = 'ENTRY e { a = f64[3,3] parameter(0) ROOT r = (f64[3,3], s32[3], s32[]) custom-call(a), custom_call_target="lapack_sgetrf_ffi" }'
    [step] = xe.compile(text, verify=False).executable.steps
    assert (
        step.runs_on == "evaluator"
        and step.reason.code == "no-blas-routine"
        and "sgetrf" in step.reason.message
    )


def test_an_upper_cholesky_call_without_a_library_is_loops_that_tell_failure() -> None:
    a = np.stack([np.eye(3) * 4, -np.eye(3)]).astype(np.float32)
    text = """ENTRY e { a = f32[2,3,3] parameter(0)
      ROOT r = (f32[2,3,3], s32[2]) custom-call(a), custom_call_target="lapack_spotrf_ffi", backend_config={uplo = 85 : ui8} }"""
    module = xe.optimize(text, "lapack-call-expander{factorizations=true},cholesky-expander").module
    assert not any(i.opcode.name in ("custom-call", "cholesky") for i in module.instructions())
    factor, failed = xe.evaluate(module, a)
    np.testing.assert_allclose(factor[0], np.eye(3) * 2)
    assert failed.tolist() == [0, 1]


@pytest.mark.parametrize("kind", TYPES)
def test_a_factorisation_may_ask_for_the_order_of_the_rows(kind: str) -> None:
    calls = Calls()
    for sizes in ((2, 4, 4), (5, 3), (3, 5), (0, 2), (1, 1)):
        *batch, rows, columns = sizes
        calls.add("LuDecomposition", [matrices(kind, *sizes)], [
            shape(kind, *sizes), shape("int32", *batch, min(rows, columns)), shape("int32", *batch, rows),
        ])  # fmt: skip
    for found, wanted in zip(*calls.run(), strict=True):
        close(found[0], wanted[0])
        np.testing.assert_array_equal(found[1], wanted[1])
        np.testing.assert_array_equal(found[2], wanted[2])
