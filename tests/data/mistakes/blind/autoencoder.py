"""The evidence bound of a variational autoencoder with a captured codebook."""

import jax
import jax.numpy as jnp
import numpy as np

BATCH, PIXELS, CODE = 512, 784, 32
CODEBOOK = np.random.default_rng(22).standard_normal((40_000, CODE)).astype(np.float32)


def encode(params, x):
    hidden = jnp.tanh(x @ params["enc"])
    return hidden[:, :CODE], hidden[:, CODE:]


def likelihood(x, logits):
    logits = logits.astype(jnp.float16)
    x = x.astype(jnp.float16)
    bound = jnp.maximum(logits, 0) - logits * x + jnp.log1p(jnp.exp(-jnp.abs(logits)))
    return -bound.astype(jnp.float32).sum(-1)


@jax.jit
def evidence(params, x, noise, index):
    mean, log_scale = encode(params, x)
    z = mean + jnp.exp(log_scale) * noise
    codes = jnp.asarray(CODEBOOK)
    nearest = codes[index] * 0.01
    logits = (z + nearest) @ params["dec"]
    divergence = 0.5 * (jnp.exp(2 * log_scale) + mean**2 - 1 - 2 * log_scale).sum(-1)
    bound = likelihood(x, logits) - divergence
    jax.debug.print("bound {b}", b=bound.mean())
    return bound


def arguments():
    rng = np.random.default_rng(23)
    normal = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
    params = {"enc": normal(PIXELS, 2 * CODE) * 0.05, "dec": normal(CODE, PIXELS) * 0.05}
    x = rng.uniform(0, 1, (BATCH, PIXELS)).astype(np.float32)
    return params, x, normal(BATCH, CODE), rng.integers(0, 40_000, BATCH).astype(np.int32)


if __name__ == "__main__":
    print(evidence(*arguments()).shape)
