"""Hidden states along genomes: products of small transition matrices, and emitted letters."""

import jax
import jax.numpy as jnp
import numpy as np

STATES, LETTERS = 5, 32


def combine(left, right):
    return jnp.matmul(left, right) / STATES


@jax.jit
def posterior(left, right, letters, prior):
    paths = combine(left, right)
    paths = paths / (paths.sum(-1, keepdims=True) + 1e-6)
    emitted = jax.vmap(lambda row, letter: row.at[letter].set(1.0))(
        jnp.zeros((letters.shape[0], LETTERS)), letters
    )
    return paths * prior, emitted * 0.99 + 0.01 / LETTERS


def genome(length):
    rng = np.random.default_rng(21)
    left = rng.uniform(0, 1, (length, STATES, STATES)).astype(np.float32)
    right = rng.uniform(0, 1, (length, STATES, STATES)).astype(np.float32)
    letters = rng.integers(0, LETTERS, length).astype(np.int32)
    return left, right, letters, np.float32(0.5)


def arguments():
    return genome(6000)


def calls():
    return [genome(length) for length in (6000, 5900, 5700)]


if __name__ == "__main__":
    for call in calls():
        print(posterior(*call)[0].shape)
