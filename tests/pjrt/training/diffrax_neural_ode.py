"""A neural ODE with Diffrax: an adaptive solver in the loss, its adjoint in the gradient."""

from __future__ import annotations

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from tests.pjrt.training.loop import train


class Field(eqx.Module):
    mlp: eqx.nn.MLP

    def __call__(self, t, y, args):
        return self.mlp(y)


times = jnp.linspace(0.0, 2.0, 12)


def solve(field, y0):
    solver = diffrax.diffeqsolve(
        diffrax.ODETerm(field),
        diffrax.Tsit5(),
        t0=0.0,
        t1=2.0,
        dt0=0.1,
        y0=y0,
        stepsize_controller=diffrax.PIDController(rtol=1e-3, atol=1e-6),
        saveat=diffrax.SaveAt(ts=times),
    )
    return solver.ys


def loss_of(field, y0, wanted):
    return jnp.square(jax.vmap(lambda y: solve(field, y))(y0) - wanted).mean()


field = Field(eqx.nn.MLP(2, 2, 24, 2, activation=jax.nn.softplus, key=jax.random.PRNGKey(2)))
optimizer = optax.adabelief(3e-3)
rng = np.random.default_rng(0)
begins = rng.uniform(-1, 1, (4, 16, 2)).astype(np.float32)
turn = np.array(
    [[[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]] for t in np.asarray(times)], np.float32
)
paths = np.einsum("tij,bkj->bkti", turn, begins)


@eqx.filter_jit
def step(state, y0, wanted):
    field, inner = state
    loss, grads = eqx.filter_value_and_grad(loss_of)(field, y0, wanted)
    updates, inner = optimizer.update(grads, inner, eqx.filter(field, eqx.is_array))
    return (eqx.apply_updates(field, updates), inner), loss


train(
    step,
    (field, optimizer.init(eqx.filter(field, eqx.is_array))),
    lambda k: (begins[k % 4], paths[k % 4]),
)
