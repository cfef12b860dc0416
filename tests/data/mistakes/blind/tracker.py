"""Track many objects at once with a Kalman filter of constant velocity."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

OBJECTS = 4096
OBSERVE = np.array([[1, 0, 0, 0], [0, 1, 0, 0]], np.float32)


def motion_matrix(dt):
    eye = jnp.eye(4)
    return eye.at[0, 2].set(dt).at[1, 3].set(dt)


def invert_2x2(m):
    a, b, c, d = m[:, 0, 0], m[:, 0, 1], m[:, 1, 0], m[:, 1, 1]
    inverse = jnp.stack([jnp.stack([d, -b], -1), jnp.stack([-c, a], -1)], -2)
    return inverse / (a * d - b * c)[:, None, None]


@partial(jax.jit, static_argnums=(3,))
def update(mean, covariance, measured, dt):
    f = jnp.broadcast_to(motion_matrix(dt), (OBJECTS, 4, 4))
    mean = (f * mean[:, None, :]).sum(-1)
    moved = jnp.einsum("nij,njk->nik", f, covariance)
    covariance = (moved[:, :, None, :] * f[:, None, :, :]).sum(-1) + 0.01 * jnp.eye(4)
    innovation = measured - mean[:, :2]
    s = covariance[:, :2, :2] + 0.1 * jnp.eye(2)
    inverse = invert_2x2(s)
    gain = (covariance[:, :, :2, None] * inverse[:, None]).sum(2)
    mean = mean + (gain * innovation[:, None, :]).sum(-1)
    return mean, covariance - (gain[:, :, :, None] * covariance[:, None, :2]).sum(2)


def arguments():
    rng = np.random.default_rng(3)
    mean = rng.standard_normal((OBJECTS, 4)).astype(np.float32)
    root = rng.standard_normal((OBJECTS, 4, 4)).astype(np.float32)
    covariance = root @ root.transpose(0, 2, 1) + np.eye(4, dtype=np.float32)
    measured = rng.standard_normal((OBJECTS, 2)).astype(np.float32)
    return mean, covariance, measured, 0.1


def calls():
    mean, covariance, measured, _ = arguments()
    return [(mean, covariance, measured, dt) for dt in (0.1, 0.12, 0.09)]


if __name__ == "__main__":
    for call in calls():
        mean, covariance = update(*call)
    print(mean.shape)
