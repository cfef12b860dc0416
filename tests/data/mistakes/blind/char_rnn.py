"""Train a recurrent network on characters, one step of plain momentum."""

import jax
import jax.numpy as jnp
import numpy as np

BATCH, LENGTH, HIDDEN, SYMBOLS = 64, 24, 64, 256


def cell(params, hidden, x):
    return jnp.tanh(x @ params["wx"] + hidden @ params["wh"] + params["b"])


def loss(params, inputs, targets):
    hidden = jnp.zeros((BATCH, HIDDEN))
    outputs = []
    for t in range(LENGTH):
        hidden = cell(params, hidden, inputs[t])
        outputs.append(hidden)
    logits = jnp.stack(outputs).reshape(-1, HIDDEN) @ params["wo"]
    count = LENGTH * BATCH
    wanted = jnp.zeros((count, SYMBOLS)).at[jnp.arange(count), targets.reshape(-1)].set(1.0)
    return -(jax.nn.log_softmax(logits) * wanted).sum(-1).mean()


@jax.jit
def train(params, momentum, inputs, targets):
    gradient = jax.grad(loss)(params, inputs, targets)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradient)
    params = jax.tree.map(lambda p, m: p - 0.01 * m, params, momentum)
    return params, momentum


def arguments():
    rng = np.random.default_rng(17)
    normal = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
    params = {
        "wx": normal(32, HIDDEN) * 0.1, "wh": normal(HIDDEN, HIDDEN) * 0.1,
        "b": normal(HIDDEN), "wo": normal(HIDDEN, SYMBOLS) * 0.1,
    }  # fmt: skip
    momentum = jax.tree.map(np.zeros_like, params)
    targets = rng.integers(0, SYMBOLS, (LENGTH, BATCH)).astype(np.int32)
    return params, momentum, normal(LENGTH, BATCH, 32), targets


if __name__ == "__main__":
    params, momentum, inputs, targets = arguments()
    for _ in range(2):
        params, momentum = train(params, momentum, inputs, targets)
    print(params["wh"].shape)
