"""The fifty programs, written down before anything was measured on them.

Thirty-six files of the corpus `worlds`, which JAX, TensorFlow and PyTorch/XLA wrote, and fourteen
functions of JAX with mistakes and forms that users report. Left out of `worlds`: files that need a
host callback (`jax_pure_callback`) or quantised types that XLA:CPU refuses (`pt_quant_ops`), and
`tf_mobilenet_rand`, whose program is `tf_mobilenet`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

WORLDS: Final = (
    "jax_diffrax_kvaerno_grad", "jax_equinox_diffusion_sample", "jax_equinox_unet", "jax_fft_mix",
    "jax_flax_gpt2_2layer_adamw_train", "jax_flax_gpt2_block", "jax_flax_gpt2_small_12",
    "jax_flax_gpt2_small_12_bf16", "jax_flax_resnet50_train", "jax_haiku_vit", "jax_linalg_grad",
    "jax_llama_decode_loop_bf16", "jax_md_lj_neighbor", "jax_md_nvt_nose_hoover",
    "jax_navier_stokes_spectral", "jax_numpyro_nuts_step", "jax_pallas_interpret", "jax_random_mix",
    "jax_random_rbg", "jax_sparse_pagerank", "jax_x64_special", "pt_efficientnet_b0", "pt_gpt2",
    "pt_lstm_uni", "pt_ops2", "pt_train_mlp", "pt_vit_tiny", "tf_cnn_train", "tf_lstm",
    "tf_lstm_train", "tf_mobilenet", "tf_mobilenet_train", "tf_random_tf", "tf_rawtf", "tf_resnet",
    "tf_transformer",
)  # fmt: skip

_RNG = np.random.default_rng(0)
Made = tuple[Callable[..., Any], tuple[Any, ...]]


def _normal(*shape: int) -> Any:
    return _RNG.standard_normal(shape).astype(np.float32)


def attention() -> Made:
    """Return one block of attention and its residual."""
    import jax
    import jax.numpy as jnp

    def block(x: Any, q: Any, k: Any, v: Any) -> Any:
        scores = jnp.einsum("btd,bsd->bts", x @ q, x @ k) / 8.0
        return x + jax.nn.softmax(scores) @ (x @ v)

    return block, (_normal(8, 64, 64), *[_normal(64, 64) for _ in range(3)])


def normalised_chain() -> Made:
    """Return layer norm, GELU and a residual on rows."""
    import jax

    def chain(x: Any, scale: Any, shift: Any) -> Any:
        h = (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
        return x + jax.nn.gelu(h * scale + shift)

    return chain, (_normal(2048, 256), _normal(256), _normal(256))


def unrolled_layers() -> Made:
    """Return sixteen equal layers, unrolled in Python."""
    import jax.numpy as jnp

    def network(x: Any, weights: list[Any]) -> Any:
        for w in weights:
            x = x + jnp.tanh(x @ w) * 0.1
        return x

    return network, (_normal(64, 128), [_normal(128, 128) for _ in range(16)])


def experts() -> Made:
    """Return a weight gathered for each token."""
    import jax
    import jax.numpy as jnp

    def mixture(x: Any, w: Any, e: Any) -> Any:
        return jnp.tanh(jax.vmap(lambda row, expert: row @ w[expert])(x, e))

    index = _RNG.integers(0, 8, 512).astype(np.int32)
    return mixture, (_normal(512, 64), _normal(8, 64, 128), index)


def ensemble() -> Made:
    """Return a stack of networks on one batch."""
    import jax
    import jax.numpy as jnp

    def networks(x: Any, first: Any, second: Any) -> Any:
        return jax.vmap(lambda a, b: jnp.tanh(x @ a) @ b)(first, second)

    return networks, (_normal(64, 32), _normal(16, 32, 64), _normal(16, 64, 32))


def stencil() -> Made:
    """Return a diffusion step whose neighbours are gathered by index arrays."""
    import jax.numpy as jnp

    def step(u: Any) -> Any:
        n = jnp.arange(u.shape[0])
        return u + 0.1 * (u[(n + 1) % len(n)] + u[(n - 1) % len(n)] - 2 * u)

    return step, (_normal(1 << 18),)


def pairwise() -> Made:
    """Return squared distances of all pairs, without a product."""

    def distances(x: Any, y: Any) -> Any:
        return ((x[:, None, :] - y[None, :, :]) ** 2).sum(-1)

    return distances, (_normal(512, 32), _normal(512, 32))


def one_hot() -> Made:
    """Return rows taken by a product with a one-hot matrix."""
    import jax

    def rows(i: Any, w: Any) -> Any:
        return jax.nn.one_hot(i, w.shape[0]) @ w

    return rows, (_RNG.integers(0, 1000, 256).astype(np.int32), _normal(1000, 64))


def recurrence() -> Made:
    """Return a recurrent network of 400 short steps."""
    import jax
    import jax.numpy as jnp

    def network(w: Any, xs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            h = jnp.tanh(h @ w + x)
            return h, h.sum()

        return jax.lax.scan(step, jnp.zeros(32), xs)[1]

    return network, (_normal(32, 32) * 0.1, _normal(400, 32))


def few_of_many() -> Made:
    """Return the largest few of sorted rows."""
    import jax.numpy as jnp

    return (lambda x: jnp.sort(x, axis=-1)[:, -4:]), (_normal(128, 4096),)


def running_sums() -> Made:
    """Return cumulative sums along rows."""
    import jax.numpy as jnp

    return (lambda x: jnp.cumsum(jnp.cumsum(x, 0), 1)), (_normal(512, 512),)


def channels_first() -> Made:
    """Return two convolutions with channels first."""
    import jax

    def network(x: Any, first: Any, second: Any) -> Any:
        x = jax.nn.relu(jax.lax.conv(x, first, (1, 1), "SAME"))
        return jax.lax.conv(x, second, (1, 1), "SAME")

    return network, (_normal(4, 16, 32, 32), _normal(32, 16, 3, 3), _normal(16, 32, 3, 3))


def features_first() -> Made:
    """Return a scatter of messages along the minor dimension."""

    def gather(nodes: Any, source: Any, target: Any) -> Any:
        return nodes.at[:, target].add(nodes[:, source] * 0.5)

    index = [_RNG.integers(0, 2000, 12000).astype(np.int32) for _ in range(2)]
    return gather, (_normal(32, 2000), *index)


def update_of_parameters() -> Made:
    """Return a step of Adam on parameters that are not donated."""
    import jax.numpy as jnp

    def step(p: Any, m: Any, v: Any, g: Any) -> Any:
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        return p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), m, v

    return step, tuple([abs(_normal(1 << 19)) for _ in range(4)])


FUNCTIONS: Final[dict[str, Callable[[], Made]]] = {
    one.__name__: one
    for one in (
        attention, normalised_chain, unrolled_layers, experts, ensemble, stencil, pairwise, one_hot,
        recurrence, few_of_many, running_sums, channels_first, features_first, update_of_parameters,
    )
}  # fmt: skip
