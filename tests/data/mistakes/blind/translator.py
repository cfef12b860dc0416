"""One evaluation of a small translation model: attention, projection, loss."""

import jax
import jax.numpy as jnp
import numpy as np

BATCH, LENGTH, WIDTH, HEADS, WORDS = 256, 16, 16, 1, 384


def split_heads(x):
    x = x.reshape(BATCH, LENGTH, HEADS, WIDTH // HEADS)
    return x.transpose(0, 2, 1, 3)


def attention(x, wq, wk, wv):
    q, k, v = split_heads(x @ wq), split_heads(x @ wk), split_heads(x @ wv)
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(WIDTH // HEADS).astype(np.float32)
    mixed = jax.nn.softmax(scores, axis=-1) @ v
    return mixed.transpose(0, 2, 1, 3).reshape(BATCH, LENGTH, WIDTH)


def gate(x):
    half = x.astype(jnp.float16)
    return (jnp.exp(-half * half) * jnp.tanh(half)).astype(jnp.float32)


@jax.jit
def evaluate(params, source, targets, features):
    x = source + attention(source, params["wq"], params["wk"], params["wv"])
    logits = x.reshape(-1, WIDTH) @ params["out"]
    rows = jnp.arange(BATCH * LENGTH)
    wanted = jnp.zeros_like(logits).at[rows, targets].set(1.0)
    smooth = 0.9 * wanted + 0.1 / WORDS
    loss = -(smooth * logits).sum(-1)
    pooled = gate(features).transpose(0, 2, 1).reshape(8, -1)
    return loss, pooled * 0.5 + 0.1


def arguments():
    rng = np.random.default_rng(2)
    normal = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
    params = {name: normal(WIDTH, WIDTH) * 0.05 for name in ("wq", "wk", "wv")}
    params["out"] = normal(WIDTH, WORDS) * 0.05
    targets = rng.integers(0, WORDS, BATCH * LENGTH).astype(np.int32)
    return params, normal(BATCH, LENGTH, WIDTH), targets, normal(8, 256, 256)


if __name__ == "__main__":
    loss, pooled = evaluate(*arguments())
    print(float(loss.mean()), pooled.shape)
