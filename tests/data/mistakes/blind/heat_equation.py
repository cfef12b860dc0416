"""Explicit steps of the heat equation on a plate with a varying conductivity."""

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

SIZE = 512
CONDUCTIVITY = 1.0 + 0.5 * np.sin(np.linspace(0, np.pi, SIZE))


def laplacian(u):
    inner = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
    return jnp.pad(inner, 1)


def report(warmest):
    return None


@jax.jit
def step(u, source, clock):
    flow = jnp.tanh(laplacian(u)) * CONDUCTIVITY
    u = u + 0.1 * flow + 0.01 * jnp.exp(-source)
    u = u.astype(jnp.float32)
    jax.debug.callback(report, u)
    return u, source * 0.999, clock + 0.1


def arguments():
    rng = np.random.default_rng(20)
    u = rng.uniform(0, 1, (SIZE, SIZE)).astype(np.float32)
    source = rng.uniform(0, 1, (SIZE, SIZE)).astype(np.float32)
    return u, source, np.float32(0.0)


if __name__ == "__main__":
    u, source, clock = arguments()
    for _ in range(3):
        u, source, clock = step(u, source, clock)
    print(u.shape, u.dtype)
