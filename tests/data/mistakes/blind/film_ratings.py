"""Factorise film ratings: gather factors of users and films, and update with decay."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

USERS, FILMS, RANK, RATINGS = 20_000, 10_000, 32, 16_384


def predicted(users, films, user, film):
    u = users[:, user].transpose(1, 0)
    f = films[film]
    return (jnp.tanh(u) * f).sum(-1)


@partial(jax.jit, static_argnums=(5,))
def fit(users, films, user, film, rating, rate):
    error = rating - predicted(users, films, user, film)
    per_film = jax.ops.segment_sum(error, film, FILMS)
    decayed = films * (1.0 - rate) + rate * per_film[:, None]
    return decayed, error


def arguments():
    rng = np.random.default_rng(18)
    users = rng.standard_normal((RANK, USERS)).astype(np.float32)
    films = rng.standard_normal((FILMS, RANK)).astype(np.float32)
    user = rng.integers(0, USERS, RATINGS).astype(np.int32)
    film = rng.integers(0, FILMS, RATINGS).astype(np.int32)
    rating = rng.uniform(1, 5, RATINGS).astype(np.float32)
    return users, films, user, film, rating, 0.01


def calls():
    first = arguments()[:-1]
    return [(*first, 0.01 * 0.9**epoch) for epoch in range(3)]


if __name__ == "__main__":
    for call in calls():
        films, error = fit(*call)
    print(films.shape, error.shape)
