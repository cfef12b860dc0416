"""Align point clouds: move key points, weigh them, and flatten the distance fields."""

import jax
import jax.numpy as jnp
import numpy as np

CLOUDS, POINTS = 3072, 4


def rotate(rotations, points):
    return jnp.einsum("bij,bjp->bip", rotations, points)


def kernel(distance):
    x = distance.astype(jnp.bfloat16)
    return jnp.exp(-x * x) * (1 + jnp.tanh(x))


@jax.jit
def align(rotations, points, shift, distance, field):
    moved = rotate(rotations, points) + shift[:, :, None]
    weight = kernel(distance).astype(jnp.float32)
    fields = jnp.swapaxes(jnp.exp(-field), -1, -2)
    flat = fields.reshape(field.shape[0], -1)
    return moved, weight, flat * 2.0


def arguments():
    rng = np.random.default_rng(19)
    normal = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
    rotations, points = normal(CLOUDS, 4, 4), normal(CLOUDS, 4, POINTS)
    return rotations, points, normal(CLOUDS, 4), normal(512, 1024), normal(16, 192, 256)


if __name__ == "__main__":
    moved, weight, flat = align(*arguments())
    print(moved.shape, weight.shape, flat.shape)
