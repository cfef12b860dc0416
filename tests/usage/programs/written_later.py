"""Twenty more programs, two of each kind, written after the rules that name their causes."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

RNG = np.random.default_rng(77)


def _normal(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def horner(x: Any, coefficients: Any) -> Any:
    """Evaluate a polynomial at each point, point by point."""

    def at(point: Any) -> Any:
        powers = point ** jnp.arange(8)
        return (powers * coefficients).sum()

    values = jax.lax.map(at, x)
    return values / values.max()


def levels(x: Any) -> Any:
    """Count the values of each level."""
    counts = []
    for level in range(48):
        inside = (x >= level / 48) & (x < (level + 1) / 48)
        counts.append(inside.sum())
    return jnp.stack(counts)


def columns_in_order(x: Any, order: Any) -> Any:
    """Sort the features of a table by a given order, then scale."""
    sorted_features = jnp.take(x, order, axis=1)
    return jnp.tanh(sorted_features * 0.1)


def products_of_pairs(a: Any, b: Any) -> Any:
    """Multiply pairs of small matrices whose number is the last axis."""
    a = jnp.sin(a)
    return jnp.einsum("ijn,jkn->ikn", a, b)


def sliding_mean(x: Any) -> Any:
    """Keep a window of values, and average it after each new one."""

    def step(window: Any, value: Any) -> Any:
        window = jnp.concatenate([window[1:], value[None]])
        return window, window.mean()

    return jax.lax.scan(step, jnp.zeros((20000,)), x)[1]


def momentum(parameters: Any, velocity: Any, index: Any, gradient: Any) -> Any:
    """Update some rows of the parameters."""
    rows = parameters[index] - 0.1 * gradient
    parameters = parameters.at[index].set(rows)
    velocity = velocity.at[index].add(gradient)
    return parameters, velocity


def weighted_gram(x: Any, weights: Any) -> Any:
    """Return a weighted product of a matrix with itself."""
    middle = jnp.diag(jnp.exp(weights))
    left = x.T @ middle
    return left @ x


def quadratic_form(a: Any, x: Any) -> Any:
    """Return x' A A x."""
    squared = a @ a
    right = squared @ x
    return x @ right


def smallest_distance(x: Any) -> Any:
    """Return the smallest value of each row and its place."""
    x = x * x
    places = jnp.argsort(x, axis=-1)[:, :1]
    return jnp.take_along_axis(x, places, axis=-1)


def shifted_difference(x: Any) -> Any:
    """Difference a signal with itself, four samples later."""
    later = (jnp.arange(x.shape[0]) + 4) % x.shape[0]
    return jnp.abs(x[later] - x)


def nearest_word(x: Any) -> Any:
    """Look vectors up in a fixed dictionary."""
    scores = x @ WORDS
    return scores.argmax(-1)


def gated(x: Any, w: Any, on: Any) -> Any:
    """Apply a transform if it is switched on."""
    transformed = jax.nn.relu(x @ w) @ w.T
    return jax.lax.select(jnp.broadcast_to(on, x.shape), transformed, x)


WORDS = _normal(256, 8192)


def normalised(x: Any) -> Any:
    """Normalise with constants of numpy."""
    mean, deviation = np.full(x.shape[1], 0.1), np.full(x.shape[1], 2.0)
    return jnp.maximum((x - mean) / deviation, 0.0)


def power_spectrum(x: Any) -> Any:
    """Return the power of real signals by frequency."""
    windowed = x * jnp.hanning(x.shape[-1])
    spectrum = jnp.fft.fft(windowed)[:, : x.shape[-1] // 2]
    return jnp.abs(spectrum) ** 2


def cross_entropy(logits: Any, labels: Any) -> Any:
    """Return the loss of a classifier."""
    p = jnp.exp(logits * 30.0)
    p = p / p.sum(-1, keepdims=True)
    chosen = jnp.take_along_axis(p, labels[:, None] % 10, axis=-1)
    return -jnp.log(chosen).mean()


def cosine(x: Any, y: Any) -> Any:
    """Return the cosine of vectors, the first of which may be masked."""
    x = jnp.where(x > 10.0, x, 0.0)
    length = jnp.sqrt((x * x).sum(-1)) * jnp.sqrt((y * y).sum(-1))
    return (x * y).sum(-1) / length


def elapsed(start: Any, steps: Any) -> Any:
    """Return the seconds of each step since the start of the epoch."""
    now = 1.7e9 + jnp.abs(steps)
    return now - 1.7e9


def checksum(x: Any) -> Any:
    """Return a checksum of positions."""
    position = jnp.arange(x.shape[0])
    squares = position * position * 31
    return squares.sum() + x.argmax()


def residuals(x: Any, y: Any) -> Any:
    """Return the mean distance of a mean and its target."""
    mean = x.mean(1, keepdims=True)
    return jnp.abs(mean - y).mean()


def label_counts(labels: Any) -> Any:
    """Count labels from one on."""
    counts = jnp.zeros(10, jnp.int32)
    return counts.at[labels % 10 + 1].add(1)


ARGUMENTS = {
    "horner": (_normal(4000), _normal(8)),
    "levels": (_normal(4096),),
    "columns_in_order": (_normal(2048, 512), RNG.permutation(512).astype(np.int32)),
    "products_of_pairs": (_normal(6, 6, 8192), _normal(6, 6, 8192)),
    "sliding_mean": (_normal(300),),
    "momentum": (_normal(20000, 64), _normal(20000, 64), RNG.integers(0, 20000, 32).astype(np.int32), _normal(32, 64)),
    "weighted_gram": (_normal(768, 64), _normal(768)),
    "quadratic_form": (_normal(600, 600), _normal(600)),
    "smallest_distance": (_normal(256, 2048),),
    "shifted_difference": (_normal(100000),),
    "nearest_word": (_normal(16, 256),),
    "gated": (_normal(128, 512), _normal(512, 512), np.bool_(True)),
    "normalised": (_normal(4096, 128),),
    "power_spectrum": (_normal(128, 4096),),
    "cross_entropy": (_normal(64, 10), RNG.integers(0, 10, 64).astype(np.int32)),
    "cosine": (_normal(32, 16), _normal(32, 16)),
    "elapsed": (_normal(1), _normal(500)),
    "checksum": (_normal(20000),),
    "residuals": (_normal(64, 8), _normal(64)),
    "label_counts": (RNG.integers(0, 10, 100).astype(np.int32),),
}  # fmt: skip
X64 = {"normalised"}
