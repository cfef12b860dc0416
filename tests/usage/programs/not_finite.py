"""Programs whose results are not numbers."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

RNG = np.random.default_rng(8)


def _normal(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def entropy(logits: Any) -> Any:
    """Return the mean entropy of predictions."""
    scaled = logits * 200.0
    p = jax.nn.softmax(scaled)
    information = -p * jnp.log(p)
    return information.sum(-1).mean()


def own_softmax(x: Any, w: Any) -> Any:
    """Weigh values by a softmax."""
    logits = x @ w
    e = jnp.exp(logits)
    return e / e.sum(-1, keepdims=True)


def gradient_of_root(x: Any) -> Any:
    """Return the gradient of a sum of roots of the positive values."""

    def loss(x: Any) -> Any:
        kept = jnp.maximum(x, 0.0)
        root = jnp.where(x > 0, jnp.sqrt(kept), 0.0)
        return root.sum()

    return jax.grad(loss)(x)


def standardised(x: Any, w: Any) -> Any:
    """Standardise features that may be off."""
    hidden = jax.nn.relu(x @ w - 100.0)
    centred = hidden - hidden.mean(0)
    return centred / hidden.std(0)


def energy_in_half(x: Any) -> Any:
    """Sum the energy of a signal in half precision."""
    x = x.astype(jnp.float16) * 300.0
    energy = x * x
    return energy.mean()


ARGUMENTS = {
    "entropy": (_normal(64, 100),),
    "own_softmax": (_normal(64, 256) * 10, _normal(256, 32)),
    "gradient_of_root": (_normal(256),),
    "standardised": (_normal(64, 32), _normal(32, 16)),
    "energy_in_half": (_normal(4096),),
}
