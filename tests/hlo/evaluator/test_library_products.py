"""cuBLAS calls of a GPU dump have the value of the dot that they replaced.

Their configuration states the product in full.
"""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe

R = np.random.default_rng(0)
A, B, C, BIAS = (
    R.standard_normal(size).astype(np.float32) for size in ((4, 3), (3, 5), (4, 5), (5,))
)
NUMBERS = '"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"],"lhs_batch_dimensions":[],"rhs_batch_dimensions":[]}'


def product(target: str, operands: str, config: str) -> str:
    return f"""ENTRY e {{ a = f32[4,3] parameter(0)
 b = f32[3,5] parameter(1)
 c = f32[4,5] parameter(2)
 v = f32[5] parameter(3)
 k = (f32[4,5], s8[64]) custom-call({operands}), custom_call_target="{target}", backend_config={{"gemm_backend_config":{{{config}}}}}
 ROOT r = f32[4,5] get-tuple-element(k), index=0 }}"""


CASES = {
    "plain": ("__cublas$gemm", "a, b", f'"alpha_real":1,"alpha_imag":0,"beta":0,{NUMBERS},"epilogue":"DEFAULT"', A @ B),
    "scaled and added": ("__cublas$gemm", "a, b, c", f'"alpha_real":2,"beta":0.5,{NUMBERS}', 2 * (A @ B) + 0.5 * C),
    "bias": ("__cublas$lt$matmul", "a, b, v", f'"alpha_real":1,{NUMBERS},"epilogue":"BIAS"', A @ B + BIAS),
    "everything": ("__cublas$lt$matmul", "a, b, c, v", f'"alpha_real":1,"beta":1,{NUMBERS},"epilogue":"BIAS_RELU"', np.maximum(A @ B + C + BIAS, 0)),
}  # fmt: skip


@pytest.mark.parametrize("backend", ["evaluator", "cpu"])
@pytest.mark.parametrize("name", CASES)
def test_a_product_of_cublas_has_the_value_that_it_states(name: str, backend: str) -> None:
    target, operands, config, expected = CASES[name]
    text = product(target, operands, config)
    found = (
        xe.evaluate(text, A, B, C, BIAS)
        if backend == "evaluator"
        else xe.compile(text)(A, B, C, BIAS)
    )
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "config",
    ["", NUMBERS + ',"epilogue":"GELU"', NUMBERS + ',"alpha_imag":1', NUMBERS + ',"beta":1'],
)
def test_what_is_not_stated_in_full_is_refused_by_name(config: str) -> None:
    with pytest.raises(
        xe.XlaExplorerError,
        match="%k is a product of cuBLAS with an incomplete configuration",
    ):
        xe.evaluate(product("__cublas$gemm", "a, b", config), A, B, C, BIAS)


def test_the_gpus_top_k_states_its_results() -> None:
    text = """ENTRY e { x = f32[1,4] parameter(0)
 ROOT t = (f32[1,5], s32[1,5]) custom-call(x), custom_call_target="__gpu$TopK", api_version=API_VERSION_TYPED_FFI }"""
    with pytest.raises(xe.XlaExplorerError, match="%t"):
        xe.evaluate(text, np.zeros((1, 4), np.float32))
