"""Parts of programs: models and their training, linear algebra, simulation."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from inputs import integers, normal, positive_definite, uniform, workload
from jax import lax


@workload(
    "b_rope_causal_attention_2x160x6x48",
    normal(2, 160, 288),
    normal(288, 864, std=0.06),
    normal(288),
)
def rope_attention(x: Any, w: Any, scale: Any) -> Any:
    x = x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * scale
    q, k, v = jnp.split((x @ w).reshape(2, 160, 18, 48), 3, axis=2)
    angle = jnp.arange(160.0)[:, None] * 10000 ** (-jnp.arange(24.0) / 24)
    c, s = jnp.cos(angle)[:, None], jnp.sin(angle)[:, None]

    def turn(t):
        first, second = t[..., :24], t[..., 24:]
        return jnp.concatenate([first * c - second * s, first * s + second * c], -1)

    scores = jnp.einsum("bqhd,bkhd->bhqk", turn(q), turn(k)) / 48**0.5
    scores = jnp.where(jnp.tril(jnp.ones((160, 160), bool)), scores, -1e30)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), v)


@workload(
    "b_gru_t50_b8_d96",
    normal(50, 8, 96),
    normal(8, 96),
    normal(96, 288, std=0.1),
    normal(96, 288, std=0.1),
)
def gru(xs: Any, h: Any, w: Any, u: Any) -> Any:
    def step(h: Any, x: Any) -> Any:
        a, b = x @ w, h @ u
        r, z = jax.nn.sigmoid(a[:, :96] + b[:, :96]), jax.nn.sigmoid(a[:, 96:192] + b[:, 96:192])
        h = (1 - z) * jnp.tanh(a[:, 192:] + r * b[:, 192:]) + z * h
        return h, h

    return lax.scan(step, h, xs)


@workload(
    "b_mlp_infer_b1_600_300_300_20",
    normal(1, 600),
    normal(600, 300, std=0.05),
    normal(300, 300, std=0.05),
    normal(300, 20, std=0.05),
)
def mlp(x: Any, a: Any, b: Any, c: Any) -> Any:
    return jax.nn.log_softmax(jax.nn.gelu(jax.nn.gelu(x @ a) @ b) @ c)


@workload(
    "b_gnn_segment_sum_5000x30000x32",
    normal(5000, 32),
    integers(30000, high=5000),
    integers(30000, high=5000),
    normal(32, 32, std=0.2),
)
def graph(x: Any, source: Any, target: Any, w: Any) -> Any:
    message = jax.nn.relu(x[source] @ w)
    total = jax.ops.segment_sum(message, target, 5000)
    count = jax.ops.segment_sum(jnp.ones(30000), target, 5000)
    return x + total / jnp.maximum(count, 1)[:, None]


@workload("b_knn_400x3000x24", normal(400, 24), normal(3000, 24))
def neighbours(q: Any, x: Any) -> Any:
    distance = (q * q).sum(1)[:, None] - 2 * q @ x.T + (x * x).sum(1)
    value, index = lax.top_k(-distance, 5)
    return -value, x[index].mean(1)


@workload("b_pca_power_800x120_it30", normal(800, 120), normal(120), rtol=1e-2)
def power_iteration(x: Any, v: Any) -> Any:
    x = x - x.mean(0)
    body = lambda _, v: (lambda w: w / jnp.linalg.norm(w))(x.T @ (x @ v))  # noqa: E731
    return lax.fori_loop(0, 30, body, v)


@workload("b_conjugate_gradient_300_it12", positive_definite(300, 300), normal(300), rtol=1e-2)
def conjugate_gradient(a: Any, b: Any) -> Any:
    def body(_: Any, state: Any) -> Any:
        x, r, p, s = state
        q = a @ p
        alpha = s / (p @ q)
        x, r = x + alpha * p, r - alpha * q
        t = r @ r
        return x, r, r + t / s * p, t

    return lax.fori_loop(0, 12, body, (jnp.zeros(300), b, b, b @ b))[0]


@workload("b_game_of_life_300_it50", integers(300, 300, high=2))
def life(x: Any) -> Any:
    def step(_: Any, x: Any) -> Any:
        n = sum(jnp.roll(x, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
        return ((n == 3) | ((n == 2) & (x == 1))).astype(x.dtype)

    return lax.fori_loop(0, 50, step, x)


@workload("b_heat_2d_f64_256_it60", uniform(256, 256, dtype="f64"))
def heat(u: Any) -> Any:
    def step(_: Any, u: Any) -> Any:
        inner = u[1:-1, 1:-1]
        return u.at[1:-1, 1:-1].set(
            inner + 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * inner)
        )

    return lax.fori_loop(0, 60, step, u)


@workload("b_lattice_boltzmann_128x96_it20", uniform(9, 128, 96, low=0.05, high=0.15))
def boltzmann(f: Any) -> Any:
    ex = jnp.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
    ey = jnp.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
    w = jnp.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4, jnp.float32)
    shifts = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]

    def step(_: Any, f: Any) -> Any:
        f = jnp.stack([jnp.roll(f[i], s, (0, 1)) for i, s in enumerate(shifts)])
        rho = f.sum(0)
        ux = jnp.tensordot(ex.astype(f.dtype), f, 1) / rho
        uy = jnp.tensordot(ey.astype(f.dtype), f, 1) / rho
        eu = ex[:, None, None] * ux + ey[:, None, None] * uy
        equal = w[:, None, None] * rho * (1 + 3 * eu + 4.5 * eu * eu - 1.5 * (ux * ux + uy * uy))
        return f - 0.6 * (f - equal)

    return lax.fori_loop(0, 20, step, f)


@workload("b_monte_carlo_pi_500000", integers(2, high=2**31, dtype="u32"))
def monte_carlo(key: Any) -> Any:
    k = jax.random.wrap_key_data(key, impl="threefry2x32")
    p = jax.random.uniform(k, (500000, 2))
    return 4 * ((p * p).sum(1) < 1).mean(), jax.random.normal(
        jax.random.split(k)[0], (100000,)
    ).std()


@workload("b_fft_convolution_60x1024", normal(60, 1024), normal(100))
def fft_convolution(x: Any, k: Any) -> Any:
    return jnp.fft.irfft(jnp.fft.rfft(x, 2048) * jnp.fft.rfft(k, 2048), 2048)[:, :1024]


@workload("b_lu_loop_96", positive_definite(96, 96))
def lu(a: Any) -> Any:
    n = jnp.arange(96)

    def step(k: Any, a: Any) -> Any:
        column = jnp.where(n > k, a[:, k] / a[k, k], 0)
        row = jnp.where(n >= k, a[k], 0)
        return jnp.where(
            (n[:, None] > k) & (n[None] == k), column[:, None], a - column[:, None] * row[None]
        )

    return lax.fori_loop(0, 95, step, a)


@workload("b_histogram_by_sort_200000", integers(200000, high=1000))
def histogram_by_sort(x: Any) -> Any:
    return jnp.diff(jnp.searchsorted(jnp.sort(x), jnp.arange(1001)))


@workload(
    "b_adam_1e6",
    *(normal(1000000, std=0.1) for _ in range(3)),
    uniform(1000000, low=0, high=0.1),
    integers(low=1, high=50),
)
def adam(p: Any, g: Any, m: Any, v: Any, t: Any) -> Any:
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    t = t.astype(jnp.float32)
    return p - 1e-3 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8), m, v


@workload("b_cross_entropy_grad_600x2000", normal(600, 2000), integers(600, high=2000))
def cross_entropy(x: Any, label: Any) -> Any:
    loss = lambda x: -jnp.take_along_axis(jax.nn.log_softmax(x), label[:, None], 1).mean()  # noqa: E731
    return jax.value_and_grad(loss)(x)


@workload(
    "b_layer_norm_grad_1500x384",
    normal(1500, 384),
    normal(384),
    normal(1500, 384),
    rtol=1e-2,
    atol=1e-3,
)
def layer_norm_grad(x: Any, a: Any, g: Any) -> Any:
    def norm(x: Any, a: Any, b: Any) -> Any:
        return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * a + b

    return jax.vjp(norm, x, a, a)[1](g)


@workload(
    "b_decode_step_b4_kv200_h8_d32",
    normal(4, 1, 256),
    normal(4, 200, 256),
    normal(4, 200, 256),
    normal(256, 768, std=0.1),
    integers(high=200),
)
def decode(x: Any, keys: Any, values: Any, w: Any, t: Any) -> Any:
    q, k, v = jnp.split(x @ w, 3, -1)
    keys, values = (
        lax.dynamic_update_slice(keys, k, (0, t, 0)),
        lax.dynamic_update_slice(values, v, (0, t, 0)),
    )
    s = jnp.einsum("bhd,bkhd->bhk", q.reshape(4, 8, 32), keys.reshape(4, 200, 8, 32)) / 32**0.5
    p = jax.nn.softmax(jnp.where(jnp.arange(200) <= t, s, -1e30))
    return jnp.einsum("bhk,bkhd->bhd", p, values.reshape(4, 200, 8, 32)), keys, values


@workload(
    "b_moe_top2_b256_d64_e8",
    normal(256, 64),
    normal(64, 8),
    normal(8, 64, 128, std=0.1),
    normal(8, 128, 64, std=0.1),
)
def experts(x: Any, gate: Any, a: Any, b: Any) -> Any:
    value, index = lax.top_k(x @ gate, 2)
    weight = (jax.nn.one_hot(index, 8) * jax.nn.softmax(value)[..., None]).sum(1)
    out = jnp.einsum("ebh,ehd->ebd", jax.nn.silu(jnp.einsum("bd,edh->ebh", x, a)), b)
    return jnp.einsum("be,ebd->bd", weight, out)


@workload(
    "b_bfloat16_mlp_block_96x384",
    normal(96, 384, dtype="bf16"),
    normal(384, 768, dtype="bf16", std=0.05),
    normal(768, 384, dtype="bf16", std=0.05),
)
def bf16_block(x: Any, a: Any, b: Any) -> Any:
    return x + jax.nn.gelu(x @ a) @ b


@workload("b_viterbi_t100_s64", normal(100, 64), normal(64, 64))
def viterbi(emission: Any, transition: Any) -> Any:
    def step(score: Any, e: Any) -> Any:
        all_scores = score[:, None] + transition
        return all_scores.max(0) + e, all_scores.argmax(0)

    return lax.scan(step, emission[0], emission[1:])


@workload("b_runge_kutta_lorenz_2000x3_it50", normal(2000, 3))
def lorenz(x: Any) -> Any:
    def f(s: Any) -> Any:
        x, y, z = s[:, 0], s[:, 1], s[:, 2]
        return jnp.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z], 1)

    def step(_: Any, s: Any) -> Any:
        a = f(s)
        b = f(s + 0.0025 * a)
        c = f(s + 0.0025 * b)
        return s + 0.005 / 6 * (a + 2 * b + 2 * c + f(s + 0.005 * c))

    return lax.fori_loop(0, 50, step, x)


@workload("b_pairwise_l1_500x600x16", normal(500, 16), normal(600, 16))
def pairwise(x: Any, y: Any) -> Any:
    return jnp.abs(x[:, None] - y[None]).sum(-1)


@workload("b_sinkhorn_256_it25", uniform(256, 256))
def sinkhorn(cost: Any) -> Any:
    k = jnp.exp(-cost / 0.2)
    step = lambda _, uv: (lambda u: (u, 1 / (k.T @ u)))(1 / (k @ uv[1]))  # noqa: E731
    u, v = lax.fori_loop(0, 25, step, (jnp.ones(256), jnp.ones(256)))
    return u[:, None] * k * v
