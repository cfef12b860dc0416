"""Programs whose results are finite and wrong, by rounding or overflow."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

RNG = np.random.default_rng(9)


def _normal(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def deviation(x: Any) -> Any:
    """Return the standard deviation of temperatures in millikelvin."""
    shifted = x + 300000.0
    mean, square = shifted.mean(0), (shifted * shifted).mean(0)
    variance = square - mean * mean
    return jnp.sqrt(jnp.maximum(variance, 0.0))


def count_of_pixels(x: Any) -> Any:
    """Count the bright pixels of an image."""
    bright = (x > -3.0).astype(jnp.bfloat16)

    def add(total: Any, row: Any) -> Any:
        return total + row, None

    return jax.lax.scan(add, jnp.zeros((), jnp.bfloat16), bright.reshape(-1))[0]


def flat_index(x: Any) -> Any:
    """Return the place of the largest value of each row in a large table."""
    row = jnp.arange(x.shape[0]) + 60000
    place = row * 70000
    return place + x.argmax(-1)


def small_gains(x: Any) -> Any:
    """Return the logarithm of small growth rates."""
    rate = jnp.abs(x) * 1e-7
    gain = jnp.log(1.0 + rate)
    return gain / 1e-7


def slope(x: Any) -> Any:
    """Return the slope of a function by differences."""
    h = 1e-6
    near, here = jnp.sin(x + h), jnp.sin(x)
    rise = near - here
    return rise / h


ARGUMENTS = {
    "deviation": (_normal(4096, 16),),
    "count_of_pixels": (_normal(64, 64),),
    "flat_index": (_normal(64, 256),),
    "small_gains": (_normal(1024),),
    "slope": (_normal(1024),),
}
