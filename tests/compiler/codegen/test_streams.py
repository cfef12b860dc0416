"""Kernels that read several streams, or ahead: values at sizes around their limits."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from tests.compiler.codegen.kernel_runner import check_kernels

ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"


@pytest.mark.parametrize(
    ("rows", "columns"),
    [(4, 256), (5, 300), (7, 8191), (1, 70000), (3, 65536), (2, 65537), (9, 255)],
)
@pytest.mark.parametrize("combiner", ["add", "maximum"])
def test_row_reductions(rows: int, columns: int, combiner: str) -> None:
    text = (
        f"HloModule r\n{ADD.replace(' add(a', f' {combiner}(a')}ENTRY e {{\n x = f32[{rows},{columns}] parameter(0)\n z = f32[] constant(0)\n"
        f" ROOT r = f32[{rows}] reduce(x, z), dimensions={{1}}, to_apply=add }}"
    )
    x = np.random.default_rng(0).standard_normal((rows, columns)).astype(np.float32)
    want = x.astype(np.float64).sum(1) if combiner == "add" else np.maximum(x.max(1), 0)
    np.testing.assert_allclose(xe.compile(text, cache=False)(x), want, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize(
    "indices",
    [np.array([[0], [99], [-5], [1000], [50], [7], [7], [1]]), np.arange(40)[:, None] * 3],
)
@pytest.mark.parametrize("dtype", ["f32", "s8", "c64", "pred", "f64"])
def test_gathered_rows_are_clamped(indices: np.ndarray, dtype: str) -> None:
    count = len(indices)
    text = (
        f"HloModule g\nENTRY e {{\n x = {dtype}[100,256] parameter(0)\n i = s32[{count},1] parameter(1)\n ROOT g = {dtype}[{count},256] gather(x, i), "
        "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,256} }"
    )
    x = (
        np.random.default_rng(1)
        .integers(0, 2 if dtype == "pred" else 100, (100, 256))
        .astype(getattr(xe, dtype).dtype)
    )
    got = xe.compile(text, cache=False)(x, indices.astype(np.int32))
    np.testing.assert_array_equal(got, x[np.clip(indices[:, 0], 0, 99)])


@pytest.mark.parametrize("layout", ["0,1,2", "1,2,0", "2,0,1", "2,1,0"])
@pytest.mark.parametrize("dimension", [0, 1, 3])
def test_a_reduction_stores_in_the_layout_of_its_result(layout: str, dimension: int) -> None:
    """A reduction stores in its result's layout.

    Kept dimensions are contiguous in the operand but not in the result: they must not become one
    loop.
    """
    sizes = [5, 3, 4, 9]
    kept = ",".join([str(n) for d, n in enumerate(sizes) if d != dimension])
    text = (
        f"HloModule r\n{ADD}ENTRY e {{\n x = f32[5,3,4,9] parameter(0)\n z = f32[] constant(0)\n"
        f" ROOT r = f32[{kept}]{{{layout}}} reduce(x, z), dimensions={{{dimension}}}, to_apply=add }}"
    )
    x = np.random.default_rng(2).standard_normal(sizes).astype(np.float32)
    check_kernels(text, x, relative=1e-4, absolute=1e-5)
