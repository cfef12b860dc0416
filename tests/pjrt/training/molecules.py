"""Molecular dynamics as in JAX MD: parameters of a pair potential fitted by simulation.

It takes 20 steps of velocity Verlet in a periodic box.

They take 20 steps of velocity Verlet in a periodic box.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax

from tests.pjrt.training.loop import train

BOX, COUNT, DT = 6.0, 32, 5e-3


def displacement(a, b):
    return jnp.mod(a - b + BOX / 2, BOX) - BOX / 2


def energy(p, positions):
    pairs = jax.vmap(jax.vmap(displacement, (None, 0)), (0, None))(positions, positions)
    squared = jnp.where(jnp.eye(COUNT, dtype=bool), 1e6, (pairs**2).sum(-1))
    ratio = (p["sigma"] ** 2 / jnp.maximum(squared, 0.7)) ** 3
    return 2 * p["epsilon"] * (ratio**2 - ratio).sum()


def simulate(p, positions, velocities):
    force = jax.grad(lambda r: -energy(p, r))

    def one(carry, _):
        r, v, f = carry
        r = jnp.mod(r + v * DT + f * DT**2 / 2, BOX)
        after = force(r)
        return (r, v + (f + after) * DT / 2, after), energy(p, r)

    return jax.lax.scan(one, (positions, velocities, force(positions)), None, length=20)[1]


rng = np.random.default_rng(0)
grid = np.stack(np.meshgrid(*[np.arange(4) * 1.5] * 3), -1).reshape(-1, 3)[:COUNT]
positions = (grid + rng.normal(size=(8, COUNT, 3)) * 0.05).astype(np.float32)
velocities = rng.normal(size=(8, COUNT, 3)).astype(np.float32) * 0.3
truth = {"sigma": jnp.float32(1.0), "epsilon": jnp.float32(1.0)}
wanted = np.stack(
    [np.asarray(simulate(truth, a, b)) for a, b in zip(positions, velocities, strict=True)]
)
optimizer = optax.adam(5e-3)
parameters = {"sigma": jnp.float32(1.1), "epsilon": jnp.float32(0.7)}


@jax.jit
def step(state, r, v, e):
    p, inner = state
    loss, grads = jax.value_and_grad(lambda p: jnp.square((simulate(p, r, v) - e) / COUNT).mean())(
        p
    )
    updates, inner = optimizer.update(grads, inner)
    return (optax.apply_updates(p, updates), inner), loss


train(
    step,
    (parameters, optimizer.init(parameters)),
    lambda k: (positions[k % 8], velocities[k % 8], wanted[k % 8]),
)
