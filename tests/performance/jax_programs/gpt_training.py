"""A training step of a GPT in plain JAX with optax: batch 8, sequence 128, width 256, 4 layers."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax

BATCH, LENGTH, WIDTH, LAYERS, HEADS, VOCABULARY = 8, 128, 256, 4, 4, 512


def initial(key: Any) -> Any:
    """Weights, small and random."""
    keys = iter(jax.random.split(key, 2 + 4 * LAYERS))

    def dense(n: int, m: int) -> Any:
        return {"w": 0.02 * jax.random.normal(next(keys), (n, m)), "b": jnp.zeros(m)}

    def norm() -> Any:
        return {"scale": jnp.ones(WIDTH), "bias": jnp.zeros(WIDTH)}

    embedding = 0.02 * jax.random.normal(next(keys), (VOCABULARY, WIDTH))
    positions = 0.02 * jax.random.normal(next(keys), (LENGTH, WIDTH))
    blocks = [
        {
            "norm1": norm(), "qkv": dense(WIDTH, 3 * WIDTH), "out": dense(WIDTH, WIDTH),
            "norm2": norm(), "up": dense(WIDTH, 4 * WIDTH), "down": dense(4 * WIDTH, WIDTH),
        }
        for _ in range(LAYERS)
    ]  # fmt: skip
    return {"embedding": embedding, "positions": positions, "blocks": blocks, "norm": norm()}


def linear(p: Any, x: Any) -> Any:
    """Return a dense layer."""
    return x @ p["w"] + p["b"]


def layer_norm(p: Any, x: Any) -> Any:
    """Normalise the last dimension."""
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * p["scale"] + p["bias"]


def attention(p: Any, x: Any) -> Any:
    """Causal self-attention of several heads."""
    batch, length, width = x.shape
    q, k, v = jnp.split(linear(p["qkv"], x), 3, axis=-1)
    q, k, v = [
        y.reshape(batch, length, HEADS, width // HEADS).transpose(0, 2, 1, 3) for y in (q, k, v)
    ]
    scores = q @ k.transpose(0, 1, 3, 2) / jnp.sqrt(width // HEADS)
    mask = jnp.tril(jnp.ones((length, length), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1)
    mixed = (weights @ v).transpose(0, 2, 1, 3).reshape(batch, length, width)
    return linear(p["out"], mixed)


def logits_of(params: Any, tokens: Any) -> Any:
    """Scores of the next token."""
    x = params["embedding"][tokens] + params["positions"]
    for block in params["blocks"]:
        x = x + attention(block, layer_norm(block["norm1"], x))
        x = x + linear(
            block["down"], jax.nn.gelu(linear(block["up"], layer_norm(block["norm2"], x)))
        )
    return layer_norm(params["norm"], x) @ params["embedding"].T


def make() -> tuple[Any, tuple[Any, ...]]:
    """Return the step, and its arguments."""
    optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-4))

    def loss_of(params: Any, tokens: Any) -> Any:
        logits = logits_of(params, tokens[:, :-1])
        return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

    def train_step(params: Any, state: Any, tokens: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(params, tokens)
        updates, state = optimiser.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, loss

    params = initial(jax.random.key(0))
    tokens = jax.random.randint(jax.random.key(1), (BATCH, LENGTH + 1), 0, VOCABULARY)
    return train_step, (params, optimiser.init(params), tokens)
