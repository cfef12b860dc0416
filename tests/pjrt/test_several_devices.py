"""Virtual devices beside JAX's CPU: automatic sharding, `shard_map`, `pmap`, clean exit.

Arrays report the same, and Python may end while one computes.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from tests.pjrt.child import needs_jax, output
from tests.pjrt.training_steps_beside_xla import timed_steps

needs_jax()
pytestmark = [pytest.mark.jax, pytest.mark.usefixtures("runs_here")]

# Without a request for the plugin, JAX keeps its CPU.
BESIDE = """
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

devices = jax.devices("xla_explorer")
print(jax.devices()[0].platform, jax.jit(lambda x: x * 2)(2.0).devices() == {jax.devices()[0]})
jax.config.update("jax_default_device", devices[0])
"""

AUTOMATIC = """
mesh = Mesh(np.array(devices).reshape(2, 2)[::-1], ("a", "b"))
x = np.arange(32, dtype=np.float32).reshape(4, 8)
placed = jax.device_put(x, NamedSharding(mesh, P("a", "b")))
y = jax.jit(lambda x: (x @ x.T, x.sum(0)), out_shardings=(NamedSharding(mesh, P("b")), None))(placed)
np.testing.assert_allclose(y[0], x @ x.T)
np.testing.assert_allclose(y[1], x.sum(0))
print(len(devices), [s.data.shape for s in y[0].addressable_shards])
moved = jax.jit(lambda x: x + 1, donate_argnums=0)(placed)
np.testing.assert_allclose(moved, x + 1)
print(placed.is_deleted(), [d.id for d in (jax.device_put(x, devices[3]) * 2).devices()])
uneven = lax.with_sharding_constraint
np.testing.assert_allclose(jax.jit(lambda x: uneven(x[0, :2], NamedSharding(mesh, P(("a", "b")))) + 1)(x), x[0, :2] + 1)
np.testing.assert_allclose(jax.jit(lambda x: uneven(x[0, :2] + 1, NamedSharding(mesh, P(("a", "b")))))(x), x[0, :2] + 1)
"""

# How results lie that their user left open, as real XLA answers with Shardy; what one device needs
# of it.
PROPAGATED = """
def block(w, x):
    return ((jax.nn.relu(x @ w["up"]) @ w["down"]) ** 2).sum()

