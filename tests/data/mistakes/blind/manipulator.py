"""Poses of many robot arms, a learned load, and the clearance from a wall."""

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

ARMS, LAYERS, POINTS = 3072, 18, 96
WALL = np.linspace(-1.0, 1.0, POINTS)


def rotation(angle):
    c, s, zero, one = jnp.cos(angle), jnp.sin(angle), jnp.zeros_like(angle), jnp.ones_like(angle)
    rows = [[c, -s, zero, zero], [s, c, zero, zero], [zero, zero, one, zero]]
    rows.append([zero, zero, zero, one])
    return jnp.stack([jnp.stack(row, -1) for row in rows], -2)


def refine(load, w):
    return load + 0.1 * jnp.tanh(load @ w)


def oriented(frame, tool):
    return jax.lax.batch_matmul(frame, tool)


@jax.jit
def clearance(frame, tool, angle, load, weights):
    pose = oriented(frame, tool) + rotation(angle)
    for k in range(LAYERS):
        load = refine(load, weights[k])
    height = pose[:, 2, 0]
    distance = jnp.exp(-jnp.abs(height[:, None] - WALL))
    return pose, load, jnp.tanh(distance) * distance


def arguments():
    rng = np.random.default_rng(16)
    frame, tool = [rng.standard_normal((ARMS, 4, 4)).astype(np.float32) for _ in range(2)]
    angle = rng.uniform(-3, 3, ARMS).astype(np.float32)
    load = rng.standard_normal((16, 48)).astype(np.float32)
    weights = rng.standard_normal((LAYERS, 48, 48)).astype(np.float32) * 0.1
    return frame, tool, angle, load, weights


if __name__ == "__main__":
    pose, load, distance = clearance(*arguments())
    print(pose.shape, distance.dtype)
