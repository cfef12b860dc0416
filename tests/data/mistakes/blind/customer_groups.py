"""Assign customers to groups, and measure how well each feature separates them."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

CUSTOMERS, FEATURES, GROUPS = 8192, 32, 96
IMPORTANCE = np.linspace(1.0, 0.1, FEATURES)


def distances(x, centres):
    cross = x @ centres.T
    return (x * x).sum(1, keepdims=True) - 2 * cross + (centres * centres).sum(1)


@partial(jax.jit, static_argnums=(2,))
def assign(x, centres, temperature):
    far = distances(x, centres)
    group = jnp.argmin(far, axis=1)
    member = jnp.zeros((CUSTOMERS, GROUPS), jnp.float32)
    member = member.at[jnp.arange(CUSTOMERS), group].set(1.0)
    spread = jnp.exp(-jnp.abs(x / temperature)) * jnp.tanh(x * IMPORTANCE)
    return member * 0.9 + 0.1 / GROUPS, spread


def arguments():
    rng = np.random.default_rng(25)
    x = rng.standard_normal((CUSTOMERS, FEATURES)).astype(np.float32)
    centres = rng.standard_normal((GROUPS, FEATURES)).astype(np.float32)
    return x, centres, 1.0


def calls():
    x, centres, _ = arguments()
    return [(x, centres, temperature) for temperature in (1.0, 0.8, 0.64)]


if __name__ == "__main__":
    for call in calls():
        member, spread = assign(*call)
    print(member.shape, spread.dtype)
