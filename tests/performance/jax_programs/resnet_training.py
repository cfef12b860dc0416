"""A training step of ResNet-50 in flax (linen) with optax: images of 64 by 64 pixels, batch 8."""

from __future__ import annotations

from functools import partial
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Bottleneck(nn.Module):
    """Convolutions 1x1, 3x3, 1x1 beside a short cut."""

    filters: int
    strides: tuple[int, int]
    train: bool = True

    @nn.compact
    def __call__(self, x: Any) -> Any:
        conv = partial(nn.Conv, use_bias=False)
        norm = partial(nn.BatchNorm, use_running_average=not self.train, momentum=0.9, epsilon=1e-5)
        y = nn.relu(norm()(conv(self.filters, (1, 1))(x)))
        y = nn.relu(norm()(conv(self.filters, (3, 3), self.strides)(y)))
        y = norm(scale_init=nn.initializers.zeros_init())(conv(4 * self.filters, (1, 1))(y))
        if x.shape != y.shape:
            x = norm(name="norm_proj")(
                conv(4 * self.filters, (1, 1), self.strides, name="conv_proj")(x)
            )
        return nn.relu(x + y)


class ResNet50(nn.Module):
    """Stages of 3, 4, 6 and 3 blocks."""

    classes: int = 1000

    @nn.compact
    def __call__(self, x: Any, train: bool = True) -> Any:
        x = nn.Conv(64, (7, 7), (2, 2), padding=[(3, 3), (3, 3)], use_bias=False, name="conv_init")(
            x
        )
        x = nn.relu(nn.BatchNorm(use_running_average=not train, momentum=0.9, name="bn_init")(x))
        x = nn.max_pool(x, (3, 3), strides=(2, 2), padding="SAME")
        for stage, blocks in enumerate((3, 4, 6, 3)):
            for block in range(blocks):
                strides = (2, 2) if stage > 0 and block == 0 else (1, 1)
                x = Bottleneck(64 * 2**stage, strides, train)(x)
        return nn.Dense(self.classes)(jnp.mean(x, axis=(1, 2)))


def make() -> tuple[Any, tuple[Any, ...]]:
    """Return the step, and its arguments."""
    model = ResNet50()
    optimiser = optax.sgd(0.1, momentum=0.9, nesterov=True)
    images = jax.random.normal(jax.random.key(1), (8, 64, 64, 3))
    labels = jax.random.randint(jax.random.key(2), (8,), 0, 1000)

    def train_step(params: Any, batch_stats: Any, state: Any, images: Any, labels: Any) -> Any:
        def loss_of(params: Any) -> Any:
            variables = {"params": params, "batch_stats": batch_stats}
            logits, updated = model.apply(variables, images, mutable=["batch_stats"])
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), updated[
                "batch_stats"
            ]

        (loss, stats), gradients = jax.value_and_grad(loss_of, has_aux=True)(params)
        updates, state = optimiser.update(gradients, state, params)
        return optax.apply_updates(params, updates), stats, state, loss

    variables = jax.jit(model.init)(jax.random.key(0), images)
    params, stats = variables["params"], variables["batch_stats"]
    return train_step, (params, stats, jax.jit(optimiser.init)(params), images, labels)
