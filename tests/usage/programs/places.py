"""Programs whose results are numbers of other elements than were meant."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

RNG = np.random.default_rng(10)


def _normal(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def regression_loss(x: Any, w: Any, y: Any) -> Any:
    """Return the mean squared error of a linear model."""
    prediction = x @ w
    error = prediction - y
    return (error**2).mean()


def sums_by_class(values: Any, classes: Any) -> Any:
    """Sum values by class."""
    values = jnp.maximum(values, 0.0)
    totals = jnp.zeros(16)
    totals = totals.at[classes % 16].set(values)
    return totals / values.sum()


def last_window(x: Any) -> Any:
    """Return the window after each of some starts."""
    starts = jnp.arange(8) * 32 + 20
    cut = jax.vmap(lambda s: jax.lax.dynamic_slice(x, (s,), (16,)))(starts)
    return cut.mean(1)


def shifted_tokens(table: Any, tokens: Any) -> Any:
    """Embed tokens after the special ones."""
    tokens = tokens % table.shape[0]
    rows = jnp.take(table, tokens + 3, axis=0, mode="clip")
    return rows.sum(0)


def appended(x: Any, new: Any) -> Any:
    """Write new rows behind the old ones."""
    place = jnp.arange(new.shape[0]) + x.shape[0]
    rows = jnp.tanh(new)
    return x.at[place].set(rows)


ARGUMENTS = {
    "regression_loss": (_normal(128, 8), _normal(8, 1), _normal(128)),
    "sums_by_class": (_normal(200), RNG.integers(0, 16, 200).astype(np.int32)),
    "last_window": (_normal(256),),
    "shifted_tokens": (_normal(100, 16), RNG.integers(0, 100, 64).astype(np.int32)),
    "appended": (_normal(64, 16), _normal(8, 16)),
}
