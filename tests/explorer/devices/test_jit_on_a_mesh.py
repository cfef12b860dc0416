"""`xe.jit` with a mesh: JAX's specs, names, abstract meshes, manual regions; values as of JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xla_explorer as xe

jax = pytest.importorskip("jax", reason="jax is not installed: xe.jit is NOT tried")
pytestmark = pytest.mark.jax
P = jax.sharding.PartitionSpec
MESH = {"data": 2, "model": 4}
X = np.random.default_rng(0).standard_normal((16, 32)).astype(np.float32)
W = np.random.default_rng(1).standard_normal((32, 64)).astype(np.float32)


def model(x: Any, w: Any) -> Any:
    return jax.numpy.tanh(x @ w)


def test_specs_of_jax_split_arguments_and_results() -> None:
    f = xe.jit(model, mesh=MESH, in_shardings=(P("data"), P(None, "model")))
    np.testing.assert_allclose(f(X, W), model(X, W), rtol=1e-5, atol=1e-6)
    frame = f.session.devices.shardings.set_index("value")
    assert frame.loc["x.1", "local_shape"] == (8, 32) and frame.loc["w.1", "local_shape"] == (
        32,
        16,
    )
    assert len(f.session.devices.collectives) == 0 and len(f.sessions) == 1


def test_names_of_arguments_and_pytrees() -> None:
    f = xe.jit(lambda p, x: model(x, p["w"]), mesh="data=2,model=4", shardings="x=data,model")
    np.testing.assert_allclose(f({"w": W}, X), model(X, W), rtol=1e-5, atol=1e-6)
    assert list(f.session.devices.collectives["opcode"]) != []
    tree = xe.jit(lambda p, x: model(x, p["w"]), mesh=MESH, in_shardings=(P(None, "model"), None))
    np.testing.assert_allclose(tree({"w": W}, X), model(X, W), rtol=1e-5, atol=1e-6)
    assert tree.session.devices.shardings.set_index("value").loc["p__w__.1", "replicas"] == 2


def test_a_constraint_names_axes_without_a_mesh_of_devices() -> None:
    def constrained(x: Any, w: Any) -> Any:
        return jax.numpy.tanh(jax.lax.with_sharding_constraint(x @ w, P("data", "model")))

    f = xe.jit(constrained, mesh=MESH)
    np.testing.assert_allclose(f(X, W), model(X, W), rtol=1e-5, atol=1e-6)
    assert "dot_general.1" in list(f.session.devices.shardings["value"])


def test_a_manual_region_takes_the_mesh_of_the_call() -> None:
    body = jax.shard_map(
        lambda x, w: jax.lax.psum(x @ w, "model"),
        in_specs=(P("data", "model"), P("model", None)),
        out_specs=P("data", None),
    )
    f = xe.jit(body, mesh=MESH)
    np.testing.assert_allclose(f(X, W), X @ W, rtol=1e-4, atol=1e-4)
    assert list(f.session.devices.collectives["axes"]) == ["model"]


def test_random_numbers_and_callbacks_are_those_of_one_program() -> None:
    seen: list[Any] = []

    def called(x: Any) -> Any:
        jax.debug.callback(lambda total: seen.append(float(total)), x.sum())
        return x * 2

    f = xe.jit(called, mesh="data=2", in_shardings=P("data"))
    np.testing.assert_allclose(f(X), X * 2)
    assert seen == [pytest.approx(float(X.sum()), rel=1e-4, abs=1e-3)]


def test_the_mesh_of_the_context_is_taken() -> None:
    mesh = jax.sharding.AbstractMesh((2, 4), ("data", "model"))
    with jax.sharding.use_abstract_mesh(mesh):
        f = xe.jit(model, in_shardings=(P("data"), P(None, "model")))
    np.testing.assert_allclose(f(X, W), model(X, W), rtol=1e-5, atol=1e-6)
    assert f.session.devices.placed.program.devices == 8
