"""Several virtual devices in one process: automatic sharding, `shard_map`, `pmap`, and what their arrays say."""

from __future__ import annotations

import pytest

from tests.pjrt.child import needs_jax, output

needs_jax()
pytestmark = [pytest.mark.jax, pytest.mark.usefixtures("runs_here")]

PROGRAM = """
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

devices = jax.devices()
mesh = Mesh(np.array(devices).reshape(2, 2)[::-1], ("a", "b"))
x = np.arange(32, dtype=np.float32).reshape(4, 8)
placed = jax.device_put(x, NamedSharding(mesh, P("a", "b")))
y = jax.jit(lambda x: (x @ x.T, x.sum(0)), out_shardings=(NamedSharding(mesh, P("b")), None))(placed)
np.testing.assert_allclose(y[0], x @ x.T)
np.testing.assert_allclose(y[1], x.sum(0))
print(len(devices), [s.data.shape for s in y[0].addressable_shards], y[1].sharding.is_fully_replicated)
moved = jax.jit(lambda x: x + 1, donate_argnums=0)(placed)
np.testing.assert_allclose(moved, x + 1)
print(placed.is_deleted(), [d.id for d in (jax.device_put(x, devices[3]) * 2).devices()])

def local(x):
    return lax.psum(x, "a") + lax.axis_index("b") + lax.ppermute(x, "b", [(0, 1), (1, 0)]).sum()

mapped = jax.shard_map(local, mesh=mesh, in_specs=P("a", "b"), out_specs=P(None, "b"), check_vma=False)
halves = [[x[2 * a:2 * a + 2, 4 * b:4 * b + 4] for b in (0, 1)] for a in (0, 1)]
np.testing.assert_allclose(jax.jit(mapped)(x), np.concatenate([halves[0][b] + halves[1][b] + b + halves[0][1 - b].sum() for b in (0, 1)], 1))
loss = jax.shard_map(lambda w: lax.pmean((w ** 2).sum(), ("a", "b")), mesh=mesh, in_specs=P("a", "b"), out_specs=P())
np.testing.assert_allclose(jax.jit(jax.grad(loss))(x), x / 2)
free = jax.shard_map(lambda x: lax.all_gather(x, "a", tiled=True), mesh=mesh, in_specs=P("a"), out_specs=P(), axis_names={"a"}, check_vma=False)
np.testing.assert_allclose(jax.jit(free)(x), x)
both = jax.shard_map(lambda x: (x * 2, x.sum()[None]), mesh=mesh, in_specs=P("a", "b"), out_specs=(P("a", "b"), P(("a", "b"))))
y, z = jax.jit(both)(x)
print(y.sharding.spec, z.sharding.spec, jax.jit(jnp.sin)(y).sharding.spec)
np.testing.assert_allclose(y, 2 * x)

inside = jax.shard_map(lambda x: lax.with_sharding_constraint(x * x, NamedSharding(mesh, P("a"))), mesh=mesh, in_specs=P(), out_specs=P(),
                       axis_names={"b"}, check_vma=False)
print(jax.jit(inside)(x).sharding.spec)
uneven = lax.with_sharding_constraint
np.testing.assert_allclose(jax.jit(lambda x: uneven(x[0, :2], NamedSharding(mesh, P(("a", "b")))) + 1)(x), x[0, :2] + 1)
np.testing.assert_allclose(jax.jit(lambda x: uneven(x[0, :2] + 1, NamedSharding(mesh, P(("a", "b")))))(x), x[0, :2] + 1)

explicit = jax.make_mesh((2, 2), ("x", "y"))
with jax.set_mesh(explicit):
    given = jax.device_put(x, NamedSharding(explicit, P("x", None)))
    host = lambda x: jax.pure_callback(lambda x: jnp.asarray(x) + 1, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
    np.testing.assert_allclose(jax.jit(jax.shard_map(host, out_specs=P("x")))(given), x + 1)
    terms = jax.shard_map(lambda x: lax.pcast(x.sum(0), "x", to="unreduced"), out_specs=P(None, unreduced={"x"}))
    summed = jax.jit(lambda x: jax.reshard(terms(x), P(None)))(given)
    np.testing.assert_allclose(summed, x.sum(0))
told = jax.shard_map(lambda x: jax.debug.print("{}", x.sum()), mesh=mesh, in_specs=P("b", None), out_specs=None, check_vma=False)
jax.jit(told)(x)
jax.effects_barrier()
print(jax.pmap(lambda x: lax.psum(x, "i"), axis_name="i")(np.arange(4.0)))
"""

AXES = "P('a', 'b') P(('a', 'b'),) P('a', 'b')"


def test_arrays_over_four_devices_and_manual_regions() -> None:
    lines = output(PROGRAM, XLA_EXPLORER_PJRT_DEVICES="4").splitlines()
    lines[4:8] = sorted(lines[4:8])  # devices print in any order
    assert lines == ["4 [(2, 4), (2, 4), (2, 4), (2, 4)] True", "True [3]", AXES, "P('a',)", "120.0", "120.0", "376.0", "376.0", "[6. 6. 6. 6.]"]
