"""Programs that sort, gather or scan more than they read."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

RNG = np.random.default_rng(5)


def _normal(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def mean_of_largest(x: Any) -> Any:
    """Average the four largest values of each row."""
    x = jnp.abs(x)
    ordered = jnp.sort(x, axis=-1)
    return ordered[:, -4:].mean(-1)


def diffusion_step(u: Any) -> Any:
    """Step a diffusion on a ring."""
    n = jnp.arange(u.shape[0])
    right, left = u[(n + 1) % len(n)], u[(n - 1) % len(n)]
    return u + 0.1 * (right + left - 2 * u)


def expert_of_token(x: Any, w: Any, choice: Any) -> Any:
    """Apply the chosen expert to each token."""
    x = x * jax.nn.sigmoid(x)
    y = jax.vmap(lambda row, e: row @ w[e])(x, choice)
    return jnp.tanh(y)


def running_totals(x: Any) -> Any:
    """Sum an image up along both dimensions."""
    x = x * x
    rows = jnp.cumsum(x, axis=0)
    return jnp.cumsum(rows, axis=1)


def best_candidate(scores: Any, values: Any) -> Any:
    """Take the value of the best candidate of each row."""
    scores = scores - scores.mean(-1, keepdims=True)
    best = jnp.argsort(scores, axis=-1)[:, -1]
    return values[jnp.arange(values.shape[0]), best]


ARGUMENTS = {
    "mean_of_largest": (_normal(128, 4096),),
    "diffusion_step": (_normal(1 << 18),),
    "expert_of_token": (_normal(512, 64), _normal(8, 64, 128), RNG.integers(0, 8, 512).astype(np.int32)),
    "running_totals": (_normal(512, 512),),
    "best_candidate": (_normal(256, 2048), _normal(256, 2048)),
}  # fmt: skip
