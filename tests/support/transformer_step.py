"""A training step of a transformer with the sizes of Llama 2 70B, lowered by JAX without arrays.

The layers are a scan whose body is recomputed in the backward pass. Attention is written with its
scores; its gradient recomputes them. The update is plain SGD.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class Sizes(NamedTuple):
    """The sizes of a model. tokens: of a sequence."""

    features: int = 8192
    hidden: int = 28672
    heads: int = 64
    key_heads: int = 8
    head: int = 128
    layers: int = 80
    vocabulary: int = 32000
    tokens: int = 4096

    @property
    def parameters(self) -> int:
        """The number of weights."""
        attention = 2 * self.features * (self.heads + self.key_heads) * self.head
        layer = attention + 3 * self.features * self.hidden + 2 * self.features
        return self.layers * layer + 2 * self.vocabulary * self.features

    def flops(self, batch: int) -> float:
        """Return the operations of a step without recomputation (6ND and full attention)."""
        tokens = batch * self.tokens
        scores = 12 * self.layers * self.heads * self.head * self.tokens
        return float(6 * self.parameters + scores) * tokens


SEVENTY_BILLION = Sizes()


def _probabilities(q: Any, k: Any, position: Any) -> Any:
    scores = jnp.einsum("bqghk,btgk->bghqt", q, k) * (q.shape[-1] ** -0.5)
    future = jnp.minimum(0, position[:, None] - position[None, :]) * 1e30
    scores = (scores + future.astype(scores.dtype)).astype(jnp.float32)
    return jax.nn.softmax(scores, -1).astype(q.dtype)


@jax.custom_vjp
def _attention(q: Any, k: Any, v: Any, position: Any) -> Any:
    return jnp.einsum("bghqt,btgk->bqghk", _probabilities(q, k, position), v)


def _forward(q: Any, k: Any, v: Any, position: Any) -> Any:
    return _attention(q, k, v, position), (q, k, v, position)


def _backward(kept: Any, gradient: Any) -> Any:
    q, k, v, position = kept
    p = _probabilities(q, k, position)
    of_p = jnp.einsum("bqghk,btgk->bghqt", gradient, v)
    scale = q.shape[-1] ** -0.5
    of_scores = (p * (of_p - jnp.sum(of_p * p, -1, keepdims=True)) * scale).astype(q.dtype)
    return (
        jnp.einsum("bghqt,btgk->bqghk", of_scores, k),
        jnp.einsum("bghqt,bqghk->btgk", of_scores, q),
        jnp.einsum("bghqt,bqghk->btgk", p, gradient),
        np.zeros(position.shape, jax.dtypes.float0),
    )


_attention.defvjp(_forward, _backward)


def _norm(x: Any, gain: Any) -> Any:
    wide = x.astype(jnp.float32)
    return x * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-5).astype(x.dtype) * gain


def _layer(x: Any, position: Any, w: Any, sizes: Sizes) -> Any:
    h = _norm(x, w["g1"])
    q = jnp.einsum("bsd,dhk->bshk", h, w["wq"])
    k, v = (jnp.einsum("bsd,dhk->bshk", h, w[name]) for name in ("wk", "wv"))
    groups = sizes.heads // sizes.key_heads
    q = q.reshape(*q.shape[:2], sizes.key_heads, groups, sizes.head)
    o = _attention(q, k, v, position).reshape(*x.shape[:2], sizes.heads, sizes.head)
    x = x + jnp.einsum("bshk,hkd->bsd", o, w["wo"])
    h = _norm(x, w["g2"])
    gate = jax.nn.silu(jnp.einsum("bsd,df->bsf", h, w["w1"]))
    return x + jnp.einsum("bsf,fd->bsd", gate * jnp.einsum("bsd,df->bsf", h, w["w3"]), w["w2"])


def transformer_step(batch: int, sizes: Sizes = SEVENTY_BILLION) -> str:
    """Return the StableHLO of one step. Arguments: embedding, layers' weights, head, tokens."""

    def loss(weights: Any, tokens: Any) -> Any:
        def body(state: Any, w: Any) -> Any:
            x, position = state
            return (
                jax.checkpoint(lambda x, p, w: _layer(x, p, w, sizes))(x, position, w),
                position,
            ), None

        start = weights["a_embedding"][tokens], jnp.arange(sizes.tokens)
        (x, _), _ = jax.lax.scan(body, start, weights["b_layers"])
        logits = jnp.einsum("bsd,dv->bsv", x, weights["c_head"]).astype(jnp.float32)
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits[:, :-1]), tokens[:, 1:, None], -1)
        return -jnp.mean(chosen)

    def step(weights: Any, tokens: Any) -> Any:
        value, gradient = jax.value_and_grad(loss)(weights, tokens)
        return jax.tree.map(lambda a, b: a - 0.001 * b.astype(a.dtype), weights, gradient), value

    n, d, f = sizes.layers, sizes.features, sizes.hidden
    h, g, k, v = sizes.heads, sizes.key_heads, sizes.head, sizes.vocabulary
    shapes = {
        "g1": (n, d), "g2": (n, d), "w1": (n, d, f), "w2": (n, f, d), "w3": (n, d, f),
        "wk": (n, d, g, k), "wo": (n, h, k, d), "wq": (n, d, h, k), "wv": (n, d, g, k),
    }  # fmt: skip
    weights = {
        "a_embedding": jax.ShapeDtypeStruct((v, d), jnp.bfloat16),
        "b_layers": {
            name: jax.ShapeDtypeStruct(shape, jnp.bfloat16) for name, shape in shapes.items()
        },
        "c_head": jax.ShapeDtypeStruct((d, v), jnp.bfloat16),
    }
    tokens = jax.ShapeDtypeStruct((batch, sizes.tokens), jnp.int32)
    return jax.jit(step).lower(weights, tokens).as_text()
