"""Rounds of message passing over a protein graph, and its residue types."""

import jax
import jax.numpy as jnp
import numpy as np

NODES, ATOMS, EDGES, FEATURES, ROUNDS, TYPES = 200, 40_000, 16_000, 24, 16, 48


def round_of_messages(state, w):
    return state + 0.1 * jnp.tanh(w @ state)


@jax.jit
def encode(state, weights, atoms, sender, types, lengths):
    for k in range(ROUNDS):
        state = round_of_messages(state, weights[k])
    messages = atoms[:, sender].T
    messages = jnp.tanh(messages) / (1.0 + lengths[:, None])
    member = jnp.zeros((EDGES, TYPES)).at[jnp.arange(EDGES), types].add(1.0)
    return state, messages, member * lengths[:, None]


def arguments():
    rng = np.random.default_rng(13)
    state = rng.standard_normal((FEATURES, NODES)).astype(np.float32)
    weights = rng.standard_normal((ROUNDS, FEATURES, FEATURES)).astype(np.float32) * 0.2
    atoms = rng.standard_normal((64, ATOMS)).astype(np.float32)
    sender = rng.integers(0, ATOMS, EDGES).astype(np.int32)
    types = rng.integers(0, TYPES, EDGES).astype(np.int32)
    lengths = rng.uniform(1, 5, EDGES).astype(np.float32)
    return state, weights, atoms, sender, types, lengths


if __name__ == "__main__":
    state, messages, member = encode(*arguments())
    print(messages.shape, member.shape)
