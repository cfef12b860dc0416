"""Ten models with planted mistakes, written down before any question was put to them."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from typing import Final

import numpy as np

from tests.performance.mistakes.planted import Mistake, Planted, Program, indices, normal


def word_model(mended):
    """Return the loss of a model of words with a captured table."""
    import jax
    import jax.numpy as jnp

    table = normal(40_000, 64)

    def loss(w, tokens, targets, *given):
        words = given[0] if given else jnp.asarray(table)
        logits = words[tokens] @ w
        if "one-hot" in mended:
            chosen = jax.nn.one_hot(targets, 512)
        else:
            chosen = jnp.zeros((4096, 512)).at[jnp.arange(4096), targets].set(1.0)
        result = -(logits * chosen).sum(-1)
        if "host" not in mended:
            jax.debug.print("loss {}", result.mean())
        return result

    arrays = (normal(64, 512), indices(40_000, 4096), indices(512, 4096))
    return Program(loss, (*arrays, table) if "captured" in mended else arrays)


def mixture(mended):
    """Return a step on embeddings stored features first, with a table of numpy's type."""
    import jax.numpy as jnp

    angles = np.arange(8192)[:, None] / 10_000 ** (np.arange(64) / 64)
    position = np.sin(angles).astype(np.float32) if "wide" in mended else np.sin(angles)

    def step(table, index, rate):
        rows = table[index] if "gather" in mended else table[:, index].T
        hidden = jnp.tanh(rows + position)
        return hidden * rate

    table, index = normal(64, 20_000), indices(20_000, 8192)
    given = table.T.copy() if "gather" in mended else table
    rates = [np.float32(1e-3 * 0.99**k) for k in range(4)]
    return Program(
        step,
        (given, index, rates[0]),
        tuple(
            [(given, index, rate if "recompilation" in mended else float(rate)) for rate in rates]
        ),
        () if "recompilation" in mended else (2,),
    )


def deep_network(mended):
    """Return a step of a deep network in half precision."""
    import jax
    import jax.numpy as jnp

    def layer(x, w):
        return x + jnp.tanh(x @ w) * 0.1, None

    def step(moments, weights, x, big):
        if "unrolled" in mended:
            x, _ = jax.lax.scan(layer, x, weights)
        else:
            for k in range(32):
                x = x + jnp.tanh(x @ weights[k]) * 0.1
        big = big.astype(jnp.float32 if "precision" in mended else jnp.float16)
        noise = jnp.exp(-jnp.tanh(big * 0.5) * big)
        return moments * 0.9, x, noise.astype(jnp.float32)

    donated = (0,) if "donation" in mended else ()
    arrays = (normal(32, 96, 96), normal(32, 96, 96), normal(64, 96), normal(1 << 19))
    return Program(step, arrays, donated=donated)


def images(mended):
    """Return normalised images, channels split by a transpose and a reshape."""
    import jax.numpy as jnp

    mean_image = normal(256, 256, 8)

    def prepare(batch, moments, *given):
        mean = given[0] if given else jnp.asarray(mean_image)
        centred = jnp.tanh(batch - mean)
        if "reshape" in mended:
            flat = centred.reshape(4, -1)
        else:
            flat = centred.transpose(0, 3, 1, 2).reshape(4, -1)
        return flat * 0.5, 0.9 * moments + 0.1 * centred[0]

    arrays = (normal(4, 256, 256, 8), normal(256, 256, 8))
    donated = (1,) if "donation" in mended else ()
    given = (*arrays, mean_image) if "captured" in mended else arrays
    return Program(prepare, given, donated=donated)


def graph_messages(mended):
    """Return messages of a graph, features first, and the counts of their classes."""
    import jax
    import jax.numpy as jnp

    def messages(nodes, source, classes):
        sent = nodes[source] if "gather" in mended else nodes[:, source].T
        count = classes.shape[0]
        if "one-hot" in mended:
            member = jax.nn.one_hot(classes, 256)
        else:
            member = jnp.zeros((count, 256)).at[jnp.arange(count), classes].set(1.0)
        return jnp.tanh(sent), member * 0.5

    def arguments(edges):
        nodes = normal(5000, 64) if "gather" in mended else normal(64, 5000)
        kept = 12_000 if "recompilation" in mended else edges
        return nodes, indices(5000, kept), indices(256, kept)

    calls = tuple([arguments(edges) for edges in (12_000, 11_963, 11_871)])
    return Program(messages, calls[0], calls)


def classifier(mended):
    """Return a step of a linear classifier, with a smoothed target and half-precision noise."""
    import jax
    import jax.numpy as jnp

    def step(w, x, labels, noise):
        if "one-hot" in mended:
            target = jax.nn.one_hot(labels, 512)
        else:
            target = jnp.zeros((2048, 512)).at[jnp.arange(2048), labels].add(1.0)
        small = noise.astype(jnp.float32 if "precision" in mended else jnp.bfloat16)
        smooth = jax.nn.softmax(small * jnp.tanh(small), axis=-1).astype(jnp.float32)
        error = (x @ w) * 0.01 - target + smooth
        return w - 1e-3 * (x.T @ error)

    donated = (0,) if "donation" in mended else ()
    arrays = (normal(64, 512), normal(2048, 64), indices(512, 2048), normal(2048, 512))
    return Program(step, arrays, donated=donated)


