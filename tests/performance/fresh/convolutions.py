"""Convolutions, pooling and their derivatives; images."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from inputs import normal, uniform, workload
from jax import lax

NHWC = ("NHWC", "HWIO", "NHWC")


def conv(x: Any, k: Any, strides: Any = (1, 1), padding: Any = "SAME", **more: Any) -> Any:
    return lax.conv_general_dilated(x, k, strides, padding, dimension_numbers=NHWC, **more)


@workload("m_conv5x5s2_4x48x48x24", normal(4, 48, 48, 24), normal(5, 5, 24, 40, std=0.05))
def strided(x: Any, k: Any) -> Any:
    return conv(x, k, (2, 2))


@workload("m_conv_nchw_2x16x40x40", normal(2, 16, 40, 40), normal(32, 16, 3, 3, std=0.1))
def nchw(x: Any, k: Any) -> Any:
    return lax.conv_general_dilated(
        x, k, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW")
    )


@workload(
    "m_conv_backward_input_4x24x24x32",
    normal(4, 24, 24, 32),
    normal(3, 3, 32, 48, std=0.1),
    normal(4, 24, 24, 48),
)
def backward_input(x: Any, k: Any, g: Any) -> Any:
    return jax.vjp(lambda x: conv(x, k), x)[1](g)[0]


@workload(
    "m_conv_backward_kernel_4x24x24x32",
    normal(4, 24, 24, 32),
    normal(3, 3, 32, 48, std=0.1),
    normal(4, 24, 24, 48),
)
def backward_kernel(x: Any, k: Any, g: Any) -> Any:
    return jax.vjp(lambda k: conv(x, k), k)[1](g)[0]


@workload("m_conv1d_8x2000x32_k9", normal(8, 2000, 32), normal(9, 32, 48, std=0.1))
def one_dimension(x: Any, k: Any) -> Any:
    return lax.conv_general_dilated(x, k, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))


@workload("m_conv_transposed_2x20x20x48", normal(2, 20, 20, 48), normal(4, 4, 48, 24, std=0.1))
def transposed(x: Any, k: Any) -> Any:
    return lax.conv_transpose(x, k, (2, 2), "SAME", dimension_numbers=NHWC)


@workload("m_conv_dw5x5_4x40x40x48", normal(4, 40, 40, 48), normal(5, 5, 1, 48))
def depthwise(x: Any, k: Any) -> Any:
    return conv(x, k, feature_group_count=48)


@workload("m_conv_groups4_dilated_2x32x32x32", normal(2, 32, 32, 32), normal(3, 3, 8, 64))
def groups(x: Any, k: Any) -> Any:
    return conv(x, k, feature_group_count=4, rhs_dilation=(2, 2))


@workload("m_conv3d_1x12x24x24x8", normal(1, 12, 24, 24, 8), normal(3, 3, 3, 8, 16))
def three_dimensions(x: Any, k: Any) -> Any:
    return lax.conv_general_dilated(
        x, k, (1, 1, 1), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC")
    )


@workload("m_avg_pool_backward_4x64x64x32", normal(4, 64, 64, 32), normal(4, 32, 32, 32))
def average_backward(x: Any, g: Any) -> Any:
    pool = lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") / 9  # noqa: E731
    return jax.vjp(pool, x)[1](g)[0]


@workload("m_max_pool_backward_4x48x48x32", normal(4, 48, 48, 32), normal(4, 24, 24, 32))
def max_backward(x: Any, g: Any) -> Any:
    pool = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")  # noqa: E731
    return jax.vjp(pool, x)[1](g)[0]


@workload("m_sum_window_long_2e5_w64", normal(200000))
def long_window(x: Any) -> Any:
    return lax.reduce_window(x, 0.0, lax.add, (64,), (1,), "VALID")


@workload("b_image_resize_3x120x160_to_200x300", uniform(3, 120, 160))
def resize(x: Any) -> Any:
    return jax.image.resize(x, (3, 200, 300), "bilinear")


@workload("b_batch_norm_train_16x28x28x64", normal(16, 28, 28, 64), normal(64), normal(64))
def batch_norm(x: Any, scale: Any, offset: Any) -> Any:
    mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
    return jax.nn.relu((x - mean) * lax.rsqrt(var + 1e-5) * scale + offset), mean, var


@workload("b_group_norm_4x32x32x64", normal(4, 32, 32, 64), normal(64), normal(64))
def group_norm(x: Any, scale: Any, offset: Any) -> Any:
    g = x.reshape(4, 32, 32, 8, 8)
    mean, var = g.mean((1, 2, 4), keepdims=True), g.var((1, 2, 4), keepdims=True)
    return ((g - mean) * lax.rsqrt(var + 1e-5)).reshape(x.shape) * scale + offset


@workload("b_sobel_threshold_800x1000", uniform(800, 1000))
def sobel(x: Any) -> Any:
    p = jnp.pad(x, 1, mode="edge")
    dx = p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:] - p[:-2, :-2] - 2 * p[1:-1, :-2] - p[2:, :-2]
    dy = p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:] - p[:-2, :-2] - 2 * p[:-2, 1:-1] - p[:-2, 2:]
    size = jnp.sqrt(dx * dx + dy * dy)
    return size, size > 1.5
