"""Programs that move more bytes than they compute with."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

RNG = np.random.default_rng(3)


def _normal(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def write_to_cache(cache: Any, key: Any, position: Any) -> Any:
    """Write one key into a cache, and read the cache's last rows."""
    key = key / jnp.sqrt((key * key).sum())
    cache = jax.lax.dynamic_update_slice(cache, key[None], (position, 0))
    return cache, cache[-4:].sum()


def rows_one_by_one(x: Any, w: Any) -> Any:
    """Collect transformed rows."""
    out = jnp.zeros((0, w.shape[1]))
    for k in range(x.shape[0]):
        row = jnp.tanh(x[k] @ w)
        out = jnp.concatenate([out, row[None]])
        out = out - out.mean(0)
    return out


def relaxation(u: Any, f: Any) -> Any:
    """Solve a Poisson equation by sweeps, with the last two states."""

    def sweep(_: Any, state: Any) -> Any:
        old, new = state
        new = 0.5 * (jnp.roll(new, 1, 0) + jnp.roll(new, -1, 0)) + f
        return new, old

    return jax.lax.fori_loop(0, 50, sweep, (u, u))[0]


def replay_memory(memory: Any, states: Any) -> Any:
    """Write states into a memory if they are large enough."""

    def step(carry: Any, state: Any) -> Any:
        memory, place = carry
        large = jnp.abs(state).sum() > 10.0
        written = memory.at[place].set(state)
        memory = jnp.where(large, written, memory)
        return (memory, (place + 1) % memory.shape[0]), memory[0, 0]

    return jax.lax.scan(step, (memory, 0), states)


def history_of_states(x: Any, w: Any) -> Any:
    """Run a recurrence and keep each state, the newest first."""

    def step(k: Any, carry: Any) -> Any:
        state, history = carry
        state = jnp.tanh(state @ w)
        history = jnp.concatenate([state[None], history[:-1]])
        return state, history

    return jax.lax.fori_loop(0, 200, step, (x, jnp.zeros((200, *x.shape))))[1]


ARGUMENTS = {
    "write_to_cache": (_normal(65536, 64), _normal(64), np.int32(17)),
    "rows_one_by_one": (_normal(48, 64), _normal(64, 1024)),
    "relaxation": (_normal(1024, 256), _normal(1024, 256)),
    "replay_memory": (_normal(4096, 64), _normal(128, 64)),
    "history_of_states": (_normal(8, 32), _normal(32, 32)),
}
