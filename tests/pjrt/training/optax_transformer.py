"""A transformer of two blocks in JAX, trained with Optax: clipping, schedule, donation.

The schedule is a warm-up and cosine; the state is donated.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

from tests.pjrt.training.loop import train

WIDTH, HEADS, WORDS, LENGTH = 64, 4, 96, 32


def block_parameters(key):
    keys = jax.random.split(key, 4)
    shapes = {
        "qkv": (WIDTH, 3 * WIDTH),
        "out": (WIDTH, WIDTH),
        "up": (WIDTH, 4 * WIDTH),
        "down": (4 * WIDTH, WIDTH),
    }
    return {
        name: jax.random.normal(k, shape) * 0.02
        for k, (name, shape) in zip(keys, shapes.items(), strict=True)
    }


def normal(x):
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def block(x, p):
    q, k, v = jnp.split((normal(x) @ p["qkv"]).reshape(*x.shape[:2], 3 * HEADS, -1), 3, axis=2)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / (WIDTH // HEADS) ** 0.5
    weights = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e9))
    x = x + jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape) @ p["out"]
    return x + jax.nn.gelu(normal(x) @ p["up"]) @ p["down"]


def loss_of(p, tokens):
    x = p["embedding"][tokens[:, :-1]] + p["position"]
    for layer in p["blocks"]:
        x = block(x, layer)
    return optax.softmax_cross_entropy_with_integer_labels(
        normal(x) @ p["embedding"].T, tokens[:, 1:]
    ).mean()


keys = jax.random.split(jax.random.PRNGKey(1), 4)
parameters = {
    "embedding": jax.random.normal(keys[0], (WORDS, WIDTH)) * 0.02,
    "position": jax.random.normal(keys[1], (LENGTH, WIDTH)) * 0.02,
    "blocks": [block_parameters(k) for k in keys[2:]],
}
schedule = optax.warmup_cosine_decay_schedule(0.0, 3e-3, 10, 100)
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(schedule))


@functools.partial(jax.jit, donate_argnums=0)
def step(state, tokens):
    p, inner = state
    loss, grads = jax.value_and_grad(loss_of)(p, tokens)
    updates, inner = optimizer.update(grads, inner, p)
    return (optax.apply_updates(p, updates), inner), loss


rng = np.random.default_rng(0)
text = rng.integers(0, WORDS, (8, 16, LENGTH + 1))
train(step, (parameters, optimizer.init(parameters)), lambda k: (text[k % 8],))
