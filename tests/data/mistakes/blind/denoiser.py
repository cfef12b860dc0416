"""A step of a diffusion sampler: residual blocks, noise, moving average of weights."""

import jax
import jax.numpy as jnp
import numpy as np

BLOCKS, WIDTH = 30, 112


def block(x, w, b):
    return x + 0.1 * jax.nn.silu(x @ w + b)


@jax.jit
def denoise(average, weights, biases, x, noise):
    for k in range(BLOCKS):
        x = block(x, weights[k], biases[k])
    average = jax.tree.map(lambda a, w: 0.999 * a + 0.001 * w, average, weights)
    level = noise.astype(jnp.float16)
    level = jnp.exp(-level * level) * jnp.tanh(level)
    return average, x, level.astype(jnp.float32)


def arguments():
    rng = np.random.default_rng(10)
    normal = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
    weights = normal(BLOCKS, WIDTH, WIDTH) * 0.1
    return weights.copy(), weights, normal(BLOCKS, WIDTH), normal(32, WIDTH), normal(512, 1024)


if __name__ == "__main__":
    average, x, level = denoise(*arguments())
    print(average.shape, x.shape, level.dtype)
