"""A lattice model of a channel flow: stream along a table, collide, flatten the fields."""

import jax
import jax.numpy as jnp
import numpy as np

CELLS, SPEEDS = 30_000, 27


def equilibrium(density):
    return density / SPEEDS


def viscosity(shear):
    half = shear.astype(jnp.float16)
    return (jnp.exp(-half) + jnp.log1p(jnp.abs(half))).astype(jnp.float32)


@jax.jit
def step(populations, upstream, shear, pressure):
    streamed = populations[:, upstream].T
    density = streamed.sum(-1, keepdims=True)
    relaxed = streamed + 0.6 * (equilibrium(density) - streamed)
    friction = viscosity(shear)
    waves = jnp.cos(pressure).transpose(0, 2, 1).reshape(-1)
    return relaxed, friction, waves - 1.0


def arguments():
    rng = np.random.default_rng(24)
    populations = rng.uniform(0, 1, (SPEEDS, CELLS)).astype(np.float32)
    upstream = rng.permutation(CELLS).astype(np.int32)
    shear = rng.uniform(0, 1, (256, 512)).astype(np.float32)
    pressure = rng.standard_normal((8, 192, 256)).astype(np.float32)
    return populations, upstream, shear, pressure


if __name__ == "__main__":
    relaxed, friction, waves = step(*arguments())
    print(relaxed.shape, friction.shape, waves.shape)
