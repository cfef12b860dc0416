"""A training step of a small denoising UNet in equinox with optax: 32 x 32 pixels, batch 8."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Block(eqx.Module):
    """Two convolutions with group norms; the time of the noise is added between them."""

    conv1: eqx.nn.Conv2d
    conv2: eqx.nn.Conv2d
    norm1: eqx.nn.GroupNorm
    norm2: eqx.nn.GroupNorm
    time: eqx.nn.Linear
    skip: eqx.nn.Conv2d

    def __init__(self, inputs: int, outputs: int, *, key: Any) -> None:
        k = jax.random.split(key, 4)
        self.conv1 = eqx.nn.Conv2d(inputs, outputs, 3, padding=1, key=k[0])
        self.conv2 = eqx.nn.Conv2d(outputs, outputs, 3, padding=1, key=k[1])
        self.norm1, self.norm2 = eqx.nn.GroupNorm(8, outputs), eqx.nn.GroupNorm(8, outputs)
        self.time = eqx.nn.Linear(64, outputs, key=k[2])
        self.skip = eqx.nn.Conv2d(inputs, outputs, 1, key=k[3])

    def __call__(self, x: Any, t: Any) -> Any:
        y = jax.nn.silu(self.norm1(self.conv1(x))) + self.time(t)[:, None, None]
        return jax.nn.silu(self.norm2(self.conv2(y))) + self.skip(x)


class UNet(eqx.Module):
    """Three resolutions down and up again."""

    down: list[Block]
    up: list[Block]
    middle: Block
    first: eqx.nn.Conv2d
    last: eqx.nn.Conv2d

    def __init__(self, channels: tuple[int, ...] = (32, 64, 128), *, key: Any) -> None:
        keys = iter(jax.random.split(key, 2 * len(channels) + 3))
        self.first = eqx.nn.Conv2d(3, channels[0], 3, padding=1, key=next(keys))
        pairs = list(zip((channels[0], *channels), channels, strict=False))
        self.down = [Block(a, b, key=next(keys)) for a, b in pairs]
        self.middle = Block(channels[-1], channels[-1], key=next(keys))
        self.up = [Block(2 * b, a, key=next(keys)) for a, b in reversed(pairs)]
        self.last = eqx.nn.Conv2d(channels[0], 3, 1, key=next(keys))

    def __call__(self, x: Any, t: Any) -> Any:
        frequencies = jnp.exp(-jnp.log(10_000.0) * jnp.arange(32) / 32)
        embedded = jnp.concatenate([jnp.sin(t * frequencies), jnp.cos(t * frequencies)])
        x = self.first(x)
        kept = []
        for block in self.down:
            x = block(x, embedded)
            kept.append(x)
            x = eqx.nn.AvgPool2d(2, 2)(x)
        x = self.middle(x, embedded)
        for block in self.up:
            c, h, w = x.shape
            x = jax.image.resize(x, (c, 2 * h, 2 * w), "nearest")
            x = block(jnp.concatenate([x, kept.pop()]), embedded)
        return self.last(x)


def make() -> tuple[Any, tuple[Any, ...]]:
    """Return the step, and its arguments."""
    params, static = eqx.partition(UNet(key=jax.random.key(0)), eqx.is_array)
    optimiser = optax.adam(1e-3)

    def loss_of(params: Any, images: Any, key: Any) -> Any:
        model = eqx.combine(params, static)
        time_key, noise_key = jax.random.split(key)
        times = jax.random.uniform(time_key, (images.shape[0],))
        noise = jax.random.normal(noise_key, images.shape)
        alpha = jnp.cos(times * jnp.pi / 2)[:, None, None, None]
        noisy = alpha * images + jnp.sqrt(1 - alpha**2) * noise
        return jnp.mean((jax.vmap(model)(noisy, times) - noise) ** 2)

    def train_step(params: Any, state: Any, images: Any, key: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(params, images, key)
        updates, state = optimiser.update(gradients, state, params)
        return eqx.apply_updates(params, updates), state, loss

    images = jax.random.normal(jax.random.key(1), (8, 3, 32, 32))
    return train_step, (params, optimiser.init(params), images, jax.random.PRNGKey(2))
