"""Single operations and short chains."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from inputs import integers, lower_triangle, normal, positive_definite, uniform, workload
from jax import lax


@workload("m_reduce_middle_64x500x96", normal(64, 500, 96))
def reduce_middle(x: Any) -> Any:
    return x.sum(1)


@workload("m_reduce_outer_inner_40x300x250", normal(40, 300, 250))
def reduce_outer_inner(x: Any) -> Any:
    return x.max((0, 2))


@workload("m_argmin_cols_3000x700", normal(3000, 700))
def argmin_columns(x: Any) -> Any:
    return jnp.argmin(x, 0)


@workload("m_max_sum_rows_3000x900", normal(3000, 900))
def max_and_sum(x: Any) -> Any:
    return x.max(1), x.sum(1), jnp.abs(x).min(1)


@workload("m_variance_cols_f64_2000x333", normal(2000, 333, dtype="f64"))
def variance(x: Any) -> Any:
    return jnp.var(x, 0)


@workload("m_reduce_u8_all_5000x800", integers(5000, 800, high=255, dtype="u8"))
def reduce_bytes(x: Any) -> Any:
    return x.astype(jnp.int32).sum(), x.max(1)


@workload("m_any_all_pred_4000x500", normal(4000, 500))
def any_all(x: Any) -> Any:
    return (x > 3.0).any(1), (x < 4.0).all(0)


@workload("m_cumprod_cols_2000x300", uniform(2000, 300, low=0.99, high=1.01))
def cumprod_columns(x: Any) -> Any:
    return jnp.cumprod(x, 0)


@workload("m_cumlogsumexp_300x2000", normal(300, 2000))
def cumlogsumexp(x: Any) -> Any:
    return lax.cumlogsumexp(x, axis=1)


@workload("m_cummax_reverse_s32_1000x777", integers(1000, 777, low=-(10**6), high=10**6))
def cummax_reverse(x: Any) -> Any:
    return lax.cummax(x, axis=1, reverse=True)


@workload("m_prefix_sum_f64_3e6", uniform(3000000, dtype="f64"))
def prefix_sum(x: Any) -> Any:
    return jnp.cumsum(x)


@workload("m_sort_cols_2000x128", normal(2000, 128))
def sort_columns(x: Any) -> Any:
    return jnp.sort(x, 0)


@workload("m_sort_pairs_s32_500000", integers(500000, high=2**30), normal(500000))
def sort_pairs(keys: Any, values: Any) -> Any:
    return lax.sort((keys, values), num_keys=1)


@workload("m_sort_f64_descending_64x5000", normal(64, 5000, dtype="f64"))
def sort_doubles(x: Any) -> Any:
    return -jnp.sort(-x, axis=1)


@workload("m_topk1_2000x1200", normal(2000, 1200))
def top_one(x: Any) -> Any:
    return lax.top_k(x, 1)


@workload("m_topk100_64x30000", normal(64, 30000))
def top_hundred(x: Any) -> Any:
    return lax.top_k(x, 100)


@workload("m_gather_scalars_1e6", normal(300000), integers(1000000, high=300000))
def gather_scalars(x: Any, i: Any) -> Any:
    return x[i]


@workload(
    "m_gather_2d_points_400x500",
    normal(400, 500),
    integers(200000, high=400),
    integers(200000, high=500),
)
def gather_points(x: Any, i: Any, j: Any) -> Any:
    return x[i, j]


@workload("m_scatter_max_50000", normal(50000), integers(400000, high=50000), normal(400000))
def scatter_max(x: Any, i: Any, v: Any) -> Any:
    return x.at[i].max(v)


@workload(
    "m_scatter_set_rows_8000x96", normal(8000, 96), integers(3000, high=8000), normal(3000, 96)
)
def scatter_set(x: Any, i: Any, v: Any) -> Any:
    return x.at[i].set(v)


@workload("m_roll_flip_1500x1100", normal(1500, 1100))
def roll_flip(x: Any) -> Any:
    return jnp.roll(x, (17, -5), (0, 1)) + x[:, ::-1]


@workload("m_tile_repeat_300x200", normal(300, 200))
def tile_repeat(x: Any) -> Any:
    return jnp.tile(x, (4, 3)), jnp.repeat(x, 5, axis=1)


@workload("m_outer_products_1700x1900", normal(1700), normal(1900))
def outer(x: Any, y: Any) -> Any:
    return jnp.tanh(x)[:, None] * y[None, :] + x[:, None]


@workload("m_strided_slices_4000x700", normal(4000, 700))
def strided(x: Any) -> Any:
    return x[::3, 1::2] - x[1::3, ::2][:1333].mean()


@workload("m_transpose_heads_4x512x8x64_bf16", normal(4, 512, 8, 64, dtype="bf16"))
def transpose_heads(x: Any) -> Any:
    return x.transpose(0, 2, 3, 1)


@workload("m_bf16_chain_800000", normal(800000, dtype="bf16"), normal(800000, dtype="bf16"))
def bf16_chain(x: Any, y: Any) -> Any:
    return jnp.maximum(x * y + x, y) * jnp.bfloat16(0.5) - x * x


@workload("m_f16_silu_500000", normal(500000, dtype="f16"))
def f16_silu(x: Any) -> Any:
    return x * jax.nn.sigmoid(x)


@workload("m_s32_hash_1e6", integers(1000000, low=-(2**31), high=2**31 - 1))
def hashing(x: Any) -> Any:
    x = x.view(jnp.uint32)
    x = (x ^ (x >> 16)) * jnp.uint32(0x7FEB352D)
    x = (x ^ (x >> 15)) * jnp.uint32(0x846CA68B)
    return x ^ (x >> 16)


@workload(
    "m_u8_blend_3e6",
    integers(3000000, high=255, dtype="u8"),
    integers(3000000, high=255, dtype="u8"),
)
def blend(x: Any, y: Any) -> Any:
    return ((x.astype(jnp.uint16) * 77 + y.astype(jnp.uint16) * 179) >> 8).astype(jnp.uint8)


@workload(
    "m_integer_division_600000",
    integers(600000, low=-(10**6), high=10**6),
    integers(600000, low=1, high=1000),
)
def integer_division(x: Any, y: Any) -> Any:
    return x // y, x % 12


@workload(
    "m_s64_popcount_gcd_step_400000",
    integers(400000, high=2**40, dtype="s64"),
    integers(400000, low=1, high=2**20, dtype="s64"),
)
def wide_integers(x: Any, y: Any) -> Any:
    return lax.population_count(x) + lax.clz(y), lax.rem(x, y)


@workload("m_tan_atan2_log1p_700000", normal(700000), uniform(700000, low=0.1, high=2))
def special(x: Any, y: Any) -> Any:
    return jnp.tan(x * 0.3) + jnp.arctan2(x, y) * jnp.log1p(y)


@workload(
    "m_erfinv_pow_400000", uniform(400000, low=-0.9, high=0.9), uniform(400000, low=0.5, high=3)
)
def special_again(x: Any, y: Any) -> Any:
    return lax.erf_inv(x) + jnp.power(y, x) + jnp.cbrt(y)


@workload("m_f64_exp_log_sin_500000", uniform(500000, low=0.2, high=4, dtype="f64"))
def doubles(x: Any) -> Any:
    return jnp.exp(-x) * jnp.log(x) + jnp.sin(x)


@workload("m_complex_polynomial_300000", normal(300000, dtype="c64"))
def complex_polynomial(z: Any) -> Any:
    return ((z * 0.3 + 1j) * z - 0.5) * z / (1.5 + jnp.conj(z) * z), jnp.abs(z)


@workload(
    "m_dot_s8_512x768x256",
    integers(512, 768, low=-128, high=127, dtype="s8"),
    integers(768, 256, low=-128, high=127, dtype="s8"),
)
def dot_bytes(x: Any, y: Any) -> Any:
    return lax.dot(x, y, preferred_element_type=jnp.int32)


@workload(
    "m_dot_bf16_batched_24x160x96",
    normal(24, 160, 96, dtype="bf16"),
    normal(24, 96, 160, dtype="bf16"),
)
def dot_bf16(x: Any, y: Any) -> Any:
    return x @ y


@workload(
    "m_dot_f16_300", normal(300, 300, dtype="f16", std=0.1), normal(300, 300, dtype="f16", std=0.1)
)
def dot_f16(x: Any, y: Any) -> Any:
    return x @ y


@workload("m_dot_outer_2048x16x2048", normal(2048, 16), normal(16, 2048))
def dot_outer(x: Any, y: Any) -> Any:
    return x @ y


@workload("m_dot_inner_24x20000x24", normal(24, 20000), normal(20000, 24))
def dot_inner(x: Any, y: Any) -> Any:
    return x @ y


@workload("m_vecmat_2500x1700", normal(2500), normal(2500, 1700))
def vecmat(x: Any, y: Any) -> Any:
    return x @ y


@workload("m_dot_tiny_batch_20000x4x4", normal(20000, 4, 4), normal(20000, 4, 4))
def dot_tiny(x: Any, y: Any) -> Any:
    return x @ y


@workload("m_dot_f64_1000x250x600_t", normal(250, 1000, dtype="f64"), normal(600, 250, dtype="f64"))
def dot_doubles(x: Any, y: Any) -> Any:
    return x.T @ y.T


@workload("m_dot_c64_200", normal(200, 200, dtype="c64"), normal(200, 200, dtype="c64"))
def dot_complex(x: Any, y: Any) -> Any:
    return x @ y


@workload(
    "m_dot_s32_200",
    integers(200, 200, low=-1000, high=1000),
    integers(200, 200, low=-1000, high=1000),
)
def dot_integers(x: Any, y: Any) -> Any:
    return x @ y


@workload("m_einsum_bqhd_bkhd_2x200x6x32", normal(2, 200, 6, 32), normal(2, 200, 6, 32))
def einsum(q: Any, k: Any) -> Any:
    return jnp.einsum("bqhd,bkhd->bhqk", q, k)


@workload("m_one_hot_dot_3000x500x64", integers(3000, high=500), normal(500, 64))
def one_hot(i: Any, table: Any) -> Any:
    return jax.nn.one_hot(i, 500) @ table


@workload("m_embedding_bag_4000x20x64", normal(30000, 64), integers(4000, 20, high=30000))
def embedding_bag(table: Any, i: Any) -> Any:
    return table[i].sum(1)


@workload("m_fft2_128x256", normal(128, 256, dtype="c64"))
def fft2(x: Any) -> Any:
    return jnp.fft.fft2(x)


@workload("m_rfft_200x1000", normal(200, 1000))
def rfft(x: Any) -> Any:
    return jnp.fft.rfft(x)


@workload("m_fft_f64_prime_50x509", normal(50, 509, dtype="c128"))
def fft_prime(x: Any) -> Any:
    return jnp.fft.fft(x)


@workload("m_trsolve_batch_40x60x30", lower_triangle(40, 60, 60), normal(40, 60, 30), tpu=True)
def triangular(a: Any, b: Any) -> Any:
    return lax.linalg.triangular_solve(a, b, left_side=True, lower=True)


@workload("m_cholesky_batch_64x48", positive_definite(64, 48, 48), tpu=True)
def cholesky(a: Any) -> Any:
    return lax.linalg.cholesky(a)


@workload("m_histogram_scatter_1e6", uniform(1000000))
def histogram(x: Any) -> Any:
    return jnp.zeros(256, jnp.int32).at[(x * 256).astype(jnp.int32)].add(1)


@workload("m_quantize_dequantize_1000x1024", normal(1000, 1024))
def quantize(x: Any) -> Any:
    scale = jnp.abs(x).max(1, keepdims=True) / 127
    q = jnp.clip(jnp.round(x / scale), -128, 127).astype(jnp.int8)
    return q, q.astype(jnp.float32) * scale


@workload("m_scalar_program", normal())
def scalar(x: Any) -> Any:
    return jnp.sin(x) * 2 + 1


@workload("m_ten_elements", normal(10), normal(10))
def ten(x: Any, y: Any) -> Any:
    return jax.nn.softmax(x * y) @ y
