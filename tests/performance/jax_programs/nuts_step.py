"""A step of NUTS in numpyro: hierarchical logistic regression, 1,000 rows of 20 features."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import NUTS


def model(features: Any, labels: Any) -> None:
    """Coefficients share one unknown scale."""
    scale = numpyro.sample("scale", dist.HalfNormal(1.0))
    intercept = numpyro.sample("intercept", dist.Normal(0.0, 1.0))
    with numpyro.plate("features", features.shape[1]):
        weights = numpyro.sample("weights", dist.Normal(0.0, scale))
    logits = intercept + features @ weights
    with numpyro.plate("observations", features.shape[0]):
        numpyro.sample("y", dist.Bernoulli(logits=logits), obs=labels)


def make() -> tuple[Any, tuple[Any, ...]]:
    """One transition of the sampler (a tree of leapfrog steps) after fifty, and its arguments."""
    features = jax.random.normal(jax.random.key(0), (1000, 20))
    truth = jax.random.normal(jax.random.key(1), (20,))
    labels = (
        jax.random.uniform(jax.random.key(2), (1000,)) < jax.nn.sigmoid(features @ truth)
    ).astype(jnp.int32)
    kernel = NUTS(model, step_size=0.05, adapt_step_size=False, adapt_mass_matrix=False)
    state = kernel.init(jax.random.PRNGKey(3), 0, None, (features, labels), {})

    def sample_step(state: Any, features: Any, labels: Any) -> Any:
        return kernel.sample(state, (features, labels), {})

    warm = jax.jit(
        lambda state: jax.lax.fori_loop(0, 50, lambda _, s: sample_step(s, features, labels), state)
    )(state)
    return sample_step, (warm, features, labels)
