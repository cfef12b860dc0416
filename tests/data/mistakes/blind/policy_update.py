"""The clipped objective of proximal policy optimisation, and its gradient."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

STEPS, OBSERVED, ACTIONS = 16_384, 8, 64


def policy(params, observations):
    hidden = jnp.tanh(observations @ params["w1"] + params["b1"])
    return jax.nn.log_softmax(hidden @ params["w2"])


def objective(params, batch, epsilon):
    logprob = policy(params, batch["observations"])
    new = logprob[jnp.arange(STEPS), batch["actions"]]
    ratio = jnp.exp(new - batch["old"])
    clipped = jnp.clip(ratio, 1 - epsilon, 1 + epsilon)
    entropy = -(jnp.exp(logprob) * logprob).sum(-1)
    return -(jnp.minimum(ratio, clipped) * batch["advantage"]).mean() - 0.01 * entropy.mean()


def behaviour(actions):
    taken = jnp.zeros((STEPS, ACTIONS)).at[jnp.arange(STEPS), actions].set(1.0)
    return 0.95 * taken + 0.05 / ACTIONS


def log_progress(loss):
    return None


@partial(jax.jit, static_argnums=(2,))
def update(params, batch, epsilon):
    loss, gradient = jax.value_and_grad(objective)(params, batch, epsilon)
    jax.debug.callback(log_progress, loss)
    params = jax.tree.map(lambda p, g: p - 3e-4 * g, params, gradient)
    return params, behaviour(batch["actions"])


def arguments():
    rng = np.random.default_rng(9)
    normal = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
    params = {"w1": normal(OBSERVED, 8), "b1": normal(8), "w2": normal(8, ACTIONS) * 0.1}
    batch = {
        "observations": normal(STEPS, OBSERVED),
        "actions": rng.integers(0, ACTIONS, STEPS).astype(np.int32),
        "advantage": normal(STEPS),
        "old": -np.abs(normal(STEPS)),
    }
    return params, batch, 0.2


def calls():
    params, batch, _ = arguments()
    return [(params, batch, epsilon) for epsilon in (0.2, 0.18, 0.16)]


if __name__ == "__main__":
    for call in calls():
        params, _ = update(*call)
    print(params["w1"].shape)
