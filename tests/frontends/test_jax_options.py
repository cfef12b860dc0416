"""`xe.jit` takes what `jax.jit` takes: one word changes in a program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xla_explorer as xe

jax = pytest.importorskip("jax")
ON_CPU = pytest.mark.codegen
EXPLICIT = pytest.mark.skipif(
    not hasattr(jax.sharding, "AxisType"), reason="this JAX has no explicit axes"
)


def test_options_of_jax_jit() -> None:
    one = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    for options in (
        {"donate_argnums": 0}, {"donate_argnums": (0, 1)}, {"donate_argnames": ("x",)}, {"keep_unused": True}, {"inline": True},
        {"out_shardings": one}, {"in_shardings": (one, None)}, {"in_shardings": None, "out_shardings": None}, {"device": jax.devices()[0]},
    ):  # fmt: skip
        add = xe.jit(lambda x, y: x + y, **options)
        assert float(add(jax.numpy.float32(1), jax.numpy.float32(2))) == 3


class TwoDevices:
    device_set = frozenset({1, 2})


@pytest.mark.parametrize(
    "options",
    [
        {"out_shardings": {"a": TwoDevices()}},
        {"in_shardings": (None, TwoDevices())},
        {"compiler_options": {"a": 1}},
    ],
)
def test_options_that_one_device_cannot_serve(options: dict[str, object]) -> None:
    with pytest.raises(xe.XlaExplorerError, match=next(iter(options))):
        xe.jit(lambda x: x, **options)


def test_unknown_options_are_still_unknown() -> None:
    with pytest.raises(xe.XlaExplorerError, match="donat"):
        xe.jit(lambda x: x, donat=1)(jax.numpy.float32(1))


def explicit_programs() -> dict[str, Any]:
    """Return programs whose types state how arrays lie on a mesh, by what is special of them."""
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Explicit,))
    rows, whole = (jax.NamedSharding(mesh, jax.P(name)) for name in ("i", None))
    double = jax.shard_map(lambda x: x * 2, mesh=mesh, in_specs=jax.P("i"), out_specs=jax.P("i"))
    total = jax.shard_map(
        lambda x: jax.lax.psum(x, "i"), mesh=mesh, in_specs=jax.P("i"), out_specs=jax.P()
    )
    x = jax.numpy.arange(8.0)
    return {
        "manual region": (double, jax.device_put(x, rows)),
        "collective": (total, jax.device_put(x, rows)),
        "tree": (
            lambda d: {"a": double(d["a"]), "b": d["b"] + 1},
            {"a": jax.device_put(x, rows), "b": 2.0},
        ),
        "gradient": (jax.grad(lambda x: jax.numpy.sum(double(x) ** 2)), jax.device_put(x, rows)),
        "other sharding": (
            lambda x: double(jax.sharding.reshard(x, rows)),
            jax.device_put(x, whole),
        ),
    }


@EXPLICIT
@pytest.mark.parametrize("backend", ["interpreter", pytest.param("cpu", marks=ON_CPU)])
@pytest.mark.parametrize(
    "name", ["manual region", "collective", "tree", "gradient", "other sharding"]
)
def test_explicit_shardings_are_a_part_of_the_type(name: str, backend: str) -> None:
    function, argument = explicit_programs()[name]
    wanted = jax.tree.leaves(jax.jit(function)(argument))
    for want, got in zip(
        wanted, jax.tree.leaves(xe.jit(function, backend=backend)(argument)), strict=True
    ):
        np.testing.assert_allclose(np.asarray(got), np.asarray(want))


@EXPLICIT
def test_one_compile_for_each_explicit_sharding() -> None:
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Explicit,))
    add = xe.jit(lambda x: x + 1, backend="interpreter")
    x = jax.numpy.arange(8.0)
    for spec in ("i", None, "i"):
        add(jax.device_put(x, jax.NamedSharding(mesh, jax.P(spec))))
    assert len(add.sessions) == 2
