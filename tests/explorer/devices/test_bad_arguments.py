"""Bad Python arguments of programs on several devices: a caret, what is wrong, the next step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.foundation.diagnostic import XlaExplorerError

PROGRAM = """HloModule m
ENTRY e {
  x = f32[16,32] parameter(0)
  w = f32[32,64] parameter(1)
  h = f32[16,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT y = f32[16,64] tanh(h)
}"""
MESH = {"data": 2, "model": 4}
X, W = np.ones((16, 32), np.float32), np.ones((32, 64), np.float32)


def session() -> xe.Session:
    return xe.compile(
        PROGRAM,
        backend="interpreter",
        mesh=MESH,
        shardings={"x": ("data", "model"), "w": ("model",)},
    )


def shown(action: Callable[[], Any]) -> tuple[str, str]:
    """Return the marked words of the caret line, and the whole message."""
    with pytest.raises(XlaExplorerError) as caught:
        action()
    assert caught.value.hint
    place, line, caret = str(caught.value).split("\n")[:3]
    assert place.endswith(tuple("0123456789")), place
    return line[caret.index("^") : caret.rindex("^") + 1], str(caught.value)


ASKED: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "an axis": (lambda d: d.what_if({"w": ("modell",)}), "modell", "the mesh does not have"),
    "a rank": (lambda d: d.what_if("w=-,model,-"), "w=-,model,-", "has 3 dimensions"),
    "a value": (lambda d: d.what_if({"v": ("model",)}), "v", "no value %v"),
    "a text": (lambda d: d.what_if("w"), "w", "states no shardings"),
    "why sharded": (lambda d: d.why_sharded("%hh"), "%hh", "no value %hh has a sharding"),
    "a dimension": (lambda d: d.why_sharded("h", 5), "5", "%h has rank 2"),
    "an axis not there": (lambda d: d.why_sharded("h", axis="modl"), "modl", "no axis 'modl'"),
    "steps": (lambda d: d.steps("%hh"), "%hh", "no value %hh"),
    "a collective": (lambda d: d.why("%ag"), "%ag", "no collective %ag"),
    "a kind": (lambda d: d.choices("dots"), "dots", "no choice of the kind dots"),
    "a machine": (lambda d: d.on("h1000"), "h1000", "no machine 'h1000'"),
    "a policy": (lambda d: d.on(policy="cheap"), "cheap", "no policy 'cheap'"),
    "an argument": (lambda d: d.search(over=["v"]), "%v", "no argument %v"),
    "a size": (lambda d: d.search(memory="80 apples"), "80 apples", "memory must be a size"),
    "a mesh": (lambda d: d.search("data=3"), "data=3", "has 3 devices, the program has 8"),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_question_with_a_bad_argument(name: str) -> None:
    action, marked, message = ASKED[name]
    found = shown(lambda: action(session().devices))
    assert found[0] == marked and message in found[1]


@pytest.mark.parametrize(
    ("mesh", "marked", "message"),
    [
        ("data=2,model", "model", "no axis with a size"),
        ("data=2,data=4", "data=4", "stands twice"),
        ({"data": 0}, "data=0", "no size of at least 1"),
        (8, "8", "this is no mesh"),
    ],
)
def test_a_bad_mesh(mesh: Any, marked: str, message: str) -> None:
    found = shown(lambda: xe.compile(PROGRAM, mesh=mesh))
    assert found[0] == marked and message in found[1]


def jitted(**options: Any) -> Callable[[], Any]:
    pytest.importorskip("jax", reason="jax is not installed: xe.jit is NOT tried")
    return lambda: xe.jit(lambda x, w: x @ w, **options)(X, W)


def specs(*entries: Any) -> Any:
    jax = pytest.importorskip("jax", reason="jax is not installed: xe.jit is NOT tried")
    return tuple([None if one is None else jax.sharding.PartitionSpec(*one) for one in entries])


JIT: dict[str, tuple[Any, tuple[Any, ...], str, str]] = {
    "no such axis": (MESH, (("data",), (None, "modle")), "'modle'", "no axis 'modle'"),
    "an axis twice": (MESH, (("data", "data"), None), "'data'", "named twice"),
    "it does not divide": ("data=3", (("data",), None), "'data'", "16 elements for 3 devices"),
    "too many entries": (
        MESH, (("data", None, "model"), None), "P('data', None, 'model')", "the array has rank 2"
    ),
    "too few arguments": (MESH, (("data",),), "(P('data'),)", "must be a prefix of the arguments"),
}  # fmt: skip


@pytest.mark.parametrize("name", JIT)
def test_a_bad_in_sharding(name: str) -> None:
    mesh, entries, marked, message = JIT[name]
    found = shown(jitted(mesh=mesh, in_shardings=specs(*entries)))
    assert found[0] == marked and message in found[1] and found[1].startswith("in_shardings")


def test_other_bad_options_of_jit() -> None:
    found = shown(jitted(mesh=MESH, in_shardings=(*specs(("data",)), "model")))
    assert found[0] == "'model'" and "PartitionSpec('model')" in found[1]
    found = shown(jitted(mesh=MESH, out_shardings=specs(("data", None, "model"))[0]))
    assert "JAX refuses" in found[1] and "rank" in found[1]
    found = shown(jitted(mesh=MESH, shardings={"q": ("model",)}))
    assert found[0] == "q" and "no value %q" in found[1]
    for options in ({"in_shardings": specs(("data",), None)}, {"shardings": {"x": ("data",)}}):
        marked, message = shown(jitted(**options))
        assert "data" in marked and "a mesh must be given" in message and "mesh=" in message


def test_devices_that_diverge_before_a_sum_are_refused() -> None:
    jax = pytest.importorskip("jax", reason="jax is not installed: xe.jit is NOT tried")

    def diverging(x: Any) -> Any:
        first = jax.lax.axis_index("d") == 0
        return jax.lax.cond(first, lambda v: jax.lax.psum(v, "d"), lambda v: v, x)

    spec = jax.sharding.PartitionSpec("d")
    body = jax.shard_map(diverging, in_specs=spec, out_specs=spec, check_vma=False)
    marked, message = shown(lambda: xe.jit(body, mesh={"d": 4})(X))
    assert marked == "all-reduce" and "waits forever" in message
