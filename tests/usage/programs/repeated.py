"""Programs that compute or store the same value again and again."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

RNG = np.random.default_rng(6)


def _normal(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


_TABLE = _normal(4096, 256)


def with_table(x: Any) -> Any:
    """Compare vectors with a fixed table."""
    x = jax.nn.relu(x)
    similar = x @ _TABLE.T
    return jax.nn.softmax(similar)


def prefix_energies(x: Any) -> Any:
    """Return the energy of each beginning of a signal."""
    x = x - x.mean()
    squares = x * x
    return jnp.stack([squares[: 64 * (k + 1)].sum() for k in range(64)])


def next_token(q: Any, k: Any, v: Any) -> Any:
    """Return the last position of an attention."""
    scores = q @ k.T
    weights = jax.nn.softmax(scores / 8.0)
    mixed = weights @ v
    return mixed[-1]


def either_branch(x: Any, w: Any, flag: Any) -> Any:
    """Refine a state if a flag is set."""
    cheap = x * 0.5
    costly = jnp.tanh(jnp.tanh(x @ w) @ w)
    return jnp.where(flag, costly, cheap)


def gradient_of_blocks(x: Any, first: Any, second: Any) -> Any:
    """Return the gradient of a loss of two blocks."""

    @jax.checkpoint  # type: ignore[untyped-decorator]
    def block(x: Any, w: Any) -> Any:
        return jnp.tanh(x @ w)

    def loss(x: Any) -> Any:
        return (block(block(x, first), second) ** 2).sum()

    return jax.grad(loss)(x)


ARGUMENTS = {
    "with_table": (_normal(64, 256),),
    "prefix_energies": (_normal(4096),),
    "next_token": (_normal(512, 64), _normal(512, 64), _normal(512, 64)),
    "either_branch": (_normal(256, 512), _normal(512, 512), np.bool_(False)),
    "gradient_of_blocks": (_normal(256, 512), _normal(512, 512), _normal(512, 512)),
}
