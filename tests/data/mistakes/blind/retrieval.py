"""Score queries against documents whose embeddings lie feature by feature."""

import jax
import jax.numpy as jnp
import numpy as np

DOCUMENTS, FEATURES, QUERIES = 60_000, 48, 128
RNG = np.random.default_rng(4)
EMBEDDINGS = jnp.asarray(RNG.standard_normal((FEATURES, DOCUMENTS)).astype(np.float32))


def normalise(x):
    return x / jnp.sqrt((x * x).sum(-1, keepdims=True) + 1e-6)


@jax.jit
def scores(queries, candidates, popularity):
    vectors = jnp.take(EMBEDDINGS, candidates, axis=1)
    vectors = jnp.moveaxis(vectors, 0, -1)
    similarity = (normalise(vectors) * normalise(queries)[:, None, :]).sum(-1)
    prior = jnp.log1p(popularity[candidates])
    return similarity + 0.1 * prior


def batch(found):
    rng = np.random.default_rng(5)
    queries = rng.standard_normal((QUERIES, FEATURES)).astype(np.float32)
    candidates = rng.integers(0, DOCUMENTS, (QUERIES, found)).astype(np.int32)
    popularity = rng.uniform(0, 100, DOCUMENTS).astype(np.float32)
    return queries, candidates, popularity


def arguments():
    return batch(100)


def calls():
    return [batch(found) for found in (100, 97, 88)]


if __name__ == "__main__":
    for call in calls():
        print(scores(*call).shape)