def attention_heads(mended):
    """Return unrolled layers with heads that are split by a transpose."""
    import jax
    import jax.numpy as jnp

    def mix(x, w):
        return jnp.tanh(x @ w) + x, None

    def heads(x, weights, values):
        if "unrolled" in mended:
            x, _ = jax.lax.scan(mix, x, weights)
        else:
            for k in range(24):
                x = jnp.tanh(x @ weights[k]) + x
        if "reshape" in mended:
            split = jnp.exp(values).reshape(-1)
        else:
            split = jnp.exp(values).transpose(0, 2, 1).reshape(-1)
        half = values.astype(jnp.float32 if "precision" in mended else jnp.float16)
        gate = jnp.exp(half * jnp.tanh(half))
        return x, split * 0.5, gate

    return Program(heads, (normal(128, 64), normal(24, 64, 64) * 0.1, normal(16, 256, 128)))


def tokens(mended):
    """Return features of tokens, each turned by a small matrix of its own."""
    import jax
    import jax.numpy as jnp

    def features(table, index, turns, points, classes):
        rows = table[index] if "gather" in mended else table[:, index].T
        if "small-products" in mended:
            turned = (turns[:, :, :, None] * points[:, None]).sum(2)
        else:
            turned = turns @ points
        if "one-hot" in mended:
            member = jax.nn.one_hot(classes, 128)
        else:
            member = jnp.zeros((16_384, 128)).at[jnp.arange(16_384), classes].set(1.0)
        return turned, rows * 2.0, member * 0.5

    table = normal(64, 40_000)
    given = table.T.copy() if "gather" in mended else table
    arrays = (
        given,
        indices(40_000, 16_384),
        normal(2048, 4, 4),
        normal(2048, 4, 4),
        indices(128, 16_384),
    )
    return Program(features, arrays)


def residual_stack(mended):
    """Return a stack of residual blocks on captured weights, which reports its progress."""
    import jax
    import jax.numpy as jnp

    kept = normal(28, 128, 128) * np.float32(0.1)

    def block(x, layer):
        w, size = layer
        return x + jnp.sin(x @ w) * size, None

    def stack(x, *given):
        weights = given[0] if given else jnp.asarray(kept)
        if "unrolled" in mended:
            x, _ = jax.lax.scan(block, x, (weights, 1.0 - jnp.arange(28) / 56))
        else:
            for k in range(28):
                x = x + jnp.sin(x @ weights[k]) * (1.0 - k / 56)
        if "host" not in mended:
            jax.debug.callback(lambda rows: None, x)
        return x

    x = normal(32, 128)
    return Program(stack, (x, kept) if "captured" in mended else (x,))


def decoder(mended):
    """Return a step of a decoder that keeps a cache, in half precision."""
    import jax
    import jax.numpy as jnp

    def layer(h, w):
        return jnp.maximum(h @ w, 0.0) + h, None

    def decode(cache, h, weights, logits, place):
        if "unrolled" in mended:
            h, _ = jax.lax.scan(layer, h, weights)
        else:
            for k in range(40):
                h = jnp.maximum(h @ weights[k], 0.0) + h
        cache = cache.at[place].set(h[0])
        small = logits.astype(jnp.float32 if "precision" in mended else jnp.float16)
        return cache, jax.nn.softmax(small, axis=-1)

    donated = (0,) if "donation" in mended else ()
    arrays = (normal(16_384, 96), normal(4, 96), normal(40, 96, 96) * 0.1, normal(256, 2048))
    return Program(decode, (*arrays, np.int32(7)), donated=donated)


MODELS: Final = {
    "word_model": Planted(word_model, (
        Mistake("captured", "jnp.asarray(table)"),
        Mistake("one-hot", "chosen = jnp.zeros"),
        Mistake("host", "jax.debug.print"),
    )),
    "mixture": Planted(mixture, (
        Mistake("recompilation", "argument args[2]"),
        Mistake("gather", "table[:, index].T"),
        Mistake("wide", "rows + position"),
    ), is_wide=True),
    "deep_network": Planted(deep_network, (
        Mistake("unrolled", "weights[k]) * 0.1"),
        Mistake("donation", "argument moments"),
        Mistake("precision", "jnp.tanh(big * 0.5) * big"),
    )),
    "images": Planted(images, (
        Mistake("reshape", "centred.transpose(0, 3, 1, 2)"),
        Mistake("captured", "jnp.asarray(mean_image)"),
        Mistake("donation", "argument moments"),
    )),
    "graph_messages": Planted(graph_messages, (
        Mistake("gather", "nodes[:, source].T"),
        Mistake("recompilation", "argument args[1]"),
        Mistake("one-hot", "member = jnp.zeros"),
    )),
    "classifier": Planted(classifier, (
        Mistake("one-hot", "target = jnp.zeros"),
        Mistake("precision", "jax.nn.softmax(small"),
        Mistake("donation", "argument w"),
    )),
    "attention_heads": Planted(attention_heads, (
        Mistake("reshape", "jnp.exp(values).transpose"),
        Mistake("precision", "half * jnp.tanh(half)"),
        Mistake("unrolled", "x = jnp.tanh(x @ weights[k])"),
    )),
    "tokens": Planted(tokens, (
        Mistake("gather", "table[:, index].T"),
        Mistake("one-hot", "member = jnp.zeros"),
        Mistake("small-products", "turned = turns @ points"),
    )),
    "residual_stack": Planted(residual_stack, (
        Mistake("unrolled", "x + jnp.sin(x @ weights[k])"),
        Mistake("captured", "jnp.asarray(kept)"),
        Mistake("host", "jax.debug.callback"),
    )),
    "decoder": Planted(decoder, (
        Mistake("unrolled", "jnp.maximum(h @ weights[k]"),
        Mistake("donation", "argument cache"),
        Mistake("precision", "jax.nn.softmax(small"),
    )),
}  # fmt: skip
