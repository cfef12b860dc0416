"""Programs that compute in a wider type than they need."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

RNG = np.random.default_rng(7)


def _normal(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def scaled_features(x: Any, w: Any) -> Any:
    """Scale features, and mix them."""
    scale = np.linspace(0.5, 1.5, x.shape[1])
    scaled = x * scale
    return jnp.tanh(scaled @ w)


def half_precision_layer(x: Any, w: Any) -> Any:
    """Apply a layer in half precision."""
    wide = w.astype(jnp.float32)
    y = x.astype(jnp.float32) @ wide
    return jax.nn.relu(y).astype(jnp.bfloat16)


def weighted_positions(x: Any) -> Any:
    """Weigh values by their position."""
    position = jnp.linspace(0.0, 1.0, x.shape[0])
    weight = jnp.exp(-3.0 * position)
    return (x * weight[:, None]).sum(0)


def filtered_signal(x: Any, h: Any) -> Any:
    """Filter real signals in the frequency domain."""
    spectrum = jnp.fft.fft(x)
    response = jnp.fft.fft(h, x.shape[-1])
    return jnp.fft.ifft(spectrum * response).real


def length_of_rows(x: Any) -> Any:
    """Scale rows to length one."""
    squares = x.astype(jnp.float64) ** 2
    length = jnp.sqrt(squares.sum(-1, keepdims=True))
    return (x / length).astype(jnp.float32)


ARGUMENTS = {
    "scaled_features": (_normal(1024, 512), _normal(512, 64)),
    "half_precision_layer": (_normal(8, 1024).astype(jnp.bfloat16), _normal(1024, 1024).astype(jnp.bfloat16)),
    "weighted_positions": (_normal(20000, 16),),
    "filtered_signal": (_normal(64, 4096), _normal(64)),
    "length_of_rows": (_normal(4096, 256),),
}  # fmt: skip
X64 = {"scaled_features", "weighted_positions", "length_of_rows"}
