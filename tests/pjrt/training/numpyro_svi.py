"""Stochastic variational inference with NumPyro: Bayesian logistic regression with groups.

Every step draws random numbers.
"""

from __future__ import annotations

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax.nn import sigmoid
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal

from tests.pjrt.training.loop import train

rng = np.random.default_rng(0)
x = rng.normal(size=(256, 6)).astype(np.float32)
groups = rng.integers(0, 5, 256)
y = (rng.random(256) < np.asarray(sigmoid(x @ np.linspace(-1, 1, 6) + 0.3 * groups))).astype(
    np.int32
)


def model(x, groups, y=None):
    scale = numpyro.sample("scale", dist.HalfNormal(1.0))
    weights = numpyro.sample("weights", dist.Normal(0, scale).expand([6]).to_event(1))
    with numpyro.plate("groups", 5):
        offsets = numpyro.sample("offsets", dist.Normal(0, 1))
    with numpyro.plate("data", 256):
        numpyro.sample("y", dist.Bernoulli(logits=x @ weights + offsets[groups]), obs=y)


svi = SVI(model, AutoNormal(model), numpyro.optim.Adam(0.01), Trace_ELBO(num_particles=4))
state = svi.init(jax.random.PRNGKey(3), x, groups, y)
train(jax.jit(svi.update), state, lambda k: (x, groups, y))
