"""The gradient of a neural ODE in diffrax: 32 spirals, 64 points each, an MLP of width 64."""

from __future__ import annotations

from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp


class Field(eqx.Module):
    """dy/dt."""

    mlp: eqx.nn.MLP

    def __init__(self, size: int, width: int, depth: int, *, key: Any) -> None:
        self.mlp = eqx.nn.MLP(size, size, width, depth, activation=jax.nn.softplus, key=key)

    def __call__(self, t: Any, y: Any, args: Any) -> Any:
        return self.mlp(y)


class NeuralODE(eqx.Module):
    """A field, integrated from a start."""

    field: Field

    def __call__(self, times: Any, start: Any) -> Any:
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(self.field), diffrax.Tsit5(), t0=times[0], t1=times[-1], dt0=times[1] - times[0], y0=start,
            stepsize_controller=diffrax.PIDController(rtol=1e-3, atol=1e-6), saveat=diffrax.SaveAt(ts=times),
        )  # fmt: skip
        return solution.ys


def make() -> tuple[Any, tuple[Any, ...]]:
    """Loss with gradient, and its arguments."""
    times = jnp.linspace(0.0, 4.0, 64)
    radii = jnp.linspace(0.5, 1.5, 32)[:, None]
    spirals = jnp.stack(
        [
            radii * jnp.exp(-0.2 * times) * jnp.cos(3 * times),
            radii * jnp.exp(-0.2 * times) * jnp.sin(3 * times),
        ],
        axis=-1,
    )
    params, static = eqx.partition(
        NeuralODE(Field(2, 64, 2, key=jax.random.key(0))), eqx.is_inexact_array
    )

    def gradient(params: Any, times: Any, spirals: Any) -> Any:
        def loss_of(params: Any) -> Any:
            solve = eqx.combine(params, static)
            return jnp.mean(
                (jax.vmap(solve, in_axes=(None, 0))(times, spirals[:, 0]) - spirals) ** 2
            )

        return jax.value_and_grad(loss_of)(params)

    return gradient, (params, times, spirals)
