"""A step of molecular dynamics with neighbour lists and a soft potential."""

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

ATOMS, NEIGHBOURS, BONDS = 8192, 8, 30_000
BOX = np.array([20.0, 20.0, 20.0])


def nearest(offset):
    return offset - BOX * jnp.round(offset / BOX)


def pair_force(distance2):
    soft = 1.0 / (distance2 + 0.5)
    return jnp.exp(-soft) * soft * soft


@jax.jit
def step(position, velocity, neighbours, descriptor, bonds):
    offset = nearest(position[neighbours] - position[:, None, :])
    strength = pair_force((offset * offset).sum(-1, keepdims=True))
    push = (strength * offset).sum(1).astype(jnp.float32)
    velocity = 0.999 * velocity + 0.001 * push
    bonded = descriptor[:, bonds].T
    return position + 0.001 * velocity, velocity, jnp.tanh(bonded)


def arguments():
    rng = np.random.default_rng(8)
    position = rng.uniform(0, 20, (ATOMS, 3)).astype(np.float32)
    velocity = rng.standard_normal((ATOMS, 3)).astype(np.float32)
    neighbours = rng.integers(0, ATOMS, (ATOMS, NEIGHBOURS)).astype(np.int32)
    descriptor = rng.standard_normal((32, ATOMS)).astype(np.float32)
    bonds = rng.integers(0, ATOMS, BONDS).astype(np.int32)
    return position, velocity, neighbours, descriptor, bonds


if __name__ == "__main__":
    position, velocity, *rest = arguments()
    for _ in range(3):
        position, velocity, bonded = step(position, velocity, *rest)
    print(position.dtype, velocity.dtype)
