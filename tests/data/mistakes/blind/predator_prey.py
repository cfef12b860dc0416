"""Fit the rates of a predator-prey model to many observed islands."""

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

ISLANDS = 40_000
STEPS = 24
SEASON = np.cos(np.linspace(0.0, 2 * np.pi, ISLANDS))


def growth(state, rates):
    prey, hunters = state
    birth, kill, death, gain = rates
    return birth * prey - kill * prey * hunters, gain * prey * hunters - death * hunters


def runge_kutta(state, rates, dt):
    k1 = growth(state, rates)
    k2 = growth([s + 0.5 * dt * k for s, k in zip(state, k1)], rates)
    k3 = growth([s + 0.5 * dt * k for s, k in zip(state, k2)], rates)
    k4 = growth([s + dt * k for s, k in zip(state, k3)], rates)
    return [
        s + dt / 6 * (a + 2 * b + 2 * c + d) for s, a, b, c, d in zip(state, k1, k2, k3, k4)
    ]


@jax.jit
def misfit(rates, prey, hunters, observed):
    state = [prey, hunters]
    for _ in range(STEPS):
        state = runge_kutta(state, rates, 0.01)
    final, predators = state
    jax.debug.print("mean population {}", final.mean())
    error = (final - observed[0]) ** 2 + (predators - observed[1]) ** 2
    weight = jnp.exp(0.1 * SEASON * jnp.tanh(prey))
    return error, jnp.log1p(weight * jnp.exp(-prey)) * weight


def arguments():
    rng = np.random.default_rng(1)
    rates = np.array([1.1, 0.4, 0.4, 0.1], np.float32)
    prey = rng.uniform(1, 10, ISLANDS).astype(np.float32)
    hunters = rng.uniform(1, 5, ISLANDS).astype(np.float32)
    observed = rng.uniform(1, 10, (2, ISLANDS)).astype(np.float32)
    return rates, prey, hunters, observed


if __name__ == "__main__":
    error, weight = misfit(*arguments())
    print(error.shape, weight.dtype)
