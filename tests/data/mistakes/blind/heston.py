"""Simulate paths of a stochastic volatility model and price calls on them."""

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

PATHS, STEPS = 8192, 28
SHOCKS = np.random.default_rng(14).standard_normal((STEPS, 2, PATHS)).astype(np.float32)
STRIKES = np.linspace(80.0, 120.0, 32)


def advance(log_price, variance, shock, dt):
    positive = jnp.maximum(variance, 0.0)
    root = jnp.sqrt(positive * dt)
    log_price = log_price - 0.5 * positive * dt + root * shock[0]
    mixed = -0.7 * shock[0] + 0.714 * shock[1]
    variance = variance + 2.0 * (0.04 - positive) * dt + 0.3 * root * mixed
    return log_price, variance


@jax.jit
def prices(spot, variance, rate):
    shocks = jnp.asarray(SHOCKS)
    log_price = jnp.log(spot)
    for k in range(STEPS):
        log_price, variance = advance(log_price, variance, shocks[k], 1 / STEPS)
    final = jnp.exp(log_price)
    payoff = jnp.maximum(jnp.log(final)[:, None] - jnp.log(STRIKES), 0.0)
    return jnp.exp(-rate) * jnp.expm1(payoff), variance


def arguments():
    rng = np.random.default_rng(15)
    spot = rng.uniform(90, 110, PATHS).astype(np.float32)
    variance = rng.uniform(0.02, 0.06, PATHS).astype(np.float32)
    return spot, variance, np.float32(0.02)


if __name__ == "__main__":
    value, variance = prices(*arguments())
    print(value.shape, value.dtype)
