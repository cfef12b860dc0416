"""JAX programs as people write them: layers, losses, optimisers, scans, transforms.

Also linear algebra and random numbers.

PROGRAMS: name -> (function, arguments). Each test takes all of them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

_RNG = np.random.default_rng(7)


def _array(*sizes: int) -> Any:
    """Return a numpy array like the other arguments.

    JAX would compile a program for each while tests are collected.
    """
    return _RNG.standard_normal(sizes).astype(np.float32)


PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {}


def program(*arguments: Any) -> Any:
    """Register the function below under its name with example arguments."""

    def register(function: Any) -> Any:
        PROGRAMS[function.__name__] = (function, arguments)
        return function

    return register


def dense_parameters(*sizes: int) -> list[dict[str, Any]]:
    return [
        {"w": _array(a, b) / np.float32(np.sqrt(a)), "b": _array(b) * 0.1}
        for a, b in pairwise(sizes)
    ]


MLP = dense_parameters(8, 16, 4)
X, LABELS = _array(6, 8), np.asarray([0, 1, 2, 3, 1, 0], np.int32)


@program(MLP, X)
def mlp(layers: Any, x: Any) -> Any:
    for layer in layers[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ layers[-1]["w"] + layers[-1]["b"]


@program(MLP, X, LABELS)
def cross_entropy(layers: Any, x: Any, labels: Any) -> Any:
    logits = jax.nn.log_softmax(mlp(layers, x))
    return -jnp.mean(jnp.take_along_axis(logits, labels[:, None], axis=1))


@program(MLP, X, LABELS)
def sgd_step(layers: Any, x: Any, labels: Any) -> Any:
    gradients = jax.grad(cross_entropy)(layers, x, labels)
    return jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, layers, gradients)


@program(
    MLP,
    jax.tree_util.tree_map(np.zeros_like, MLP),
    jax.tree_util.tree_map(np.zeros_like, MLP),
    X,
    LABELS,
)
def adam_step(layers: Any, first: Any, second: Any, x: Any, labels: Any) -> Any:
    gradients = jax.grad(cross_entropy)(layers, x, labels)
    first = jax.tree_util.tree_map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree_util.tree_map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
    return (
        jax.tree_util.tree_map(
            lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), layers, first, second
        ),
        first,
        second,
    )


@program(_array(2, 5, 8))
def layer_norm(x: Any) -> Any:
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)


@program(_array(2, 5, 8), _array(8))
def rms_norm(x: Any, scale: Any) -> Any:
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale


@program(_array(2, 3, 6, 4), _array(2, 3, 6, 4), _array(2, 3, 6, 4))
def causal_attention(q: Any, k: Any, v: Any) -> Any:
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(4)
    mask = jnp.tril(jnp.ones((6, 6), bool))
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(jnp.where(mask, scores, -1e9)), v)


@program(_array(2, 3, 6, 4), _array(2, 3, 6, 4), _array(2, 3, 6, 4))
def attention_gradient(q: Any, k: Any, v: Any) -> Any:
    return jax.grad(lambda *a: causal_attention(*a).sum(), argnums=(0, 1, 2))(q, k, v)


@program(_array(1, 8, 8, 3), _array(3, 3, 3, 5))
def convolution_layer(x: Any, w: Any) -> Any:
    y = lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jax.nn.gelu(y)


@program(_array(1, 6, 6, 2), _array(3, 3, 2, 4))
def convolution_gradient(x: Any, w: Any) -> Any:
    def loss(x: Any, w: Any) -> Any:
        return jnp.sum(
            lax.conv_general_dilated(
                x, w, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            ** 2
        )

    return jax.grad(loss, argnums=(0, 1))(x, w)


@program(_array(2, 8, 8, 3))
def max_pool(x: Any) -> Any:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


@program(_array(2, 8, 8, 3))
def max_pool_gradient(x: Any) -> Any:
    return jax.grad(lambda x: (max_pool(x) ** 2).sum())(x)


@program(_array(4, 7), _array(7, 5), _array(5, 5))
def recurrent_scan(x: Any, w: Any, u: Any) -> Any:
    def step(h: Any, row: Any) -> Any:
        h = jnp.tanh(row @ w + h @ u)
        return h, h

    return lax.scan(step, jnp.zeros(5), x)


@program(_array(6, 3), _array(3, 16), _array(4, 16), _array(16))
def lstm(x: Any, w: Any, u: Any, b: Any) -> Any:
    def step(state: Any, row: Any) -> Any:
        h, c = state
        i, f, g, o = jnp.split(row @ w + h @ u + b, 4)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    return lax.scan(step, (jnp.zeros(4), jnp.zeros(4)), x)[1]


@program(_array(5, 3), _array(3, 4), _array(4, 4))
def scan_gradient(x: Any, w: Any, u: Any) -> Any:
    def loss(w: Any, u: Any) -> Any:
        return jnp.sum(
            lax.scan(lambda h, row: ((n := jnp.tanh(row @ w + h @ u)), n), jnp.zeros(4), x)[1]
        )

    return jax.grad(loss, argnums=(0, 1))(w, u)


@program(np.float32(2.0))
def newton_while(a: Any) -> Any:
    return lax.while_loop(lambda s: jnp.abs(s * s - a) > 1e-6, lambda s: 0.5 * (s + a / s), a)


@program(np.int32(10))
def fibonacci_fori(n: Any) -> Any:
    return lax.fori_loop(0, n, lambda _, s: (s[1], s[0] + s[1]), (0, 1))


@program(np.float32(-1.5), _array(4))
def branches(p: Any, x: Any) -> Any:
    return lax.cond(p > 0, lambda x: x * 2, lambda x: jnp.sin(x), x), lax.switch(
        1, [jnp.cos, jnp.exp, jnp.abs], x
    )


@program(_array(5, 5))
def cholesky_solve(a: Any) -> Any:
    spd = a @ a.T + 5 * jnp.eye(5)
    return jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(spd), True), a)


@program(_array(4, 4) + 4 * np.eye(4, dtype=np.float32), _array(4, 2))
def linear_solve(a: Any, b: Any) -> Any:
    return jnp.linalg.solve(a, b), jnp.linalg.det(a), jnp.linalg.inv(a)


@program(_array(6, 4), _array(6))
def least_squares(a: Any, b: Any) -> Any:
    q, r = jnp.linalg.qr(a)
    return jax.scipy.linalg.solve_triangular(r, q.T @ b)


@program(_array(5, 5))
def eigen_values(a: Any) -> Any:
    return jnp.linalg.eigvalsh(a + a.T), jnp.linalg.svd(a, compute_uv=False)


@program(_array(5, 5), _array(5))
def power_iteration(a: Any, v: Any) -> Any:
    m = a @ a.T
    return lax.fori_loop(0, 20, lambda _, v: m @ v / jnp.linalg.norm(m @ v), v)


@program(_array(4, 16))
def spectrum(x: Any) -> Any:
    return jnp.abs(jnp.fft.rfft(x)), jnp.fft.irfft(jnp.fft.rfft(x)), jnp.fft.fft2(x)


@program(jax.random.key(3))
def random_numbers(key: Any) -> Any:
    a, b = jax.random.split(key)
    return (
        jax.random.normal(a, (8,)),
        jax.random.uniform(b, (3, 3)),
        jax.random.randint(b, (5,), 0, 100),
    )


@program(jax.random.key(6, impl="rbg"))
def keys_of_another_generator(key: Any) -> Any:
    return jax.random.split(key, 3), jax.random.fold_in(key, 1), jax.random.normal(key, (4,))


@program(jax.random.key(4), _array(6, 8))
def dropout(key: Any, x: Any) -> Any:
    return jnp.where(jax.random.bernoulli(key, 0.8, x.shape), x / 0.8, 0)


@program(jax.random.key(5))
def permutation_and_choice(key: Any) -> Any:
    return jax.random.permutation(key, 10), jax.random.categorical(
        key, jnp.log(jnp.arange(1.0, 5.0))
    )


@program(_array(5, 6))
def sorting(x: Any) -> Any:
    return jnp.sort(x, axis=1), jnp.argsort(x, axis=0), lax.top_k(x, 3), jnp.median(x)


@program(_array(4, 9))
def cumulative(x: Any) -> Any:
    return (
        jnp.cumsum(x, 1),
        jnp.cumprod(x, 0),
        lax.cummax(x, axis=1),
        lax.associative_scan(jnp.logaddexp, x, axis=1),
    )


@program(_array(10, 4), np.asarray([[1, 3], [9, 0]], np.int32))
def embedding(table: Any, ids: Any) -> Any:
    return table[ids], table.at[ids].add(1.0), jax.grad(lambda t: (t[ids] ** 2).sum())(table)


@program(_array(6, 3), np.asarray([0, 1, 0, 2, 2, 1], np.int32))
def segments(x: Any, ids: Any) -> Any:
    return jax.ops.segment_sum(x, ids, 3), jnp.zeros((3, 3)).at[ids].max(x)


@program(_array(7), _array(7))
def statistics(x: Any, y: Any) -> Any:
    return (
        jnp.corrcoef(x, y),
        jnp.percentile(x, 30.0),
        jnp.histogram(x, bins=4, range=(-2.0, 2.0))[0],
        jnp.var(x, ddof=1),
    )


@program(_array(9))
def special_functions(x: Any) -> Any:
    return (
        jax.scipy.special.erf(x),
        jax.scipy.special.gammaln(jnp.abs(x) + 0.1),
        jax.nn.softplus(x),
        jnp.expm1(x),
        jnp.log1p(jnp.abs(x)),
        jnp.arctan2(x, x + 1),
    )


@program(_array(5, 3), _array(6, 3))
def pairwise_distances(a: Any, b: Any) -> Any:
    return jax.vmap(lambda p: jax.vmap(lambda q: jnp.sqrt(jnp.sum((p - q) ** 2)))(b))(a)


@program(_array(4))
def hessian(x: Any) -> Any:
    def rosenbrock(x: Any) -> Any:
        return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    return jax.hessian(rosenbrock)(x), jax.jacfwd(jnp.sin)(x)


@program(_array(3, 4).astype(jnp.bfloat16), _array(4, 5).astype(jnp.bfloat16))
def mixed_precision(x: Any, w: Any) -> Any:
    return jnp.dot(x, w, preferred_element_type=jnp.float32), x @ w


@program(np.arange(24, dtype=np.int32).reshape(4, 6), np.uint32(5))
def integers(x: Any, s: Any) -> Any:
    return (
        x // 5,
        x % 7,
        x << 2,
        lax.population_count(x),
        (x.astype(jnp.uint32) ^ s),
        jnp.bitwise_not(x),
    )


@program(_array(4, 4) + 1j * _array(4, 4), _array(4))
def complex_numbers(a: Any, x: Any) -> Any:
    return jnp.abs(a), jnp.angle(a), a @ a.conj().T, jnp.exp(1j * x).real


@program(_array(3, 8, 6), _array(2, 6, 4), _array(8, 2))
def mixture_of_experts(x: Any, experts: Any, router: Any) -> Any:
    weights = jax.nn.softmax(
        jnp.einsum("btd,td->bt", x[..., :2], router)[..., None] * jnp.ones(2), -1
    )
    return jnp.einsum("bte,btd,edf->btf", weights, x, experts)


@program(_array(12), _array(3))
def signal_filter(x: Any, taps: Any) -> Any:
    return jnp.convolve(x, taps, mode="same"), jnp.interp(
        jnp.linspace(0, 1, 5), jnp.linspace(0, 1, 12), x
    )


@program(_array(6, 6))
def jacobi_steps(grid: Any) -> Any:
    def step(_: Any, g: Any) -> Any:
        return g.at[1:-1, 1:-1].set((g[:-2, 1:-1] + g[2:, 1:-1] + g[1:-1, :-2] + g[1:-1, 2:]) / 4)

    return lax.fori_loop(0, 10, step, grid)


@program(_array(4, 3), _array(4, 3))
def physics_steps(position: Any, velocity: Any) -> Any:
    def force(p: Any) -> Any:
        d = p[:, None] - p[None]
        return -jnp.sum(d / (jnp.sum(d * d, -1, keepdims=True) + 0.1) ** 1.5, axis=1)

    return lax.scan(
        lambda s, _: ((s[0] + 0.01 * s[1], s[1] + 0.01 * force(s[0])), None),
        (position, velocity),
        None,
        length=5,
    )[0]


@program(_array(4, 6))
def custom_derivative(x: Any) -> Any:
    @jax.custom_vjp
    def clip_gradient(x: Any) -> Any:
        return x

    clip_gradient.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -0.1, 0.1),))
    return jax.grad(lambda x: jnp.sum(clip_gradient(x) ** 3))(x)


@program(_array(8, 4))
def checkpointed(x: Any) -> Any:
    return jax.grad(lambda x: jnp.sum(jax.checkpoint(lambda y: jnp.sin(jnp.sin(y)))(x)))(x)


@program(_array(5), 3)
def dynamic_slices(x: Any, start: Any) -> Any:
    return (
        lax.dynamic_slice(x, (start,), (2,)),
        lax.dynamic_update_slice(x, jnp.zeros(2, x.dtype), (start,)),
        jnp.roll(x, start),
    )
