"""Programs that compute more than their result needs."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

RNG = np.random.default_rng(4)


def _normal(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def projected_vector(a: Any, b: Any, v: Any) -> Any:
    """Apply two matrices to a vector."""
    v = v / jnp.sqrt((v * v).sum())
    both = a @ b
    return jnp.tanh(both @ v)


def embedded_tokens(tokens: Any, table: Any, w: Any) -> Any:
    """Look tokens up in a table."""
    chosen = jax.nn.one_hot(tokens, table.shape[0])
    rows = chosen @ table
    return jax.nn.gelu(rows @ w)


def scaled_rows(d: Any, x: Any, w: Any) -> Any:
    """Scale rows, then project."""
    d = jnp.maximum(d, 0.1)
    scaled = jnp.diag(d) @ x
    return scaled @ w


def nearest_centre(x: Any, centres: Any) -> Any:
    """Find the nearest centre of each point."""
    x = x - x.mean(0)
    difference = x[:, None, :] - centres[None, :, :]
    distance = (difference**2).sum(-1)
    return distance.argmin(-1)


def overlap(a: Any, b: Any) -> Any:
    """Measure how much two matrices have in common."""
    a = a - a.mean()
    product = a @ b
    return jnp.trace(product) / a.shape[0]


ARGUMENTS = {
    "projected_vector": (_normal(768, 768), _normal(768, 768), _normal(768)),
    "embedded_tokens": (
        RNG.integers(0, 4000, 256).astype(np.int32), _normal(4000, 64), _normal(64, 64),
    ),
    "scaled_rows": (_normal(1024), _normal(1024, 256), _normal(256, 16)),
    "nearest_centre": (_normal(1024, 32), _normal(512, 32)),
    "overlap": (_normal(768, 768), _normal(768, 768)),
}  # fmt: skip
