"""A recurrent network with Haiku: an LSTM unrolled over a sequence that predicts its next value."""

from __future__ import annotations

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

from tests.pjrt.training.loop import train


def network(x):
    core = hk.LSTM(32)
    outputs, _ = hk.dynamic_unroll(core, x, core.initial_state(x.shape[1]))
    return hk.BatchApply(hk.Linear(1))(outputs)


model = hk.without_apply_rng(hk.transform(network))
t = (
    np.arange(8 * 41).reshape(8, 41)[:, :, None, None] * 0.1
    + np.linspace(0, 6, 16)[None, None, :, None]
)
waves = np.sin(t).astype(np.float32)
parameters = model.init(jax.random.PRNGKey(0), waves[0, :-1])
optimizer = optax.adam(1e-3)


def loss_of(p, x):
    return jnp.square(model.apply(p, x[:-1]) - x[1:]).mean()


@jax.jit
def step(state, x):
    p, inner = state
    loss, grads = jax.value_and_grad(loss_of)(p, x)
    updates, inner = optimizer.update(grads, inner)
    return (optax.apply_updates(p, updates), inner), loss


train(step, (parameters, optimizer.init(parameters)), lambda k: (waves[k % 8],))