place = lambda shape, spec: jax.device_put(jnp.ones(shape), NamedSharding(mesh, spec))
w = {"up": place((8, 16), P(None, "b")), "down": place((16, 8), P("b", None))}
step = jax.jit(jax.grad(block, (0, 1)))
gradients = step(w, place((4, 8), P("a", None)))
print(gradients[0]["up"].sharding.spec, gradients[0]["down"].sharding.spec, gradients[1].sharding.spec)
memory = step.lower(w, place((4, 8), P("a", None))).compile().memory_analysis()
print(memory.argument_size_in_bytes, sum(a.nbytes // a.size * a.addressable_shards[0].data.size for a in jax.tree.leaves(gradients)))
laid = jax.jit(lambda x: (x.T, x + 1), out_shardings=(None, NamedSharding(mesh, P("b")))).lower(place((4, 8), P("a", "b"))).compile().as_text()
assert "num_partitions=4" in laid.splitlines()[0] and "replica_count" not in laid.splitlines()[0], laid
(parameter,) = [line for line in laid.partition("ENTRY")[2].splitlines() if " parameter(0)" in line]
assert ", sharding={devices=[2,2]" in parameter, laid
(root,) = [line for line in laid.partition("ENTRY")[2].splitlines() if "ROOT" in line]
assert ", sharding={{devices=[2,2]" in root and "{devices=[2,1,2]" in root, laid
def told(x):
    jax.debug.inspect_array_sharding(x * 2, callback=lambda s: print("asked:", s.spec))
    return x[0], x.T, x.reshape(-1)
print([a.sharding.spec for a in jax.jit(told)(place((4, 8), P("a", "b")))])

import inspect
if "partitioned" in inspect.signature(jax.debug.callback).parameters:
    seen = []
    jax.jit(lambda x: jax.debug.callback(lambda v: seen.append(v.tolist()), x * 2, partitioned=True))(jax.device_put(x, NamedSharding(mesh, P("a", "b"))))
    jax.effects_barrier()
    assert sorted(seen) == sorted((2 * x[2 * a:2 * a + 2, 4 * b:4 * b + 4]).tolist() for a in (0, 1) for b in (0, 1)), seen

from jax.experimental.custom_partitioning import custom_partitioning
whole = custom_partitioning(lambda x: x * 2 + x.sum())
whole.def_partition(partition=lambda mesh, given, made: None, infer_sharding_from_operands=lambda mesh, given, made: given[0].sharding,
                    sharding_rule="i j -> i j")
np.testing.assert_allclose(jax.jit(whole)(place((4, 8), P("a", "b"))), np.full((4, 8), 34.0))
"""

# `jax.shard_map` as JAX has it since 0.8.
MANUAL = """
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

# Declared to be the same on all devices, which is so (whole rows of devices add up) or not (then each device keeps its own).
kept = jax.shard_map(lambda x: (x, lax.psum(x, ("a", "b")), lax.psum(x, "a"), 2 * x[0]), mesh=mesh, in_specs=P("a", "b"),
                     out_specs=(P(), P(), P("b"), P("a")), check_vma=False)
own, total, columns, rows = jax.jit(kept)(x)
tiles = [[x[2 * a:2 * a + 2, 4 * b:4 * b + 4] for b in (0, 1)] for a in (0, 1)]
for shard in own.addressable_shards:
    a, b = np.argwhere(mesh.devices == shard.device)[0]
    np.testing.assert_array_equal(shard.data, tiles[a][b])
for shard in rows.addressable_shards:
    a, b = np.argwhere(mesh.devices == shard.device)[0]
    np.testing.assert_array_equal(shard.data, 2 * tiles[a][b][0])
np.testing.assert_array_equal(total, sum(sum(tiles, [])))
np.testing.assert_array_equal(columns, np.concatenate([tiles[0][b] + tiles[1][b] for b in (0, 1)]))
from xla_explorer import pjrt
(made,) = [s for s in pjrt.sessions.named("lambda") if len(s.source.result_shape().tuple_shapes) == 4]
print([leaf.dimensions for leaf in made.source.result_shape().tuple_shapes])

explicit = jax.make_mesh((2, 2), ("x", "y"), devices=devices)
with jax.set_mesh(explicit):
    given = jax.device_put(x, NamedSharding(explicit, P("x", None)))
    host = lambda x: jax.pure_callback(lambda x: jnp.asarray(x) + 1, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
    np.testing.assert_allclose(jax.jit(jax.shard_map(host, out_specs=P("x")))(given), x + 1)
    terms = jax.shard_map(lambda x: lax.pcast(x.sum(0), "x", to="unreduced"), out_specs=P(None, unreduced={"x"}))
    summed = jax.jit(lambda x: jax.reshard(terms(x), P(None)))(given)
    np.testing.assert_allclose(summed, x.sum(0))

    # Each device keeps its own term, in results and in arguments, and beside results of other kinds.
    parts, whole = jax.jit(jax.shard_map(lambda x: (x, x.sum()[None]), in_specs=P("x", "y"), out_specs=(P(None, "y", unreduced={"x"}), P("x")),
                                         check_vma=False))(jax.device_put(x, P("x", "y")))
    for shard, (a, b) in zip(parts.addressable_shards, [(0, 0), (0, 1), (1, 0), (1, 1)]):
        np.testing.assert_array_equal(shard.data, x[2 * a:2 * a + 2, 4 * b:4 * b + 4])
    np.testing.assert_allclose(jax.jit(lambda p: jax.reshard(p, P(None, None)))(parts), x[:2] + x[2:])
    back = jax.shard_map(lambda p: p, in_specs=P(None, "y", unreduced={"x"}), out_specs=P("x", "y"), check_vma=False)
    again, total = jax.jit(lambda p: (back(p), jax.reshard(p, P(None, None))))(parts)
    np.testing.assert_array_equal(again, x)
    np.testing.assert_allclose(total, x[:2] + x[2:])
seen = {0: [], 1: []}
def note(number, x):
    seen[int(number)].append(x.tolist())
    return x + 1
def twice(x):
    for _ in range(2):
        x = jax.experimental.io_callback(note, jax.ShapeDtypeStruct(x.shape, x.dtype), lax.axis_index("d"), x, ordered=True)
    return x
line = Mesh(np.array(devices[:2]), ("d",))
np.testing.assert_array_equal(jax.jit(jax.shard_map(twice, mesh=line, in_specs=P("d"), out_specs=P("d"), check_vma=False))(x), x + 2)
jax.effects_barrier()
assert seen == {d: [(x[2 * d:2 * d + 2] + k).tolist() for k in (0, 1)] for d in (0, 1)}, seen
told = jax.shard_map(lambda x: jax.debug.print("{}", x.sum()), mesh=mesh, in_specs=P("b", None), out_specs=None, check_vma=False)
jax.jit(told)(x)
jax.effects_barrier()
"""

# A program of `jax.pmap` in an older JAX: it runs on each device with other arguments, and the
# devices exchange values in collectives.
REPLICAS = """
from jax._src import compiler
from jax._src.interpreters import mlir
from jax._src.lib import xla_client

TEXT = '''module @rep attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32} {
  func.func public @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<ui32>) {
    %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<3xf32>) -> tensor<3xf32>
    %1 = stablehlo.replica_id : tensor<ui32>
    return %0, %1 : tensor<3xf32>, tensor<ui32>
  }
}'''
mixed = [devices[k] for k in (3, 1, 2, 0)]
options = compiler.get_compile_options(num_replicas=4, num_partitions=1, device_assignment=np.array([[d.id] for d in mixed]))
with mlir.make_ir_context():
    program = mixed[0].client.compile_and_load(mlir.ir.Module.parse(TEXT), xla_client.DeviceList(tuple(mixed)), options, [])
shards = [jax.device_put(np.arange(3, dtype=np.float32) * (k + 1), d) for k, d in enumerate(mixed)]
x = jax.make_array_from_single_device_arrays((12,), NamedSharding(Mesh(np.array(mixed), ("i",)), P("i")), shards)
for row in program.execute_sharded([x]).disassemble_into_single_device_arrays():
    print([np.asarray(part).tolist() for part in row], [d.id for part in row for d in part.devices()])
"""

# Of an older JAX one program on each device, as above.
PMAP = """
print(jax.pmap(lambda x: lax.psum(x, "i"), axis_name="i", devices=devices)(np.arange(4.0)))
"""

# The process ends while the plugin computes.
UNFINISHED = """
slow = jax.jit(lambda x: lax.fori_loop(0, 3_000_000, lambda k, c: c * 0.5 + k, x), compiler_options={"dispatch": "asynchronous"})
kept = [slow(float(k)) for k in range(9)]
last = slow(kept[-1])
"""

LAID_OUT = (
    "P(None, 'b') P('b', None) P('a',)",
    "576 576",
    "asked: P('a', 'b')",
    "[P('b',), P('b', 'a'), P('a',)]",
)
AXES = "P('a', 'b') P(('a', 'b'),) P('a', 'b')"


@pytest.mark.long
def test_arrays_over_four_devices_and_manual_regions() -> None:
    """Arrays over four devices, manual regions, replicas, and an exit while one computes.

    They share a process, whose start takes longer than they do.
    """
    manual = tuple(map(int, version("jax").split(".")[:2])) >= (0, 8)
    parts = BESIDE + AUTOMATIC + (PROPAGATED + MANUAL + REPLICAS) * manual + PMAP + UNFINISHED
    lines = output(parts, platforms="", XLA_EXPLORER_PJRT_DEVICES="4").splitlines()
    assert lines.pop(0) == "cpu True"
    assert lines[:2] == ["4 [(2, 4), (2, 4), (2, 4), (2, 4)]", "True [3]"]
    assert lines[-1] == "[6. 6. 6. 6.]"
    if manual:
        assert lines[2:6] == [*LAID_OUT]
        del lines[2:6]
        assert lines[2:4] == [AXES, "P('a',)"]
        assert lines.pop(4) == "[(4, 2, 4), (2, 4), (4, 4), (2, 8)]", (
            "only what may differ has a place for each device"
        )
        assert sorted(lines[4:8]) == ["120.0", "120.0", "376.0", "376.0"], (
            "devices print in any order"
        )
        assert lines[8:-1] == [
            f"{[[0.0, 10.0, 20.0]] * 4} [3, 1, 2, 0]",
            "[0, 1, 2, 3] [3, 1, 2, 0]",
        ]


@pytest.mark.long
def test_each_device_holds_its_term_of_an_unreduced_result() -> None:
    if tuple(map(int, version("jax").split(".")[:2])) < (0, 10):
        pytest.skip("JAX has unreduced results since 0.10")
    script = str(Path(__file__).with_name("unreduced.py"))
    cases = output(script, XLA_EXPLORER_PJRT_DEVICES="4", JAX_NUM_CPU_DEVICES="4").split()
    assert {"sums_over_a_dimension", "products", "sums_of_segments"} <= set(cases)


@pytest.mark.long
@pytest.mark.parametrize(("how", "count"), [("partitioned", 1), ("joined", 0)])
def test_training_steps_over_eight_devices_have_the_values_of_jax(how: str, count: int) -> None:
    if tuple(map(int, version("jax").split(".")[:2])) < (0, 8):
        pytest.skip("jax.shard_map is newer")
    script = str(Path(__file__).with_name("partitioned_steps.py"))
    settings = {"XLA_EXPLORER_PJRT_DEVICES": "8", "XLA_EXPLORER_PJRT_DEVICE_RUNS": how}
    lines = output(script, JAX_NUM_CPU_DEVICES="8", **settings).splitlines()
    names = ["data parallel", "fsdp", "megatron", "two axes", "ring"]
    assert lines == [f"{name} {count}" for name in names]


@pytest.mark.long
def test_five_training_steps_have_the_values_of_xla() -> None:
    if tuple(map(int, version("jax").split(".")[:2])) < (0, 8):
        pytest.skip("jax.shard_map is newer")
    rows = timed_steps(16, 1)
    names = ["data parallel", "fsdp", "megatron", "expert parallel", "pipeline"]
    assert [row.name for row in rows] == names
    assert all(row.off < 1e-5 and row.seconds > 0 < row.xla_seconds for row in rows)


ON_GPU = """
import warnings
warnings.simplefilter("ignore")
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from xla_explorer.backends.gpu.runtime.several_devices import DevicesInTurn

plain, runs = DevicesInTurn.run, []
DevicesInTurn.run = lambda self, given, **options: runs.append(len(given)) or plain(self, given, **options)
mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("data", "model"))
x0, w0 = [np.random.default_rng(k).standard_normal((8, 8)).astype(np.float32) for k in (0, 1)]
x, w = [jax.device_put(a, NamedSharding(mesh, s)) for a, s in ((x0, P("data")), (w0, P(None, "model")))]
gradient = jax.jit(jax.grad(lambda w, x: (jnp.tanh(x @ w) ** 2).sum()))(w, x)
t = np.tanh(x0 @ w0)
np.testing.assert_allclose(gradient, x0.T @ (2 * t * (1 - t * t)), rtol=1e-4, atol=1e-4)
print(runs, gradient.sharding.spec)
"""


@pytest.mark.long
def test_a_step_runs_on_emulated_gpus() -> None:
    lines = output(ON_GPU, XLA_EXPLORER_PJRT_DEVICES="4", XLA_EXPLORER_PJRT_BACKEND="gpu")
    assert lines.splitlines()[-1] == "[4] P(None, 'model')"
