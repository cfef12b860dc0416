"""Convolutions as custom calls have the value of the convolution that they replaced."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe

R = np.random.default_rng(0)
X, W, B, S = (
    R.standard_normal(size).astype(np.float32)
    for size in ((2, 3, 6, 6), (4, 3, 3, 3), (4,), (2, 4, 6, 6))
)
PLACES = "window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01"
HEAD = """ENTRY e { x = f32[2,3,6,6] parameter(0)
 w = f32[4,3,3,3] parameter(1)
 b = f32[4] parameter(2)
 s = f32[2,4,6,6] parameter(3)
"""
PLAIN = np.asarray(
    xe.evaluate(f"{HEAD} ROOT r = f32[2,4,6,6] convolution(x, w), {PLACES} }}", X, W, B, S)
)
SCALED = 2 * PLAIN + B[:, None, None] + 0.5 * S


def call(operands: str, config: str, places: str = PLACES) -> str:
    biased = "," in operands.replace("x, w", "")
    target = "__cudnn$convBiasActivationForward" if biased else "__cudnn$convForward"
    return f"""{HEAD} k = (f32[2,4,6,6], u8[16]) custom-call({operands}), {places},
   custom_call_target="{target}", backend_config={{"cudnn_conv_backend_config":{{{config}}}}}
 ROOT r = f32[2,4,6,6] get-tuple-element(k), index=0 }}"""


CASES = {
    "plain": ("x, w", '"conv_result_scale":1,"activation_mode":"kNone","side_input_scale":0', PLAIN),
    "scaled": ("x, w", '"conv_result_scale":3', 3 * PLAIN),
    "bias": ("x, w, b", '"activation_mode":"kRelu"', np.maximum(PLAIN + B[:, None, None], 0)),
    "side input": ("x, w, b, s", '"conv_result_scale":2,"side_input_scale":0.5', SCALED),
    "elu": ("x, w", '"activation_mode":"kElu"', np.where(PLAIN > 0, PLAIN, np.expm1(PLAIN))),
    "relu6": ("x, w", '"activation_mode":"kRelu6"', np.clip(PLAIN, 0, 6)),
    "leaky": ("x, w", '"activation_mode":"kLeakyRelu","leakyrelu_alpha":0.25', np.where(PLAIN > 0, PLAIN, PLAIN / 4)),
}  # fmt: skip


@pytest.mark.parametrize("backend", ["evaluator", "cpu"])
@pytest.mark.parametrize("name", CASES)
def test_a_convolution_of_cudnn_has_the_value_that_it_states(name: str, backend: str) -> None:
    operands, config, expected = CASES[name]
    text = call(operands, config)
    found = (
        xe.evaluate(text, X, W, B, S) if backend == "evaluator" else xe.compile(text)(X, W, B, S)
    )
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("config", "places"),
    [
        ('"activation_mode":"kGelu"', PLACES),
        ('"serialized_graph":"x"', PLACES),
        ("", "window={size=3x3 pad=1_1x1_1}"),
    ],
)
def test_what_is_not_stated_in_full_is_refused_by_name(config: str, places: str) -> None:
    with pytest.raises(
        xe.XlaExplorerError, match="%k is a convolution of cuDNN with an incomplete configuration"
    ):
        xe.evaluate(call("x, w", config, places), X, W, B, S)


@pytest.mark.parametrize("padding", ["SAME", "VALID", "INVALID"])
@pytest.mark.parametrize("rows", [6, 5, 4])
@pytest.mark.parametrize("stride", [1, 2])
def test_a_dynamic_convolution_pads_by_the_sizes_at_run_time(
    padding: str, rows: int, stride: int
) -> None:
    jax = pytest.importorskip("jax")
    x, w = X.transpose(0, 2, 3, 1), W.transpose(2, 3, 1, 0)
    if padding == "INVALID" and rows != 6:
        pytest.skip("a stated padding is for the stated sizes")
    pad = "SAME" if padding == "INVALID" and stride == 1 else padding
    pads = [(1, 1), (1, 1)] if pad == "INVALID" else pad
    want = jax.lax.conv_general_dilated(
        x[:, :rows], w, (stride, stride), pads, dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    text = f"""ENTRY e {{ p = f32[2,6,6,3] parameter(0)
 w = f32[3,3,3,4] parameter(1)
 n = s32[] parameter(2)
 x = f32[2,<=6,6,3] set-dimension-size(p, n), dimensions={{1}}
 ROOT c = f32[{",".join(f"<={size}" if k == 1 else str(size) for k, size in enumerate(want.shape if rows == 6 else (2, *[-(-6 // stride) if pad == "SAME" else (6 - 3) // stride + 1] * 2, 4)))}]
   custom-call(x, w), window={{size=3x3 stride={stride}x{stride} pad=1_1x1_1}}, dim_labels=b01f_01io->b01f,
   padding_type=PADDING_{padding}, custom_call_target="DynamicConvolutionForward" }}"""
    found = np.asarray(xe.evaluate(text, x, w, np.int32(rows)))
    np.testing.assert_allclose(found, np.asarray(want), rtol=1e-5, atol=1e-5)
