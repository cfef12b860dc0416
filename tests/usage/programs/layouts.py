"""Programs whose arrays lie in memory in another order than they are read."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

RNG = np.random.default_rng(2)


def _normal(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def features_by_step(x: Any, w: Any) -> Any:
    """Mix the features of sequences."""
    x = jax.nn.relu(x)
    return jnp.einsum("btf,fg->tgb", x, w)


def messages_of_edges(nodes: Any, source: Any, target: Any) -> Any:
    """Sum messages along the edges of a graph."""
    scaled = nodes * 0.5
    messages = scaled[:, source]
    return nodes.at[:, target].add(messages)


def chosen_columns(x: Any, index: Any) -> Any:
    """Average chosen columns of a table."""
    x = jnp.tanh(x)
    picked = x[:, index]
    return picked.mean(1)


def many_small_products(a: Any, b: Any) -> Any:
    """Multiply small matrices, stored one beside the other."""
    a = a + 1.0
    c = jnp.einsum("ikb,kjb->ijb", a, b)
    return jnp.maximum(c, 0.0)


def column_by_column(x: Any, w: Any) -> Any:
    """Filter columns one after the other."""

    def body(k: Any, total: Any) -> Any:
        column = jax.lax.dynamic_index_in_dim(x, k, axis=1, keepdims=False)
        return jnp.tanh(total * w + column)

    return jax.lax.fori_loop(0, x.shape[1], body, jnp.zeros(x.shape[0]))


ARGUMENTS = {
    "features_by_step": (_normal(128, 256, 32), _normal(32, 64)),
    "messages_of_edges": (
        _normal(32, 2000),
        RNG.integers(0, 2000, 12000).astype(np.int32),
        RNG.integers(0, 2000, 12000).astype(np.int32),
    ),
    "chosen_columns": (_normal(2048, 1024), RNG.integers(0, 1024, 200).astype(np.int32)),
    "many_small_products": (_normal(8, 8, 4096), _normal(8, 8, 4096)),
    "column_by_column": (_normal(4096, 256), _normal(4096)),
}
