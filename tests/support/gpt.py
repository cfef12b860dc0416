"""A training step of a small GPT in plain JAX: layers, AdamW, clipping, named scopes.

It has as many instructions as real ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

HEADS = 2
WIDTH = 16
VOCABULARY = 32
LENGTH = 8


def parameters(layers: int) -> dict[str, Any]:
    """Random weights."""
    random = np.random.default_rng(0)

    def weight(*shape: int) -> Any:
        return random.normal(0, 0.1, shape).astype(np.float32)

    def layer() -> dict[str, Any]:
        return {
            "scale_1": weight(WIDTH),
            "shift_1": weight(WIDTH),
            "qkv": weight(WIDTH, 3 * WIDTH),
            "out": weight(WIDTH, WIDTH),
            "scale_2": weight(WIDTH),
            "shift_2": weight(WIDTH),
            "up": weight(WIDTH, 4 * WIDTH),
            "up_bias": weight(4 * WIDTH),
            "down": weight(4 * WIDTH, WIDTH),
            "down_bias": weight(WIDTH),
        }

    return {
        "embedding": weight(VOCABULARY, WIDTH),
        "positions": weight(LENGTH, WIDTH),
        "layers": [layer() for _ in range(layers)],
        "head": weight(WIDTH, VOCABULARY),
    }


def normalised(x: Any, scale: Any, shift: Any) -> Any:
    """Layer normalisation."""
    import jax.numpy as jnp

    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(variance + 1e-5) * scale + shift


def attention(x: Any, p: dict[str, Any]) -> Any:
    """Causal attention of several heads."""
    import jax
    import jax.numpy as jnp

    batch, length, width = x.shape
    q, k, v = (
        part.reshape(batch, length, HEADS, width // HEADS).swapaxes(1, 2)
        for part in jnp.split(x @ p["qkv"], 3, -1)
    )
    scores = q @ k.swapaxes(2, 3) / (width // HEADS) ** 0.5
    mask = jnp.tril(jnp.ones((length, length), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    return (weights @ v).swapaxes(1, 2).reshape(batch, length, width) @ p["out"]


def loss(params: dict[str, Any], tokens: Any, targets: Any) -> Any:
    """Cross entropy of the next token."""
    import jax
    import jax.numpy as jnp

    with jax.named_scope("embed"):
        x = params["embedding"][tokens] + params["positions"]
    for k, p in enumerate(params["layers"]):
        with jax.named_scope(f"block_{k}"):
            with jax.named_scope("attention"):
                x = x + attention(normalised(x, p["scale_1"], p["shift_1"]), p)
            with jax.named_scope("mlp"):
                hidden = jax.nn.gelu(
                    normalised(x, p["scale_2"], p["shift_2"]) @ p["up"] + p["up_bias"]
                )
                x = x + hidden @ p["down"] + p["down_bias"]
    with jax.named_scope("head"):
        logits = jax.nn.log_softmax(x @ params["head"])
        return -jnp.take_along_axis(logits, targets[..., None], -1).mean()


def train_step(params: Any, first: Any, second: Any, tokens: Any, targets: Any) -> Any:
    """One step of AdamW with clipped gradients."""
    import jax
    import jax.numpy as jnp

    value, gradients = jax.value_and_grad(loss)(params, tokens, targets)
    with jax.named_scope("update"):
        norm = jnp.sqrt(sum((g**2).sum() for g in jax.tree.leaves(gradients)))
        gradients = jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / norm), gradients)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, second, gradients)
        params = jax.tree.map(
            lambda p, m, v: p - 1e-3 * (m / (jnp.sqrt(v) + 1e-8) + 0.01 * p), params, first, second
        )
    return params, first, second, value


def training_arguments(layers: int) -> tuple[Any, ...]:
    """Arguments of `train_step`."""
    import jax

    params = parameters(layers)
    zeros = jax.tree.map(np.zeros_like, params)
    tokens = np.arange(2 * LENGTH, dtype=np.int32).reshape(2, LENGTH) % VOCABULARY
    return params, zeros, zeros, tokens, (tokens + 1) % VOCABULARY
