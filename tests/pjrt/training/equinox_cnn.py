"""A small convolutional network with Equinox: filtered gradients, AdamW."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from tests.pjrt.training.loop import train


class CNN(eqx.Module):
    layers: list

    def __init__(self, key):
        a, b, c = jax.random.split(key, 3)
        self.layers = [
            eqx.nn.Conv2d(1, 8, 4, key=a),
            eqx.nn.MaxPool2d(2, stride=2),
            jax.nn.relu,
            jnp.ravel,
            eqx.nn.Linear(8 * 12 * 12, 64, key=b),
            jax.nn.gelu,
            eqx.nn.Linear(64, 10, key=c),
            jax.nn.log_softmax,
        ]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def loss_of(model, x, y):
    return -jnp.take_along_axis(jax.vmap(model)(x), y[:, None], axis=1).mean()


model = CNN(jax.random.PRNGKey(0))
optimizer = optax.adamw(3e-4)
rng = np.random.default_rng(0)
images, labels = (
    rng.normal(size=(8, 32, 1, 28, 28)).astype(np.float32),
    rng.integers(0, 10, (8, 32)),
)


@eqx.filter_jit
def step(state, x, y):
    model, inner = state
    loss, grads = eqx.filter_value_and_grad(loss_of)(model, x, y)
    updates, inner = optimizer.update(grads, inner, eqx.filter(model, eqx.is_array))
    return (eqx.apply_updates(model, updates), inner), loss


train(
    step,
    (model, optimizer.init(eqx.filter(model, eqx.is_array))),
    lambda k: (images[k % 8], labels[k % 8]),
)
