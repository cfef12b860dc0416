"""Child: training steps over eight virtual devices of the plugin and of XLA:CPU, values and times.

    python eight_device_steps.py WIDTH REPEATS

Prints a line for each step: its name, the least seconds of both, and the largest difference.
"""

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

WIDTH, REPEATS = int(sys.argv[1]), int(sys.argv[2])
random = np.random.default_rng(0)


def arrays(**shapes):
    """Return random arrays whose products stay near 1."""
    return {k: (random.standard_normal(s) / s[-1] ** 0.5).astype("f") for k, s in shapes.items()}


def network(x, w1, w2, y):
    """Return the loss and the weights after a step of a network of two layers."""

    def loss(w1, w2):
        return ((jnp.tanh(x @ w1) @ w2 - y) ** 2).mean()

    value, (d1, d2) = jax.value_and_grad(loss, (0, 1))(w1, w2)
    return value, w1 - 0.1 * d1, w2 - 0.1 * d2


def experts(x, gate, inner, outer):
    """Return the loss and the weights after a step of a mixture of eight experts."""

    def loss(gate, inner, outer):
        p = jax.nn.softmax(jnp.einsum("gsm,me->gse", x, gate))
        chosen = jax.nn.one_hot(jnp.argmax(p, -1), 8)
        place = (jnp.cumsum(chosen, 1) * chosen - 1).astype(jnp.int32)
        to = jax.nn.one_hot(place, x.shape[1] // 4) * chosen[..., None]
        h = jax.nn.relu(jnp.einsum("egcm,emh->egch", jnp.einsum("gsec,gsm->egcm", to, x), inner))
        back = jnp.einsum("egch,ehm->egcm", h, outer)
        return (jnp.einsum("gsec,egcm->gsm", to * p[..., None], back) ** 2).mean()

    weights = gate, inner, outer
    value, found = jax.value_and_grad(loss, (0, 1, 2))(*weights)
    return value, *[w - 0.1 * d for w, d in zip(weights, found, strict=True)]


def pipeline(mesh):
    """Return a step whose eight layers are stages; micro-batches go from stage to stage."""

    def stages(w, x):
        stage, count = lax.axis_index("a"), x.shape[0]

        def turn(k, state):
            held, done = state
            given = jnp.where(stage == 0, x[jnp.minimum(k, count - 1)], held)
            made = jnp.tanh(given @ w[0])
            ready = jnp.maximum(k - 7, 0)
            kept = jnp.where((stage == 7) & (k >= 7), made, done[ready])
            done = lax.dynamic_update_index_in_dim(done, kept, ready, 0)
            return lax.ppermute(made, "a", [(s, (s + 1) % 8) for s in range(8)]), done

        varying = jnp.zeros_like(x) + w[0, 0, 0] * 0
        _, done = lax.fori_loop(0, count + 7, turn, (varying[0], varying))
        return lax.psum(jnp.where(stage == 7, done, 0.0), "a")

    mapped = jax.shard_map(stages, mesh=mesh, in_specs=(P("a"), P()), out_specs=P())

    def step(w, x):
        value, found = jax.value_and_grad(lambda w: (mapped(w, x) ** 2).mean())(w)
        return value, w - 0.1 * found

    return step


batch = 4 * WIDTH
ONE = arrays(x=(batch, WIDTH), w1=(WIDTH, 4 * WIDTH), w2=(4 * WIDTH, WIDTH), y=(batch, WIDTH))
MOE = arrays(x=(8, WIDTH, WIDTH), gate=(WIDTH, 8), inner=(8, WIDTH, WIDTH), outer=(8, WIDTH, WIDTH))
PIPE = arrays(w=(8, WIDTH, WIDTH), x=(8, WIDTH, WIDTH))
ROWS = P("a")
STEPS = {
    "data parallel": ((8,), ONE, [ROWS, P(), P(), ROWS], network),
    "fsdp": ((8,), ONE, [ROWS, ROWS, ROWS, ROWS], network),
    "megatron": ((2, 4), ONE, [ROWS, P(None, "b"), P("b", None), ROWS], network),
    "expert parallel": ((8,), MOE, [ROWS, P(), ROWS, ROWS], experts),
    "pipeline": ((8,), PIPE, [ROWS, P()], pipeline),
}


def measured(platform, name):
    """Return the results of a step on a platform, and the least seconds."""
    sizes, given, specs, function = STEPS[name]
    mesh = Mesh(np.array(jax.devices(platform)[:8]).reshape(sizes), ("a", "b")[: len(sizes)])
    placed = [
        jax.device_put(array, NamedSharding(mesh, spec))
        for array, spec in zip(given.values(), specs, strict=True)
    ]
    step = jax.jit(function(mesh) if name == "pipeline" else function)
    found, seconds = jax.block_until_ready(step(*placed)), []
    for _ in range(REPEATS):
        start = time.perf_counter()
        jax.block_until_ready(step(*placed))
        seconds.append(time.perf_counter() - start)
    return [np.asarray(one) for one in found], min(seconds)


for name in STEPS:
    (wanted, xla), (found, ours) = (measured(p, name) for p in ("cpu", "xla_explorer"))
    off = max(float(np.max(np.abs(a - b))) for a, b in zip(found, wanted, strict=True))
    print(f"{name}\t{ours:.6f}\t{xla:.6f}\t{off:.3g}", flush=True)
