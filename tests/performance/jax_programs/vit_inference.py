"""A vision transformer's inference in haiku: 8 images of 64 x 64, patches of 8, 6 layers.

Its width is 192.
"""

from __future__ import annotations

from typing import Any

import haiku as hk
import jax
import jax.numpy as jnp

PATCH, WIDTH, LAYERS, HEADS, CLASSES = 8, 192, 6, 3, 100


class EncoderBlock(hk.Module):
    """Attention and a perceptron, each behind a norm."""

    def __call__(self, x: Any) -> Any:
        scale = hk.initializers.VarianceScaling(2.0 / LAYERS)
        h = hk.LayerNorm(axis=-1, create_scale=True, create_offset=True)(x)
        x = x + hk.MultiHeadAttention(
            HEADS, key_size=WIDTH // HEADS, model_size=WIDTH, w_init=scale
        )(h, h, h)
        h = hk.LayerNorm(axis=-1, create_scale=True, create_offset=True)(x)
        return x + hk.Sequential(
            [hk.Linear(4 * WIDTH, w_init=scale), jax.nn.gelu, hk.Linear(WIDTH, w_init=scale)]
        )(h)


def classify(images: Any) -> Any:
    """Scores of the classes."""
    x = hk.Conv2D(WIDTH, kernel_shape=PATCH, stride=PATCH, padding="VALID")(images)
    x = x.reshape(x.shape[0], -1, WIDTH)
    token = hk.get_parameter("class_token", (1, 1, WIDTH), init=jnp.zeros)
    x = jnp.concatenate([jnp.broadcast_to(token, (x.shape[0], 1, WIDTH)), x], axis=1)
    x = x + hk.get_parameter(
        "positions", (1, x.shape[1], WIDTH), init=hk.initializers.TruncatedNormal(0.02)
    )
    for _ in range(LAYERS):
        x = EncoderBlock()(x)
    x = hk.LayerNorm(axis=-1, create_scale=True, create_offset=True)(x[:, 0])
    return jax.nn.softmax(hk.Linear(CLASSES)(x))


def make() -> tuple[Any, tuple[Any, ...]]:
    """Return the classifier, and its arguments."""
    model = hk.without_apply_rng(hk.transform(classify))
    images = jax.random.normal(jax.random.key(1), (8, 64, 64, 3))
    return model.apply, (jax.jit(model.init)(jax.random.PRNGKey(0), images), images)
