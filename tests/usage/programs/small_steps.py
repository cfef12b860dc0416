"""Programs that take longer than their work."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

RNG = np.random.default_rng(1)


def _normal(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def scores_of_rows(x: Any, w: Any, v: Any) -> Any:
    """Score each row by a small network."""
    x = x - x.mean(0)

    def score(row: Any) -> Any:
        hidden = jnp.tanh(row @ w)
        return hidden @ v

    return jax.lax.map(score, x)


def columns_to_unit_norm(x: Any) -> Any:
    """Scale each column to length one, then project."""
    for k in range(x.shape[1]):
        column = x[:, k]
        x = x.at[:, k].set(column / jnp.sqrt((column * column).sum() + 1e-6))
    return x @ x.T


def moving_average(x: Any) -> Any:
    """Average a signal exponentially over time."""
    centred = x - x.mean(0)

    def step(state: Any, now: Any) -> Any:
        state = 0.95 * state + 0.05 * now
        return state, state

    smooth = jax.lax.scan(step, jnp.zeros(x.shape[1]), centred)[1]
    return smooth * x.std()


def gelu_of_rows(x: Any) -> Any:
    """Apply an activation to the rows of an array."""

    def body(k: Any, out: Any) -> Any:
        row = jax.lax.dynamic_index_in_dim(x, k, keepdims=False)
        return out.at[k].set(0.5 * row * (1 + jnp.tanh(0.8 * row)))

    out = jax.lax.fori_loop(0, x.shape[0], body, jnp.zeros_like(x))
    return out - out.mean()


def product_by_elements(a: Any, b: Any) -> Any:
    """Multiply two matrices."""

    def row(i: Any, c: Any) -> Any:
        def element(j: Any, c: Any) -> Any:
            return c.at[i, j].set((a[i] * b[:, j]).sum())

        return jax.lax.fori_loop(0, b.shape[1], element, c)

    c = jnp.zeros((a.shape[0], b.shape[1]))
    return jax.lax.fori_loop(0, a.shape[0], row, c)


ARGUMENTS = {
    "scores_of_rows": (_normal(2000, 32), _normal(32, 32), _normal(32)),
    "columns_to_unit_norm": (_normal(256, 64),),
    "moving_average": (_normal(3000, 8),),
    "gelu_of_rows": (_normal(2000, 64),),
    "product_by_elements": (_normal(48, 64), _normal(64, 48)),
}
