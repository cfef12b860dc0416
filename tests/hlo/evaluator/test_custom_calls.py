"""Custom calls that are no linear algebra of LAPACK."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe

pytestmark = pytest.mark.codegen


def times(
    kind: str,
    elements: np.ndarray,
    starts: list[int],
    columns: list[int],
    dense: np.ndarray,
    index: str = "s32",
) -> np.ndarray:
    """By the evaluator, which native code must agree with."""
    rows, sizes = len(starts) - 1, ",".join(map(str, dense.shape))
    result = ",".join(map(str, (rows, *dense.shape[1:])))
    text = f"""HloModule m
ENTRY e {{
  elements = {kind}[{len(elements)}] parameter(0)
  starts = {index}[{rows + 1}] parameter(1)
  columns = {index}[{len(columns)}] parameter(2)
  dense = {kind}[{sizes}] parameter(3)
  ROOT r = {kind}[{result}] custom-call(elements, starts, columns, dense), custom_call_target="cpu_csr_sparse_dense_ffi", api_version=API_VERSION_TYPED_FFI
}}"""
    numbers = np.int32 if index == "s32" else np.int64
    arguments = elements, np.array(starts, numbers), np.array(columns, numbers), dense
    session, wanted = xe.compile(text), np.asarray(xe.evaluate(text, *arguments))
    assert [step for step in session.executable.steps if step.runs_on == "evaluator"] == []
    np.testing.assert_array_equal(session(*arguments), wanted)
    return wanted


@pytest.mark.parametrize("index", ["s32", "s64"])
@pytest.mark.parametrize(
    ("kind", "dtype"),
    [("f32", np.float32), ("f64", np.float64), ("c64", np.complex64), ("s32", np.int32)],
)
@pytest.mark.parametrize("sizes", [(4,), (4, 3), (4, 0)])
def test_sparse_rows_times_dense(
    kind: str, dtype: type, sizes: tuple[int, ...], index: str
) -> None:
    matrix = np.array([[0, 2, 0, 3], [0, 0, 0, 0], [4, 0, 5, 6]], dtype)
    dense = (np.arange(np.prod(sizes)).reshape(sizes) - 3).astype(dtype)
    elements, columns = np.array([2, 3, 4, 5, 6], dtype), [1, 3, 0, 2, 3]
    np.testing.assert_array_equal(
        times(kind, elements, [0, 2, 2, 5], columns, dense, index), matrix @ dense
    )


def test_padding_of_sparse_rows_adds_nothing() -> None:
    dense = np.ones(2, np.float32)
    # One element past the last row, one in a column that is not there, rows that would end past the
    # elements.
    np.testing.assert_array_equal(
        times("f32", np.array([1, 2, 9], np.float32), [0, 1, 2], [0, 1, 0], dense), [1, 2]
    )
    np.testing.assert_array_equal(
        times("f32", np.array([1, 2, 9], np.float32), [0, 1, 3], [0, 1, 2], dense), [1, 2]
    )
    np.testing.assert_array_equal(
        times("f32", np.array([1], np.float32), [0, 1, 5], [0], dense), [1, 0]
    )
    np.testing.assert_array_equal(times("f32", np.zeros(0, np.float32), [0, 0], [], dense), [0])
