"""Training steps over eight virtual devices, partitioned and joined, beside JAX's CPU."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from xla_explorer.backends.cpu.devices.device_program import DeviceProgram

runs = []
plain = DeviceProgram.run


def counted(self, per_device, **options):
    """Count a run by threads."""
    runs.append(self)
    return plain(self, per_device, **options)


DeviceProgram.run = counted
random = np.random.default_rng(0)
SHAPES = {"x": (16, 8), "w1": (8, 32), "w2": (32, 8), "y": (16, 8)}
ARRAYS = {k: random.standard_normal(s).astype(np.float32) for k, s in SHAPES.items()}


def loss(w1, w2, x, y):
    """Return the mean square error of a small network."""
    return ((jnp.tanh(x @ w1) @ w2 - y) ** 2).mean()


def step(w1, w2, x, y):
    """Return the loss and the weights after one step."""
    value, (d1, d2) = jax.value_and_grad(loss, (0, 1))(w1, w2, x, y)
    return value, w1 - 0.1 * d1, w2 - 0.1 * d2


LAYOUTS = {
    "data parallel": ((8,), {"x": P("a"), "y": P("a"), "w1": P(), "w2": P()}),
    "fsdp": ((8,), {"x": P("a"), "y": P("a"), "w1": P("a"), "w2": P("a")}),
    "megatron": ((2, 4), {"x": P("a"), "y": P("a"), "w1": P(None, "b"), "w2": P("b", None)}),
    "two axes": ((4, 2), {"x": P("a", "b"), "y": P("a"), "w1": P("b", "a"), "w2": P("a", "b")}),
}


def results(platform, sizes, specs):
    """Return the arrays of one training step on the devices of a platform."""
    devices = np.array(jax.devices(platform)[:8]).reshape(sizes)
    mesh = Mesh(devices, ("a", "b")[: len(sizes)])
    placed = {k: jax.device_put(ARRAYS[k], NamedSharding(mesh, specs[k])) for k in specs}
    given = [placed[k] for k in ("w1", "w2", "x", "y")]
    out = [None, *[NamedSharding(mesh, specs[k]) for k in ("w1", "w2")]]
    return [np.asarray(a) for a in jax.jit(step, out_shardings=tuple(out))(*given)]


def ring(platform):
    """Return sums that go round a ring of eight devices, by `shard_map`."""
    mesh = Mesh(np.array(jax.devices(platform)[:8]), ("a",))

    def around(x):
        def turn(_, state):
            total, part = state
            part = lax.ppermute(part, "a", [(k, (k + 1) % 8) for k in range(8)])
            return total + part, part

        return lax.fori_loop(0, 7, turn, (x, x))[0]

    mapped = jax.shard_map(around, mesh=mesh, in_specs=P("a"), out_specs=P("a"))
    return [np.asarray(jax.jit(mapped)(ARRAYS["x"]))]


wanted = {name: results("cpu", *layout) for name, layout in LAYOUTS.items()}
wanted["ring"] = ring("cpu")
for name, arrays in wanted.items():
    before = len(runs)
    found = ring("xla_explorer") if name == "ring" else results("xla_explorer", *LAYOUTS[name])
    for a, b in zip(found, arrays, strict=True):
        np.testing.assert_allclose(a, b, 1e-5, 1e-5)
    print(name, len(runs) - before)
sys.stdout.flush()
